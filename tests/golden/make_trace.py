"""Writes trace.safetensors with Python's own safetensors, for fovea/explain/trace_file_test.cpp; or checks a trace that Fovea wrote.

    python make_trace.py                          # needs numpy and safetensors
    python make_trace.py check FILE               # every row sums to 1, shapes and words are what the metadata says

Two places over four tokens, causal, two heads: "whole" has the weights softmax(scale · q kᵀ), computed in float64; "parts" has q, k and
the log-sum-exp that they are made of.
"""
import json, pathlib, sys
import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

here = pathlib.Path(__file__).parent


def make():
    rng = np.random.default_rng(7)
    q, k, scale = rng.standard_normal((2, 4, 8)), rng.standard_normal((2, 4, 8)), 8 ** -0.5
    scores = np.where(np.tril(np.ones((4, 4), bool)), scale * q @ k.transpose(0, 2, 1), -np.inf)
    lse = np.log(np.exp(scores).sum(-1))
    pieces, text = ["I", "love", "naïve", "🙂"], "I love naïve 🙂"
    spans, at = [], 0
    for piece in pieces:
        begin = text.encode().index(piece.encode(), at)
        at = begin + len(piece.encode())
        spans.append([begin, at])
    place = {"kind": "self", "heads": [0, 1], "key_heads": 2, "rows": "text", "columns": "text", "causal": True, "size": [4, 4]}
    metadata = {"format": 1, "model": "none", "family": "none", "precision": "f32", "text": text, "answer": "",
                "sequences": {"text": {"text": text, "ids": [0, 1, 2, -1], "pieces": pieces, "spans": spans}},
                "places": [{"path": "whole", **place, "kept": ["whole"]}, {"path": "parts", **place, "kept": ["parts"], "scale": scale}]}
    tensors = {"whole.weights": np.exp(scores - lse[..., None]), "parts.q": q, "parts.k": k, "parts.lse": lse}
    save_file({n: np.ascontiguousarray(t, np.float32) for n, t in tensors.items()}, here / "trace.safetensors",
              {"fovea": json.dumps(metadata, ensure_ascii=False)})


def check(path):
    with safe_open(path, "np") as file:
        seen = json.loads(file.metadata()["fovea"])
        for sequence in seen["sequences"].values():
            data = sequence["text"].encode()
            assert len(sequence["ids"]) == len(sequence["pieces"]) == len(sequence["spans"])
            for begin, end in sequence["spans"]:
                data[begin:end].decode(errors="strict" if begin == end else "replace")
        for place in seen["places"]:
            rows, columns = (len(seen["sequences"][place[side]]["pieces"]) for side in ("rows", "columns"))
            assert place["size"] == [rows, columns], place["path"]
            if "whole" not in place["kept"]:
                continue
            weights = file.get_tensor(place["path"] + ".weights")
            assert weights.shape == (len(place["heads"]), rows, columns)
            assert np.allclose(weights.sum(-1), 1, atol=1e-4), place["path"]
            assert not place["causal"] or np.triu(weights, 1).max() == 0
    print(f"{path}: {len(seen['places'])} places of {seen['model']}, \"{seen['text']}\" → \"{seen['answer']}\"")


check(sys.argv[2]) if sys.argv[1:2] == ["check"] else make()
