// For tests: a folder with small models of every kind (their weights are drawn) and the files that examples of verbs name.
//
//   ExampleFolder folder("tag");   folder.run("tag -m my-tagger 'Ada lives in London'").out;
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <string>

#include "cli/program.h"
#include "fovea/base/file.h"
#include "fovea/data/image/picture_input.h"
#include "fovea/data/text/sentencepiece.h"
#include "fovea/data/text/words.h"
#include "fovea/generate/config.h"
#include "fovea/models/families/captioner.h"
#include "fovea/models/families/classifier.h"
#include "fovea/models/families/tagger.h"
#include "fovea/models/families/transformer.h"
#include "fovea/models/listener_folder.h"
#include "fovea/models/pretrained.h"
#include "fovea/train/lora.h"
#include "test_paths.h"

namespace fovea {

class ExampleFolder final {
 public:
  explicit ExampleFolder(const std::string& name)
      : path_(std::filesystem::path(testing::TempDir()) / ("fovea_" + name + "_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
    write_files();
    write_models();
  }
  ~ExampleFolder() { std::filesystem::remove_all(path_); }
  ExampleFolder(const ExampleFolder&) = delete;
  ExampleFolder& operator=(const ExampleFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  Answer run(const std::string& arguments, const std::string& input = "/dev/null") const {
    return run_program(arguments, {.input = input, .folder = path_.string()});
  }

 private:
  void write(const std::string& name, std::string_view text) const { write_text(path_ / name, text); }

  void write_files() const {
    std::string text, pairs, labelled, tagged, labels, numbers;
    for (int day = 1; day <= 8; ++day) {
      for (const char* who : {"sailor", "teacher", "gardener", "Mayor of London"}) {
        for (const char* what : {"opened the window", "wrote a letter", "sang about the sea", "visited Paris"}) {
          const std::string sentence = fmt::format("The {} {} on day {}.", who, what, day);
          const char* label = what[0] == 'w' ? "bad" : "good";
          text += sentence + "\n";
          pairs += sentence + "\tWo ist der Bahnhof?\n";
          labelled += sentence + "\t" + label + "\n";
          labels += fmt::format("{}\t0.9\n", day == 1 ? "bad" : label);
          tagged += fmt::format("The O\n{} O\nof O\nNew B-LOC\nYork I-LOC\n{} O\n{} O\n\n", who[0], what[0], day);
          numbers += "-0.5 -1.25\n";
        }
      }
    }
    for (const char* name : {"text.txt", "test.en", "output.en", "a.en", "b.en", "test.txt", "output.txt"})
      write(name, text);
    for (const char* name : {"labelled.tsv", "test.tsv"}) write(name, labelled);
    for (const char* name : {"tagged.conll", "test.conll", "output.conll"}) write(name, tagged);
    write("pairs.tsv", pairs);
    write("table.tsv", "length\tBLEU\n10\t30\n20\t28\n");
    write("recipe.yaml", "task: classification\ndata: [labelled.tsv]\n");
    write("dialogues.json", R"([{"dialogue": "Ann: Hi!\nBen: Hello."}, {"dialogue": "Ann: Where?\r\nBen: Paris."}])");
    write("output.tsv", labels);
    for (const char* name : {"gold.pharaoh", "output.pharaoh"}) write(name, "0-0 1-1\n0-0\n");
    write("log_probabilities.txt", numbers);
    write("demands.tsv", "names\tTom met Anna in Brussels.\tTom\tAnna\tBrüssel\n");
    write_safetensors(path_ / "layer.safetensors", {{"q", ones({3, 16})}, {"k", ones({4, 16})}});
    for (const char* name : {"my-model", "first", "second"}) {
      std::filesystem::create_directories(path_ / name);
      write(std::string(name) + "/log.jsonl", "{\"step\":10,\"loss\":4.0}\n{\"step\":20,\"loss\":2.0}\n");
    }
    std::filesystem::copy_file(std::filesystem::path(test_data) / "golden/trace.safetensors",
                               path_ / "seen.safetensors");
    write_pictures();
    gzFile file = gzopen((path_ / "text.txt.gz").c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
  }

  // Grey ones, light above or below.
  void write_pictures() const {
    for (int i = 0; i < 12; ++i) {
      Image picture = {8, 8, 1, {}};
      for (int p = 0; p < 64; ++p)
        picture.pixels.push_back(static_cast<uint8_t>(((p < 32) == (i < 6) ? 150 : 20) + 7 * ((p * (i + 3)) % 11)));
      const std::filesystem::path folder = path_ / "pictures" / (i < 6 ? "above" : "below");
      std::filesystem::create_directories(folder);
      write_text(folder / fmt::format("{}.png", i), png_bytes(picture));
      if (i == 0) write("photo.png", png_bytes(picture));
    }
  }

  void save_looker() const {
    const std::unique_ptr<ModelConfig> config = find<Family>("vit").config();
    from_json(R"({"architectures": ["ViTForImageClassification"], "hidden_size": 16, "num_attention_heads": 2,
                  "num_hidden_layers": 2, "intermediate_size": 32, "image_size": 8, "patch_size": 4, "num_channels": 1,
                  "id2label": {"0": "above", "1": "below"}})",
              *config, "config.json");
    const std::unique_ptr<Model> model = config->make();
    initialise(*model, Random(3));
    save_model(path_ / "my-looker", *model);
    write_picture_input(path_ / "my-looker", {.height = 8, .width = 8, .image_mean = {0.5}, .image_std = {0.5}});
  }

  template <class M>
  void save(const std::string& name, M&& model, const Tokenizer& tokenizer) const {
    initialise(model, Random(3));
    save_model(path_ / name, model);
    tokenizer.save(path_ / name);
  }

  // BERT with a head, and a vocabulary of letters.
  void save_bert(const std::string& name, const std::string& architecture) const {
    std::string vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\n.\n?\n";
    for (char c = 'a'; c <= 'z'; ++c) vocabulary += fmt::format("{}\n##{}\n", c, c);
    const std::unique_ptr<ModelConfig> config = find<Family>("bert").config();
    from_json(fmt::format(R"({{"architectures": ["{}"], "vocab_size": 60, "hidden_size": 16, "num_attention_heads": 2,
                              "num_hidden_layers": 1, "intermediate_size": 32, "max_position_embeddings": 128,
                              "id2label": {{"0": "O", "1": "B-LOC"}}}})",
                          architecture),
              *config, "config.json");
    const std::unique_ptr<Model> model = config->make();
    initialise(*model, Random(3));
    save_model(path_ / name, *model);
    write(name + "/vocab.txt", vocabulary);
    write(name + "/tokenizer_config.json", R"({"do_lower_case": true, "tokenizer_class": "BertTokenizer"})");
  }

  void write_models() const {
    save_bert("my-encoder", "BertModel");
    save_looker();
    save_bert("my-masked", "BertForMaskedLM");
    save_bert("my-finder", "BertForQuestionAnswering");
    const std::vector<std::string> texts = {(path_ / "text.txt").string()};
    const SentencePiece pieces = SentencePiece::train(lines_of(texts), {.vocabulary = 60, .byte_fallback = false});
    const Words words = Words::train(lines_of(texts), {.vocabulary = 100});
    save("my-model",
         Transformer({.vocabulary = pieces.size(),
                      .encoder_layers = 1,
                      .decoder_layers = 1,
                      .stack = {.width = 16, .heads = 2, .hidden = 32}}),
         pieces);
    write_generation_config(path_ / "my-model", {.beam_size = 2, .max_length = 12});
    write("my-model/recipe.yaml", "task: translation\ndata: pairs.tsv\n");
    save(
        "my-classifier",
        PooledClassifier({.vocabulary = pieces.size(), .labels = {"bad", "good", "so-so"}, .embedding = 8, .width = 8}),
        pieces);
    save("my-tagger",
         WordTagger({.vocabulary = words.size(),
                     .characters = words.characters_size(),
                     .labels = {"O", "B-LOC", "I-LOC"},
                     .embedding = 8,
                     .width = 8,
                     .character_embedding = 4,
                     .character_width = 4}),
         words);
    write_language_model(pieces);
    write_captioner(words);
    write_listener(path_ / "my-listener");
    std::filesystem::copy_file(std::filesystem::path(test_data) / "golden" / "sound" / "plain.wav",
                               path_ / "speech.wav");
    const std::unique_ptr<Model> encoder = load_model(path_ / "my-encoder", {.learns = true});
    Lora({.rank = 2}, *encoder, {}, Random(3)).save(path_ / "my-lora", *encoder, "my-encoder");
  }

  // It reads pictures of 16 × 16 pixels.
  void write_captioner(const Words& words) const {
    save("my-captioner",
         PictureCaptioner({.vocabulary = words.size(), .image_size = 16, .patch_size = 4, .encoder_width = 8}), words);
    write_generation_config(path_ / "my-captioner", {.beam_size = 2, .min_length = 3, .max_length = 6});
    PictureInput input;
    input.height = input.width = 16;
    write_picture_input(path_ / "my-captioner", input);
    Image picture = {.width = 24, .height = 12, .pixels = std::vector<uint8_t>(24 * 12 * 3, 200)};
    for (int64_t x = 4; x < 9; ++x) picture.at(x, 5, 0) = 0;
    write("picture.png", png_bytes(picture));
    write("paths.txt", "picture.png\npicture.png\n");
  }

  // A language model of Llama's shape, and how it writes a conversation.
  void write_language_model(const Tokenizer& tokenizer) const {
    const std::unique_ptr<ModelConfig> config = find<Family>("llama").config();
    from_json(R"({"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1, "num_attention_heads": 2})",
              *config, "");
    tell(*config, {.vocabulary = tokenizer.size()});
    const std::unique_ptr<Model> model = config->make();
    save("my-language-model", *model, tokenizer);
    write_generation_config(path_ / "my-language-model", {.max_length = 12});
    write("my-language-model/chat_template.jinja",
          "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:");
    write("questions.txt", "Who sang about the sea?\nWho visited Paris?\n");
  }

  std::filesystem::path path_;
};

}  // namespace fovea
