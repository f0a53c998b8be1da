// Runs of characters of one script, with the blanks behind them; Japanese is one script, and Common (marks, digits) is one of its own.
#include <fmt/format.h>

#include "fovea/data/text/pretrained/pre_tokenizer.h"
#include "fovea/formats/matrix_text.h"

namespace fovea {
namespace {

constexpr std::string_view japanese = "\\p{Han}\\p{Hiragana}\\p{Katakana}\\x{30FC}";

// Those of Unicode 14 beside Japanese and Common.
constexpr std::string_view others =
    "Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki "
    "Bopomofo Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee "
    "Chorasmian Coptic Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan "
    "Egyptian_Hieroglyphs Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati "
    "Gunjala_Gondi Gurmukhi Hangul Hanifi_Rohingya Hanunoo Hatran Hebrew Imperial_Aramaic Inherited "
    "Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada Kayah_Li Kharoshthi "
    "Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu Lycian Lydian "
    "Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui "
    "Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari "
    "New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian "
    "Old_Permic Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong "
    "Palmyrene Pau_Cin_Hau Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian "
    "Siddham SignWriting Sinhala Sogdian Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa "
    "Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto "
    "Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square";

}  // namespace

// Blanks, and characters of no script, belong to what stands before them, if anything does.
PreTokenizerPointer unicode_scripts_pre_tokenizer() {
  const auto run = [](std::string_view script) { return fmt::format("(?! )[{0}][{0} \\p{{Unknown}}]*", script); };
  std::string pattern = run(japanese) + "|(?! )(?!\\x{30FC})\\p{Common}(?:(?!\\x{30FC})[\\p{Common}\\p{Unknown}])*";
  for (const std::string& name : split_text(others, ' ')) pattern += "|" + run("\\p{" + name + "}");
  return split_pre_tokenizer(Regex(pattern, "UnicodeScripts"), Behaviour::removed, true);
}

}  // namespace fovea
