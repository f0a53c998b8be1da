#include "fovea/data/text/place_names.h"

#include <algorithm>
#include <functional>

#include "fovea/formats/matrix_text.h"

namespace fovea {
namespace {

// English names and German ones, from Unicode's CLDR (Unicode licence) where it has them: those that stand without an article, and that are no
// everyday words in either language.
constexpr std::string_view pairs =
    "Addis Ababa=Addis Abeba;Albania=Albanien;Algeria=Algerien;Algiers=Algier;Antwerp=Antwerpen;"
    "Argentina=Argentinien;Armenia=Armenien;Astrakhan=Astrachan;Athens=Athen;Australia=Australien;"
    "Austria=Österreich;Azerbaijan=Aserbaidschan;Baghdad=Bagdad;Bangladesh=Bangladesch|Bangladesh;Belgium=Belgien;"
    "Belgrade=Belgrad;Bishkek=Bischkek;Bolivia=Bolivien;Botswana=Botsuana|Botswana;Brazil=Brasilien;Bruges=Brügge;"
    "Brussels=Brüssel;Bucharest=Bukarest;Bulgaria=Bulgarien;Cairo=Kairo;Cambodia=Kambodscha;Cameroon=Kamerun;"
    "Canada=Kanada;Cologne=Köln;Colombia=Kolumbien;Copenhagen=Kopenhagen;Croatia=Kroatien;Cuba=Kuba;Cyprus=Zypern;"
    "Damascus=Damaskus;Dar es Salaam=Daressalam;Denmark=Dänemark;Djibouti=Dschibuti;Dushanbe=Duschanbe;"
    "Egypt=Ägypten;Equatorial Guinea=Äquatorialguinea;Estonia=Estland;Ethiopia=Äthiopien;Fiji=Fidschi;"
    "Finland=Finnland;Florence=Florenz;France=Frankreich;French Guiana=Französisch-Guayana;Gabon=Gabun;Geneva=Genf;"
    "Genoa=Genua;Germany=Deutschland;Greece=Griechenland;Greenland=Grönland;Havana=Havanna;"
    "Hong Kong=Hongkong|Hong Kong;Hungary=Ungarn;Iceland=Island;India=Indien;Indonesia=Indonesien;Ireland=Irland;"
    "Italy=Italien;Jamaica=Jamaika;Kamchatka=Kamtschatka;Karachi=Karatschi;Kazakhstan=Kasachstan;Kenya=Kenia;"
    "Khartoum=Khartum;Kolkata=Kalkutta|Kolkata;Kraków=Krakau;Krasnoyarsk=Krasnojarsk;Kyiv=Kiew|Kyjiw;"
    "Kyrgyzstan=Kirgisistan;Latvia=Lettland;Libya=Libyen;Lisbon=Lissabon;Lithuania=Litauen;Luxembourg=Luxemburg;"
    "Madagascar=Madagaskar;Mauritania=Mauretanien;Mexico=Mexiko;Mexico City=Mexiko-Stadt;Micronesia=Mikronesien;"
    "Milan=Mailand;Mogadishu=Mogadischu;Morocco=Marokko;Moscow=Moskau;Mozambique=Mosambik;Munich=München;"
    "Mérida=Merida;Naples=Neapel;New Caledonia=Neukaledonien;New Zealand=Neuseeland;Nicosia=Nikosia;"
    "North Korea=Nordkorea;North Macedonia=Nordmazedonien;Norway=Norwegen;Novokuznetsk=Nowokuznetsk;"
    "Novosibirsk=Nowosibirsk;Nuremberg=Nürnberg;Papua New Guinea=Papua-Neuguinea;Poland=Polen;Prague=Prag;"
    "Pyongyang=Pjöngjang;Qatar=Katar;Riyadh=Riad;Romania=Rumänien;Rome=Rom;Russia=Russland;Rwanda=Ruanda;"
    "Sakhalin=Sachalin;Saratov=Saratow;Saudi Arabia=Saudi-Arabien;Serbia=Serbien;Seville=Sevilla;Singapore=Singapur;"
    "Slovenia=Slowenien;South Africa=Südafrika;South Korea=Südkorea;Spain=Spanien;Strasbourg=Straßburg;"
    "Sweden=Schweden;Syria=Syrien;Taipei=Taipeh;Tajikistan=Tadschikistan;Tanzania=Tansania;Tashkent=Taschkent;"
    "Tbilisi=Tiflis|Tbilissi;Tehran=Teheran;Tokyo=Tokio|Tokyo;Tripoli=Tripolis;Tunisia=Tunesien;Ulyanovsk=Uljanowsk;"
    "Uzbekistan=Usbekistan;Venice=Venedig;Vienna=Wien;Vladivostok=Wladiwostok;Volgograd=Wolgograd;Warsaw=Warschau;"
    "Western Sahara=Westsahara;Yakutsk=Jakutsk;Yangon=Rangun|Yangon;Yekaterinburg=Jekaterinburg;Yerevan=Eriwan;"
    "Zambia=Sambia;Zimbabwe=Simbabwe|Zimbabwe;Zurich=Zürich";

struct Name {
  std::string text;
  std::vector<std::string> others;  // in the other language, the usual one first
};

// Long ones first: Mexico City is not in Mexico.
std::vector<Name> names_from(bool english) {
  std::vector<Name> names;
  for (const std::string& pair : split_text(pairs, ';')) {
    const size_t equals = pair.find('=');
    const std::string first = pair.substr(0, equals);
    const std::vector<std::string> german = split_text(pair.substr(equals + 1), '|');
    if (english) names.push_back({first, german});
    if (english) continue;
    for (const std::string& name : german) names.push_back({name, {first}});
  }
  std::ranges::stable_sort(names, std::greater(), [](const Name& n) { return n.text.size(); });
  return names;
}

const std::vector<Name>& names_of(std::string_view language) {
  static const std::vector<Name> english = names_from(true), german = names_from(false);
  return language == "en" ? english : german;
}

// Of each byte and of the end: whether a word may begin or end there.
std::vector<bool> borders(std::string_view text) {
  std::vector<bool> result(text.size() + 1);
  bool before = false;
  for (const CodePoint& c : code_points(text)) {
    const bool word = is_word_character(c.value) || c.value == '-';
    result[static_cast<size_t>(c.span.begin)] = !(before && word);
    before = word;
  }
  result[text.size()] = true;
  return result;
}

}  // namespace

std::vector<PlaceName> place_names(std::string_view text, std::string_view from, std::string_view to) {
  std::vector<PlaceName> found;
  if (!((from == "en" && to == "de") || (from == "de" && to == "en")) || invalid_utf8(text) != text.npos) return found;
  std::vector<bool> border = borders(text);
  for (const Name& name : names_of(from))
    for (size_t at = text.find(name.text); at != text.npos; at = text.find(name.text, at + 1)) {
      const size_t end = at + name.text.size();
      const std::string_view behind = text.substr(end);
      if (!border[at] || !border[end] || behind.starts_with("'s") || behind.starts_with("’s")) continue;
      found.push_back({{static_cast<int64_t>(at), static_cast<int64_t>(end)},
                       name.others[0],
                       {name.others.begin() + 1, name.others.end()}});
      std::fill(border.begin() + static_cast<int64_t>(at), border.begin() + static_cast<int64_t>(end), false);
    }
  std::ranges::sort(found, {}, [](const PlaceName& p) { return p.span.begin; });
  return found;
}

}  // namespace fovea
