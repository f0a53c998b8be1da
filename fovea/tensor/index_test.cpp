#include "fovea/tensor/index.h"

#include "fovea/tensor/arithmetic.h"
#include "fovea/tensor/gradient_check.h"
#include "fovea/tensor/reduce.h"

namespace fovea {
namespace {

Tensor indices(const Shape& shape, const std::vector<int64_t>& values) { return tensor(shape, values); }

TEST(Index, GradientsOfPicking) {
  const Tensor ids = indices({2, 3}, {0, 3, 3, 1, 0, 3});
  check_gradient([&](const Inputs& x) { return rows(x[0], ids); }, {random_input({4, 5})});
  check_gradient([&](const Inputs& x) { return rows(x[0], ids); }, {random_input({4})});
  check_gradient([&](const Inputs& x) { return rows(x[0], ids); }, {random_input({4, 2, 3})});
  check_gradient([&](const Inputs& x) { return gather(x[0], 1, ids); }, {random_input({2, 4})});
  check_gradient([&](const Inputs& x) { return gather(x[0], 0, ids); }, {random_input({4, 5})});
  check_gradient([&](const Inputs& x) { return scatter_add(x[0], -1, ids, x[1]); },
                 {random_input({2, 4}), random_input({2, 3})});
  check_gradient([&](const Inputs& x) { return scatter_add(x[0], 0, ids.transpose(0, 1), x[1]); },
                 {random_input({4, 2}), random_input({3, 2})});
}

TEST(Index, GradientsOfJoiningAndSplitting) {
  for (int axis : {0, 1, -1}) {
    SCOPED_TRACE(axis);
    check_gradient(
        [&](const Inputs& x) {
          return concat({x[0], x[1], x[0]}, axis);
        },
        {random_input({2, 3, 2}, 1), random_input({2, 3, 2}, 2)});
    check_gradient(
        [&](const Inputs& x) {
          return stack({x[0], x[1]}, axis);
        },
        {random_input({2, 3}, 1), random_input({2, 3}, 2)});
  }
  check_gradient(
      [&](const Inputs& x) {
        return concat({x[0], x[1]}, 0);
      },
      {random_input({0, 3}), random_input({2, 3})});
  check_gradient(
      [](const Inputs& x) {
        const std::vector<Tensor> parts = split(x[0], 1, {2, 0, 3, 1});
        return parts[0] * sum(parts[2], {1}, Axes::keep);  // nothing depends on the last part
      },
      {random_input({3, 6})});
}

TEST(Index, RowsOfEveryStorageType) {
  const Tensor table = tensor({3, 2}, std::vector<float>{0, 1, 2, 3, 4, 5}), ids = indices({2}, {2, 0});
  for (DType type : {DType::f32, DType::f64, DType::f16, DType::bf16, DType::i8, DType::i64}) {
    const Tensor y = rows(table.to(type), ids);
    EXPECT_EQ(y.dtype(), type);
    EXPECT_EQ(y.values<float>(), (std::vector<float>{4, 5, 0, 1}));
  }
}

TEST(Index, SplitGivesViews) {
  const Tensor x = arange(6).reshape({2, 3});
  const std::vector<Tensor> parts = split(x, 1, {1, 2});
  EXPECT_TRUE(parts[1].shares_storage_with(x));
  EXPECT_EQ(parts[1].values<int64_t>(), (std::vector<int64_t>{1, 2, 4, 5}));
}

TEST(Index, EmptyIndices) {
  EXPECT_EQ(rows(zeros({4, 5}), indices({0}, {})).shape(), (Shape{0, 5}));
  EXPECT_EQ(gather(zeros({4, 5}), 1, indices({4, 0}, {})).shape(), (Shape{4, 0}));
  Tensor table = zeros({4, 5}).require_gradient();
  sum(rows(table, indices({0}, {}))).backward();
  EXPECT_EQ(table.gradient().values<float>(), std::vector<float>(20, 0.0f));
}

TEST(Index, ErrorsNameThePlace) {
  const Tensor x = zeros({2, 3});
  EXPECT_EQ(error_of([&] { rows(x, indices({3}, {0, 1, 2})); }), "rows: found index 2 at place 2, expected 0 to 1");
  EXPECT_EQ(error_of([&] { rows(x, indices({1}, {-1})); }), "rows: found index -1 at place 0, expected 0 to 1");
  EXPECT_EQ(error_of([&] { rows(x, zeros({1})); }), "rows: found indices of type F32, expected I64");
  EXPECT_EQ(error_of([&] {
              gather(x, 1, indices({3, 1}, {0, 0, 0}));
            }),
            "gather: found indices [3, 1] for x [2, 3], expected as many axes, none but axis 1 longer than x's");
  EXPECT_EQ(error_of([&] { gather(x, 0, indices({1, 1}, {2})); }), "gather: found index 2 at place 0, expected 0 to 1");
  EXPECT_EQ(error_of([&] {
              scatter_add(x, 1, indices({2, 1}, {0, 0}), zeros({2, 2}));
            }),
            "scatter_add: found a source [2, 2], expected [2, 1] as the indices have");
  EXPECT_EQ(error_of([&] {
              concat({x, zeros({3, 2})}, 0);
            }),
            "concat: found [3, 2] beside [2, 3], expected shapes that differ along axis 0 only");
  EXPECT_EQ(error_of([&] { concat({}, 0); }), "concat: found no tensor, expected at least one");
  EXPECT_EQ(error_of([&] {
              concat({x, arange(3).reshape({1, 3})}, 0);
            }),
            "concat: found F32 and I64, expected two tensors of one type");
  EXPECT_EQ(error_of([&] { stack({x, zeros({2})}, 0); }), "stack: found [2] beside [2, 3], expected equal shapes");
  EXPECT_EQ(error_of([&] { split(x, 1, {1, 1}); }), "split: found sizes that sum to 2, expected 3 as axis 1 of [2, 3]");
}

TEST(Index, SameBitsForAnyThreads) {
  std::vector<int64_t> ids;
  for (uint64_t i = 0; i < 5000; ++i) ids.push_back(static_cast<int64_t>(Random(1).below(7, i)));
  expect_same_bits_for_any_threads([&] {
    Tensor table = normal({7, 300}, Random(2)).require_gradient();
    Tensor y = rows(table, indices({5000}, ids));
    y.backward(normal(y.shape(), Random(3)));
    Tensor z = scatter_add(zeros({7, 20}), 0, indices({500, 10}, ids), normal({500, 10}, Random(4)));
    return std::vector<Tensor>{y, table.gradient(), z};
  });
}

}  // namespace
}  // namespace fovea
