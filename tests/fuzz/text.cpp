// What is done with every text: words, normal forms, showing it, what is not to be translated.
#include "fovea/data/text/words.h"

#include "fovea/data/text/kept_text.h"
#include "fovea/data/text/number_forms.h"
#include "tests/fuzz/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fovea;
  return fuzz_text({data, size}, [](std::string_view text) {
    if (invalid_utf8(printable(text)) != std::string_view::npos) std::abort();
    check_utf8(text, "text");
    for (const Span span : split_words(text)) lower_case(nfkc(piece_of(text, span)));
    if (text.size() > 4000) return;
    for (const KeptText& kept : find_kept_text(text)) piece_of(text, kept.span);
    for (const char* language : {"en", "de"}) number_forms(text, language, language[0] == 'e' ? "de" : "en");
  });
}
