#include "fovea/explain/drawing.h"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/file.h"
#include "fovea/data/image/image.h"
#include "fovea/data/text/utf8.h"

#ifdef FOVEA_SANITIZED
// Fontconfig keeps what it knows of fonts until the end, which is no leak of ours.
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_suppressions() { return "leak:libfontconfig"; }
extern "C" [[gnu::visibility("default")]] const char* __lsan_default_options() { return "print_suppressions=0"; }
#endif

namespace fovea {
namespace {

constexpr const char* library_name = "librsvg-2.so.2";
constexpr int rgb24 = 1, created = 5;        // CAIRO_FORMAT_RGB24, CAIRO_PDF_METADATA_CREATE_DATE
constexpr int no_status = 0, no_memory = 1;  // CAIRO_STATUS_SUCCESS, CAIRO_STATUS_NO_MEMORY
constexpr double most_on_a_side = 32767;     // of Cairo

struct Surface;
struct Pen;
struct Sheet;
struct Failure {  // GError
  uint32_t domain;
  int code;
  char* message;
};
struct Rectangle {
  double x, y, width, height;
};
using Write = int (*)(void* to, const unsigned char* bytes, unsigned count);

// The few calls that are made of librsvg and of what it is linked with.
struct Renderer {
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);

  template <class F>
  F* call(const char* name) const {
    void* const found = library ? dlsym(library, name) : nullptr;
    if (!found)
      throw Error(Error::not_found,
                  "PNG and PDF: found no {}{}, expected librsvg 2.52 or later; apt install librsvg2-2",
                  library ? std::string(name) + " in " : "", library_name);
    return reinterpret_cast<F*>(found);
  }

  Sheet* (*read)(const uint8_t*, size_t,
                 Failure**) = call<Sheet*(const uint8_t*, size_t, Failure**)>("rsvg_handle_new_from_data");
  int (*size)(Sheet*, double*,
              double*) = call<int(Sheet*, double*, double*)>("rsvg_handle_get_intrinsic_size_in_pixels");
  int (*draw)(Sheet*, Pen*, const Rectangle*,
              Failure**) = call<int(Sheet*, Pen*, const Rectangle*, Failure**)>("rsvg_handle_render_document");
  void (*forget_sheet)(Sheet*) = call<void(Sheet*)>("g_object_unref");
  void (*forget_failure)(Failure*) = call<void(Failure*)>("g_error_free");
  Surface* (*pixels)(int, int, int) = call<Surface*(int, int, int)>("cairo_image_surface_create");
  Surface* (*page)(Write, void*, double,
                   double) = call<Surface*(Write, void*, double, double)>("cairo_pdf_surface_create_for_stream");
  void (*note)(Surface*, int, const char*) = call<void(Surface*, int, const char*)>("cairo_pdf_surface_set_metadata");
  unsigned char* (*data)(Surface*) = call<unsigned char*(Surface*)>("cairo_image_surface_get_data");
  int (*stride)(Surface*) = call<int(Surface*)>("cairo_image_surface_get_stride");
  void (*finish)(Surface*) = call<void(Surface*)>("cairo_surface_finish");
  void (*flush)(Surface*) = call<void(Surface*)>("cairo_surface_flush");
  int (*status)(Surface*) = call<int(Surface*)>("cairo_surface_status");
  const char* (*words)(int) = call<const char*(int)>("cairo_status_to_string");
  void (*forget_surface)(Surface*) = call<void(Surface*)>("cairo_surface_destroy");
  Pen* (*pen)(Surface*) = call<Pen*(Surface*)>("cairo_create");
  void (*forget_pen)(Pen*) = call<void(Pen*)>("cairo_destroy");
};

const Renderer& renderer() {
  static const Renderer found;
  return found;
}

// A sheet that was read, drawn onto one surface.
class Drawing final {
 public:
  explicit Drawing(const std::string& svg) {
    Failure* failure = nullptr;
    sheet_.reset(r_.read(reinterpret_cast<const uint8_t*>(svg.data()), svg.size(), &failure));
    if (!sheet_) fail(failure);
    require(r_.size(sheet_.get(), &width_, &height_) != 0 && width_ >= 1 && height_ >= 1,
            "picture: found an SVG without a size, expected one with a width and a height");
  }

  double width() const { return width_; }
  double height() const { return height_; }

  Image pixels(double scale) {
    Image image = {std::llround(width_ * scale), std::llround(height_ * scale), 3, {}};
    surface_.reset(r_.pixels(rgb24, static_cast<int>(image.width), static_cast<int>(image.height)));
    draw(static_cast<double>(image.width), static_cast<double>(image.height));
    r_.flush(surface_.get());
    const unsigned char* from = r_.data(surface_.get());
    const int64_t stride = r_.stride(surface_.get());
    image.pixels.reserve(static_cast<size_t>(image.width * image.height * 3));
    for (int64_t y = 0; y < image.height; ++y)
      for (int64_t x = 0; x < image.width; ++x) {
        uint32_t pixel = 0;
        std::memcpy(&pixel, from + y * stride + 4 * x, 4);
        for (const int shift : {16, 8, 0}) image.pixels.push_back(static_cast<uint8_t>(pixel >> shift));
      }
    return image;
  }

  std::string page(double scale) {
    std::string bytes;
    const Write write = [](void* to, const unsigned char* some, unsigned count) {
      try {
        static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(some), count);
      } catch (const std::exception&) {
        return no_memory;
      }
      return no_status;
    };
    surface_.reset(r_.page(write, &bytes, width_ * scale, height_ * scale));
    r_.note(surface_.get(), created, "");
    draw(width_ * scale, height_ * scale);
    r_.finish(surface_.get());
    require_drawn();
    return bytes;
  }

 private:
  void draw(double width, double height) {
    require_drawn();
    const std::unique_ptr<Pen, void (*)(Pen*)> pen(r_.pen(surface_.get()), r_.forget_pen);
    const Rectangle all = {0, 0, width, height};
    Failure* failure = nullptr;
    if (r_.draw(sheet_.get(), pen.get(), &all, &failure) == 0) fail(failure);
    require_drawn();
  }

  void require_drawn() const {
    if (const int status = r_.status(surface_.get()); status != no_status)
      throw Error(Error::io, "picture: found that it cannot be drawn ({})", r_.words(status));
  }

  [[noreturn]] void fail(Failure* failure) const {
    const std::string text(trim(failure ? failure->message : "no reason given"));
    if (failure) r_.forget_failure(failure);
    throw Error(Error::corrupt, "picture: found an SVG that cannot be drawn ({})", text);
  }

  const Renderer& r_ = renderer();
  std::unique_ptr<Sheet, void (*)(Sheet*)> sheet_{nullptr, r_.forget_sheet};
  std::unique_ptr<Surface, void (*)(Surface*)> surface_{nullptr, r_.forget_surface};
  double width_ = 0, height_ = 0;
};

bool fits(double width, double height) {
  return std::max(width, height) <= most_on_a_side && width * height <= static_cast<double>(most_pixels);
}

}  // namespace

void require_renderer() { renderer(); }

std::string to_png(const std::string& svg) {
  Drawing drawing(svg);
  const double width = drawing.width(), height = drawing.height();
  require(fits(width, height),
          "PNG: found a sheet of {} × {} pixels, expected at most {} on a side and {} in all; draw less, or SVG or PDF",
          width, height, most_on_a_side, most_pixels);
  return png_bytes(drawing.pixels(fits(2 * width, 2 * height) ? 2 : 1));
}

std::string to_pdf(const std::string& svg) {
  constexpr double points = 72.0 / 96;  // to a pixel
  return Drawing(svg).page(points);
}

void write_drawing(const std::filesystem::path& path, const std::string& svg) {
  const std::string ending = path.extension().string();
  write_text(path, ending == ".png" ? to_png(svg) : ending == ".pdf" ? to_pdf(svg) : svg);
}

}  // namespace fovea
