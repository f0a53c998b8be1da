"""CTranslate2 on the weights of one of Fovea's own translators: the same sentences, sentences a second and BLEU of both.

    pip install ctranslate2 sentencepiece safetensors sacrebleu
    python bench/peers/translate.py pairs.tsv --model zoo/en-de --weights int8

`pairs.tsv` has a source and a reference in each line, with a tab between. CTranslate2's weights are loaded before its clock starts;
of Fovea, the time of a run over one sentence is taken off that of all.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import ctranslate2
import numpy
import sacrebleu
import sentencepiece
from ctranslate2.specs import common_spec, transformer_spec
from safetensors.numpy import load_file


class Converter:
    """A Transformer of Fovea's under the names that CTranslate2 has for its parts."""

    def __init__(self, folder: Path, words: list[str]) -> None:
        self.config = json.loads((folder / "config.json").read_text())
        self.tensors = {name: w.astype(numpy.float32) for name, w in load_file(folder / "model.safetensors").items()}
        self.words = words

    def linear(self, spec, *names: str) -> None:
        spec.weight = numpy.concatenate([self.tensors[f"{name}.weight"] for name in names])
        spec.bias = numpy.concatenate([self.tensors[f"{name}.bias"] for name in names])

    def norm(self, spec, name: str) -> None:
        spec.gamma, spec.beta = self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]

    def positions(self, count: int = 1024) -> numpy.ndarray:
        width = self.config["width"]
        angles = numpy.outer(numpy.arange(count), 10000.0 ** (-numpy.arange(0, width, 2) / width))
        return numpy.stack([numpy.sin(angles), numpy.cos(angles)], -1).reshape(count, width).astype(numpy.float32)

    def layer(self, spec, path: str) -> None:
        attention = spec.self_attention
        self.linear(attention.linear[0], *(f"{path}.self.{part}" for part in ("query", "key", "value")))
        self.linear(attention.linear[1], f"{path}.self.output")
        self.norm(attention.layer_norm, f"{path}.self_norm")
        if path.startswith("decoder"):
            cross = spec.attention
            self.linear(cross.linear[0], f"{path}.cross.query")
            self.linear(cross.linear[1], f"{path}.cross.key", f"{path}.cross.value")
            self.linear(cross.linear[2], f"{path}.cross.output")
            self.norm(cross.layer_norm, f"{path}.cross_norm")
        self.linear(spec.ffn.linear_0, f"{path}.feed_forward.up")
        self.linear(spec.ffn.linear_1, f"{path}.feed_forward.down")
        self.norm(spec.ffn.layer_norm, f"{path}.feed_forward_norm")

    def save(self, folder: Path, precision: str) -> None:
        c = self.config
        assert c["norm"] == "pre" and c["tied"] and c["positions"] == "sinusoidal", "another kind of Transformer"
        spec = transformer_spec.TransformerSpec.from_config(
            (c["encoder_layers"], c["decoder_layers"]), c["heads"], pre_norm=True, activation=common_spec.Activation.RELU)
        spec.config.bos_token = spec.config.decoder_start_token = self.words[c["start"]]
        spec.config.eos_token, spec.config.unk_token = self.words[c["end"]], "<unk>"
        for name, side in (("encoder", spec.encoder), ("decoder", spec.decoder)):
            embeddings = side.embeddings[0] if name == "encoder" else side.embeddings
            embeddings.weight = self.tensors["embedding.weight"]
            side.scale_embeddings = True
            side.position_encodings.encodings = self.positions()
            self.norm(side.layer_norm, f"{name}_norm")
            for number, layer in enumerate(side.layer):
                self.layer(layer, f"{name}.{number}")
        spec.decoder.projection.weight = self.tensors["embedding.weight"]
        spec.decoder.projection.bias = numpy.zeros(c["vocabulary"], numpy.float32)
        spec.register_source_vocabulary(self.words)
        spec.register_target_vocabulary(self.words)
        spec.validate()
        spec.optimize(quantization=None if precision == "float32" else precision)
        folder.mkdir()
        spec.save(str(folder))


def seconds_of(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def fovea_lines(options, threads: int, beam: int, at_once: int, texts: list[str]) -> list[str]:
    command = [options.fovea, "translate", "-m", str(options.model), "--threads", str(threads), "--beam-size", str(beam),
               "--batch-size", str(at_once), "--weights", options.weights, "--quiet"]
    text = "".join(f"{line}\n" for line in texts)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout.splitlines()


def peer_lines(engine, tokenizer, beam: int, at_once: int, tokens: list[list[str]]) -> list[str]:
    if at_once == 1:
        found = [engine.translate_batch([one], beam_size=beam)[0] for one in tokens]
    else:
        found = engine.translate_batch(tokens, beam_size=beam, max_batch_size=at_once)
    return [tokenizer.decode(result.hypotheses[0]) for result in found]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--fovea", default="build/release/fovea", help="the program")
    parser.add_argument("--model", type=Path, default=Path("zoo/en-de"))
    parser.add_argument("--weights", default="f32", choices=["f32", "int8"])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--one-by-one", type=int, default=200, help="sentences when they are not taken together")
    options = parser.parse_args()
    pairs = [line.split("\t")[:2] for line in options.pairs.read_text().splitlines()]
    tokenizer = sentencepiece.SentencePieceProcessor(str(options.model / "spiece.model"))
    words = [tokenizer.id_to_piece(i) for i in range(tokenizer.get_piece_size())]
    precision = "float32" if options.weights == "f32" else options.weights
    print(f"threads beam at once   Fovea {options.weights}      CTranslate2 {precision}   ratio   BLEU of both")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "model"
        Converter(options.model, words).save(folder, precision)
        for threads in options.threads:
            divisions = {(1, threads), (threads, 1)}
            engines = [ctranslate2.Translator(str(folder), device="cpu", compute_type=precision, inter_threads=workers,
                                              intra_threads=each) for workers, each in divisions]
            for beam, at_once in ((1, 32), (5, 32), (1, 1), (5, 1)):
                some = pairs if at_once > 1 else pairs[:options.one_by_one]
                texts, references = [a for a, _ in some], [b for _, b in some]
                tokens = [tokenizer.encode(text, out_type=str) + ["</s>"] for text in texts]
                starts, runs, theirs = [], [], 0.0
                for _ in range(options.turns):
                    start, _ = seconds_of(lambda: fovea_lines(options, threads, beam, at_once, texts[:1]))
                    spent, our_lines = seconds_of(lambda: fovea_lines(options, threads, beam, at_once, texts))
                    starts.append(start), runs.append(spent)
                    for engine in engines:
                        spent, their_lines = seconds_of(lambda: peer_lines(engine, tokenizer, beam, at_once, tokens))
                        theirs = max(theirs, len(texts) / spent)
                ours = (len(texts) - 1) / (min(runs) - min(starts))
                scores = [sacrebleu.corpus_bleu(lines, [references]).score for lines in (our_lines, their_lines)]
                print(f"{threads:7} {beam:4} {at_once:7} {ours:9.0f}/s {theirs:15.0f}/s {ours / theirs:12.2f}   "
                      f"{scores[0]:.2f} {scores[1]:.2f}", flush=True)


if __name__ == "__main__":
    main()
