"""llama.cpp on the same GGUF file: a prompt read at once, then tokens one by one.

    pip install llama-cpp-python numpy
    python bench/peers/decode.py model.gguf --threads 1

Both run in turns, and the best of each counts. Of Fovea whole runs of the program are timed: with a prompt of one token, with the prompt and
one token, with as many tokens more; the best of the first is taken off the best of the second, and that off the best of the third. (The
best of the differences would be that of a round whose shorter run was disturbed.)
"""

import argparse
import ctypes
import subprocess
import time
from pathlib import Path

import llama_cpp
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("gguf")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--prompt", type=int, default=512)
parser.add_argument("--tokens", type=int, default=128)
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--fovea", default=str(Path(__file__).parents[2] / "build/release/fovea"))
args = parser.parse_args()
# A word that is one token, and leaves nothing that ends a text.
word = " time"


def fovea(prompt: int, tokens: int) -> float:
    begin = time.perf_counter()
    subprocess.run([args.fovea, "generate", "-m", args.gguf, "-t", str(args.threads), "--max-length", str(tokens), "--min-length", str(tokens),
                    "--quiet", (word * prompt).strip()], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


class Llama:
    def __init__(self) -> None:
        self.quiet = llama_cpp.llama_log_callback(lambda *_: None)
        llama_cpp.llama_log_set(self.quiet, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        model = llama_cpp.llama_model_load_from_file(args.gguf.encode(), llama_cpp.llama_model_default_params())
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = args.prompt + args.tokens + 64
        params.n_batch = params.n_ubatch = args.prompt
        params.n_threads = params.n_threads_batch = args.threads
        self.context = llama_cpp.llama_init_from_model(model, params)
        vocabulary = llama_cpp.llama_model_get_vocab(model)
        self.entries = llama_cpp.llama_vocab_n_tokens(vocabulary)
        found = (llama_cpp.llama_token * 8)()
        assert llama_cpp.llama_tokenize(vocabulary, word.encode(), len(word), found, 8, False, False) == 1, "the word is not one token"
        self.word = found[0]

    def step(self, ids: list[int]) -> int:
        tokens = (llama_cpp.llama_token * len(ids))(*ids)
        assert llama_cpp.llama_decode(self.context, llama_cpp.llama_batch_get_one(tokens, len(ids))) == 0
        logits = llama_cpp.llama_get_logits_ith(self.context, -1)
        return int(numpy.ctypeslib.as_array(logits, shape=(self.entries,)).argmax())

    def run(self) -> tuple[float, float]:
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)
        begin = time.perf_counter()
        token = self.step([self.word] * args.prompt)
        read = time.perf_counter()
        for _ in range(args.tokens):
            token = self.step([token])
        return read - begin, time.perf_counter() - read


llama = Llama()
runs: list[tuple[float, float, float]] = []
theirs: list[tuple[float, float]] = []
for _ in range(args.rounds):
    theirs.append(llama.run())
    runs.append((fovea(1, 1), fovea(args.prompt, 1), fovea(args.prompt, args.tokens + 1)))
start, first, all_of_it = (min(times) for times in zip(*runs))
ours = (first - start, all_of_it - first)
for i, (what, count) in enumerate((("prompt", args.prompt), ("tokens", args.tokens))):
    a, b = count / ours[i], count / min(times[i] for times in theirs)
    print(f"{Path(args.gguf).name}  {args.threads} threads  {what:<6}  Fovea {a:8.1f}/s  llama.cpp {b:8.1f}/s  ratio {a / b:.2f}")
