#include "fovea/kernels/amx.h"

#include <bit>
#include <utility>

namespace fovea::kernels {

#if defined(__x86_64__)

namespace {

// Compilers' intrinsics do not say which memory the instructions read; these do.
template <int tile>
inline __attribute__((always_inline)) void zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(tile));
}
template <int tile>
inline __attribute__((always_inline)) void load(const void* from, int64_t stride) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(tile) : "memory");
}
template <int tile>
inline __attribute__((always_inline)) void store(void* to, int64_t stride) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(tile) : "memory");
}
template <bool whole_numbers, int sum, int a, int b>
inline __attribute__((always_inline)) void add_product() {
  if constexpr (whole_numbers)
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(a), "i"(b));
  else
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sum), "i"(a), "i"(b));
}

// What LDTILECFG reads.
struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};
};

void configure(const TileShapes& shapes) { asm volatile("ldtilecfg %0" ::"m"(shapes) : "memory"); }

// Sums are tiles 0 to 3, row after row; A is 4, or 4 and 5; B takes turns in the others.
constexpr int first_a = 4;

template <size_t... i, class Body>
inline __attribute__((always_inline)) void unroll(std::index_sequence<i...>, Body&& body) {
  (body.template operator()<i>(), ...);
}

// One block: every tile of A and B is loaded once.
template <bool whole_numbers, int row_tiles, int panels>
inline __attribute__((always_inline)) void add_block(const std::byte* a, int64_t a_stride, int64_t a_tile,
                                                     const std::byte* b, int64_t b_panel) {
  constexpr int first_b = first_a + row_tiles, columns = row_tiles == 1 ? 4 : 2;
  unroll(
      std::make_index_sequence<panels>(), [&]<size_t c>() __attribute__((always_inline)) {
        constexpr int tile_of_b = first_b + c % (8 - first_b);
        load<tile_of_b>(b + c * b_panel, tile_bytes);
        unroll(
            std::make_index_sequence<row_tiles>(), [&]<size_t r>() __attribute__((always_inline)) {
              if constexpr (c == 0) load<first_a + r>(a + r * a_tile, a_stride);
              add_product<whole_numbers, r * columns + c, first_a + r, tile_of_b>();
            });
      });
}

template <bool whole_numbers, int row_tiles, int panels>
void multiply_in(const TileProduct& p) {
  constexpr int columns = row_tiles == 1 ? 4 : 2;
  constexpr auto sums = std::make_index_sequence<row_tiles * panels>();
  constexpr int64_t block_of_b = 16 * tile_bytes;
  const int64_t out_stride = p.out_stride > 0 ? p.out_stride : 16 * panels;
  const auto out_of = [&](int64_t i) { return p.out + i / panels * p.height * out_stride + i % panels * 16; };
  unroll(
      sums, [&]<size_t i>() __attribute__((always_inline)) {
        if (p.add)
          load<i / panels * columns + i % panels>(out_of(i), out_stride * 4);
        else
          zero<i / panels * columns + i % panels>();
      });
  const int64_t whole = p.blocks - (p.last ? 1 : 0), b_panel = p.b_panel;
  const int64_t a_stride = p.a_stride > 0 ? p.a_stride : tile_bytes, a_tile = p.height * a_stride;
  const int64_t a_block = p.a_stride > 0 ? tile_bytes : row_tiles * a_tile;
  const std::byte *a = p.a, *b = p.b;
  for (int64_t k = 0; k < whole; ++k, a += a_block, b += block_of_b) {
    add_block<whole_numbers, row_tiles, panels>(a, a_stride, a_tile, b, b_panel);
    if (p.beside) p.beside->step();
  }
  if (p.last) add_block<whole_numbers, row_tiles, panels>(a, a_stride, a_tile, p.last, block_of_b);
  unroll(
      sums, [&]<size_t i>() __attribute__((always_inline)) {
        store<i / panels * columns + i % panels>(out_of(i), out_stride * 4);
      });
}

template <bool whole_numbers>
void multiply_of(const TileProduct& p) {
  if (p.row_tiles == 2)
    return p.panels == 2 ? multiply_in<whole_numbers, 2, 2>(p) : multiply_in<whole_numbers, 2, 1>(p);
  switch (p.panels) {
    case 1:
      return multiply_in<whole_numbers, 1, 1>(p);
    case 2:
      return multiply_in<whole_numbers, 1, 2>(p);
    case 3:
      return multiply_in<whole_numbers, 1, 3>(p);
    default:
      return multiply_in<whole_numbers, 1, 4>(p);
  }
}

// As many groups as there are sums in one go, since each waits for its product.
template <size_t count>
void multiply_some_groups(const GroupProduct& p, int64_t first) {
  constexpr auto groups = std::make_index_sequence<count>();
  const std::byte *a = p.a + first * p.bytes, *b = p.b + first * p.bytes * 16;
  unroll(
      groups, [&]<size_t i>() __attribute__((always_inline)) {
        zero<i>();
        load<first_a + i % 2>(a + static_cast<int64_t>(i) * p.bytes, p.a_stride);
        load<6 + i % 2>(b + static_cast<int64_t>(i) * p.bytes * 16, tile_bytes);
        add_product<true, i, first_a + i % 2, 6 + i % 2>();
      });
  unroll(
      groups, [&]<size_t i>() __attribute__((always_inline)) {
        store<i>(p.sums + (first + static_cast<int64_t>(i)) * 256, tile_bytes);
      });
}

// Numbers of either sign, in bf16 between 0.5 and 2: of zeros a tile multiplies a fifth faster.
template <bool whole_numbers>
int64_t burst_of(int64_t rounds) {
  alignas(64) uint16_t numbers[4][16 * tile_bytes / 2];
  uint32_t random = 1;
  for (auto& tile : numbers) {
    for (uint16_t& n : tile) {
      random = random * 1664525u + 1013904223u;
      n = static_cast<uint16_t>(whole_numbers ? random >> 16 : (random >> 16 & 0x80ffu) | 0x3f00u);
    }
  }
  const TileSession session(2, 16);
  unroll(
      std::make_index_sequence<4>(), [&]<size_t i>() __attribute__((always_inline)) {
        zero<i>();
        load<first_a + i>(numbers[i], tile_bytes);
      });
  for (int64_t k = 0; k < rounds; ++k)
    unroll(
        std::make_index_sequence<4>(),
        []<size_t i>() __attribute__((always_inline)) { add_product<whole_numbers, i, first_a + i / 2, 6 + i % 2>(); });
  return rounds * 4 * 2 * 16 * 16 * (whole_numbers ? 64 : 32);
}

// Row 1 of A holds ones, everything else zeros; B's column 2 holds threes: the sum is 3 a number, in one element alone.
template <bool whole_numbers>
bool is_right() {
  constexpr int numbers = whole_numbers ? 64 : 32;
  alignas(64) std::byte a[2 * tile_bytes] = {}, b[16 * tile_bytes] = {};
  alignas(64) float sums[2 * 16];
  for (int i = 0; i < numbers; ++i) {
    const int in_b = i / (numbers / 16) * 64 + 2 * 4 + i % (numbers / 16) * (64 / numbers);
    if (whole_numbers) {
      a[tile_bytes + i] = std::byte{1}, b[in_b] = std::byte{3};
    } else {
      a[tile_bytes + 2 * i] = std::byte{0x80}, a[tile_bytes + 2 * i + 1] = std::byte{0x3f};  // 1 is 3f80
      b[in_b] = std::byte{0x40}, b[in_b + 1] = std::byte{0x40};                              // 3 is 4040
    }
  }
  {
    const TileSession session(1, 2);
    multiply_tiles({.whole_numbers = whole_numbers,
                    .row_tiles = 1,
                    .height = 2,
                    .a = a,
                    .b = b,
                    .blocks = 1,
                    .panels = 1,
                    .out = sums});
  }
  for (int i = 0; i < 2 * 16; ++i) {
    const int expected = i == 16 + 2 ? 3 * numbers : 0;
    if (whole_numbers ? std::bit_cast<int32_t>(sums[i]) != expected : sums[i] != static_cast<float>(expected))
      return false;
  }
  return true;
}

}  // namespace

TileSession::TileSession(int row_tiles, int height, int64_t bytes_of_a) {
  TileShapes shapes;
  for (int i = 0; i < 8; ++i) {
    const bool holds_b = i >= first_a + row_tiles, holds_a = i >= first_a && !holds_b;
    shapes.bytes[i] = static_cast<uint16_t>(holds_a ? bytes_of_a : tile_bytes);
    shapes.rows[i] = static_cast<uint8_t>(holds_b ? bytes_of_a / 4 : height);
  }
  configure(shapes);
}
TileSession::~TileSession() { release_tiles(); }

void release_tiles() { asm volatile("tilerelease"); }

void multiply_tiles(const TileProduct& p) {
  if (p.whole_numbers) return multiply_of<true>(p);
  multiply_of<false>(p);
}

void multiply_groups(const GroupProduct& p) {
  int64_t first = 0;
  for (; first + 4 <= p.groups; first += 4) multiply_some_groups<4>(p, first);
  for (; first < p.groups; ++first) multiply_some_groups<1>(p, first);
}

bool amx_is_right() { return is_right<true>() && is_right<false>(); }

int64_t amx_burst(bool whole_numbers, int64_t rounds) {
  return whole_numbers ? burst_of<true>(rounds) : burst_of<false>(rounds);
}

#else

TileSession::TileSession(int, int, int64_t) {}
TileSession::~TileSession() {}
void release_tiles() {}
void multiply_tiles(const TileProduct&) {}
void multiply_groups(const GroupProduct&) {}
bool amx_is_right() { return false; }
int64_t amx_burst(bool, int64_t) { return 0; }

#endif

}  // namespace fovea::kernels
