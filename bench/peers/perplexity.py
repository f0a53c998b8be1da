"""llama.cpp on the same GGUF file: perplexity of a text, and where greedy texts part.

    pip install llama-cpp-python numpy
    python bench/peers/perplexity.py model.gguf text.txt --threads 1

Perplexity is of the first 100,000 bytes, in windows of --context tokens that begin with the last token of the window before; a text ends
with the token for its end, as `fovea evaluate` reads it. Greedy texts go on for --tokens tokens from each prompt. Where they part, the
script tells how far apart llama.cpp's two best logits are there, and how far its logits are there from those of the same weights without
rounding: llama.cpp rounds what it multiplies blocks with to 8 bits, so that the file of the same numbers as f32 (`fovea quantize model.gguf
-o exact.gguf --weights f32`), which the script makes, tells by how much.
"""

import argparse
import ctypes
import json
import subprocess
import tempfile
from pathlib import Path

import llama_cpp
import numpy

parser = argparse.ArgumentParser()
parser.add_argument("gguf"), parser.add_argument("text")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--context", type=int, default=512)
parser.add_argument("--bytes", type=int, default=100_000)
parser.add_argument("--tokens", type=int, default=200)
parser.add_argument("--prompt", action="append", help="instead of the three that are here")
parser.add_argument("--skip", choices=["perplexity", "greedy"])
parser.add_argument("--fovea", default=str(Path(__file__).parents[2] / "build/release/fovea"))
args = parser.parse_args()
prompts = args.prompt or ["Once upon a time", "The three most important inventions of the last century are", "def fibonacci(n):"]


quiet = llama_cpp.llama_log_callback(lambda *_: None)
llama_cpp.llama_log_set(quiet, ctypes.c_void_p(0))
llama_cpp.llama_backend_init()


class Llama:
    def __init__(self, file: str) -> None:
        self.model = llama_cpp.llama_model_load_from_file(file.encode(), llama_cpp.llama_model_default_params())
        params = llama_cpp.llama_context_default_params()
        params.n_ctx = max(args.context, args.tokens + 64)
        params.n_batch = params.n_ubatch = params.n_ctx
        params.n_threads = params.n_threads_batch = args.threads
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        self.vocabulary = llama_cpp.llama_model_get_vocab(self.model)
        self.entries = llama_cpp.llama_vocab_n_tokens(self.vocabulary)
        self.end = llama_cpp.llama_vocab_eos(self.vocabulary)
        self.start = llama_cpp.llama_vocab_bos(self.vocabulary) if llama_cpp.llama_vocab_get_add_bos(self.vocabulary) else -1

    def ids(self, text: str) -> list[int]:
        data = text.encode()
        found = (llama_cpp.llama_token * (len(data) + 8))()
        return list(found[:llama_cpp.llama_tokenize(self.vocabulary, data, len(data), found, len(found), True, False)])

    def forget(self) -> None:
        llama_cpp.llama_memory_clear(llama_cpp.llama_get_memory(self.context), True)

    def read(self, ids: list[int], first: int, at: int = 0) -> numpy.ndarray:
        """Logits of the tokens from `first` on, read at once, behind `at` others."""
        batch = llama_cpp.llama_batch_init(len(ids), 0, 1)
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.seq_id[i][0], batch.logits[i] = token, at + i, 1, 0, i >= first
        assert llama_cpp.llama_decode(self.context, batch) == 0
        rows = [numpy.ctypeslib.as_array(llama_cpp.llama_get_logits_ith(self.context, i), shape=(self.entries,)).astype(numpy.float64)
                for i in range(first, len(ids))]
        llama_cpp.llama_batch_free(batch)
        return numpy.array(rows)


llama = Llama(args.gguf)


def ours_on(file: Path) -> dict:
    done = subprocess.run([args.fovea, "evaluate", "-m", args.gguf, "--data", str(file), "--context", str(args.context), "--json", "-t", str(args.threads)],
                          check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def perplexities() -> None:
    text = Path(args.text).read_bytes()[:args.bytes].decode(errors="ignore")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "text.txt"
        file.write_text(text, encoding="utf-8")
        ours = ours_on(file)
    ids = [*llama.ids(text if text.endswith("\n") else text + "\n"), llama.end]
    if len(ids) - 1 != ours["tokens"]:
        ids = [*llama.ids(text), llama.end]
    total = 0.0
    for begin in range(0, len(ids) - 1, args.context):
        window = ids[begin:begin + args.context + 1]
        read = [llama.start if llama.start >= 0 else window[0], *window[1:-1]]
        llama.forget()
        logits = llama.read(read, 0)
        best = logits.max(axis=1)
        total += float((best + numpy.log(numpy.exp(logits - best[:, None]).sum(axis=1)) - logits[range(len(read)), window[1:]]).sum())
    theirs = numpy.exp(total / (len(ids) - 1))
    print(f"{Path(args.gguf).name}  perplexity of {len(text.encode())} bytes, {len(ids) - 1} tokens (ours: {ours['tokens']}): Fovea {ours['perplexity']:.4f}  "
          f"llama.cpp {theirs:.4f}  difference {100 * (ours['perplexity'] / theirs - 1):+.3f} %", flush=True)


def greedy(exact: Llama) -> None:
    name = Path(args.gguf).name
    for prompt in prompts:
        done = subprocess.run([args.fovea, "generate", "-m", args.gguf, "-t", str(args.threads), "--max-length", str(args.tokens), "--logprobs", "--quiet", prompt],
                              check=True, capture_output=True, text=True)
        ours = [token["id"] for token in json.loads(done.stdout)["tokens"]]
        ids = llama.ids(prompt)
        llama.forget()
        logits, text = llama.read(ids, len(ids) - 1)[-1], []
        for expected in ours:
            token = int(logits.argmax())
            if token != expected:
                break
            text.append(token)
            if token == llama.end:
                break
            logits = llama.read([token], 0, len(ids) + len(text) - 1)[-1]
        if text == ours:
            print(f"{name}  '{prompt}': the same {len(text)} tokens", flush=True)
            continue
        exact.forget()
        right = exact.read(ids + text, len(ids) + len(text) - 1)[-1]
        second, first = logits.argsort()[-2:]
        found = ours[len(text)]
        off = numpy.abs(logits - right)
        print(f"{name}  '{prompt}': the same for {len(text)} tokens; then llama.cpp's two best logits are {logits[first] - logits[second]:.4f} apart, and "
              f"{'the second is ours' if found == second else 'ours is another'}; rounding has moved these two by {off[first]:.4f} and {off[second]:.4f} "
              f"(all logits by {numpy.sqrt((off**2).mean()):.4f}, root mean square); without it they are {right[first] - right[found]:+.4f} apart", flush=True)


if args.skip != "greedy":
    with tempfile.TemporaryDirectory() as exact_folder:
        file = str(Path(exact_folder) / "exact.gguf")
        subprocess.run([args.fovea, "quantize", args.gguf, "-o", file, "--weights", "f32"], check=True, stdout=subprocess.DEVNULL)
        greedy(Llama(file))
if args.skip != "perplexity":
    perplexities()
