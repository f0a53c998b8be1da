// One sentence through one layer, batch 1: an LSTM step after step, whose words wait for each other, against multi-head
// self-attention with its projections, whose words do not, though each looks at all of them. Forward alone as at inference,
// and as training needs it: forward, then the gradients of all weights and of the words.
#include "bench/bench.h"
#include "fovea/attention/multi_head.h"
#include "fovea/nn/recurrent.h"
#include "fovea/tensor/reduce.h"

namespace fovea::benches {
namespace {

constexpr int64_t width = 256, heads = 4;

template <class Layer, class Read>
void forward_and_training(Bencher& b, const std::string& name, int64_t words, Layer& layer, Read read) {
  const std::string configuration = fmt::format("words={} width={}", words, width);
  const Tensor x = normal({1, words, width}, Random(2));
  for_each_tensor(layer, [](const std::string&, Tensor& w, const Init&) { w = w.detach(); });
  b.time(name + "_forward", configuration, [&] { read(x, Context{}); });
  require_gradients(layer);
  b.time(name + "_training", configuration, [&] {
    Tensor input = x.detach();
    input.require_gradient();
    sum(read(input, Context{.training = true})).backward();
    for_each_tensor(layer, [](const std::string&, Tensor& w, const Init&) { w.clear_gradient(); });
  });
}

}  // namespace

extern const Bench sentence = {
    .name = "sentence", .help = "one sentence: an LSTM step after step against self-attention", .run = [](Bencher& b) {
      Lstm lstm({.inputs = width, .width = width});
      MultiHeadAttention attention({.width = width, .heads = heads});
      initialise(lstm, Random(1));
      initialise(attention, Random(1));
      for (int64_t words : {100, 200, 500, 1000, 2000}) {
        forward_and_training(b, "lstm", words, lstm,
                             [&](const Tensor& x, const Context& c) { return lstm(x, c).outputs; });
        forward_and_training(b, "self_attention", words, attention,
                             [&](const Tensor& x, const Context& c) { return attention(x, {}, c); });
      }
    }};

}  // namespace fovea::benches
