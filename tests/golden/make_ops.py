"""Writes ops.json: inputs, results and gradients of tensor operations, computed by PyTorch in float64.

    python3 tests/golden/make_ops.py

A case: {"op", "inputs": [tensor], "index": tensor or null, "seed": tensor, "output": tensor, "gradients": [tensor]};
a tensor: {"shape", "values"}. The seed is the gradient of the output; inputs and seeds are multiples
of 1/64, so that both types hold them exactly and the file is short.
"""

import json
import pathlib

import torch
import torch.nn.functional as F

from hash_numbers import Draw

hashed = Draw(7)
cases = []


def numbers(t):
    values = t.detach().reshape(-1).tolist()
    return {"shape": list(t.shape), "values": values if t.dtype == torch.int64 else [float(f"{v:.9g}") for v in values]}


def grid(t):
    return torch.round(t.double() * 64) / 64


def draw(*shape, scale=1.0):
    return grid(hashed(shape, 2 * scale)).requires_grad_()


def add(op, function, inputs, index=None):
    output = function(*inputs)
    seed = grid(hashed(output.shape, 2))
    gradients = torch.autograd.grad(output, inputs, seed)
    cases.append({
        "op": op,
        "inputs": [numbers(x) for x in inputs],
        "index": None if index is None else numbers(index),
        "seed": numbers(seed),
        "output": numbers(output),
        "gradients": [numbers(g) for g in gradients],
    })


for shape in [(3, 7), (2, 2, 33), (1, 1), (2, 64)]:
    width = shape[-1]
    add("layer_norm", lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b, 1e-5), [draw(*shape), draw(width), draw(width)])
    add("rms_norm", lambda x, w: F.rms_norm(x, (x.shape[-1],), w, 1e-6), [draw(*shape), draw(width)])
    for scale in (1, 10):
        add("softmax", lambda x: torch.softmax(x, -1), [draw(*shape, scale=scale)])
        add("log_softmax", lambda x: torch.log_softmax(x, -1), [draw(*shape, scale=scale)])
        add("log_sum_exp", lambda x: torch.logsumexp(x, -1), [draw(*shape, scale=scale)])
    add("softmax_first", lambda x: torch.softmax(x, 0), [draw(*shape)])
    add("log_softmax_first", lambda x: torch.log_softmax(x, 0), [draw(*shape)])
    add("variance", lambda x: torch.var(x, -1, correction=0), [draw(*shape)])
    add("mean_first", lambda x: torch.mean(x, 0), [draw(*shape)])
    add("max", lambda x: torch.max(x, -1).values, [draw(*shape)])
    add("min", lambda x: torch.min(x, 0).values, [draw(*shape)])

for name, function in {
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
}.items():
    add(name, function, [draw(101, scale=3)])

for a, b in [((3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((3, 4), (2, 4, 5)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((17, 33), (33, 7))]:
    add("matmul", torch.matmul, [draw(*a), draw(*b)])
add("linear", F.linear, [draw(2, 3, 9), draw(5, 9), draw(5)])

targets = torch.tensor([3, 0, -100, 10, 5, -100])
for op, options in {
    "cross_entropy": {},
    "cross_entropy_smoothed": {"label_smoothing": 0.1},
    "cross_entropy_sum": {"label_smoothing": 0.1, "reduction": "sum"},
    "cross_entropy_none": {"label_smoothing": 0.3, "reduction": "none"},
}.items():
    add(op, lambda x: F.cross_entropy(x, targets, ignore_index=-100, **options), [draw(6, 11, scale=3)], targets)

index = torch.tensor([[0, 2, 2], [4, 4, 1]])
add("gather", lambda x: torch.gather(x, 1, index), [draw(2, 5)], index)
add("gather_first", lambda x: torch.gather(x, 0, index), [draw(5, 3)], index)
add("scatter_add", lambda x, source: x.scatter_add(1, index, source), [draw(2, 5), draw(2, 3)], index)
add("embedding", lambda table: F.embedding(index, table), [draw(6, 7)], index)
add("concat", lambda a, b, c: torch.cat([a, b, c], 1), [draw(2, 3, 2), draw(2, 1, 2), draw(2, 4, 2)])
add("stack", lambda a, b: torch.stack([a, b], -1), [draw(2, 3), draw(2, 3)])
add("where", lambda a, b: torch.where(index > 1, a, b), [draw(2, 3), draw(3)], (index > 1).long())
add("maximum", torch.maximum, [draw(3, 4), draw(4)])
add("divide", torch.divide, [draw(3, 1, 4), draw(2, 1)])

text = json.dumps({"torch": torch.__version__, "cases": cases}, separators=(",", ":"))
pathlib.Path(__file__).with_name("ops.json").write_text(text.replace('{"op"', '\n{"op"') + "\n")
