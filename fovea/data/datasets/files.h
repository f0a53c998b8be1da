// The readers of examples: a file of any format that people have them in, added to a Dataset.
//
//   Dataset data;
//   for (const PlannedFile& file : plan_files({"a.en", "a.de", "more.csv"})) read_planned(file, ExampleKind::pairs, data);
//   read_file("reviews.jsonl.gz", ExampleKind::labelled, data, {.source = "review.body", .label = "stars"});
//
// Paths are as lines.h takes them: plain, .gz, .zip, "-". The format follows from the name: .json and .jsonl are JSON; tagged
// sentences are CoNLL columns otherwise, documents are plain text unless it is .csv or .tsv or a column is given, everything
// else is a table (table.h). Bad lines are counted; invalid UTF-8, a damaged
// file, columns that are not there and a file without a single good line are Errors.
#pragma once

#include <string>
#include <vector>

#include "fovea/data/datasets/columns.h"
#include "fovea/data/datasets/dataset.h"

namespace fovea {

void read_file(const std::string& path, ExampleKind kind, Dataset& into, const Columns& columns = {});

// What read_file chooses from.
void read_table(const std::string& path, ExampleKind kind, Dataset& into, const Columns& columns = {});
void read_conll(const std::string& path, Dataset& into, const Columns& columns = {});
// Every line with its end is part of a document that is a whole file; paragraphs and lines have none behind them.
void read_documents(const std::string& path, Dataset& into, const Columns& columns = {});
// An object a line, or one array of objects. Keys must be there: texts (a label may be a number or true or false, and a list
// of them in label_sets), lists of texts for tokens and tags.
void read_json(const std::string& path, ExampleKind kind, Dataset& into, const Columns& keys = {});
// Line n of one file is the translation of line n of the other; an Error if one is longer.
void read_parallel(const std::string& source, const std::string& target, Dataset& into);

bool is_plain_document(const std::string& path,
                       const Columns&);  // whether read_file reads it by read_documents, for documents
bool is_json(const std::string& path);   // by its name: .json, .jsonl, or these with .gz

// Files as they are given for pairs, a.en a.de b.tsv: two that follow each other are parallel if they are plain text (no
// table or JSON by name, no tab in their first lines) and their names are equal but for the last ending (train.en.gz and
// train.de.gz, x.en.txt and x.de.txt). All others are read by themselves.
struct PlannedFile {
  std::string path, target = {};  // target: the parallel file, or empty
};
std::vector<PlannedFile> plan_files(const std::vector<std::string>& paths);
void read_planned(const PlannedFile& file, ExampleKind kind, Dataset& into, const Columns& columns = {});

}  // namespace fovea
