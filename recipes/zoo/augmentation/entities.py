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
    "The company was founded in {L} by {P} .", "{O} buys its milk in {L} .",
    "{O} earned more than expected .", "{O} is hiring again .", "{O} wants to invest two billion in {L} .", "{O} will sell its shares .",
    "{O} , {O} and {O} agreed on a price .", "{O} presented a new model in {L} .", "{O} denied the report .", "{O} dismissed a thousand people .",
    "A spokesman for {O} apologised .", "Everybody has heard of {O} .", "I ordered it at {O} .", "The board of {O} meets on Friday .",
    "{O} once sold soap .", "{O} ships its goods to {L} every week .", "{O} owes {O} a lot of money .", "Customers of {O} complained .",
    "{O} won against {O} .", "The goalkeeper of {O} was injured .", "{O} signed {P} for three years .", "{O} leads the table .",
    "{O} sends doctors to {L} .", "{O} warned of a famine in {L} .", "Volunteers of {O} planted trees .", "{O} collects money for children in {L} .",
    "A student at {O} discovered it .", "{P} studied at {O} .", "{O} rejected his application .", "{P} is an engineer at {O} .",
    "{P} does n't work for {O} any more .", "She quit her job at {O} .", "The strike at {O} goes on .", "{O} raised its prices again .",
    "{O} appointed {P} as its new director .", "{O} thanked {P} .", "{O} sued {O} .", "The court fined {O} .",
    "{O} and {L} signed a contract .", "I flew with {O} to {L} .", "{O} lost my luggage .", "The app of {O} does not work .",
    "{L} has three million inhabitants .", "{L} lies on a river .", "{L} imports rice .", "{L} was called something else then .",
    "{L} , {L} and {L} are far apart .", "{L} was covered with snow .", "{L} is famous for its bridges .", "Snow fell in {L} .",
    "{L} beat {L} in the final .", "Somewhere between {L} and {L} we lost our way .", "The castle of {L} is closed .",
    "The airport of {L} was shut down .", "{L} is an old city .", "People in {L} speak slowly .", "{L} floods in spring .",
    "The government of {L} resigned .", "They walked from {L} to {L} .", "The harbour of {L} froze .", "{L} needs more teachers .",
    "Ask {F} to open the window .", "Could you help {F} ?", "Only {F} and her brother came .", "{F} and {F} are going to {L} tomorrow .",
    "{P} crossed the lake at night .", "{P} painted this picture .", "The mayor of {L} , {P} , opened the bridge .", "{P} , who is from {L} , sings .",
    "Doctor {S} is on holiday .", "Professor {S} teaches in {L} .", "Our neighbour , Mr. {S} , has a dog .", "I will see Dr. {S} on Monday .",
    "Captain {S} gave the order .", "President {S} visited {L} .", "Minister {S} spoke in {L} .", "Judge {S} asked a question .",
    "The Italian minister flew to {L} .", "A Swedish ship reached {L} .", "The French team arrived in {L} .", "Japanese tourists like {L} .",
    "The Constitutional Court disagreed .", "{O} opens shop in {L}", "Fire in {L}", "{O} buys {O}", "{P} wins in {L}", "Storm hits {L}"]
# Known everywhere; those that tests/robust has are left out when names are drawn, so that what is measured there is not what was learned.
KNOWN_FIRMS = """Siemens|Ford|Honda|Sony|Panasonic|Hitachi|Nestlé|IBM|Oracle|Netflix|Facebook|Amazon|Google|Apple|Microsoft|Intel|Samsung|Nokia|Ericsson|
NATO|UNESCO|UNICEF|FIFA|NASA|Interpol|OPEC|WHO|Ikea|Adidas|Puma|Nike|Fiat|Ferrari|Peugeot|Renault|Citroën|Volvo|Toyota|Nissan|Mazda|Hyundai|Shell|BP|
Chevron|Walmart|Tesco|Aldi|Lidl|Starbucks|Disney|Pixar|Reuters|CNN|BBC|Arsenal|Chelsea|Barcelona|Inter Milan|Juventus|Yale|Princeton|Harvard|Oxford University|
MIT|Airbus|Boeing|Lufthansa|Ryanair|KLM|Air France|British Airways|Deutsche Bank|Deutsche Post|Goldman Sachs|Morgan Stanley|Barclays|HSBC|Santander|Visa|Mastercard|
PayPal|Twitter|Uber|Spotify|Tesla|General Motors|General Electric|Procter & Gamble|Unilever|Danone|Heineken|Carlsberg|Bayer|BASF|Roche|Novartis|Merck|Sanofi|
AstraZeneca|Pfizer|Philips|Bosch|Canon|Nikon|Kodak|Xerox|Dell|Lenovo|Huawei|Alibaba|Tata|Gazprom|Petrobras|Red Cross|Amnesty International|Oxfam|Caritas|
Greenpeace|European Union|European Commission|World Bank|International Monetary Fund|World Health Organization|United Nations|Supreme Court|Bundestag|Senate|
Congress|Labour Party|Green Party|Scotland Yard|FBI|CIA|Real Madrid|Bayern Munich|Manchester City|Liverpool|Benfica|Ajax|Celtic|Boston Celtics|Chicago Bulls|
New York Times|Washington Post|Guardian|Spiegel|Le Monde|Stanford|CERN|Max Planck Society|Royal Society""".replace("\n", "").split("|")
SYLLABLES = "va lo ri ta ne ko mi sa zen dor tex ka nor lu bi fo tra pel gen um ix on ar el is".split()
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
    def __init__(self, random, lists, sentences, measured):
        self.random, self.lists = random, lists
        self.firms = [f for f in KNOWN_FIRMS if f.lower() not in measured]
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
        if self.random.random() < 0.35:
            return self.random.choice(self.firms)
        last, kind = self.random.choice(self.lists.last), self.random.random()
        if kind < 0.2:
            return "".join(self.random.choice(SYLLABLES) for _ in range(self.random.randint(2, 4))).capitalize()
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
        if kind < 0.25:
            rows = [(w, "O") for w in self.random.choice(self.plain)]
        elif kind < 0.55:
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
