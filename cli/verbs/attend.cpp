// `fovea attend`: the mechanism itself, from numbers on the command line or tensors in a file.
#include <nlohmann/json.hpp>

#include "cli/drawings.h"
#include "cli/terminal.h"
#include "cli/verb.h"
#include "fovea/attention/attention.h"
#include "fovea/explain/measure.h"
#include "fovea/formats/matrix_text.h"
#include "fovea/formats/tensors.h"
#include "fovea/nn/weights.h"
#include "fovea/tensor/arithmetic.h"

namespace fovea::verbs {
namespace {

struct AttendOptions {
  std::string form = "scaled-dot", tokens, query_tokens, query, keys, values, input, query_weight, key_weight, vector,
              output;
  DrawingOptions drawing;
  int64_t heads = 1, window = 0, hidden = 0, seed = 0;
  double softcap = 0, scale = 0;
  bool causal = false, hard = false, sample = false, json = false;

  void fields(Fields& f) {
    f("form", form, "additive, dot, general, concat or scaled-dot");
    f("query", query, "queries: numbers with commas, rows with semicolons (\"1,0;0,1\")");
    f("keys", keys, "keys, one a row; for a query of one number \"1,2,3\" are three keys");
    f("values", values, "values, one a row or one number for each key; the keys if not given");
    f("tokens", tokens, "names of the keys, with commas");
    f("query_tokens", query_tokens, "names of the queries, with commas");
    f("input", input, "a .safetensors or .npz file with q, k, v and the form's query_weight, key_weight, vector");
    f("query_weight", query_weight,
      "the form's W: additive [hidden, width], general [width, key width], concat [hidden, both widths]");
    f("key_weight", key_weight, "the form's U: additive [hidden, key width]");
    f("vector", vector, "the form's v: additive and concat [hidden]");
    f("hidden", hidden, "size of the hidden layer of weights that are drawn because none are given; 0: the width");
    f("heads", heads, "split the widths into so many heads");
    f("hard", hard, "choose one key instead of the weighted mean: the one with the largest weight");
    f("sample", sample, "with --hard: draw the key from the weights, by --seed");
    f("causal", causal, "a query sees no key after its own position");
    f("window", window, "a query sees keys at a distance below this; 0: all");
    f("softcap", softcap, "scores become softcap · tanh(scores / softcap); 0: not");
    f("scale", scale, "factor of the scores; 0: the form's own");
    f("seed", seed, "for weights that are drawn and for --sample");
    f("json", json, "print scores, weights and context as JSON, [batch][heads][queries][…]");
    f("output", output, "write scores, weights and context to this .safetensors, .npz or .npy");
    drawing.fields(f, "the weights");
  }
};

struct Inputs {
  Tensor q, k, v;  // [batch, tokens, heads, width]
  FormWeights weights;
  bool drawn = false;  // the weights come from --seed
};

// [tokens, width], [tokens, heads, width] or [batch, tokens, heads, width]; a matrix is cut into heads.
Tensor four_axes(const Tensor& x, int64_t heads, std::string_view where) {
  Tensor y = x.to(DType::f32);
  require(y.rank() >= 2 && y.rank() <= 4,
          "{}: found {}, expected [tokens, width], [tokens, heads, width] or [batch, tokens, heads, width]", where,
          y.shape().text());
  if (y.rank() == 2) {
    require(heads >= 1 && y.size(1) % heads == 0, "{}: found a width of {}, expected a multiple of --heads {}", where,
            y.size(1), heads);
    y = y.reshape({y.size(0), heads, y.size(1) / heads});
  }
  if (y.rank() == 3) y = y.unsqueeze(0);
  require(y.size(0) > 0 && y.size(1) > 0 && y.size(2) > 0,
          "{}: found {}, expected at least one token, head and batch row", where, x.shape().text());
  return y;
}

// One row of numbers for things that are `count` many and one number each is a column.
Tensor as_column(const Tensor& matrix, bool column) {
  return column && matrix.size(0) == 1 ? matrix.transpose(0, 1) : matrix;
}

Inputs typed_inputs(const AttendOptions& o) {
  require(!o.query.empty() && !o.keys.empty(),
          "fovea attend: found no {}, expected --query and --keys, or --input FILE; see fovea attend --help",
          o.query.empty() ? "--query" : "--keys");
  Tensor q = parse_matrix(o.query, "--query");
  Tensor k = as_column(parse_matrix(o.keys, "--keys"), q.size(1) == 1);
  Tensor v = k;
  if (!o.values.empty()) {
    v = parse_matrix(o.values, "--values");
    v = as_column(v, v.size(1) == k.size(0));
    require(v.size(0) == k.size(0), "--values: found {}, expected {} as there are keys", v.size(0), k.size(0));
  }
  return {four_axes(q, o.heads, "--query"), four_axes(k, o.heads, "--keys"), four_axes(v, o.heads, "--values"), {}};
}

Inputs file_inputs(const AttendOptions& o) {
  require(o.query.empty() && o.keys.empty() && o.values.empty(),
          "fovea attend: found --input beside --query, --keys or --values, expected one of them");
  const NamedTensors tensors = read_tensors(o.input);
  auto find = [&](const char* name, const char* instead) -> const Tensor& {
    auto found = tensors.find(name);
    if (found == tensors.end() && instead) found = tensors.find(instead);
    if (found == tensors.end())
      throw Error(Error::not_found, "{}: holds no tensor '{}', expected q, k and (unless it is k) v", o.input, name);
    return found->second;
  };
  auto optional = [&](const char* name) { return tensors.count(name) ? tensors.at(name).to(DType::f32) : Tensor(); };
  return {four_axes(find("q", nullptr), o.heads, o.input + ": q"),
          four_axes(find("k", nullptr), o.heads, o.input + ": k"),
          four_axes(find("v", "k"), o.heads, o.input + ": v"),
          {optional("query_weight"), optional("key_weight"), optional("vector")}};
}

// Weights from flags, from the file, or else drawn by the seed.
void complete_weights(Inputs& in, const Form& form, const AttendOptions& o) {
  FormWeights& w = in.weights;
  if (!o.query_weight.empty()) w.query = parse_matrix(o.query_weight, "--query-weight");
  if (!o.key_weight.empty()) w.key = parse_matrix(o.key_weight, "--key-weight");
  if (!o.vector.empty()) w.vector = parse_matrix(o.vector, "--vector").reshape({-1});
  if (w.query && w.query.rank() == 2) w.query = w.query->unsqueeze(0);
  if (w.key && w.key.rank() == 2) w.key = w.key->unsqueeze(0);
  if (w.vector && w.vector.rank() == 1) w.vector = w.vector->unsqueeze(0);
  if (w.query || w.key || w.vector) return;
  require(o.hidden >= 0 && o.hidden <= 65536, "--hidden: found {}, expected 0 to 65536", o.hidden);
  w = form.weights({in.q.size(2), in.q.size(3), in.k.size(3), o.hidden > 0 ? o.hidden : in.q.size(3)});
  const Random random(static_cast<uint64_t>(o.seed));
  for (Weight* t : {&w.query, &w.key, &w.vector}) {
    if (!*t) continue;
    in.drawn = true;
    initialise(t->numbers(), {Init::normal, 1}, random.fork(t == &w.query ? "query" : t == &w.key ? "key" : "vector"));
  }
}

struct Steps {
  Tensor scores, weights, context;  // [batch, heads, queries, keys], the same, [batch, heads, queries, width]
};

Mask mask_of(const AttendOptions& o) { return {.causal = o.causal, .window = o.window}; }

Steps take_steps(const Inputs& in, const Form& form, const AttendOptions& o) {
  AttentionOptions options = {.form = &form, .weights = in.weights};
  if (o.scale != 0) options.scale = o.scale;
  options.mask = mask_of(o);
  options.softcap = o.softcap;
  options.selection = o.hard ? Selection::hard : Selection::soft;
  options.probe = Probe{.weights = true};
  const Context context = {.training = o.sample, .random = Random(static_cast<uint64_t>(o.seed))};
  AttentionResult result = attend(in.q, in.k, in.v, options, context);
  const Tensor keys = repeat_heads(in.k, in.q.size(2) / in.k.size(2)).transpose(1, 2);
  Tensor scores =
      form.scores(in.q.transpose(1, 2), keys, in.weights) * options.scale.value_or(form.scale(in.k.size(3)));
  return {scores, result.probe.weights, result.output.transpose(1, 2).contiguous()};
}

std::vector<std::string> labels(const std::string& given, int64_t count, const char* flag, const char* what) {
  std::vector<std::string> names;
  if (!given.empty()) names = split_text(given, ',');
  require(given.empty() || static_cast<int64_t>(names.size()) == count,
          "{}: found {} names, expected {} as there are {}", flag, names.size(), count, what);
  for (int64_t i = 1; given.empty() && i <= count; ++i)
    names.push_back(fmt::format("{} {}", what[0] == 'k' ? "key" : "query", i));
  return names;
}

// The weights of each batch row and head as a picture.
std::vector<HeatMap> heat_maps(const Steps& steps, const std::vector<std::string>& queries,
                               const std::vector<std::string>& keys, const Form& form, const Mask& mask) {
  std::vector<HeatMap> maps;
  std::vector<bool> masked;
  for (double visible : dense_mask(mask, 1, steps.weights.size(2), steps.weights.size(3)).values<double>())
    masked.push_back(visible == 0);
  for (int64_t b = 0; b < steps.weights.size(0); ++b) {
    for (int64_t h = 0; h < steps.weights.size(1); ++h) {
      std::string title = fmt::format("{} attention", form.name);
      if (steps.weights.size(0) > 1) title += fmt::format(", batch row {}", b);
      if (steps.weights.size(1) > 1) title += fmt::format(", head {}", h);
      maps.push_back({title, queries, keys, steps.weights.select(0, b).select(0, h).values<double>(), masked});
    }
  }
  return maps;
}

nlohmann::json nested(const Tensor& x) {
  if (x.rank() == 0) return x.item();
  nlohmann::json list = nlohmann::json::array();
  for (int64_t i = 0; i < x.size(0); ++i) list.push_back(nested(x.select(0, i)));
  return list;
}

std::string numbers(const Tensor& row) {
  std::string text;
  for (double value : row.values<double>()) text += fmt::format("{}{:.6g}", text.empty() ? "" : " ", value);
  return text;
}

// One query of one head: the three steps under each other, a line for each key.
void print_steps(const Tensor& scores, const Tensor& context, const HeatMap& map, const AttendOptions& o) {
  const int room = terminal_look().width;
  const int width = std::clamp(static_cast<int>(Measure::cells().widest(map.columns)), 4, std::max(4, room - 16));
  const std::vector<double> s = scores.values<double>();
  auto line = [&](size_t j, const std::string& rest) {
    fmt::print("     {}  {}\n", padded(Measure::cells().shortened(map.columns[j], width), width),
               map.is_masked(0, j) ? "       ·" : rest);
  };
  fmt::print("1  scores    how well each key fits the query\n");
  for (size_t j = 0; j < s.size(); ++j) line(j, fmt::format("{:>8.4f}", s[j]));
  fmt::print("\n2  weights   softmax of the scores\n");
  for (size_t j = 0; j < s.size(); ++j)
    line(j, fmt::format("{:>8.4f}  {}", map.at(0, j), bar(map.at(0, j), std::clamp(room - width - 17, 0, 24))));
  fmt::print(
      "\n3  context   {}\n     {}\n",
      o.hard ? (o.sample ? "the value of one key, drawn by its weight" : "the value of the key with the largest weight")
             : "Σ weight · value",
      numbers(context));
}

void print_text(const Steps& steps, const Inputs& in, const Form& form, const std::vector<HeatMap>& maps,
                const AttendOptions& o) {
  fmt::print("{} attention: score = {}   ({})\n", form.name, form.formula, form.paper);
  if (in.drawn)
    fmt::print("its weights are drawn with --seed {}; --query-weight, --key-weight and --vector give them\n", o.seed);
  fmt::print("\n");
  const bool one_query = steps.weights.size(2) == 1;
  for (size_t number = 0; number < maps.size(); ++number) {
    HeatMap map = maps[number];
    auto part = [&](const Tensor& x) {
      return x.reshape({-1, x.size(2), x.size(3)}).select(0, static_cast<int64_t>(number));
    };
    if (maps.size() > 1) fmt::print("{}{}\n", number ? "\n" : "", map.title);
    map.title = "weights";
    if (one_query) {
      print_steps(part(steps.scores).select(0, 0), part(steps.context).select(0, 0), map, o);
      continue;
    }
    fmt::print("{}\ncontext\n", to_terminal(map, terminal_look()));
    const int width = static_cast<int>(Measure::cells().widest(map.rows));
    for (int64_t i = 0; i < steps.context.size(2); ++i)
      fmt::print("{}  {}\n", padded(map.rows[static_cast<size_t>(i)], width),
                 numbers(part(steps.context).select(0, i)));
  }
}

void run(const AttendOptions& o) {
  const Form& form = find<Form>(o.form);
  Drawings drawings(o.drawing);
  require(!o.sample || o.hard, "--sample: found it without --hard, expected both");
  Inputs in = o.input.empty() ? typed_inputs(o) : file_inputs(o);
  complete_weights(in, form, o);
  const Steps steps = take_steps(in, form, o);
  const std::vector<HeatMap> maps = heat_maps(steps, labels(o.query_tokens, in.q.size(1), "--query-tokens", "queries"),
                                              labels(o.tokens, in.k.size(1), "--tokens", "keys"), form, mask_of(o));
  if (!o.output.empty()) {
    NamedTensors tensors = {{"context", steps.context}};
    if (!o.output.ends_with(".npy")) tensors["scores"] = steps.scores, tensors["weights"] = steps.weights;
    write_tensors(o.output, tensors);
  }
  if (o.drawing.wanted()) drawings.write(to_svg(maps));
  if (!o.json) return print_text(steps, in, form, maps, o);
  const nlohmann::ordered_json json = {{"form", form.name},
                                       {"formula", form.formula},
                                       {"queries", maps[0].rows},
                                       {"keys", maps[0].columns},
                                       {"scores", nested(steps.scores)},
                                       {"weights", nested(steps.weights)},
                                       {"context", nested(steps.context)}};
  fmt::print("{}\n", json.dump());
}

}  // namespace

extern const Verb attend = {
    .name = "attend",
    .group = "look inside",
    .help = "attention of given queries over given keys and values, step by step",
    .examples =
        "fovea attend --form dot --tokens \"I,love,NLP\" --query 2 --keys 1,2,3 --values 2,4,6\n"
        "fovea attend --query \"1,0;0,1\" --keys \"1,0;0,1;1,1\" --causal --svg weights.svg\n"
        "fovea attend --form additive --input layer.safetensors --heads 8 --json",
    .run = [](const AttendOptions& o) { run(o); }};

}  // namespace fovea::verbs
