"""What is put into sentences, in English and German: from Faker's providers and Unicode's CLDR, as recipes/zoo/get_lists fetched them."""

import importlib
import json
import re
import sys
from pathlib import Path

PEOPLE = ["en_US", "en_GB", "en_IE", "en_IN", "en_NZ", "de_DE", "de_AT", "de_CH", "fr_FR", "es_ES", "it_IT", "nl_NL", "pl_PL", "pt_PT",
          "sv_SE", "no_NO", "da_DK", "fi_FI", "cs_CZ", "hu_HU", "hr_HR", "ro_RO", "tr_TR", "id_ID", "et_EE", "sl_SI"]
# Countries that German has with an article, so that "in" alone does not do.
WITH_ARTICLE = set("CH TR IR IQ SD SS TD NE CG CD UA SK CZ MN US NL PH AE BS MV SC KM DO GB VA CF YE LB UN EU EZ QO XA XB ZZ".split())  # and what is no country


def is_plain(name):
    return bool(re.fullmatch(r"[^\W\d_][\w'’.-]*(?: [^\W\d_][\w'’.-]*){0,2}", name)) and name[0].isupper() and len(name) > 2


def latin(name):
    return all(ord(c) < 0x250 or c in "’" for c in name)


class Lists:
    def __init__(self, folder):
        self.folder = Path(folder)
        sys.path.insert(0, str(self.folder))
        self.men, self.women, self.last = self.people()
        self.cities = self.city_pairs()  # (English, German)
        self.towns = self.faker_cities()
        self.countries = self.country_pairs()
        self.languages = self.language_pairs()
        self.months = list(zip(self.month_names("en"), self.month_names("de")))
        self.units = self.unit_pairs()
        self.firm_endings = ["Inc.", "Ltd", "Group", "AG", "GmbH", "Corporation", "Industries", "Holdings", "Bank", "Motors", "Airlines",
                             "Foods", "Software", "Energy", "Systems", "Media", "Pharma", "Insurance"]

    def provider(self, kind, locale):
        try:
            return importlib.import_module(f"faker.providers.{kind}.{locale}").Provider
        except ImportError:
            return None

    def people(self):
        men, women, last = set(), set(), set()
        for locale in PEOPLE:
            p = self.provider("person", locale)
            for into, attribute in ((men, "first_names_male"), (women, "first_names_female"), (last, "last_names")):
                into.update(n.strip() for n in getattr(p, attribute, []) if is_plain(n.strip()) and latin(n))
        return sorted(men), sorted(women), sorted(last)

    def faker_cities(self):
        names = set()
        for locale in ("de_DE", "en_US", "fr_FR", "pl_PL", "nl_NL", "it_IT", "es_ES", "sv_SE", "hr_HR", "pt_PT"):
            p = self.provider("address", locale)
            for attribute in ("cities", "city_names", "big_cities"):
                names.update(n for n in getattr(p, attribute, []) if isinstance(n, str) and is_plain(n) and latin(n))
        return sorted(names)

    def cldr(self, part, language, file):
        return json.loads((self.folder / f"cldr-{part}/main/{language}/{file}.json").read_text(encoding="utf-8"))["main"][language]

    # The cities after which time zones are called; English has no entry where its name is that of the zone.
    def city_pairs(self):
        pairs = {}

        def walk(en, de, path):
            for key, value in de.items():
                if not isinstance(value, dict):
                    continue
                other = en.get(key, {}) if isinstance(en, dict) else {}
                if "exemplarCity" in value:
                    english = other.get("exemplarCity") or key.replace("_", " ")
                    if is_plain(english) and is_plain(value["exemplarCity"]) and not re.search(r"Unbekannt|\(|Insel", value["exemplarCity"]):
                        pairs[english] = value["exemplarCity"]
                else:
                    walk(other, value, path + [key])

        walk(self.cldr("dates", "en", "timeZoneNames")["dates"]["timeZoneNames"]["zone"],
             self.cldr("dates", "de", "timeZoneNames")["dates"]["timeZoneNames"]["zone"], [])
        # Well-known ones that no zone is called after; the two names are facts of geography.
        pairs |= dict(Munich="München", Cologne="Köln", Geneva="Genf", Venice="Venedig", Florence="Florenz", Milan="Mailand",
                      Naples="Neapel", Nuremberg="Nürnberg", Antwerp="Antwerpen", Bruges="Brügge", Kraków="Krakau", Turin="Turin",
                      Genoa="Genua", Seville="Sevilla", Nice="Nizza", Strasbourg="Straßburg", Basel="Basel", Bern="Bern")
        return sorted((e, d) for e, d in pairs.items() if latin(e) and latin(d))

    def country_pairs(self):
        en = self.cldr("localenames", "en", "territories")["localeDisplayNames"]["territories"]
        de = self.cldr("localenames", "de", "territories")["localeDisplayNames"]["territories"]
        return sorted((en[c], de[c]) for c in en if re.fullmatch("[A-Z]{2}", c) and c not in WITH_ARTICLE and c in de
                      and is_plain(en[c]) and is_plain(de[c]) and not re.search(r"Isl|Insel|Territor|region|Region", en[c] + de[c]))

    def language_pairs(self):
        en = self.cldr("localenames", "en", "languages")["localeDisplayNames"]["languages"]
        de = self.cldr("localenames", "de", "languages")["localeDisplayNames"]["languages"]
        return sorted((en[c], de[c]) for c in en if re.fullmatch("[a-z]{2}", c) and c in de and is_plain(en[c]) and is_plain(de[c])
                      and " " not in en[c] and " " not in de[c] and de[c].endswith("isch"))

    def month_names(self, language):
        months = self.cldr("dates", language, "ca-gregorian")["dates"]["calendars"]["gregorian"]["months"]["format"]["wide"]
        return [months[str(i)] for i in range(1, 13)]

    def unit_pairs(self):
        names = ["length-kilometer", "length-meter", "length-centimeter", "length-mile", "mass-kilogram", "mass-gram",
                 "volume-liter", "duration-year", "duration-month", "duration-week", "duration-day", "duration-hour", "duration-minute",
                 "duration-second", "concentr-percent", "area-square-meter", "area-hectare", "power-watt", "energy-calorie"]
        result = []
        for name in names:
            pair = []
            for language in ("en", "de"):
                unit = self.cldr("units", language, "units")["units"]["long"].get(name, {})
                pattern = unit.get("unitPattern-count-other") or unit.get("unitPattern-count-other-case-nominative")
                pair.append(pattern.replace("{0}", "").strip() if pattern else None)
            if all(pair):
                result.append(tuple(pair))
        return result + [("tons", "Tonnen")]
