"""What was written for the recipes, in recipes/zoo/written: pairs of sentences, opinions, sentences with names. A line that has five
words in a row with a sentence of tests/robust, or is a short one of them, is left out: there is measured, not learned."""

import re
from pathlib import Path

from . import entities

folder = Path(__file__).resolve().parents[1] / "written"


def words(text):
    return re.findall(r"\w+", text.lower())


class Measured:
    """The sentences that are measured on, by their runs of five words."""

    def __init__(self, sentences, run=5):
        self.run = run
        self.whole = {tuple(words(s)) for s in sentences}
        self.runs = {r for s in self.whole for r in self.runs_of(s)}

    def runs_of(self, words):
        return {words[i:i + self.run] for i in range(len(words) - self.run + 1)}

    def has(self, text):
        found = tuple(words(text))
        return found in self.whole or not self.runs.isdisjoint(self.runs_of(found))


def lines_of(*names):
    return [line for name in names for line in (folder / name).read_text(encoding="utf-8").splitlines()]


def pairs(measured, *names):
    """English, German."""
    rows = [tuple(line.split("\t")) for line in lines_of(*names)]
    return [row for row in rows if not any(map(measured.has, row))]


def opinions(measured):
    """Sentence, 1 (it praises) or 0 (it complains)."""
    rows = [tuple(line.split("\t")) for line in lines_of("opinions.tsv")]
    return [row for row in rows if not measured.has(row[0])]


def tagged(measured, measured_names):
    """Words with their tags. Lines are `[Ada Lovelace](PER) lived in [London](LOC).`; persons and firms that are measured on are left out, too."""
    for line in lines_of("names.txt"):
        parts = re.split(r"\[([^\]]+)\]\((PER|LOC|ORG)\)", line)  # outside, name, kind, outside, …
        names = {n.lower() for n, kind in zip(parts[1::3], parts[2::3]) if kind != "LOC"}
        if measured.has("".join(p for i, p in enumerate(parts) if i % 3 != 2)) or names & measured_names:
            continue
        rows = [(w, "O") for w in entities.words_of(parts[0])]
        for name, kind, outside in zip(parts[1::3], parts[2::3], parts[3::3]):
            rows += entities.Maker.tagged(name, kind) + [(w, "O") for w in entities.words_of(outside)]
        yield rows
