// What the page asks for: other texts and models, and parts of weights. Knows nothing of HTTP.
//
//   ViewSession session({.models = {"en-de", "sentiment"}});
//   std::string json = session.run("en-de", "The cat sat.");   std::string f32 = session.tile({.run = 0, .place = "decoder.0.cross"});
//
// The latest few recordings stay, and one model beside the latest; both are what bounds its memory. Texts wait for one another; parts
// of weights are computed meanwhile.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "fovea/explain/recording.h"
#include "fovea/models/pretrained.h"

namespace fovea {

class ViewSession final {
 public:
  struct Options {
    std::vector<std::string> models = {};  // what may be asked for: names of the zoo, or folders that the user named
    LoadOptions load = {};
    std::vector<std::string> files = {};  // pictures and sounds that may be asked for: those that the user named
    size_t most_text_bytes = 1 << 20;
    size_t most_explained_bytes = 4096;  // a method runs a model as often as a text has words
    size_t most_recordings = 4;
    size_t most_tokens = 1 << 17;  // of all sequences of the recordings that stay beside the latest
  };
  explicit ViewSession(Options options) : options_(std::move(options)) {}

  const std::vector<std::string>& models() const { return options_.models; }

  // The recording as page_json() has it. Of a model that sees or hears the text is one of the files. "NAME @ int8" is the model with its weights
  // in another precision. An Error for a model or a file that is not one of them, or a text that is too long.
  std::string run(const std::string& model, const std::string& text);

  // A recording that somebody made elsewhere: it stays. The same JSON.
  std::string open(Recording);

  // Which words an answer comes from, by these methods, as to_json(Attributions) has it; with a check "check" stands beside them.
  struct Explain {
    std::string model = {}, text = {}, answer = {};
    std::vector<std::string> methods = {"all"};
    std::string erase = "replace";
    bool check = false;
  };
  std::string explain(const Explain&);

  // Squares of 2^level × 2^level weights from a row and a column on, pooled (window.h): their largest, then their mean, as f32
  // little endian, behind two i32: how many rows and columns of squares there are. Level 0: the weights themselves, once.
  // An Error for more than most_squares of them, or of more than most_cells weights that would have to be computed.
  static constexpr int64_t most_squares = int64_t{1} << 22, most_cells = int64_t{1} << 30;
  struct Tile {
    int64_t run = 0;
    std::string place = {};
    int64_t head = 0;  // its number among those recorded
    int64_t level = 0, row = 0, column = 0;
    int64_t rows = 256, columns = 256;  // squares
  };
  std::string tile(const Tile&);

  // One row of a head with the model's own numbers, as worked_row() (steps.h) has it, as JSON.
  struct Row {
    int64_t run = 0;
    std::string place = {};
    int64_t head = 0, row = 0;
  };
  std::string steps(const Row&);

 private:
  const Pretrained& loaded(const std::string& model);
  void check_text(const std::string& text, size_t most_bytes) const;
  void drop_old();
  std::shared_ptr<const Recording> recording(int64_t run);
  Recording recorded(const std::string& model, const std::string& text);

  Options options_;
  std::mutex mutex_;
  std::deque<std::pair<std::string, std::unique_ptr<Pretrained>>> loaded_;
  std::map<int64_t, std::shared_ptr<const Recording>> recordings_;
  std::map<int64_t, std::shared_ptr<const Recording>> opened_;
  int64_t next_ = 0;
};

}  // namespace fovea
