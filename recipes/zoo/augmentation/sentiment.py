"""What the sentiment models learn from beside the reviews: opinions with labels, made by the grammar of opinions.py, and sentences without,
which the teacher labels."""

import re
import zipfile
import zlib
from collections import defaultdict

from .opinions import BEGINNINGS, ENDS, NEGATIVE, OTHERS, PARTS, POSITIVE

TURNS = [", but ", ", however ", "; still, ", ". But ", ", yet ", ", although ", ", even though ", " and ", ". "]


def reviews_of(paths):
    """For training, for validation and for testing, which is every tenth line; what is tested on stands in no other part, nor what is validated on."""
    rows = [(i, *line.rsplit("\t", 1)) for path in paths for i, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1) if line]
    rows = [(i, text.strip(), label.strip()) for i, text, label in rows]
    tested = {text for i, text, _ in rows if i % 10 == 0}
    others = [(text, label) for _, text, label in rows if text not in tested]
    return [r for r in others if not is_held_out(r[0])], [r for r in others if is_held_out(r[0])], tested


def is_held_out(text, percent=8):
    """For validation: reviews, and frames of opinions."""
    return zlib.crc32(text.encode()) % 100 < percent


def english_sentences(paths):
    found = set()
    for path in paths:
        with zipfile.ZipFile(path) as archive:
            name = next(n for n in archive.namelist() if not n.endswith("_about.txt"))
            found.update(line.split("\t")[0] for line in archive.read(name).decode("utf-8").splitlines())
    return sorted(found)


def sentence_case(text):
    text = re.sub(r"\b([Aa]) (?=[aeiou])", r"\1n ", text)
    return re.sub(r"(^|[.?!] )([a-zé])", lambda m: m[1] + m[2].upper(), text)


def lowered(text):
    return text if re.match(r"(I\b|[A-Z]{2})", text) else text[:1].lower() + text[1:]


class Maker:
    """Opinions with a label: 1 praises, 0 complains. Held out are frames of their own, with the same words. Reviews are joined to others."""

    def __init__(self, random, reviews=(), held_out=False):
        self.random = random
        short = [(t.rstrip(" .!"), l) for t, l in reviews if 3 <= len(t.split()) <= 12 and not re.search(r"\bbut\b|\byet\b|though|\?", t)]
        self.reviews = [[t for t, l in short if l == label] for label in "01"]
        self.frames = [[f for f in frames if is_held_out(re.sub(r"\{[gb](?!o)", "{", f)) == held_out] for frames in (NEGATIVE, POSITIVE)]  # with its mirror image

    def filled(self, text, parts=PARTS):
        return re.sub(r"\{(\w+)\}", lambda m: self.filled(self.random.choice(parts[m[1]]), parts), text)

    def frame(self, label):
        text = self.random.choice(self.frames[label])
        for one, other in OTHERS:
            if one in text and self.random.random() < 0.3:
                text = text.replace(one, other, 1)
        if self.random.random() < 0.12:
            text = f"{self.random.choice(BEGINNINGS)} {text}"
        elif self.random.random() < 0.08 and text.endswith("."):
            text = f"{text[:-1]}, {self.random.choice(ENDS)}."
        return text

    def line(self):
        label = self.random.randrange(2)
        if self.reviews[0] and self.random.random() < 0.15:
            parts = [self.random.choice(self.reviews[1 - label]), self.random.choice(self.reviews[label])]
            text = self.random.choice(["{}, but {}.", "{}, yet {}.", "{}. However, {}.", "{}. But {}!", "Although {}, {}.", "Even though {}, {}.", "{1}, although {0}.",
                                       "{1}, even though {0}."]).format(*map(lowered, parts))
        else:
            text = self.filled(self.frame(label))
        return sentence_case(text), str(label)


class Unlabelled:
    """Sentences for the teacher: those of Tatoeba; reviews whose words are exchanged for others that stand between the same neighbours
    somewhere, cut at their marks, and joined; frames with words that nobody sorted into good and bad."""

    def __init__(self, random, reviews, sentences):
        self.random, self.reviews, self.sentences = random, reviews, sentences
        self.opinions = Maker(random)
        self.between = defaultdict(set)
        for text in sentences + reviews:
            words = ["^"] + re.findall(r"[\w'-]+|[^\w\s]", text.lower()) + ["$"]
            for left, word, right in zip(words, words[1:], words[2:]):
                if word[0].isalpha():
                    self.between[left, right].add(word)
        self.between = {k: sorted(v) for k, v in self.between.items() if len(v) > 3}
        describing = {w for l in ("is", "was", "very", "so", "too", "really", "are", "were") for w in self.between.get((l, "."), [])}
        things = {w for r in ("is", "was", "are", "were") for w in self.between.get(("the", r), [])}
        self.parts = PARTS | {"g": sorted(describing), "b": sorted(describing), "t": sorted(things), "ts": sorted(things)}
        self.pieces = [p for r in reviews for p in re.split(r"(?<=[.!?;,]) |, (?:but|and) | - ", r) if 3 <= len(p.split()) <= 14]

    def exchanged(self):
        tokens = re.findall(r"[\w'-]+|[^\w\s]|\s+", self.random.choice(self.reviews))
        at = [i for i, t in enumerate(tokens) if not t.isspace()]
        for _ in range(self.random.randint(1, 4)):
            k = self.random.randrange(len(at))
            left = tokens[at[k - 1]].lower() if k else "^"
            right = tokens[at[k + 1]].lower() if k + 1 < len(at) else "$"
            if tokens[at[k]][0].isalpha() and (left, right) in self.between:
                tokens[at[k]] = self.random.choice(self.between[left, right])
        return sentence_case("".join(tokens))

    def joined(self):
        first, second = self.random.sample(self.pieces, 2)
        return sentence_case(first.rstrip(" .!,;?") + self.random.choice(TURNS) + lowered(second.rstrip(" ,;")))

    def framed(self):
        parts = self.parts if self.random.random() < 0.6 else PARTS
        return sentence_case(self.opinions.filled(self.opinions.frame(self.random.randrange(2)), parts))

    def line(self):
        kind = self.random.random()
        if kind < 0.25:
            return self.random.choice(self.sentences)
        if kind < 0.3:
            return sentence_case(self.random.choice(self.pieces))
        return self.exchanged() if kind < 0.65 else self.joined() if kind < 0.75 else self.framed()
