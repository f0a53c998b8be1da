"""Modules computed by PyTorch and Transformers, values and gradients, for fovea/nn/*_test.cpp and fovea/attention/*_test.cpp.

    python make_nn.py             # needs torch, transformers, safetensors

numbers() is the hash that the tests compute too. A case holds CASE.input.*, CASE.weight.*, CASE.output, and CASE.gradient.* of the sum of output times numbers(shape, 99).
"""
import pathlib, math
import torch
from torch import nn
from torch.nn import functional as F
from safetensors.torch import save_file

from hash_numbers import numbers

file = {}
torch.set_num_threads(1)


def fill(module, scale=0.5):
    for n, p in enumerate(module.parameters()):
        p.data = numbers(p.shape, n + 1, scale)
    return module.double()


def add(case, output, inputs, weights, store_weights=True):
    """Everything of a case; inputs and weights are leaves. Computed in double precision, kept in single."""
    for tensor in [*inputs.values(), *weights.values()]:
        tensor.grad = None
    (output * numbers(output.shape, 99)).sum().backward()
    keep = lambda key, tensor: file.__setitem__(f"{case}.{key}", tensor.detach().float().contiguous().clone())
    keep("output", output)
    for name, tensor in inputs.items():
        keep(f"input.{name}", tensor)
        if tensor.requires_grad:
            keep(f"gradient.{name}", tensor.grad)
    for name, tensor in weights.items():
        if store_weights:
            keep(f"weight.{name}", tensor)
        keep(f"gradient.{name}", tensor.grad)


def leaf(shape, seed, scale=1.0):
    return numbers(shape, seed, scale).requires_grad_()


def named(module, rename=lambda n: n):
    return {rename(n): p for n, p in module.named_parameters()}


def layers():
    for activation, f in [("none", lambda y: y), ("gelu", F.gelu)]:
        m, x = fill(nn.Linear(7, 5)), leaf((2, 3, 7), 50)
        add(f"linear_{activation}", f(m(x)), {"x": x}, named(m))
    m, ids = fill(nn.Embedding(6, 4, padding_idx=1)), torch.tensor([[0, 1, 5], [5, 2, 1]])
    add("embedding", m(ids), {}, named(m))
    file["embedding.input.ids"] = ids
    m, x = fill(nn.LayerNorm(9)), leaf((3, 9), 51)
    add("layer_norm", m(x), {"x": x}, named(m))
    m, x = fill(nn.RMSNorm(9, eps=1e-6)), leaf((3, 9), 51)
    add("rms_norm", m(x), {"x": x}, named(m))


class Plain(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.up, self.down, self.f = nn.Linear(6, 10), nn.Linear(10, 6), f

    def forward(self, x):
        return self.down(self.f(self.up(x)))


class Gated(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.gate, self.up, self.f = nn.Linear(6, 10, bias=False), nn.Linear(6, 10, bias=False), f
        self.down = nn.Linear(10, 6, bias=False)

    def forward(self, x):
        return self.down(self.f(self.gate(x)) * self.up(x))


def feed_forward():
    acts = {"relu": F.relu, "gelu": F.gelu, "gelu-tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu}
    for name, f in acts.items():
        for kind, m in [("plain", Plain(f)), ("gated", Gated(f))]:
            m, x = fill(m), leaf((2, 3, 6), 52)
            add(f"feed_forward_{kind}_{name}", m(x), {"x": x}, named(m))


def convolutions():
    cases = {"plain": dict(kernel_size=3), "strided": dict(kernel_size=3, stride=2, padding=1),
             "dilated": dict(kernel_size=2, dilation=3, padding=2), "grouped": dict(kernel_size=3, groups=2, padding=4, bias=False),
             "sparse": dict(kernel_size=2, stride=3)}
    for name, options in cases.items():
        m, x = fill(nn.Conv1d(4, 6, **options)), leaf((2, 4, 11), 53)
        add(f"conv1d_{name}", m(x), {"x": x}, named(m))
        m, x = fill(nn.Conv2d(4, 6, **options)), leaf((2, 4, 7, 9), 54)
        add(f"conv2d_{name}", m(x), {"x": x}, named(m))


def recurrent():
    lengths = torch.tensor([5, 2, 1])
    for kind, make in [("lstm", nn.LSTM), ("gru", nn.GRU)]:
        for name, options in [("single", {}), ("stacked", dict(num_layers=2, bidirectional=True))]:
            m, x = fill(make(4, 3, batch_first=True, **options)), leaf((3, 5, 4), 55)
            rows = 4 if options else 1
            state = {"hidden": leaf((rows, 3, 3), 56), **({"cell": leaf((rows, 3, 3), 57)} if kind == "lstm" else {})}
            given = (state["hidden"], state["cell"]) if kind == "lstm" else state["hidden"]
            for padded in [False, True]:
                fed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True) if padded else x
                y, last = m(fed, given)
                if padded:
                    y, _ = nn.utils.rnn.pad_packed_sequence(y, batch_first=True)
                last = last if kind == "lstm" else (last,)
                # One number to start the gradient from: outputs and last states side by side.
                out = torch.cat([y.flatten(), *[s.flatten() for s in last]])
                add(f"{kind}_{name}{'_padded' if padded else ''}", out, {"x": x, **state}, named(m))


def positions():
    from transformers.models.gptj import modeling_gptj
    from transformers.models.llama import modeling_llama
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
    from transformers.models.t5.modeling_t5 import T5Attention
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    t = torch.arange(12)[:, None]
    div = torch.exp(torch.arange(0, 8, 2).double() * (-math.log(10000.0) / 8))
    table = torch.zeros(12, 8).double()  # as PyTorch's own tutorial writes Vaswani's formula
    table[:, 0::2], table[:, 1::2] = torch.sin(t * div), torch.cos(t * div)
    file["sinusoidal.output"] = table.float()
    marian = MarianSinusoidalPositionalEmbedding(12, 8)
    file["sinusoidal_halves.output"] = marian.create_weight().clone()

    offset, tokens = 70, 5
    x = leaf((2, tokens, 3, 10), 58)
    places = torch.arange(offset, offset + tokens).double()
    inv = 1.0 / (10000.0 ** (torch.arange(0, 8, 2).double() / 8))
    angles = places[:, None] * inv
    both = torch.cat([angles, angles], -1)
    turned, _ = modeling_llama.apply_rotary_pos_emb(x[..., :8], x[..., :8], both.cos()[None], both.sin()[None], unsqueeze_dim=2)
    add("rotary_halves", torch.cat([turned, x[..., 8:]], -1), {"x": x}, {})
    turned = modeling_gptj.apply_rotary_pos_emb(x[..., :8], angles.sin()[None], angles.cos()[None])
    add("rotary_interleaved", torch.cat([turned, x[..., 8:]], -1), {"x": x}, {})

    distance = torch.arange(-300, 301)
    for both_ways in [True, False]:
        for buckets, farthest in [(32, 128), (8, 20)]:
            found = T5Attention._relative_position_bucket(distance, both_ways, buckets, farthest)
            file[f"buckets_{'two' if both_ways else 'one'}_{buckets}_{farthest}"] = found.to(torch.int64)
    for heads in [1, 2, 8, 12, 20]:
        # The bias of key 1 relative to key 0 is the slope.
        alibi = build_alibi_tensor(torch.ones(1, 2), heads, torch.float32).reshape(heads, 2)
        file[f"alibi_{heads}"] = (alibi[:, 1] - alibi[:, 0]).clone()


def multi_head():
    """8 heads × 64 = 512. Weights and inputs are numbers(…), so that only a sample of the results is kept."""
    batch, tokens, keys, width = 2, 6, 5, 512
    m = nn.MultiheadAttention(width, 8, batch_first=True).double()
    parts = {}
    for n, name in enumerate(["query", "key", "value", "output"]):
        parts[f"{name}.weight"] = leaf((width, width), 2 * n + 1, 0.1)
        parts[f"{name}.bias"] = leaf((width,), 2 * n + 2, 0.1)
    inputs = {"x": leaf((batch, tokens, width), 60), "memory": leaf((batch, keys, width), 61)}
    causal = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)
    padding = lambda count: torch.arange(count)[None] >= torch.tensor([[count], [3]])
    cases = {"self": ("x", {}), "causal": ("x", dict(attn_mask=causal)), "padded": ("x", dict(key_padding_mask=padding(tokens))),
             "cross": ("memory", {}), "cross_padded": ("memory", dict(key_padding_mask=padding(keys)))}
    for name, (memory, options) in cases.items():
        weights = {"in_proj_weight": torch.cat([parts[f"{p}.weight"] for p in ["query", "key", "value"]]),
                   "in_proj_bias": torch.cat([parts[f"{p}.bias"] for p in ["query", "key", "value"]]),
                   "out_proj.weight": parts["output.weight"], "out_proj.bias": parts["output.bias"]}
        args = (inputs["x"], inputs[memory], inputs[memory])
        y, w = torch.func.functional_call(m, weights, args, dict(need_weights=True, average_attn_weights=False, **options))
        leaves = {**{k: v for k, v in inputs.items() if k in ("x", memory)}, **parts}
        for tensor in leaves.values():
            tensor.grad = None
        (y * numbers(y.shape, 99)).sum().backward()
        file[f"multi_head_{name}.output"] = y[..., ::8].detach().float().contiguous()
        file[f"multi_head_{name}.probe"] = w.detach().float().contiguous()
        for key, tensor in leaves.items():
            step = (slice(None, None, 97), slice(None, None, 61)) if tensor.dim() == 2 else (..., slice(None, None, 61))
            file[f"multi_head_{name}.gradient.{key}"] = tensor.grad[step].float().contiguous()


layers()
feed_forward()
convolutions()
recurrent()
positions()
multi_head()
save_file(file, pathlib.Path(__file__).parent / "nn.safetensors")
