"""Writes metrics.json: scores of sacreBLEU, seqeval, scikit-learn, SciPy, rouge-score and NLTK for the metrics in fovea/train/metrics.

    pip install sacrebleu==2.6.0 seqeval==1.2.2 scikit-learn==1.9.1 rouge-score==0.1.2 nltk==3.10.4 scipy==1.17.1
    python3 tests/golden/make_metrics.py

"corpora" holds texts that the cases of "bleu", "chrf" and "rouge" name by their number. Floats are written by repr, so they
come back to the same bits.
"""

import json
import math
import pathlib
import random
import warnings

from nltk.lm import Laplace, Lidstone
from nltk.lm.preprocessing import padded_everygram_pipeline
from nltk.stem.porter import PorterStemmer
from nltk.translate.metrics import alignment_error_rate
from nltk.util import ngrams
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu.metrics import BLEU, CHRF
import scipy.stats
import seqeval.metrics
import sklearn.metrics
from seqeval.metrics.sequence_labeling import get_entities
from sklearn.preprocessing import MultiLabelBinarizer

warnings.filterwarnings("ignore")
draw = random.Random(11)

SENTENCES = [
    "The cat sat on the mat.",
    "It is a guide to action which ensures that the military always obeys the commands of the party.",
    "Die Straße ist schön, aber naß; Übung macht den Meister!",
    "«Où est-il ?», demanda-t-elle à l'aîné.",
    "El niño comió 1,234.56 manzanas (¡qué rápido!) en 3-4 días.",
    "東京は日本の首都です。",
    "我喜欢吃苹果，也喜欢吃香蕉。",
    "Привет, мир! Как дела?",
    "Ο ΟΔΥΣΣΕΑΣ ΓΥΡΙΣΕ ΣΤΗΝ ΙΘΑΚΗ. Σ' ΑΓΑΠΩ ΑΣ.",
    "İstanbul'da IŞIK ve ılık çay; DİYARBAKIR.",
    "I ❤️ NLP 🤖🎉, and 👩‍👩‍👧 too 😀!",
    "the the the the the the the",
    "A&amp;B &lt;tag&gt; said &quot;hello&quot; <skipped> at 10:30 - 11:00.",
    "The price is $3.50, i.e. 50% off... U.S.A. e-mail: a.b@c.d/e_f [x] {y} |z| ~`^",
    "state-of-the-art 2-3 9- -9 3.-4 .5 5. 5.a a.5 ,,.. .,5,.",
    "No\u00a0break\u2003wide\u3000ideographic\u200bzero-width\ttab",
    "한국어 문장은 띄어쓰기가 있다.",
    "مرحبا بالعالم، كيف حالك؟",
    "हिन्दी में एक वाक्य।",
    "Zürich, Köln und Göteborg: Åre ÆØÅ ĲSSEL ŒUVRE Ǆ ẞ Ω K Å",
    "(hi) 'quoted' \"double\" ...dots!!! end?! -dash- a. b, c",
    "x",
    "!",
    "",
    "   ",
    " leading and trailing spaces   ",
    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
    "Running runners ran easily, happily organizing organizations' relational databases.",
    "President Barack Obama visited Berlin in 2013 and spoke at the Brandenburg Gate about nuclear weapons reduction.",
    "An example of a rather long sentence, which goes on and on, with many clauses, so that all four orders have matches, "
    "and so that the brevity penalty and the ratio of lengths have something to say about it.",
]


def change(text):
    words = text.split(" ")
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(words))
        kind = draw.randrange(6)
        if kind == 0:
            words[at] = draw.choice(["the", "und", "猫", "3.14", "é", "A,", "🙂", "."])
        elif kind == 1:
            words.insert(at, words[draw.randrange(len(words))])
        elif kind == 2 and len(words) > 1:
            del words[at]
        elif kind == 3:
            words[at] = words[at].upper() if draw.random() < 0.5 else words[at].lower()
        elif kind == 4:
            other = draw.randrange(len(words))
            words[at], words[other] = words[other], words[at]
        else:
            words[at] = words[at][::-1]
    return " ".join(words)


def corpora():
    found = []
    for sentence in SENTENCES:
        if sentence.strip():
            found.append(([change(sentence)], [[sentence]]))
    for _ in range(34):
        lines = draw.choices(SENTENCES, k=draw.randrange(1, 7))
        hypotheses = [change(line) if draw.random() < 0.9 else draw.choice(SENTENCES) for line in lines]
        references = [lines] + [[change(line) for line in lines] for _ in range(draw.choice([0, 0, 1, 2, 4]))]
        found.append((hypotheses, references))
    same = [s for s in SENTENCES if s.strip()][:4]
    found.append((same, [same]))
    found.append((["", ""], [["a b", "c"]]))
    found.append((["a b", "c"], [["", ""]]))
    found.append(([""], [[""]]))
    found.append((["no overlap here at all"], [["völlig anderer Satz ohne Gemeinsames"]]))
    return found


CORPORA = corpora()


def bleu_cases():
    cases = []

    def add(i, **options):
        hypotheses, references = CORPORA[i]
        metric = BLEU(**options)
        score = metric.corpus_score(hypotheses, references)
        cases.append({"corpus": i, "options": options, "text": score.format(), "signature": str(metric.get_signature()),
                      "score": float(score.score), "precisions": [float(p) for p in score.precisions]})

    for i in range(len(CORPORA)):
        add(i)
        add(i, tokenize=draw.choice(["none", "char", "13a"]), smooth_method=draw.choice(["floor", "add-k", "none", "exp"]),
            lowercase=draw.random() < 0.5, effective_order=draw.random() < 0.5)
    for method in ["floor", "add-k"]:
        for value in [0.01, 0.5, 2.5]:
            add(draw.randrange(len(CORPORA)), smooth_method=method, smooth_value=value, effective_order=True)
    return cases


def chrf_cases():
    cases = []

    def add(i, **options):
        hypotheses, references = CORPORA[i]
        metric = CHRF(**options)
        score = metric.corpus_score(hypotheses, references)
        cases.append({"corpus": i, "options": options, "text": score.format(), "signature": str(metric.get_signature()),
                      "score": float(score.score)})

    for i in range(len(CORPORA)):
        add(i)
        add(i, word_order=2)
        add(i, word_order=draw.randrange(3), char_order=draw.choice([1, 4, 6]), beta=draw.choice([1, 2, 3]),
            lowercase=draw.random() < 0.5, whitespace=draw.random() < 0.5, eps_smoothing=draw.random() < 0.5)
    return cases


def rouge_cases():
    cases = []

    def add(references, hypothesis, stem):
        scores = RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=stem).score_multi(references, hypothesis)
        cases.append({"references": references, "hypothesis": hypothesis, "stemmer": stem,
                      "scores": {k: [float(x) for x in v] for k, v in scores.items()}})

    english = [s for s in SENTENCES if s.isascii()]
    for stem in [False, True]:
        for _ in range(26):
            lines = draw.choices(english if draw.random() < 0.7 else SENTENCES, k=draw.randrange(1, 4))
            hypothesis = "\n".join(change(line) for line in draw.sample(lines, len(lines)))
            references = ["\n".join(lines)] + ["\n".join(map(change, lines)) for _ in range(draw.choice([0, 0, 2]))]
            add(references, hypothesis, stem)
        add([""], "", stem)
        add(["a b"], "", stem)
        add(["\n\n"], "a\n\nb", stem)
        add(["İİ K ẞ"], "i k ss", stem)
    return cases


def stems():
    roots = ("relat condit ration valenc hesit digit conform radic differ vile analog vietnam predic oper feud decis hope call form "
             "sensit sens triplic electr good reviv allow infer airlin gyroscop adjust defens irrit replac depend adopt homolog commun "
             "activ angular effect bowdler prob rat ceas control roll happ enjo sk fl tr hop hopp tann fall hiss fizz fail fil siz "
             "troubl conflat plaster bled motor sing agree fe cat caress pon ti geo theo archaeo philo syzyg yy y ay toy by oa").split()
    suffixes = ("s es ies sses ss ed eed ied ing ings y ly ally ational tional enci anci izer bli abli alli entli eli ousli ization ation "
                "ator alism iveness fulness ousness aliti iviti biliti fulli logi logy icate ative alize iciti ical ful ness al ance ence "
                "er ic able ible ant ement ment ent sion tion ion ou ism ate iti ous ive ize e le ll lling led 1 2s yed ying").split()
    words = {root + suffix for root in roots for suffix in draw.sample(suffixes, 7)}
    words |= set("sky skies dying lying tying news innings inning outings outing cannings canning howe proceed exceed succeed "
                 "dies died flies flied spied feed agreed proceeds as is a be eed ing ed 2nd 1990s ies ied".split())
    stemmer = PorterStemmer()
    return [[word, stemmer.stem(word)] for word in sorted(words)]


def tag_sequences(scheme, types, count):
    sentences = []
    for _ in range(count):
        tags = []
        while len(tags) < draw.randrange(1, 12):
            if draw.random() < 0.5:
                tags.append("O")
                continue
            kind, size = draw.choice(types), draw.randrange(1, 4)
            marks = {"iob2": ["B"] + ["I"] * (size - 1), "iob1": ["I"] * size,
                     "iobes": ["S"] if size == 1 else ["B"] + ["I"] * (size - 2) + ["E"]}[scheme]
            tags += [f"{mark}-{kind}" if kind else mark for mark in marks]
        sentences.append(tags)
    return sentences


def as_iob2(sentences):
    """Every scheme as IOB2, by the entities that seqeval finds. What is IOB2 stays as it is."""
    tags = [tag for sentence in sentences for tag in sentence + ["O"]]
    result = ["O"] * len(tags)
    for kind, begin, end in get_entities(tags):
        for i in range(begin, end + 1):
            result[i] = ("B-" if i == begin else "I-") + kind
    parts, at = [], 0
    for sentence in sentences:
        parts.append(result[at:at + len(sentence)])
        at += len(sentence) + 1
    return parts


def entity_cases():
    cases = []
    names = ["PER", "LOC", "ORG", "MISC", "Ort", "größe", "A-B", "a_very_long_entity_type", "W", "X", "Y", "Z", "日本"]
    for number in range(60):
        types = [""] if number == 0 else draw.sample(names, draw.choice([1, 2, 3, 12]))
        gold = tag_sequences(draw.choice(["iob2", "iob1", "iobes"]), types, draw.randrange(1, 7))
        odd = [f"{mark}-{t}" for mark in "BIES" for t in types] + ["O", "B", "I", "E-", "X", "."]
        rate = draw.choice([0, 0.1, 0.3, 0.9])
        found = [[draw.choice(odd) if draw.random() < rate else tag for tag in sentence] for sentence in gold]
        case = {"references": [" ".join(s) for s in gold], "hypotheses": [" ".join(s) for s in found],
                "accuracy": float(seqeval.metrics.accuracy_score(as_iob2(gold), as_iob2(found)))}
        if as_iob2(gold) == gold and as_iob2(found) == found:
            assert case["accuracy"] == float(seqeval.metrics.accuracy_score(gold, found))
        for average in ["micro", "macro", "weighted"]:
            p, r, f, n = seqeval.metrics.sequence_labeling.precision_recall_fscore_support(gold, found, average=average)
            values = [float(p), float(r), float(f)]
            case[average] = [0.0 if math.isnan(v) else v for v in values]
        case["digits"] = draw.choice([2, 4])
        try:
            case["report"] = seqeval.metrics.classification_report(gold, found, digits=case["digits"])
        except ValueError:  # no entity at all
            case["report"] = None
        cases.append(case)
    return cases


def label_cases():
    cases = []
    names = ["good", "bad", "neutral", "schön", "日本", "0", "1", "10", "a label with spaces", "an extraordinarily long label", "Z"]
    for _ in range(60):
        labels = draw.sample(names, draw.choice([1, 2, 3, 11]))
        gold = draw.choices(labels, k=draw.choice([1, 3, 17, 24]))
        found = [draw.choice(names) if draw.random() < draw.choice([0, 0.2, 0.8]) else label for label in gold]
        digits = draw.choice([2, 4])
        report = sklearn.metrics.classification_report(gold, found, digits=digits)
        if not any(g == f for g, f in zip(gold, found)):
            report = None  # with nothing right scikit-learn prints the supports as 1.0 instead of 1
        cases.append({"references": gold, "hypotheses": found, "accuracy": float(sklearn.metrics.accuracy_score(gold, found)),
                      "macro_f1": float(sklearn.metrics.f1_score(gold, found, average="macro")),
                      "digits": digits, "report": report})
    return cases


def label_set_cases():
    cases = []
    names = ["news", "sport", "schön", "日本", "a label", "0", "1", "z"]
    for number in range(60):
        labels = draw.sample(names, draw.choice([2, 3, 8]))
        pick = lambda rate: [label for label in labels if draw.random() < rate]
        gold = [pick(draw.choice([0, 0.3, 0.6])) for _ in range(draw.choice([1, 3, 17, 140]))]
        found = [pick(0.4) if draw.random() < draw.choice([0, 0.3, 0.9]) else list(s) for s in gold]
        if len({label for s in gold + found for label in s}) < 2:  # scikit-learn would not take it for several labels
            found[0] = labels[:2]
        binarizer = MultiLabelBinarizer().fit(gold + found)
        y, x = binarizer.transform(gold), binarizer.transform(found)
        case = {"references": gold, "hypotheses": found, "exact_match": float(sklearn.metrics.accuracy_score(y, x))}
        for average in ["micro", "macro", "weighted", "samples"]:
            p, r, f, _ = sklearn.metrics.precision_recall_fscore_support(y, x, average=average)
            case[average] = [float(p), float(r), float(f)]
        case["report"] = sklearn.metrics.classification_report(y, x, target_names=list(binarizer.classes_), digits=4)
        cases.append(case)
    return cases


def number_cases():
    cases = []
    for number in range(60):
        size, scale = draw.choice([2, 3, 10, 100]), draw.choice([1, 1e-3, 1e6])
        gold = [draw.choice([draw.gauss(0, 1) * scale, float(draw.randrange(5))]) for _ in range(size)]
        if number % 3 == 0:  # stars, with many ties
            gold = [float(draw.randrange(1, 6)) for _ in range(size)]
        found = [g * draw.choice([-1, 1, 1, 1]) + draw.gauss(0, 0.3) * scale for g in gold]
        if number % 3 == 0:
            found = [float(round(f)) for f in found]
        if len(set(gold)) == 1 or len(set(found)) == 1:
            gold, found = [1.0, 2.0, 2.0], [3.0, 3.0, -1.0]
        cases.append({"references": gold, "hypotheses": found,
                      "pearson": float(scipy.stats.pearsonr(gold, found).statistic),
                      "spearman": float(scipy.stats.spearmanr(gold, found).statistic),
                      "mean_squared_error": float(sklearn.metrics.mean_squared_error(gold, found)),
                      "mean_absolute_error": float(sklearn.metrics.mean_absolute_error(gold, found))})
    return cases


def perplexity_cases():
    """Language models of NLTK: its perplexity, and the log-probabilities (of base 2 there) that it is made of."""
    cases = []
    for number in range(50):
        order = draw.choice([1, 2, 3])
        texts = [s.split() for s in draw.sample(SENTENCES, 12)]
        train, vocabulary = padded_everygram_pipeline(order, texts)
        model = Laplace(order) if number % 2 else Lidstone(draw.choice([0.1, 0.5, 0.01]), order)
        model.fit(train, vocabulary)
        words = [w for s in draw.sample(SENTENCES, 3) for w in s.split()][:16] or ["x"]
        grams = list(ngrams(["<s>"] * (order - 1) + words, order))
        cases.append({"logs": [model.logscore(g[-1], g[:-1]) * math.log(2) for g in grams], "perplexity": model.perplexity(grams)})
    return cases


def alignment_cases():
    """NLTK scores one pair; a corpus is that pair whose sentences stand side by side."""
    cases = []
    for number in range(60):
        gold, found, sure, possible, links = [], [], set(), set(), set()
        for sentence in range(draw.choice([1, 1, 3, 8])):
            cells = [(i, j) for i in range(draw.randrange(1, 7)) for j in range(draw.randrange(1, 7))]
            s = draw.sample(cells, draw.randrange(0 if sentence else 1, len(cells) + 1))
            p = [c for c in cells if c not in s and draw.random() < 0.3]
            a = [c for c in cells if draw.random() < (0.8 if c in s or c in p else 0.2)]
            gold.append(" ".join([f"{i}-{j}" for i, j in s] + [f"{i}{draw.choice('p?')}{j}" for i, j in p]))
            found.append(" ".join(f"{i}-{j}" for i, j in a))
            move = lambda pairs: {(i + 1000 * sentence, j + 1000 * sentence) for i, j in pairs}
            sure, possible, links = sure | move(s), possible | move(s) | move(p), links | move(a)
        cases.append({"references": gold, "hypotheses": found,
                      "error_rate": float(alignment_error_rate(frozenset(sure), frozenset(links), frozenset(possible)))})
    return cases


golden = {
    "corpora": [{"hypotheses": h, "references": r} for h, r in CORPORA],
    "bleu": bleu_cases(),
    "chrf": chrf_cases(),
    "rouge": rouge_cases(),
    "stems": stems(),
    "entities": entity_cases(),
    "labels": label_cases(),
    "perplexity": perplexity_cases(),
    "alignment": alignment_cases(),
    "label_sets": label_set_cases(),
    "numbers": number_cases(),
    "lower": [[s, s.lower()] for s in SENTENCES + ["Σ", "ΑΣ", "ΑΣ.Β", "ΑΣ. Β", "Α'Σ", "aΣ\u0301", "aΣ\u0301b", "ßẞ", "ΆΈΏ", "𐐀𐐁"]],
    "split": [[s, s.split()] for s in SENTENCES + ["a\x1cb\x1fc\x85d\u2028e\u180ef\ufeffg"]],
}
path = pathlib.Path(__file__).with_name("metrics.json")
path.write_text(json.dumps(golden, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
print(path.name, path.stat().st_size, {k: len(v) for k, v in golden.items()})
