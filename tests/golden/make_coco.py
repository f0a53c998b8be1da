"""BLEU-1 … 4 and CIDEr of the COCO caption evaluation, for fovea/train/metrics/coco_test.cpp.

    pip install pycocoevalcap==1.2
    python make_coco.py        # writes coco.json

Random sentences of few words, so that n-grams repeat.
"""
import json
import pathlib
import random

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider

draw = random.Random(1)
words = "a the red blue small dog cat runs sits on in of grass field two men".split()
sentence = lambda least, most: " ".join(draw.choice(words) for _ in range(draw.randint(least, most)))


def near(text):
    return " ".join(w if draw.random() < 0.7 else draw.choice(words) for w in text.split() if draw.random() < 0.9)


def case(pictures, references, least=3):
    wanted = [[sentence(least, 12) for _ in range(draw.randint(1, references))] for _ in range(pictures)]
    found = [near(draw.choice(w)) if draw.random() < 0.8 else sentence(0, 9) for w in wanted]
    gts, res = dict(enumerate(wanted)), {i: [f] for i, f in enumerate(found)}
    return {"captions": found, "references": wanted, "bleu": Bleu(4).compute_score(gts, res, verbose=0)[0],
            "cider": float(Cider().compute_score(gts, res)[0])}


cases = [case(20, 5), case(7, 1), case(40, 3, least=1), case(2, 2)]
(pathlib.Path(__file__).parent / "coco.json").write_text(json.dumps(cases, indent=0) + "\n")
