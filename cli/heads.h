// `fovea explain --heads` and `--find-alignment-heads`: all heads of a model over many texts; and `--word`: one word in several.
//
//   HeadOptions heads;   heads.fields(f);   …   if (heads.asked()) return run_heads(heads, options, data);
#pragma once

#include <string>

#include "cli/answers.h"

namespace fovea {

struct HeadOptions {
  bool heads = false, find_alignment_heads = false, save = false;
  std::string gold, dictionary, word;

  void fields(Fields& f);
  bool asked_for_many() const { return heads || find_alignment_heads; }
  bool asked() const { return heads || find_alignment_heads || !word.empty(); }
};

void run_heads(const HeadOptions&, const AnswerOptions&, const std::string& data);

}  // namespace fovea
