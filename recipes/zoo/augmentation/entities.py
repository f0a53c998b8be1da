"""Sentences with names put in, as CoNLL columns: Tatoeba's whose only names are known ones, and frames with organisations."""

import re

from . import translation

FRAMES = [  # {O}: an organisation, {P}: a person, {L}: a place; written for this file
    "She used to work at {O} .", "{O} opened an office in {L} .", "The head of {O} , {P} , did not answer .", "I bought it from {O} .",
    "{O} and {O} are going to merge .", "The shares of {O} fell on Monday .", "{P} left {O} last year .", "He has a job at {O} in {L} .",
    "{O} said on Tuesday that it would close the factory .", "My uncle drives a truck for {O} .", "{P} was born in {L} .",
    "{P} and {P} met in {L} .", "The train from {L} to {L} was late .", "Have you heard from {P} ?", "{P} lives in {L} with her cat .",
    "We spent a week in {L} .", "The mayor of {L} thanked {P} .", "{P} teaches at the University of {L} .", "In {L} it rained all day .",
    "According to {P} , {O} knew about it .", "{O} has to pay a fine .", "The workers of {O} in {L} are on strike .",
    "Last night {P} called from {L} .", "I have never been to {L} .", "{L} is bigger than {L} .", "{P} , come here !",
    "Nobody at {O} wanted to talk to us .", "The flight to {L} was cancelled by {O} .", "{P} plays for {O} .", "{O} beat {O} in {L} .",
    "It was {P} who found the letter .", "Mr. {S} is waiting outside .", "Mrs. {S} moved to {L} .", "Dr. {S} will see you now .",
    "My friend {F} comes from {L} .", "{F} and {F} are late .", "Where is {F} ?", "{F} wrote to {O} twice .",
    "The company was founded in {L} by {P} .", "{O} buys its milk in {L} ."]
CLUBS = ["{} FC", "{} United", "FC {}", "University of {}", "{} University", "Bank of {}", "{} City Council", "Museum of {}", "{} Airlines"]
NEVER_NAMES = {"I", "I'm", "I've", "I'll", "I'd", "English", "French", "German", "Japanese", "Spanish", "Monday", "Tuesday", "Wednesday",
               "Thursday", "Friday", "Saturday", "Sunday", "January", "February", "March", "April", "May", "June", "July", "August",
               "September", "October", "November", "December", "Christmas", "Mr.", "Mrs.", "Dr.", "OK", "TV"}
KNOWN = {e: "PER" for e, _ in translation.MEN + translation.WOMEN} | {e: "LOC" for e, _ in translation.CITIES + translation.COUNTRIES}


def words_of(sentence):
    """Cut as the taggers' words are: marks by themselves, n't and 's too."""
    sentence = re.sub(r"(n't|'s|'m|'re|'ve|'ll|'d)\b", r" \1", sentence)
    return re.findall(r"(?:Mr|Mrs|Dr)\.|n't|'\w+|\w+(?:-\w+)*|[^\w\s]", sentence)


class Maker:
    def __init__(self, random, lists, sentences):
        self.random, self.lists = random, lists
        self.named, self.plain = [], []
        for s in sentences:
            words = words_of(s)
            odd = [w for w in words[1:] if w[:1].isupper() and w not in NEVER_NAMES and w not in KNOWN]
            if odd or not words or (words[0] not in KNOWN and words[0].lower() not in self.usual(sentences)):
                continue
            (self.named if any(w in KNOWN for w in words) else self.plain).append(words)

    def usual(self, sentences):
        """Words that stand in small letters inside of sentences."""
        if not hasattr(self, "usual_words"):
            self.usual_words = {w for s in sentences for w in words_of(s)[1:] if w.islower()}
        return self.usual_words

    def person(self):
        first = self.random.choice(self.lists.men + self.lists.women)
        kind = self.random.random()
        if kind < 0.35:
            return first
        name = f"{first} {self.random.choice(self.lists.last)}"
        return f"{first[0]}. {name.split(' ', 1)[1]}" if kind > 0.95 else name

    def place(self):
        kind = self.random.random()
        if kind < 0.4:
            return self.random.choice(self.lists.cities)[0]
        return self.random.choice(self.lists.countries)[0] if kind < 0.65 else self.random.choice(self.lists.towns)

    def organisation(self):
        last, kind = self.random.choice(self.lists.last), self.random.random()
        if kind < 0.2:
            return last
        if kind < 0.5:
            return f"{last} {self.random.choice(self.lists.firm_endings)}"
        if kind < 0.65:
            return f"{last} & {self.random.choice(self.lists.last)}"
        if kind < 0.75:
            return "".join(self.random.choice("ABCDEFGHIKLMNOPRSTUVW") for _ in range(self.random.randint(3, 4)))
        return self.random.choice(CLUBS).format(self.place())

    @staticmethod
    def tagged(name, kind):
        return [(w, ("B-" if i == 0 else "I-") + kind) for i, w in enumerate(re.findall(r"[^\s.]+\.|[^\s]+", name))]

    def sentence(self):
        kind = self.random.random()
        if kind < 0.3:
            rows = [(w, "O") for w in self.random.choice(self.plain)]
        elif kind < 0.65:
            rows = []
            for w in self.random.choice(self.named):
                rows += self.tagged(self.person() if KNOWN[w] == "PER" else self.place(), KNOWN[w]) if w in KNOWN else [(w, "O")]
        else:
            rows = []
            make = {"{O}": ("ORG", self.organisation), "{P}": ("PER", self.person), "{L}": ("LOC", self.place),
                    "{S}": ("PER", lambda: self.random.choice(self.lists.last)),
                    "{F}": ("PER", lambda: self.random.choice(self.lists.men + self.lists.women))}
            for w in self.random.choice(FRAMES).split():
                rows += self.tagged(make[w][1](), make[w][0]) if w in make else [(w, "O")]
        case = self.random.random()
        if case < 0.08:
            rows = [(w.lower(), t) for w, t in rows]
        elif case < 0.12:
            rows = [(w.upper(), t) for w, t in rows]
        return rows
