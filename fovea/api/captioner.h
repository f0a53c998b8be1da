// What is in a picture in one call, and where the model looked for each word.
//
//   fovea::Captioner caption;
//   auto r = caption("photo.png");            // r.text, r.score, r.words[2].text, r.words[2].x, r.words[2].looked
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "fovea/api/model_options.h"
#include "fovea/data/image/image.h"
#include "fovea/data/text/utf8.h"

namespace fovea {

struct CaptionerOptions {
  int64_t beam_size = 0;  // 0: as the model has it
};

class Captioner final {
 public:
  using Options = CaptionerOptions;

  struct Word {
    std::string text;
    Span span = {};                   // its bytes in the caption
    double probability = 0;           // given the picture and the words before it
    double x = 0, y = 0;              // the middle of the part that was looked at most, in pixels of the picture
    std::vector<double> looked = {};  // at each part, row by row; none if the model looks at the whole picture
  };
  struct Answer {
    std::string text = {};
    double score = 0;  // the mean log-probability of its tokens
    std::vector<Word> words = {};
    int64_t down = 0, across = 0;  // parts of the picture
  };

  explicit Captioner(const std::string& model = "scenes", const ModelOptions& = {});

  Answer operator()(const std::string& path, const Options& = {}) const;
  Answer operator()(const Image& picture, const Options& = {}) const;
  std::vector<Answer> operator()(const std::vector<Image>& pictures, const Options& = {}) const;

 private:
  struct Loaded;
  std::shared_ptr<const Loaded> loaded_;
};

}  // namespace fovea
