"""Pairs made of Tatoeba's: other names, places, languages, numbers and dates on both sides, what a model is to carry, noise, and
several sentences in a row. Only pairs that the models train on are used, never those of the test or the validation."""

import re
import zipfile
import zlib

from . import forms

# Names that Tatoeba's sentences have over and over, in English and in German.
MEN = [("Tom", "Tom"), ("John", "John"), ("John", "Johannes"), ("Bob", "Bob"), ("Jim", "Jim"), ("Ken", "Ken"), ("Bill", "Bill")]
WOMEN = [("Mary", "Maria"), ("Mary", "Mary"), ("Jane", "Jane"), ("Nancy", "Nancy"), ("Alice", "Alice"), ("Lucy", "Lucy")]
CITIES = [("Boston", "Boston"), ("Tokyo", "Tokio"), ("London", "London"), ("Paris", "Paris"), ("Kyoto", "Kyoto"), ("Berlin", "Berlin"),
          ("New York", "New York"), ("Chicago", "Chicago")]
COUNTRIES = [("Australia", "Australien"), ("Japan", "Japan"), ("France", "Frankreich"), ("Germany", "Deutschland"), ("Canada", "Kanada"),
             ("England", "England"), ("China", "China"), ("Italy", "Italien")]
LANGUAGES = [("French", "Französisch"), ("English", "Englisch"), ("German", "Deutsch"), ("Spanish", "Spanisch"), ("Japanese", "Japanisch")]

FRAMES = [  # of numbers, amounts, dates and times, written for this file
    ("The {thing} is {n} {unit} long.", "{Thing} ist {n} {Unit} lang.", "length"),
    ("It weighs about {n} {unit}.", "Es wiegt etwa {n} {Unit}.", "mass"),
    ("We drove {n} {unit} that day.", "Wir sind an diesem Tag {n} {Unit} gefahren.", "length"),
    ("Only {n} {unit} are left.", "Nur noch {n} {Unit} sind übrig.", "any"),
    ("That took {n} {unit}.", "Das hat {n} {Unit} gedauert.", "duration"),
    ("More than {share} million people live there.", "Dort leben mehr als {share} Millionen Menschen.", ""),
    ("The firm made {share} billion euros last year.", "Die Firma hat letztes Jahr {share} Milliarden Euro verdient.", ""),
    ("About {share} percent of them were against it.", "Etwa {share} Prozent von ihnen waren dagegen.", ""),
    ("The town has {whole} inhabitants.", "Die Stadt hat {whole} Einwohner.", ""),
    ("I counted {whole} of them.", "Ich habe {whole} davon gezählt.", ""),
    ("The temperature fell to {share} degrees.", "Die Temperatur fiel auf {share} Grad.", ""),
    ("They sold {whole} copies of the book.", "Sie haben {whole} Exemplare des Buches verkauft.", ""),
    ("The coat costs {amount}.", "Der Mantel kostet {amount}.", ""),
    ("I paid {amount} for it.", "Ich habe {amount} dafür bezahlt.", ""),
    ("He owes me {amount}.", "Er schuldet mir {amount}.", ""),
    ("She earns {amount} a month.", "Sie verdient {amount} im Monat.", ""),
    ("The repair was more than {amount}.", "Die Reparatur hat mehr als {amount} gekostet.", ""),
    ("She was born on {date}.", "Sie ist am {date} geboren.", ""),
    ("We will be back on {date}.", "Wir sind am {date} wieder da.", ""),
    ("The course begins on {date}.", "Der Kurs beginnt am {date}.", ""),
    ("Please answer by {date}.", "Bitte antworten Sie bis zum {date}.", ""),
    ("On {date} the shop was closed.", "Am {date} war das Geschäft geschlossen.", ""),
    ("They moved here on {date}.", "Sie sind am {date} hierher gezogen.", ""),
    ("The bus leaves at {time}.", "Der Bus fährt um {time} ab.", ""),
    ("The film starts at {time}.", "Der Film beginnt um {time}.", ""),
    ("It is {time} and I am still waiting.", "Es ist {time}, und ich warte immer noch.", ""),
    ("Be there at {time}.", "Sei um {time} da.", ""),
    ("We ate at {time} and left at {time}.", "Wir haben um {time} gegessen und sind um {time} gegangen.", ""),
    ("More about it at {text}.", "Mehr darüber unter {text}.", ""),
    ("Write to {text} if you need help.", "Schreiben Sie an {text}, wenn Sie Hilfe brauchen.", ""),
    ("Please open {text}.", "Bitte öffnen Sie {text}.", ""),
    ("The number of the order is {text}.", "Die Nummer der Bestellung ist {text}.", ""),
    ("Thanks to {text} and {text}!", "Danke an {text} und {text}!", ""),
    ("I saw it on {text}.", "Ich habe es auf {text} gesehen.", ""),
    ("The file {text} is missing.", "Die Datei {text} fehlt.", ""),
    ("Hello {text}, how are you?", "Hallo {text}, wie geht es dir?", ""),
    ("{text} is not found.", "{text} wurde nicht gefunden.", ""),
    ("You have {text} new messages.", "Sie haben {text} neue Nachrichten.", ""),
]
THINGS = [("bridge", "die Brücke"), ("river", "der Fluss"), ("table", "der Tisch"), ("street", "die Straße"), ("rope", "das Seil"),
          ("tunnel", "der Tunnel"), ("boat", "das Boot"), ("wall", "die Mauer")]
UNITS = {"length": {"kilometers", "meters", "centimeters", "miles"}, "mass": {"kilograms", "grams", "tons"},
         "duration": {"years", "months", "weeks", "days", "hours", "minutes", "seconds"}}


def training_pairs(path):
    with zipfile.ZipFile(path) as archive:
        name = next(n for n in archive.namelist() if not n.startswith(("_", ".")))
        rows = [line.split("\t") for line in archive.read(name).decode("utf-8").splitlines()]
    return [(r[0], r[1]) for r in rows if len(r) >= 2 and zlib.crc32(r[0].encode()) % 100 > 1]


def once(word, text):
    return len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", text)) == 1 and text.count(word) == 1


def swapped(english, german, old, new):
    """Both sides with another name, its genitive too; nothing if it does not stand once on each."""
    e, d = old
    if once(e, english) and once(d, german):
        return english.replace(e, new[0]), german.replace(d, new[1])
    if once(e + "'s", english) and once(d + "s", german) and english.count(e) == 1:
        return english.replace(e + "'s", new[0] + "'s"), german.replace(d + "s", forms.genitive(new[1]))
    return None


class Maker:
    def __init__(self, random, lists, pairs):
        self.random, self.lists, self.pairs = random, lists, pairs

    def person(self, first):
        name = self.random.choice(first)
        if self.random.random() < 0.5:
            name += " " + self.random.choice(self.lists.last)
        return name, name

    def place(self):
        if self.random.random() < 0.6:
            return self.random.choice(self.lists.cities)
        town = self.random.choice(self.lists.towns)
        return town, town

    def carried(self, used):
        return (self.random.choice([t for t in forms.TEXT if t not in used]),) * 2

    # One or several things of a pair are others, or become what is carried.
    def with_names(self, english, german):
        changed, used = False, set()
        makers = ((MEN, lambda: self.person(self.lists.men)), (WOMEN, lambda: self.person(self.lists.women)), (CITIES, self.place),
                  (COUNTRIES, lambda: self.random.choice(self.lists.countries)),
                  (LANGUAGES, lambda: self.random.choice(self.lists.languages)))
        for olds, make in makers:
            for old in olds:
                carry = olds in (MEN, WOMEN, CITIES) and self.random.random() < 0.15
                new = self.carried(used) if carry else make()
                result = swapped(english, german, old, new)
                if result:
                    english, german = result
                    used.add(new[0])
                    changed = True
                    break
        return (english, german) if changed else None

    def with_number(self, english, german):
        found = re.findall(r"(?<![\w.,:$-])\d{1,4}(?![\w,:%-]|\.\d|\. [A-Za-z])", english)
        found = [n for n in found if once(n, english) and len(re.findall(rf"(?<![\w.,:]){n}(?![\w,:]|\.\d|\. [a-zA-Z])", german)) == 1
                 and german.count(n) == 1]
        if not found or re.search(r"o'clock|Uhr|:\d", english + german):
            return None
        n = self.random.choice(found)
        year = len(n) == 4
        measured = re.search(rf"{n} (?:\w*meters?|miles?|kilograms?|pounds|percent|degrees|liters?|dollars|euros|million|billion|hours)", english)
        counted = re.search(rf"(?:[Rr]oom|[Pp]age|[Cc]hapter|[Nn]umber|line|bus) {n}", english)
        new = (str(self.random.randint(1500, 2040)),) * 2 if year else forms.number(self.random, whole=not measured)
        if counted:
            new = (str(self.random.randint(2, 999)),) * 2
        if self.random.random() < 0.3:
            new = (self.random.choice(forms.NUMBER),) * 2
        return english.replace(n, new[0]), german.replace(n, new[1])

    def with_date(self, english, german):
        for e, d in self.lists.months:
            a = re.search(rf"\b{e} (\d+)(?:st|nd|rd|th)?(?:,? (\d{{4}}))?\b", english)
            b = re.search(rf"\b(\d+)\. {d}(?: (\d{{4}}))?\b", german)
            if a and b and a.groups() == b.groups():
                new = (self.random.choice(forms.DATE),) * 2 if self.random.random() < 0.4 else forms.date(self.random, self.lists.months)
                return english.replace(a[0], new[0]), german.replace(b[0], new[1])
        return None

    def framed(self):
        english, german, kind = self.random.choice(FRAMES)
        thing = self.random.choice(THINGS)
        english, german = english.replace("{thing}", thing[0]), german.replace("{Thing}", thing[1][0].upper() + thing[1][1:])
        units = [u for u in self.lists.units if kind == "any" or u[0] in UNITS.get(kind, ())]
        if "{unit}" in english:
            unit = self.random.choice(units)
            english, german = english.replace("{unit}", unit[0]), german.replace("{Unit}", unit[1])
        carry, used = self.random.random() < 0.35, set()
        while match := re.search(r"\{(n|whole|share|amount|date|time|text)\}", english):
            made = {"n": lambda: forms.number(self.random), "whole": lambda: forms.number(self.random, whole=True),
                    "share": lambda: forms.share(self.random), "amount": lambda: forms.amount(self.random, self.random.choice("$€£")),
                    "date": lambda: forms.date(self.random, self.lists.months), "time": lambda: forms.time(self.random)}
            signs = {"n": forms.NUMBER, "whole": forms.NUMBER, "share": forms.NUMBER, "amount": forms.NUMBER, "date": forms.DATE, "time": forms.TIME, "text": forms.TEXT}[match[1]]
            if carry or match[1] == "text":
                new = (self.random.choice([s for s in signs if s not in used]),) * 2
            else:
                new = made[match[1]]()
            used.add(new[0])
            english, german = english.replace(match[0], new[0], 1), german.replace(match[0], new[1], 1)
        return re.sub(r"\.\.$", ".", english), german

    def joined(self):
        some = [self.random.choice(self.pairs) for _ in range(self.random.randint(2, 5))]
        english, german = " ".join(p[0] for p in some), " ".join(p[1] for p in some)
        return (english, german) if len(english) < 280 else None
