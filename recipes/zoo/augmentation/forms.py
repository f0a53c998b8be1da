"""Numbers, dates and times in the form of each language, and words that carry what is not to be translated."""

# What a model learns to carry: signs that nobody types. generation_config.json names them as `carriers`.
TEXT = [chr(0x4DC0 + i) for i in range(6)]
NUMBER = [chr(0x4DD0 + i) for i in range(4)]
DATE = [chr(0x4DE0 + i) for i in range(3)]
TIME = [chr(0x4DF0 + i) for i in range(3)]


def grouped(value, mark):
    return f"{value:,}".replace(",", mark)


def number(random, whole=False):
    """The same number in English and German, one without a fraction if wanted so."""
    kind = random.random() * (0.7 if whole else 1)
    if kind < 0.25:
        value = str(random.randint(2, 99))
        return value, value
    if kind < 0.45:
        value = str(random.randint(100, 999))
        return value, value
    if kind < 0.7:
        value = random.choice([random.randint(1000, 9999), random.randint(10000, 999999), random.randint(1, 999) * 1000])
        return grouped(value, ","), grouped(value, ".")
    return fraction(random)


def fraction(random):
    units, digits = random.choice([random.randint(0, 20), random.randint(20, 999)]), random.choice([1, 1, 2])
    part = f"{random.randint(1, 10 ** digits - 1):0{digits}}"
    return f"{units}.{part}", f"{units},{part}"


def share(random):
    """Up to a hundred."""
    value = str(random.randint(2, 99))
    part = random.randint(1, 9)
    return (value, value) if random.random() < 0.5 else (f"{value}.{part}", f"{value},{part}")


def amount(random, sign):
    value = random.choice([random.randint(1, 99), random.randint(100, 99999)])
    cents = f"{random.randint(1, 99):02}" if random.random() < 0.6 else ""
    english = f"{sign}{grouped(value, ',')}" + (f".{cents}" if cents else "")
    german = grouped(value, ".") + (f",{cents}" if cents else "") + f" {sign}"
    return english, german


def date(random, months):
    english, german = random.choice(months)
    day, year = random.randint(1, 28), random.choice(["", "", str(random.randint(1900, 2035))])
    return f"{english} {day}" + (f", {year}" if year else ""), f"{day}. {german}" + (f" {year}" if year else "")


def time(random):
    hour, minute = random.randint(0, 23), random.choice([0, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55])
    if random.random() < 0.5:
        half = "a.m." if hour < 12 else "p.m."
        return f"{(hour - 1) % 12 + 1}:{minute:02} {half}", f"{hour}:{minute:02} Uhr"
    return f"{hour}:{minute:02}", f"{hour}:{minute:02} Uhr"


def genitive(name):
    """As German writes whose something is."""
    return name + ("’" if name[-1] in "sßxz" else "s")
