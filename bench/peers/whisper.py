"""Transformers, faster-whisper (CTranslate2) and whisper.cpp on the same recording with the same Whisper: one window through the encoder, and
the whole transcription.

    pip install torch transformers faster-whisper pywhispercpp
    python bench/peers/whisper.py whisper-tiny.bin FOLDER recording.wav --threads 2

The first is whisper.cpp's file, FOLDER holds the same weights for the others: whisper-hf, and whisper-float32 and whisper-int8 for CTranslate2. The
recording is mono with 16,000 samples a second. Weights are loaded before the peers' clock starts, whose time has the
spectrogram in it. Of Fovea two times are given: of the model alone (`--profile`), and of the whole program from its start to its exit.
"""

import argparse
import os
import re
import subprocess
import time
import wave
from pathlib import Path

parser = argparse.ArgumentParser()
parser.add_argument("ggml"), parser.add_argument("folder"), parser.add_argument("recording")
parser.add_argument("--fovea", default=str(Path(__file__).parents[2] / "build/release/fovea"))
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--rounds", type=int, default=5)
args = parser.parse_args()
os.environ["OMP_NUM_THREADS"] = str(args.threads)

import numpy
import torch
from faster_whisper import WhisperModel
from pywhispercpp.model import Model
from tokenizers import Tokenizer
from transformers import WhisperFeatureExtractor, WhisperForConditionalGeneration

from peer import best_decile, measured

with wave.open(args.recording) as file:
    sound = numpy.frombuffer(file.readframes(file.getnframes()), numpy.int16).astype(numpy.float32) / 32768
torch.set_num_threads(args.threads)
torch.set_grad_enabled(False)
texts: dict[str, str] = {}

hf = WhisperForConditionalGeneration.from_pretrained(f"{args.folder}/whisper-hf", dtype=torch.float32).eval()
features = WhisperFeatureExtractor.from_pretrained(f"{args.folder}/whisper-hf")
tokens = Tokenizer.from_file(f"{args.folder}/whisper-hf/tokenizer.json")


def transformers() -> None:
    frames = features(sound, sampling_rate=16000, return_tensors="pt").input_features
    ids = hf.generate(frames, language="en", task="transcribe", num_beams=1, do_sample=False)[0].tolist()
    texts["Transformers"] = tokens.decode([i for i in ids if i < 50257])


def faster(kind: str):
    model = WhisperModel(f"{args.folder}/whisper-{kind}", device="cpu", compute_type=kind, cpu_threads=args.threads)

    def call() -> None:
        texts[f"faster-whisper {kind}"] = "".join(s.text for s in model.transcribe(sound, language="en", beam_size=1)[0])

    return call


cpp = Model(args.ggml, n_threads=args.threads, language="en", print_progress=False, print_realtime=False, redirect_whispercpp_logs_to=None)


def whisper_cpp() -> None:
    texts["whisper.cpp"] = " ".join(s.text for s in cpp.transcribe(sound))


def fovea(*flags: str) -> tuple[float, float]:
    command = [args.fovea, "transcribe", "-m", args.ggml, "-t", str(args.threads), "--language", "en", "--profile", *flags, args.recording]
    begin = time.perf_counter()
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    whole = time.perf_counter() - begin
    texts["Fovea " + " ".join(flags)] = run.stdout.split("\n")[0]
    return float(re.search(r"^([0-9.]+) ms with", run.stderr, re.MULTILINE)[1]) / 1000, whole


peers = {"Transformers": transformers, "faster-whisper float32": faster("float32"), "faster-whisper int8": faster("int8"), "whisper.cpp": whisper_cpp}
ours = {"Fovea f32": ("--weights", "f32"), "Fovea int8": ("--weights", "int8"), "Fovea f32, word times": ("--weights", "f32", "--words"),
        "Fovea int8, word times": ("--weights", "int8", "--words")}
best = dict.fromkeys([*ours, *(name + ", program" for name in ours), *peers], float("inf"))
encoder = {"Fovea f32": float("inf"), "Fovea int8": float("inf"), "Transformers": float("inf")}
window = features(sound, sampling_rate=16000, return_tensors="pt").input_features
for call in peers.values():
    call()
for _ in range(args.rounds):
    time.sleep(0.5)  # until the peers' threads have stopped spinning
    for name, flags in ours.items():
        model, program = fovea(*flags)
        best[name], best[name + ", program"] = min(best[name], model), min(best[name + ", program"], program)
    for (bench, case), line in measured(args.fovea, "media", args.threads, 0.5).items():
        name = "Fovea " + case.split()[-1]
        if bench == "sound" and name in encoder:
            encoder[name] = min(encoder[name], line["value"] / 1000)
    for name, call in peers.items():
        time.sleep(0.5)
        begin = time.perf_counter()
        call()
        best[name] = min(best[name], time.perf_counter() - begin)
    encoder["Transformers"] = min(encoder["Transformers"], best_decile(lambda: hf.model.encoder(window), 1))
print(f"encoder, {args.threads} threads: " + ", ".join(f"{n} {1000 * t:.0f} ms" for n, t in encoder.items()))
print(f"whole, {args.threads} threads: " + ", ".join(f"{n} {1000 * t:.0f} ms" for n, t in best.items()))
for name, text in texts.items():
    print(f"# {name}: {text.strip()}")
