#include "fovea/tensor/norm.h"

#include "fovea/kernels/norm.h"
#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient.h"
#include "fovea/tensor/map.h"
#include "fovea/tensor/reduce.h"
#include "fovea/tensor/work.h"

namespace fovea {
namespace {

using kernels::Norm;

const char* name_of(Norm norm) { return norm == Norm::layer ? "layer_norm" : "rms_norm"; }

void check(Norm norm, const Tensor& x, const Tensor& parameter, const char* what) {
  if (!parameter) return;
  require_same_type(name_of(norm), x, parameter);
  require(parameter.shape() == Shape{x.size(-1)}, "{}: found {} {} for x {}, expected [{}]", name_of(norm), what,
          parameter.shape(), x.shape(), x.size(-1));
}

// The formula itself; in f64 its gradient is that of the operations it is made of.
Tensor formula(Norm norm, const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  const Tensor centred = norm == Norm::layer ? x - mean(x, {-1}, Axes::keep) : x;
  Tensor y = centred / sqrt(mean(centred * centred, {-1}, Axes::keep) + epsilon);
  if (weight) y = y * weight;
  return bias ? y + bias : y;
}

// Contiguous numbers of a parameter, or nothing.
const float* numbers(const Tensor& x) { return x ? x.data<float>() : nullptr; }

Tensor contiguous_or_none(const Tensor& x) { return x ? x.detach().contiguous() : Tensor(); }

Tensor in_float(const kernels::NormOptions& options, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const bool taped = needs_gradient(x, weight, bias), in_place = !taped && x.owns_alone() && x.is_contiguous();
  const Tensor from = x.detach().contiguous(), w = contiguous_or_none(weight), b = contiguous_or_none(bias);
  Tensor y = in_place ? from : Tensor(x.shape(), x.dtype()), mean, scale;
  if (taped) mean = Tensor({options.rows}, DType::f32), scale = Tensor({options.rows}, DType::f32);
  kernels::norm(options, {.x = from.data<float>(),
                          .weight = numbers(w),
                          .bias = numbers(b),
                          .y = y.data<float>(),
                          .mean = taped ? mean.data<float>() : nullptr,
                          .scale = taped ? scale.data<float>() : nullptr});
  if (!taped) return y;
  auto backward = [options, from, w, mean, scale, for_x = x.needs_gradient(), for_weight = weight.needs_gradient(),
                   for_bias = bias.needs_gradient(), biased = static_cast<bool>(bias)](const Tensor& gradient) {
    const Tensor dy = gradient.contiguous();
    Tensor dx = for_x ? Tensor(from.shape(), DType::f32) : Tensor();
    Tensor dweight = for_weight ? Tensor({options.width}, DType::f32) : Tensor();
    Tensor dbias = for_bias ? Tensor({options.width}, DType::f32) : Tensor();
    kernels::norm_gradient(options, {.x = from.data<float>(),
                                     .dy = dy.data<float>(),
                                     .weight = numbers(w),
                                     .mean = mean.data<float>(),
                                     .scale = scale.data<float>(),
                                     .dx = dx ? dx.data<float>() : nullptr,
                                     .dweight = dweight ? dweight.data<float>() : nullptr,
                                     .dbias = dbias ? dbias.data<float>() : nullptr});
    Gradients result = {dx};
    if (w) result.push_back(dweight);
    if (biased) result.push_back(dbias);
    return result;
  };
  std::vector<Tensor> inputs = {x};
  if (weight) inputs.push_back(weight);
  if (bias) inputs.push_back(bias);
  return with_gradient(name_of(options.norm), y, std::move(inputs), backward);
}

Tensor normalised(Norm norm, const Tensor& x, const Tensor& weight, const Tensor& bias, double epsilon) {
  require(x.rank() > 0, "{}: found a single number, expected [..., width]", name_of(norm));
  check(norm, x, weight, "weight");
  check(norm, x, bias, "bias");
  if (x.dtype() != DType::f32) return formula(norm, x, weight, bias, epsilon);
  const int64_t width = x.size(-1), rows = width == 0 ? 0 : x.elements() / width;
  TimedWork timed(Work::Kind::norm);
  const Tensor y =
      in_float({.norm = norm, .rows = rows, .width = width, .epsilon = static_cast<float>(epsilon)}, x, weight, bias);
  if (timed)
    timed.done({.weight = weight ? weight.bytes() : nullptr,
                .flops = 7.0 * static_cast<double>(x.elements()),
                .bytes = bytes_of(x) + bytes_of(y) + bytes_of(weight) + bytes_of(bias),
                .input = &x,
                .output = &y});
  return y;
}

}  // namespace

Tensor layer_norm(Tensor x, const Tensor& weight, const Tensor& bias, double epsilon) {
  return normalised(Norm::layer, x, weight, bias, epsilon);
}

Tensor rms_norm(Tensor x, const Tensor& weight, double epsilon) {
  return normalised(Norm::rms, x, weight, {}, epsilon);
}

}  // namespace fovea
