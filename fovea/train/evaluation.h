// The scores of any system's output, as the packages that people compare with compute them. One file each in evaluations/;
// that of a task has the task's name.
//
//   const auto bleu = find<EvaluationKind>("translation").make();
//   bleu->run({.references = {read_lines("test.en")}, .hypotheses = read_lines("output.en")}).text;
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/base/catalogue.h"
#include "fovea/base/fields.h"

namespace fovea {

struct LineFile {
  std::string name;
  std::vector<std::string> lines;

  std::string line(size_t i) const;  // "test.en:17", for errors
};
LineFile read_lines(const std::string& path);  // as lines.h reads files; an Error if there are none

// What is right, in one file or several, and what a system said.
struct Outputs {
  std::vector<LineFile> references;
  LineFile hypotheses;

  const LineFile& reference() const;  // the one that there is; an Error if there are several
  void require_same_lines() const;
};

struct Outcome {
  std::string text, json;
};

class Evaluation {
 public:
  virtual ~Evaluation() = default;
  virtual void fields(Fields&) {}  // what it has to be told
  virtual bool needs_references() const { return true; }
  // What a model is to be asked, of an evaluation that has its own questions in the file of what is right.
  virtual std::optional<std::vector<std::string>> questions(const LineFile&) const { return {}; }
  virtual Outcome run(const Outputs&) const = 0;
};

struct EvaluationKind {
  static constexpr std::string_view noun = "evaluation";
  std::string_view name;
  std::string_view help;
  std::unique_ptr<Evaluation> (*make)();
};

template <class E>
std::unique_ptr<Evaluation> make_evaluation() {
  return std::make_unique<E>();
}

}  // namespace fovea
