#include "fovea/data/text/number_forms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "fovea/data/text/pretrained/regex.h"

namespace fovea {
namespace {

struct Language {
  std::string_view name;
  char decimal, group;
  std::array<std::string_view, 12> months;
  std::array<std::string_view, 13> hours;  // in words; the first is that of midnight
  const char *number, *amount, *date, *time;
  const char *clock, *decade;  // half past nine, the 1990s
};

// A number ends before a letter, a digit or a mark with digits behind it. Behind "version" it is a name.
#define FOVEA_BEFORE "(?<![\\p{L}\\p{N}_.,/:-])"
#define FOVEA_EN_HOURS "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
#define FOVEA_DE_HOURS "(?:eins|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf)"
#define FOVEA_BEHIND "(?![\\p{L}\\p{N}_]|[.,:/][0-9])"

const Language languages[] = {
    {"en",
     '.',
     ',',
     {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
      "December"},
     {"twelve", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"},
     "(?<![Vv]ersion )" FOVEA_BEFORE
     "(?:[0-9]{1,3}(?:,[0-9]{3})+(?:\\.[0-9]+)?|[0-9]+\\.[0-9]+|[0-9]{2,}|[2-9])(?!-|\\. ?\\p{L})" FOVEA_BEHIND,
     FOVEA_BEFORE "[$€£](?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\\.[0-9]+)?" FOVEA_BEHIND,
     FOVEA_BEFORE "(?:(?:January|February|March|April|May|June|July|August|September|October|November|December) "
                  "[0-9]{1,2}(?:st|nd|rd|th)?(?:,? [0-9]{4})?|[0-9]{1,2}(?:st|nd|rd|th)?(?: of)? "
                  "(?:January|February|March|April|May|June|July|August|September|October|November|December)(?:,? "
                  "[0-9]{4})?)" FOVEA_BEHIND,
     FOVEA_BEFORE "(?:[0-9]{1,2}:[0-9]{2}(?: ?(?:[ap]\\.m\\.|[apAP][mM]))?|[0-9]{1,2} "
                  "?(?:[ap]\\.m\\.|[apAP][mM]))(?![\\p{L}\\p{N}_:])",
     FOVEA_BEFORE "(?:half past|(?:a )?quarter (?:past|to)) " FOVEA_EN_HOURS FOVEA_BEHIND,
     "(?<=[Ii]n |[Ss]ince )the [12][0-9]{2}0s" FOVEA_BEHIND},
    {"de",
     ',',
     '.',
     {"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
      "Dezember"},
     {"zwölf", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun", "zehn", "elf", "zwölf"},
     "(?<![Vv]ersion )" FOVEA_BEFORE
     "(?:[0-9]{1,3}(?:\\.[0-9]{3})+(?:,[0-9]+)?|[0-9]+,[0-9]+|[0-9]{2,}|[2-9])(?!-|\\. ?\\p{L})" FOVEA_BEHIND,
     FOVEA_BEFORE "(?:[0-9]{1,3}(?:\\.[0-9]{3})+|[0-9]+)(?:,[0-9]+)? ?[$€£](?![\\p{L}\\p{N}_])",
     FOVEA_BEFORE
     "(?:[0-9]{1,2}\\. ?(?:Januar|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)"
     "(?: [0-9]{4})?|[0-9]{1,2}\\.[0-9]{1,2}\\.[0-9]{4})" FOVEA_BEHIND,
     FOVEA_BEFORE "[0-9]{1,2}[.:][0-9]{2} Uhr(?![\\p{L}\\p{N}_])",
     FOVEA_BEFORE "(?:halb|[Vv]iertel (?:nach|vor)) " FOVEA_DE_HOURS FOVEA_BEHIND,
     "(?<=[Ii]n |[Ss]eit )den [12][0-9]{2}0er(?:n|[ -]?Jahren)" FOVEA_BEHIND},
};

const Language* find(std::string_view name) {
  const auto found = std::ranges::find(languages, name, &Language::name);
  return found == std::end(languages) ? nullptr : found;
}

std::vector<std::string> digits_in(std::string_view text) {
  std::vector<std::string> all;
  bool open = false;
  for (char c : text) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && !open) all.emplace_back();
    if (digit) all.back() += c;
    open = digit;
  }
  return all;
}

int64_t value_of(const std::string& digits) { return std::stoll(digits.substr(0, 9)); }

std::string number_of(std::string_view text, const Language& from, const Language& to) {
  std::string result;
  for (char c : text) result += c == from.decimal ? to.decimal : c == from.group ? to.group : c;
  return result;
}

NumberForm amount_of(std::string_view text, const Language& from, const Language& to) {
  std::string sign, number;
  for (const CodePoint& c : code_points(text)) {
    if (c.value == U'$' || c.value == U'€' || c.value == U'£')
      sign = to_utf8(c.value);
    else if (c.value != U' ')
      number += piece_of(text, c.span);
  }
  number = number_of(number, from, to);
  const std::string word = sign == "$" ? "Dollar" : sign == "€" ? "Euro" : to.name == "de" ? "Pfund" : "pounds";
  const std::string plural = to.name == "en" && sign == "$"   ? "dollars"
                             : to.name == "en" && sign == "€" ? "euros"
                                                              : word;
  const bool behind = to.name == "de";
  return {NumberForm::amount, {}, behind ? number + " " + sign : sign + number, {number + " " + plural, number}};
}

// Nothing if it is no date of a calendar.
NumberForm date_of(std::string_view text, const Language& from, const Language& to) {
  const std::vector<std::string> digits = digits_in(text);
  int64_t day = value_of(digits[0]), month = 0;
  for (size_t i = 0; i < 12; ++i)
    if (text.find(from.months[i]) != std::string_view::npos) month = static_cast<int64_t>(i) + 1;
  const bool named = month > 0;
  if (!named && digits.size() > 1) month = value_of(digits[1]);
  if (day < 1 || day > 31 || month < 1 || month > 12) return {};
  const std::string year = digits.size() == (named ? 2u : 3u) ? digits.back() : "";
  const std::string_view name = to.months[static_cast<size_t>(month) - 1];
  NumberForm form = {NumberForm::date, {}, "", {}};
  if (to.name == "de") {
    form.text = fmt::format("{}. {}{}{}", day, name, year.empty() ? "" : " ", year);
    if (!year.empty())
      form.accepted = {fmt::format("{}.{}.{}", day, month, year), fmt::format("{:02}.{:02}.{}", day, month, year)};
    return form;
  }
  const char* ending = day % 10 == 1 && day != 11   ? "st"
                       : day % 10 == 2 && day != 12 ? "nd"
                       : day % 10 == 3 && day != 13 ? "rd"
                                                    : "th";
  const std::string comma = year.empty() ? "" : ", " + year, blank = year.empty() ? "" : " " + year;
  form.text = fmt::format("{} {}{}", name, day, comma);
  form.accepted = {fmt::format("{} {}{}{}", name, day, ending, comma),
                   fmt::format("{}{} of {}{}", day, ending, name, comma),
                   fmt::format("{}{} of {}{}", day, ending, name, blank), fmt::format("{} {}{}", day, name, blank)};
  return form;
}

NumberForm time_of(std::string_view text, const Language& to) {
  const std::vector<std::string> digits = digits_in(text);
  int64_t hour = value_of(digits[0]), minute = digits.size() > 1 ? value_of(digits[1]) : 0;
  const bool afternoon = text.find("p.m") != text.npos || text.find("pm") != text.npos || text.find("PM") != text.npos;
  const bool morning = text.find("a.m") != text.npos || text.find("am") != text.npos || text.find("AM") != text.npos;
  if (afternoon && hour < 12) hour += 12;
  if (morning && hour == 12) hour = 0;
  if (hour > 24 || minute > 59) return {};
  NumberForm form = {NumberForm::time, {}, "", {}};
  const std::string clock = fmt::format("{}:{:02}", hour, minute), dotted = fmt::format("{}.{:02}", hour, minute);
  const auto word = [&](int64_t h) { return to.hours[static_cast<size_t>(h % 12)]; };
  if (to.name == "de") {
    form.text = digits.size() > 1 ? clock + " Uhr" : fmt::format("{} Uhr", hour);
    form.accepted = {clock, dotted, fmt::format("{} Uhr {}", hour, minute)};
    if (minute == 30) form.accepted.push_back(fmt::format("halb {}", word(hour + 1)));
    if (minute == 0) form.accepted.push_back(fmt::format("{} Uhr", hour % 12 == 1 ? "ein" : word(hour)));
    return form;
  }
  form.text = clock;
  form.accepted = {dotted, fmt::format("{}:{:02}", hour % 12, minute)};
  if (minute == 30) form.accepted.push_back(fmt::format("half past {}", word(hour)));
  if (minute == 15) form.accepted.push_back(fmt::format("quarter past {}", word(hour)));
  if (minute == 45) form.accepted.push_back(fmt::format("quarter to {}", word(hour + 1)));
  return form;
}

// "half past nine" is "halb zehn".
NumberForm clock_of(std::string_view text, const Language& from, const Language& to) {
  const std::string_view named = text.substr(text.rfind(' ') + 1);
  const auto found = std::find(from.hours.begin() + 1, from.hours.end(), named);
  const bool half = text.starts_with("hal");
  const bool past = text.find(" past ") != text.npos || text.find(" nach ") != text.npos;
  // The hour that has begun, and the one that is next.
  int64_t hour = found - from.hours.begin();
  if (half ? from.name == "de" : !past) hour = hour == 1 ? 12 : hour - 1;
  const int64_t minute = half ? 30 : past ? 15 : 45;
  const std::string_view begun = to.hours[static_cast<size_t>(hour)],
                         next = to.hours[static_cast<size_t>(hour % 12 + 1)];
  NumberForm form = {
      NumberForm::time, {}, "", {fmt::format("{}:{}", hour, minute), fmt::format("{}.{}", hour, minute)}};
  form.plain = fmt::format("{}:{}{}", hour, minute, from.name == "de" ? " Uhr" : "");
  if (to.name == "de") {
    form.text = half   ? fmt::format("halb {}", next)
                : past ? fmt::format("Viertel nach {}", begun)
                       : fmt::format("Viertel vor {}", next);
    if (!half) form.accepted.push_back("v" + form.text.substr(1));
  } else {
    form.text = half   ? fmt::format("half past {}", begun)
                : past ? fmt::format("quarter past {}", begun)
                       : fmt::format("quarter to {}", next);
    form.accepted.push_back(half   ? fmt::format("{} thirty", begun)
                            : past ? fmt::format("quarter after {}", begun)
                                   : fmt::format("quarter of {}", next));
  }
  return form;
}

// "in the 1990s" is "in den 1990er Jahren".
NumberForm decade_of(std::string_view text, const Language& to) {
  const std::string year = digits_in(text)[0], short_year = year.substr(2);
  if (to.name == "de")
    return {NumberForm::decade,
            {},
            fmt::format("den {}er Jahren", year),
            {year + "er", year + "ern", short_year + "er", short_year + "ern"}};
  return {NumberForm::decade, {}, fmt::format("the {}s", year), {year + "s", short_year + "s"}};
}

std::string with_capital(std::string word) {
  if (word[0] >= 'a' && word[0] <= 'z') word[0] = static_cast<char>(word[0] - 'a' + 'A');
  return word;
}

// In words, of 2 to 99.
std::string in_words(int64_t value, const Language& language) {
  static constexpr std::array<std::string_view, 20> english = {
      "",    "one",    "two",    "three",    "four",     "five",    "six",     "seven",     "eight",    "nine",
      "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  static constexpr std::array<std::string_view, 20> german = {
      "",     "ein", "zwei",  "drei",     "vier",     "fünf",     "sechs",    "sieben",   "acht",     "neun",
      "zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn", "achtzehn", "neunzehn"};
  static constexpr std::array<std::string_view, 10> english_tens = {"",      "",      "twenty",  "thirty", "forty",
                                                                    "fifty", "sixty", "seventy", "eighty", "ninety"};
  static constexpr std::array<std::string_view, 10> german_tens = {
      "", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"};
  const bool de = language.name == "de";
  const size_t ones = static_cast<size_t>(value % 10), tens = static_cast<size_t>(value / 10);
  if (value < 20) return std::string((de ? german : english)[static_cast<size_t>(value)]);
  const std::string_view ten = (de ? german_tens : english_tens)[tens];
  if (ones == 0) return std::string(ten);
  return de ? fmt::format("{}und{}", german[ones], ten) : fmt::format("{}-{}", ten, english[ones]);
}

struct Rules {
  Regex number, amount, date, time, clock, decade;
};

const Rules& rules_of(const Language& language) {
  static const std::vector<Rules> all = [] {
    std::vector<Rules> rules;
    for (const Language& l : languages)
      rules.push_back({Regex(l.number, "numbers"), Regex(l.amount, "amounts"), Regex(l.date, "dates"),
                       Regex(l.time, "times"), Regex(l.clock, "times"), Regex(l.decade, "decades")});
    return rules;
  }();
  return all[static_cast<size_t>(&language - languages)];
}

}  // namespace

bool knows_numbers(std::string_view language) { return find(language) != nullptr; }

std::vector<NumberForm> number_forms(std::string_view text, std::string_view from, std::string_view to) {
  const Language *source = find(from), *target = find(to);
  std::vector<NumberForm> forms;
  if (!source || !target) return forms;
  const auto add = [&](const Regex& rule, const auto& make) {
    rule.each_match(text, [&](size_t begin, size_t end) {
      const Span span = {static_cast<int64_t>(begin), static_cast<int64_t>(end)};
      for (const NumberForm& f : forms)
        if (span.begin < f.span.end && f.span.begin < span.end) return;
      NumberForm form = make(piece_of(text, span));
      if (form.text.empty()) return;
      form.span = span;
      forms.push_back(std::move(form));
    });
  };
  const Rules& rules = rules_of(*source);
  add(rules.date, [&](std::string_view t) { return date_of(t, *source, *target); });
  add(rules.time, [&](std::string_view t) { return time_of(t, *target); });
  add(rules.clock, [&](std::string_view t) { return clock_of(t, *source, *target); });
  add(rules.decade, [&](std::string_view t) { return decade_of(t, *target); });
  add(rules.amount, [&](std::string_view t) { return amount_of(t, *source, *target); });
  add(rules.number, [&](std::string_view t) {
    const std::string same = number_of(t, *source, *target);
    NumberForm form = {NumberForm::number, {}, same, {}};
    std::string ungrouped;
    for (char c : same)
      if (c != target->group) ungrouped += c;
    if (ungrouped != same) form.accepted = {ungrouped};
    if (t.size() <= 2 && value_of(std::string(t)) >= 2) {
      const std::string words = in_words(value_of(std::string(t)), *target);
      form.accepted = {words, with_capital(words)};
    }
    return form;
  });
  std::ranges::sort(forms, {}, [](const NumberForm& f) { return f.span.begin; });
  return forms;
}

}  // namespace fovea
