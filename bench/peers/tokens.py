"""Hugging Face's tokenizers and sentencepiece on the same vocabularies and the same lines, one thread.

    pip install tokenizers sentencepiece protobuf
    python bench/peers/tokens.py --text text.txt --gpt2 vocab.json merges.txt --bert vocab.txt --t5 spiece.model

The text is cut after 1 MB. All take turns, and the best of each counts; of the peers the time of the processor, without that of other programs.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.pop(0)  # this folder, where this file would be found as the package that it compares with
os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import sentencepiece  # noqa: E402
import tokenizers  # noqa: E402
from sentencepiece import sentencepiece_model_pb2  # noqa: E402

parser = argparse.ArgumentParser()
parser.add_argument("--text", required=True)
parser.add_argument("--gpt2", nargs=2, required=True)
parser.add_argument("--bert", required=True)
parser.add_argument("--t5", required=True)
parser.add_argument("--characters", type=int, default=4000, help="lines are joined until they have so many; 0: not at all")
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--fovea", default=str(Path(__file__).parents[2] / "build/release/fovea"))
args = parser.parse_args()

lines = [""]
for line in Path(args.text).read_text(encoding="utf-8", errors="ignore")[:1_000_000].split("\n"):
    if len(lines[-1]) >= max(1, args.characters):
        lines.append("")
    lines[-1] = f"{lines[-1]} {line}".strip()
text = "\n".join(lines)
size = len(text.encode()) / 1e6
root = Path(tempfile.mkdtemp())
folders = root / "tokenizers"


def folder(name: str, files: dict[str, str]) -> Path:
    made = folders / name
    made.mkdir(parents=True)
    for to, source in files.items():
        shutil.copy(source, made / to)
    return made


gpt2 = tokenizers.ByteLevelBPETokenizer(*args.gpt2)
bert = tokenizers.BertWordPieceTokenizer(args.bert, lowercase=True)
folder("gpt2", {"vocab.json": args.gpt2[0], "merges.txt": args.gpt2[1]})
folder("bert", {"vocab.txt": args.bert})
folder("t5", {"spiece.model": args.t5})
model = sentencepiece_model_pb2.ModelProto.FromString(Path(args.t5).read_bytes())
t5 = tokenizers.Tokenizer(tokenizers.models.Unigram([(p.piece, p.score) for p in model.pieces], 2))
t5.normalizer = tokenizers.normalizers.Sequence([
    tokenizers.normalizers.Precompiled(model.normalizer_spec.precompiled_charsmap),
    tokenizers.normalizers.Strip(left=False, right=True),
    tokenizers.normalizers.Replace(tokenizers.Regex(" {2,}"), "\u2581"),
])
t5.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
folder("t5-json", {})
t5.save(str(folders / "t5-json/tokenizer.json"))
pieces = sentencepiece.SentencePieceProcessor(model_file=args.t5)
(root / "text.txt").write_text(text, encoding="utf-8")

peers: dict[str, list[tuple[str, Callable[[str], list[int]]]]] = {
    "gpt2": [("tokenizers", lambda line: gpt2.encode(line).ids)],
    "bert": [("tokenizers", lambda line: bert.encode(line, add_special_tokens=False).ids)],
    "t5": [("sentencepiece", pieces.encode), ("tokenizers", lambda line: t5.encode(line, add_special_tokens=False).ids)],
    "t5-json": [("tokenizers", lambda line: t5.encode(line, add_special_tokens=False).ids)],
}


def ours() -> dict[str, float]:
    env = os.environ | {"FOVEA_TOKENIZERS": str(folders), "FOVEA_TEXT": str(root / "text.txt")}
    done = subprocess.run([args.fovea, "bench", "tokenizers", "--threads", "1", "--seconds", "1", "--json"], env=env, check=True, capture_output=True, text=True)
    return {line["case"]: line["value"] for line in map(json.loads, done.stdout.splitlines())}


def differing(name: str, encode: Callable[[str], list[int]]) -> int:
    """Lines that get other ids."""
    done = subprocess.run([args.fovea, "tokenize", "-m", str(folders / name), "-i", str(root / "text.txt"), "--ids"], check=True, capture_output=True, text=True)
    found = [list(map(int, line.split())) for line in done.stdout.split("\n")]
    return sum(encode(line) != ids for line, ids in zip(lines, found))


best: dict[tuple[str, str], float] = {}
for _ in range(args.rounds):
    for name, rate in ours().items():
        best[name, "Fovea"] = max(rate, best.get((name, "Fovea"), 0))
    for name, list_of_peers in peers.items():
        for peer, encode in list_of_peers:
            begin = time.process_time()
            for line in lines:
                encode(line)
            rate = size / (time.process_time() - begin)
            best[name, peer] = max(rate, best.get((name, peer), 0))
print(f"{size:.2f} MB in {len(lines)} lines; tokenizers {tokenizers.__version__}, sentencepiece {sentencepiece.__version__}")
for name, list_of_peers in peers.items():
    for peer, encode in list_of_peers:
        a, b = best[name, "Fovea"], best[name, peer]
        print(f"{name:<8} {peer:<14} Fovea {a:7.2f} MB/s  {peer} {b:7.2f} MB/s  ratio {a / b:6.2f}  lines with other ids: {differing(name, encode)}")
shutil.rmtree(root)
