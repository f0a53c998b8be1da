#include "fovea/attention/check.h"

namespace fovea {
namespace {

void check_weight(const Weight& found, const Shape& expected, const char* which, const Form& form) {
  if (expected.rank() == 0)
    return require(!found, "{} attention: found a weight '{}', which this form does not have", form.name, which);
  require(bool(found), "{} attention: the weight '{}' is missing, expected {}", form.name, which, expected);
  bool fits = found.rank() == expected.rank() && (found.size(0) == expected[0] || found.size(0) == 1);
  for (int axis = 1; fits && axis < found.rank(); ++axis) fits = found.size(axis) == expected[axis];
  require(fits, "{} attention: found the weight '{}' {}, expected {}", form.name, which, found.shape(), expected);
}

}  // namespace

AttentionSizes checked_sizes(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o) {
  for (const Tensor* t : {&q, &k, &v}) {
    require(*t && t->rank() == 4, "attention: found q, k or v {}, expected [batch, tokens, heads, width]",
            *t ? t->shape().text() : "missing");
    require(t->dtype() == q.dtype() && (t->dtype() == DType::f32 || t->dtype() == DType::f64),
            "attention: found q, k, v of types {}, {}, {}, expected all F32 (or all F64)", name(q.dtype()),
            name(k.dtype()), name(v.dtype()));
  }
  AttentionSizes s = {q.size(0), q.size(1), k.size(1), q.size(2), k.size(2), q.size(3), k.size(3), v.size(3)};
  require(k.size(0) == s.batch && v.size(0) == s.batch,
          "attention: found batches of {}, {} and {}, expected equal ones", s.batch, k.size(0), v.size(0));
  require(v.size(1) == s.keys, "attention: found {} keys and {} values, expected as many", s.keys, v.size(1));
  require(v.size(2) == s.key_heads && s.key_heads > 0 && s.heads % s.key_heads == 0,
          "attention: found {} heads of queries, {} of keys and {} of values, expected a multiple of equal numbers",
          s.heads, s.key_heads, v.size(2));
  const int64_t hidden = o.weights.vector ? o.weights.vector.size(-1) : 0;
  const FormShapes expected = o.form->shapes({s.heads, s.query_width, s.key_width, hidden});
  require(expected.query.rank() > 0 || s.query_width == s.key_width,
          "{} attention: found queries of width {} and keys of width {}, expected equal ones", o.form->name,
          s.query_width, s.key_width);
  check_weight(o.weights.query, expected.query, "query", *o.form);
  check_weight(o.weights.key, expected.key, "key", *o.form);
  check_weight(o.weights.vector, expected.vector, "vector", *o.form);
  require(!o.sinks || o.sinks.shape() == Shape{s.heads}, "attention: found sinks {}, expected [{}]",
          o.sinks ? o.sinks.shape().text() : "", s.heads);
  require(o.softcap >= 0, "attention: found a softcap of {}, expected 0 or more", o.softcap);
  require(o.dropout >= 0 && o.dropout < 1, "attention: found a dropout of {}, expected at least 0 and less than 1",
          o.dropout);
  require(o.selection == Selection::soft || o.dropout == 0,
          "attention: found dropout {} with hard selection, expected one of them", o.dropout);
  require(o.mask.window >= 0, "attention: found a window of {}, expected 0 or more", o.mask.window);
  return s;
}

}  // namespace fovea
