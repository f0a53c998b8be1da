"""ONNX Runtime and OpenVINO on the same sentence encoder: texts of one length, so many at once.

    pip install onnxruntime openvino tokenizers numpy
    python bench/peers/encode.py all-MiniLM-L6-v2 model.onnx --threads 1

The folder is Hugging Face's, the file the same weights as ONNX. Tokens are made before the peers' clock starts; Fovea is given the texts: of
its runs of the program, the best over a single batch is taken off the best over all. One text of 16 tokens at a time is a case of
`fovea bench encoder`, as tokens too, with random weights.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy
import onnxruntime
import openvino

parser = argparse.ArgumentParser()
parser.add_argument("folder"), parser.add_argument("onnx")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=4)
parser.add_argument("--weights", default="f32")
parser.add_argument("--fovea", default=str(Path(__file__).parents[2] / "build/release/fovea"))
args = parser.parse_args()
word, id_of_word, first, last = "time", 2051, 101, 102  # of BERT's vocabulary

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = args.threads
session = onnxruntime.InferenceSession(args.onnx, options, providers=["CPUExecutionProvider"])
compiled = openvino.Core().compile_model(args.onnx, "CPU", {"INFERENCE_NUM_THREADS": args.threads, "INFERENCE_PRECISION_HINT": "f32"})


def fovea(batches: int, batch: int, tokens: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        texts, vectors = Path(folder) / "texts.txt", Path(folder) / "v.npy"
        texts.write_text(((word + " ") * (tokens - 2) + "\n") * (batches * batch))
        begin = time.perf_counter()
        subprocess.run([args.fovea, "embed", "-m", args.folder, "-t", str(args.threads), "--weights", args.weights, "-i", texts, "-o", vectors, "--quiet"],
                       check=True)
        return time.perf_counter() - begin


def fovea_one(tokens: int) -> float:
    layers, width, hidden = 6, 384, 1536
    multiply_adds = layers * (4 * width**2 + 2 * width * hidden + 2 * tokens * width) * tokens
    command = [args.fovea, "bench", "encoder", "--json", "-t", str(args.threads), "--seconds", "0.3"]
    lines = map(json.loads, subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines())
    value = next(line["value"] for line in lines if line["case"] == f"minilm {args.weights} texts=1 tokens={tokens}")
    return value * 1e9 / (2 * multiply_adds)


# So many batches that what a start takes, each time more or less, is little of it.
for batch, tokens, batches in ((1, 16, 400), (32, 20, 60), (32, 128, 12)):
    ids = numpy.array([[first] + [id_of_word] * (tokens - 2) + [last]] * batch, dtype=numpy.int64)
    feed = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
    peers = {"ONNX Runtime": lambda: session.run(None, feed), "OpenVINO": lambda: compiled(feed)}
    best = dict.fromkeys(peers, 0.0)
    ours: list[tuple[float, float]] = []
    for _ in range(args.rounds):
        if batch > 1:
            ours.append((fovea(1, batch, tokens), fovea(batches + 1, batch, tokens)))
        else:
            best["Fovea"] = max(best.get("Fovea", 0.0), fovea_one(tokens))
        for name, run in peers.items():
            run()
            begin = time.perf_counter()
            for _ in range(batches):
                run()
            best[name] = max(best[name], batches * batch / (time.perf_counter() - begin))
    peer = max(best[name] for name in peers)
    if ours:
        one, all_of_them = (min(times) for times in zip(*ours))
        best["Fovea"] = batches * batch / (all_of_them - one)
    print(f"{batch} × {tokens} tokens, {args.threads} threads: " + ", ".join(f"{n} {v:.0f}/s" for n, v in best.items()) + f", ratio {best['Fovea'] / peer:.2f}")
