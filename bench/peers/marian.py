"""CTranslate2 on the same weights as Fovea: a Marian model of OPUS-MT's size with random weights, the same texts, tokens a second.

    pip install ctranslate2 transformers torch sentencepiece
    python bench/peers/marian.py TOKENIZER --weights int8

`TOKENIZER` is a folder with an OPUS-MT's source.spm, target.spm and vocab.json. Each output is forced to have as many tokens, because
random weights never end a text. CTranslate2's weights are loaded before its clock starts; of Fovea, the time of a run over one
text is taken off that of all.
"""

import argparse
import json
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import ctranslate2
import torch
from ctranslate2.converters import TransformersConverter
from transformers import MarianConfig, MarianMTModel, MarianTokenizer

LENGTH = 25


def make_model(tokenizer: Path, folder: Path, layers: int) -> None:
    vocabulary = json.loads((tokenizer / "vocab.json").read_text())
    padding = vocabulary["<pad>"]
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=len(vocabulary), d_model=512, encoder_layers=layers, decoder_layers=layers, encoder_attention_heads=8,
        decoder_attention_heads=8, encoder_ffn_dim=2048, decoder_ffn_dim=2048, activation_function="swish",
        max_position_embeddings=512, scale_embedding=True, pad_token_id=padding, eos_token_id=vocabulary["</s>"],
        forced_eos_token_id=None, decoder_start_token_id=padding)
    model = MarianMTModel(config)
    model.generation_config.bad_words_ids = [[padding]]
    model.save_pretrained(folder)
    for name in ("source.spm", "target.spm", "vocab.json", "tokenizer_config.json"):
        if (tokenizer / name).exists():
            shutil.copy(tokenizer / name, folder / name)


def texts_of(tokenizer: MarianTokenizer, count: int) -> list[str]:
    draw = random.Random(0)
    words = [piece[1:] for piece in tokenizer.get_vocab() if piece.startswith("▁") and piece[1:].isalpha()]
    return [" ".join(draw.choices(words, k=14)) for _ in range(count)]


def plain(text: str) -> str:
    return text.replace("▁", " ").strip()


def seconds_of(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def fovea_lines(options, folder: Path, threads: int, beam: int, at_once: int, texts: list[str]) -> list[str]:
    command = [options.fovea, "translate", "-m", str(folder), "--threads", str(threads), "--beam-size", str(beam),
               "--batch-size", str(at_once), "--weights", options.weights, "--min-length", str(LENGTH), "--max-length",
               str(LENGTH), "--quiet"]
    text = "".join(f"{line}\n" for line in texts)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()


def peer_lines(engine, tokenizer, beam: int, at_once: int, tokens: list[list[str]]) -> list[str]:
    asked = dict(beam_size=beam, min_decoding_length=LENGTH, max_decoding_length=LENGTH)
    if at_once == 1:
        found = [engine.translate_batch([one], **asked)[0] for one in tokens]
    else:
        found = engine.translate_batch(tokens, max_batch_size=at_once, **asked)
    return [tokenizer.decode(tokenizer.convert_tokens_to_ids(result.hypotheses[0]), skip_special_tokens=True) for result in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer", type=Path)
    parser.add_argument("--fovea", default="build/release/fovea", help="the program")
    parser.add_argument("--weights", default="f32", choices=["f32", "int8"])
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--one-by-one", type=int, default=30, help="texts when they are not taken together")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    precision = "float32" if options.weights == "f32" else options.weights
    with tempfile.TemporaryDirectory() as temporary:
        folder, converted = Path(temporary) / "model", Path(temporary) / "converted"
        make_model(options.tokenizer, folder, options.layers)
        tokenizer = MarianTokenizer.from_pretrained(folder)
        TransformersConverter(str(folder)).convert(str(converted), quantization=None if precision == "float32" else precision)
        texts = texts_of(tokenizer, options.texts)
        print(f"threads beam at once   Fovea {options.weights}      CTranslate2 {precision}   ratio   same texts")
        for threads in options.threads:
            engine = ctranslate2.Translator(str(converted), device="cpu", compute_type=precision, inter_threads=1,
                                            intra_threads=threads)
            for beam, at_once in ((1, 32), (4, 32), (1, 1), (4, 1)):
                some = texts if at_once > 1 else texts[:options.one_by_one]
                tokens = [tokenizer.convert_ids_to_tokens(tokenizer.encode(text)) for text in some]
                starts, runs, theirs = [], [], 0.0
                for _ in range(options.turns):
                    start, _ = seconds_of(lambda: fovea_lines(options, folder, threads, beam, at_once, some[:1]))
                    spent, our_lines = seconds_of(lambda: fovea_lines(options, folder, threads, beam, at_once, some))
                    starts.append(start), runs.append(spent)
                    spent, their_lines = seconds_of(lambda: peer_lines(engine, tokenizer, beam, at_once, tokens))
                    theirs = max(theirs, LENGTH * len(some) / spent)
                ours = LENGTH * (len(some) - 1) / (min(runs) - min(starts))
                same = sum(plain(a) == plain(b) for a, b in zip(our_lines, their_lines))
                print(f"{threads:7} {beam:4} {at_once:7} {ours:9.0f}/s {theirs:15.0f}/s {ours / theirs:12.2f}   {same} of {len(some)}",
                      flush=True)


if __name__ == "__main__":
    main()
