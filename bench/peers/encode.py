"""ONNX Runtime and OpenVINO on the same sentence encoder: texts of one length, so many at once.

    pip install onnxruntime openvino tokenizers numpy
    python bench/peers/encode.py all-MiniLM-L6-v2 model.onnx --threads 1

The folder is Hugging Face's, the file the same weights as ONNX. Tokens are made before the peers' clock starts; Fovea is given the texts: of
its runs of the program, the best over a single batch is taken off the best over all.
"""

import argparse
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


for batch, tokens, batches in ((32, 20, 12), (32, 128, 4)):
    ids = numpy.array([[first] + [id_of_word] * (tokens - 2) + [last]] * batch, dtype=numpy.int64)
    feed = {"input_ids": ids, "attention_mask": numpy.ones_like(ids), "token_type_ids": numpy.zeros_like(ids)}
    peers = {"ONNX Runtime": lambda: session.run(None, feed), "OpenVINO": lambda: compiled(feed)}
    best = dict.fromkeys(peers, 0.0)
    ours: list[tuple[float, float]] = []
    for _ in range(args.rounds):
        ours.append((fovea(1, batch, tokens), fovea(batches + 1, batch, tokens)))
        for name, run in peers.items():
            run()
            begin = time.perf_counter()
            for _ in range(batches):
                run()
            best[name] = max(best[name], batches * batch / (time.perf_counter() - begin))
    peer = max(best.values())
    one, all_of_them = (min(times) for times in zip(*ours))
    best["Fovea"] = batches * batch / (all_of_them - one)
    print(f"{batch} × {tokens} tokens, {args.threads} threads: " + ", ".join(f"{n} {v:.0f}/s" for n, v in best.items()) + f", ratio {best['Fovea'] / peer:.2f}")
