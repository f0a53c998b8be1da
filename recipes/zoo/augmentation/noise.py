"""What people do to sentences when they type them. The other side stays right."""

KEYS = ["qwertyuiop", "asdfghjkl", "zxcvbnm"]
APOSTROPHES = ["n't", "'m", "'s", "'re", "'ve"]


def neighbour(random, letter):
    for row in KEYS:
        at = row.find(letter.lower())
        if at >= 0:
            return row[max(0, min(len(row) - 1, at + random.choice([-1, 1])))]
    return letter


def typing_error(random, text):
    places = [i for i in range(1, len(text) - 1) if text[i - 1:i + 2].isalpha()]
    if not places:
        return text
    i = random.choice(places)
    kind = random.randrange(4)
    if kind == 0:
        return text[:i] + text[i + 1] + text[i] + text[i + 2:]
    if kind == 1:
        return text[:i] + text[i + 1:]
    if kind == 2:
        return text[:i] + text[i] + text[i:]
    return text[:i] + neighbour(random, text[i]) + text[i + 1:]


def noisy(random, source, target):
    """A pair whose source is typed carelessly. Without its mark at the end the target has none either."""
    kind = random.randrange(8)
    if kind == 0:
        return source.lower(), target
    if kind == 1 and source[-1] in ".!?" and target[-1:] in tuple(".!?"):
        return source[:-1], target[:-1]
    if kind == 2:
        return source.lower().rstrip(".!"), target.rstrip(".!")
    if kind == 3:
        return source.replace("'", ""), target
    if kind == 4:
        return source.replace("'", "’").replace('"', "“"), target
    if kind == 5 and " " in source:
        at = random.choice([i for i, c in enumerate(source) if c == " "])
        return source[:at] + "  " + source[at + 1:], target
    text = typing_error(random, source)
    return (typing_error(random, text) if kind == 6 and len(text) > 30 else text), target
