#include "fovea/train/picture_changes.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/index.h"

namespace fovea {
namespace {

enum Draw : uint64_t { of_flip, of_left, of_top };

int64_t moved_by(int64_t most, const Random& random, Draw draw) {
  return static_cast<int64_t>(random.fork(draw).below(static_cast<uint64_t>(2 * most + 1), 0)) - most;
}

}  // namespace

double beta(double alpha, const Random& random) {
  require(alpha > 0 && alpha <= 1, "beta: found α = {}, expected more than 0 and at most 1", alpha);
  for (uint64_t i = 0; i < 10000; i += 2) {
    const double x = std::pow(random.uniform(i), 1 / alpha), y = std::pow(random.uniform(i + 1), 1 / alpha);
    if (x + y > 0 && x + y <= 1) return x / (x + y);
  }
  return 0.5;
}

void PictureChanges::check() const {
  require(flip >= 0 && flip <= 1, "--flip: found {}, expected 0 to 1", flip);
  require(crop >= 0 && crop < 1, "--crop: found {}, expected at least 0 and less than 1", crop);
  require(mix_up >= 0 && mix_up <= 1, "--mix-up: found {}, expected 0 to 1", mix_up);
}

Tensor pixels_of(const std::vector<Image>& fitted, const PictureInput& input) {
  std::vector<Tensor> rows;
  for (const Image& picture : fitted) rows.push_back(input.numbers(picture).unsqueeze(0));
  return concat(rows, 0);
}

ChangedPictures PictureChanges::operator()(const std::vector<Image>& fitted, const PictureInput& input,
                                           const Random& random) const {
  const auto size = static_cast<int64_t>(fitted.size());
  std::vector<Image> changed;
  std::vector<double> own;
  ChangedPictures result;
  for (int64_t i = 0; i < size; ++i) {
    const Random one = random.fork(static_cast<uint64_t>(i));
    const Image& picture = fitted[static_cast<size_t>(i)];
    const auto across = static_cast<int64_t>(crop * static_cast<double>(picture.width)),
               down = static_cast<int64_t>(crop * static_cast<double>(picture.height));
    changed.push_back(one.fork(of_flip).uniform(0) < flip ? mirrored(picture) : picture);
    if (across > 0 || down > 0)
      changed.back() = cropped(changed.back(), moved_by(across, one, of_left), moved_by(down, one, of_top),
                               picture.width, picture.height);
    result.partners.push_back((i + 1) % size);
    if (mix_up > 0) own.push_back(beta(mix_up, one.fork("mix")));
  }
  result.pixels = pixels_of(changed, input);
  if (mix_up == 0) return result;
  result.own = tensor({size}, own).to(DType::f32);
  const Tensor others = rows(result.pixels, tensor({size}, result.partners)),
               share = result.own.reshape({size, 1, 1, 1});
  result.pixels = result.pixels * share + others * (1 - share);
  return result;
}

}  // namespace fovea
