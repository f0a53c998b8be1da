"""Opinions with negation, contrast and understatement, made by rules and of the reviews that the models train on."""

import re

GOOD = "good great tasty friendly comfortable beautiful helpful funny fast clean reliable interesting pleasant useful solid exciting fresh cheerful".split()
BAD = "bad awful boring rude dirty slow useless disappointing cheap ugly broken painful stupid noisy stale expensive dull weak".split()
THINGS = "food|service|phone|battery|film|story|acting|room|staff|price|sound|screen|place|music|coffee|pizza|camera|case|plot|ending|waiter|soup|dessert|headset".split("|")

POSITIVE = ["The {t} was not {b} at all.", "Not {b} at all.", "The {t} is never {b}.", "No complaints about the {t}.", "Nothing {b} about the {t}.",
            "The {t} was anything but {b}.", "I can't complain about the {t}.", "The {t} could not be better.", "I have never had a better {t}.",
            "It is hard not to like the {t}.", "There is nothing wrong with the {t}.", "Far from {b}.", "The {t} is far from {b}.",
            "I was never disappointed by the {t}.", "You can't go wrong with the {t}.", "I thought the {t} would be {b}, but it was {g}.",
            "The {t} is {b}, but everything else is {g}.", "The {t} was a bit {b}, yet I loved the {u}.", "Despite the {b} {t}, I enjoyed it.",
            "I expected a {b} {t} and got a {g} one.", "Neither the {t} nor the {u} was {b}.", "Hardly anything was {b}.", "The {t} isn't {b}.",
            "I don't regret buying it.", "No other {t} is as {g}.", "Without any {b} surprises.", "It does not get more {g} than this.",
            "I would not change a thing about the {t}.", "Who would not like such a {g} {t}?", "The {t} never failed."]
NEGATIVE = ["The {t} was not {g} at all.", "Not {g}.", "The {t} is never {g}.", "The {t} could have been better.", "Nothing {g} about the {t}.",
            "The {t} was anything but {g}.", "I can't recommend the {t}.", "The {t} could not be worse.", "I have had a better {t} elsewhere.",
            "It is hard to like the {t}.", "There is nothing {g} here.", "Far from {g}.", "The {t} is far from {g}.", "I expected more of the {t}.",
            "Don't waste your money on the {t}.", "I thought the {t} would be {g}, but it was {b}.", "The {t} is {g}, but everything else is {b}.",
            "The {t} was {g}, yet the {u} ruined it.", "Despite the {g} {t}, I did not enjoy it.", "I hoped for a {g} {t} and got a {b} one.",
            "Neither the {t} nor the {u} was {g}.", "Hardly anything was {g}.", "The {t} isn't {g}.", "I regret buying it.", "Other {t}s are {g}, this one is not.",
            "It would be {g} if it worked.", "Not worth it, even with the {g} {t}.", "The {t} leaves a lot to be desired.", "Only the {t} was {g}, the rest was {b}.",
            "I wanted to like the {t}, but it is {b}."]
TURNS = [", but ", ", however ", "; still, ", ". But ", ", yet "]


def training_lines(paths):
    """Without every tenth line, which is the test's."""
    rows = []
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        rows += [line.rsplit("\t", 1) for i, line in enumerate(lines) if (i + 1) % 10 != 0 and "\t" in line]
    return [(text.strip(), label.strip()) for text, label in rows]


class Maker:
    def __init__(self, random, rows):
        self.random = random
        short = [(t.rstrip(" .!"), l) for t, l in rows if 3 <= len(t.split()) <= 9 and not re.search(r"\bbut\b|\bnot\b|n't|\byet\b|\?", t)]
        self.good = [t for t, l in short if l == "1"]
        self.bad = [t for t, l in short if l == "0"]

    def line(self):
        label = self.random.randrange(2)
        if self.random.random() < 0.6:
            frame = self.random.choice(POSITIVE if label else NEGATIVE)
            t, u = self.random.sample(THINGS, 2)
            text = frame.format(t=t, u=u, g=self.random.choice(GOOD), b=self.random.choice(BAD))
        else:
            first, second = (self.bad, self.good) if label else (self.good, self.bad)
            end = self.random.choice(second)
            text = self.random.choice(first) + self.random.choice(TURNS) + (end if end.startswith("I ") else end[0].lower() + end[1:]) + "."
        return text, str(label)
