// BLEU-1 … 4 and CIDEr of captions, as the COCO caption evaluation (pycocoevalcap 1.2) computes them from words.
//
//   BLEUₙ = BP · (Π pₖ)^(1/n), k = 1 … n, over all captions at once; of the references' lengths the closest counts
//   CIDEr (Vedantam, Zitnick and Parikh 2015), its variant D: over n = 1 … 4 and the references r of a picture the mean of
//
//     10 · exp(−(bigrams of h − bigrams of r)² / 72) · Σ min(hₙ, rₙ) rₙ / (|hₙ| |rₙ|)
//
//   hₙ and rₙ having for each n-gram its count times log(pictures / pictures that have it in a reference)
//
//   CocoScores scores = coco_scores({"a red circle"}, {{"a red circle", "a circle"}});   scores.bleu[3], scores.cider
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct CocoScores {
  std::array<double, 4> bleu = {};
  double cider = 0;
};

// Each picture has a caption and one reference or more; words are what white space cuts.
CocoScores coco_scores(const std::vector<std::string>& captions,
                       const std::vector<std::vector<std::string>>& references);

// Lower case, without punctuation, 's and n't as words of their own: what the evaluation's tokenizer makes of plain English captions.
std::string coco_words(std::string_view caption);

}  // namespace fovea
