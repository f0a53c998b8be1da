#include "fovea/explain/trace_file.h"
#include "fovea/explain/window.h"

#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_file({data, size}, [](const std::string& path) {
    const TraceFile file(path);
    for (const TraceFile::Place& p : file.places()) {
      if (p.rows > 0 && p.columns > 0 && !p.recorded.heads.empty() && !p.kept.empty())
        file.weight(p.recorded.place.path, 0, p.rows - 1, p.columns - 1);
    }
    for (const RecordedPlace& p : file.recording().places)
      if (p.rows() <= 4096 && p.columns() <= 4096) pooled(p, 0, {.level = 1, .row = p.rows() - 1});
  });
}
