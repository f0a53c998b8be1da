"""Sequence models computed by PyTorch, logits and gradients of the loss, for fovea/models/*_test.cpp.

    python make_models.py         # needs torch, safetensors

A case holds CASE.weight.*, CASE.logits, CASE.loss and CASE.gradient.* of the mean cross-entropy of the targets that are not
padding, with coverage plus 0.7 times the weight on what had it before. Computed in double precision, kept in single. The batch
is the same for all of them.
"""
import pathlib, math
import torch
from torch import nn
from torch.nn import functional as F
from safetensors.torch import save_file

from hash_numbers import Draw

file = {}
torch.set_num_threads(1)
draw = Draw(1)

VOCABULARY, WIDTH = 11, 8
source = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 10, 0, 0], [4, 4, 0, 0, 0]])
lengths = torch.tensor([5, 3, 2])
inputs = torch.tensor([[1, 7, 6, 5], [1, 10, 9, 0], [1, 5, 0, 0]])
targets = torch.tensor([[7, 6, 5, 2], [10, 9, 2, 0], [5, 2, 0, 0]])
padding = torch.arange(source.size(1))[None] >= lengths[:, None]
file |= {"source": source, "lengths": lengths, "inputs": inputs, "targets": targets}


def leaf(*shape, scale=0.4):
    return draw(shape, scale).float().double().requires_grad_()


def add(case, logits, weights, more=0):
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=0) + more
    loss.backward()
    keep = lambda key, tensor: file.__setitem__(f"{case}.{key}", tensor.detach().float().contiguous().clone())
    keep("logits", logits)
    keep("loss", loss)
    for name, tensor in weights.items():
        keep(f"weight.{name}", tensor)
        keep(f"gradient.{name}", tensor.grad)


def known(ids):
    """What is read: the unknown one for words outside of the vocabulary."""
    return torch.where(ids >= VOCABULARY, 3, ids)


def with_copies(logits, gate, weights):
    """log(p vocabulary + (1 - p) weights, at the ids of the source) (See, Liu and Manning 2017)"""
    p = torch.sigmoid(gate)
    size = max(VOCABULARY, int(source.max()) + 1)
    mixed = F.pad(p * logits.softmax(-1), (0, size - VOCABULARY))
    ids = source[:, None].expand(-1, logits.size(1), -1)
    mixed = mixed.scatter_add(-1, ids, (1 - p) * weights)
    possible = mixed > 0
    return torch.where(possible, torch.where(possible, mixed, torch.ones_like(mixed)).log(), -math.inf)


def greedy(run, most=6):
    """The most probable ids one after another, without padding and start; each row up to its end."""
    global inputs
    inputs = torch.full((source.size(0), 1), 1)
    for _ in range(most):
        logits = run()[0][:, -1].detach().clone()
        logits[:, :2] = -math.inf
        inputs = torch.cat([inputs, logits.argmax(-1, keepdim=True)], 1)
    return inputs[:, 1:].contiguous()


def transformer(norm_first, pointer=False):
    """nn.Transformer, with the final norms of pre-norm only, as the papers have it; embeddings and output around it."""
    common = dict(d_model=WIDTH, nhead=2, dim_feedforward=12, dropout=0.0, batch_first=True, norm_first=norm_first)
    norm = (lambda: nn.LayerNorm(WIDTH)) if norm_first else (lambda: None)
    m = nn.Transformer(**common,
                       custom_encoder=nn.TransformerEncoder(nn.TransformerEncoderLayer(**common), 2, norm=norm(), enable_nested_tensor=False),
                       custom_decoder=nn.TransformerDecoder(nn.TransformerDecoderLayer(**common), 2, norm=norm())).double()
    names, state = {}, {}
    for name, p in m.named_parameters():
        value = leaf(*p.shape)
        if ".norm" in name and name.endswith("weight"):
            value = (value.detach() + 1).float().double().requires_grad_()
        parts = name.split(".")  # encoder.layers.0.self_attn.in_proj_weight
        side = parts[0]
        if parts[1] == "norm":
            names[f"{side}_norm.{parts[2]}"] = state[name] = value
            continue
        where, what = f"{side}.{parts[2]}", parts[3]
        if what in ("self_attn", "multihead_attn"):
            kind = "self" if what == "self_attn" else "cross"
            if parts[4].startswith("in_proj"):
                thirds = [part.detach().clone().requires_grad_() for part in value.chunk(3)]
                for which, third in zip(["query", "key", "value"], thirds):
                    names[f"{where}.{kind}.{which}.{parts[4][8:]}"] = third
                state[name] = torch.cat(thirds)
            else:
                names[f"{where}.{kind}.output.{parts[5]}"] = state[name] = value
            continue
        last = "feed_forward_norm" if (side, what) in [("encoder", "norm2"), ("decoder", "norm3")] else \
            {"norm1": "self_norm", "norm2": "cross_norm", "linear1": "feed_forward.up", "linear2": "feed_forward.down"}[what]
        names[f"{where}.{last}.{parts[4]}"] = state[name] = value
    words = names["embedding.weight"] = leaf(VOCABULARY, WIDTH)

    div = torch.exp(torch.arange(0, WIDTH, 2).double() * (-math.log(10000.0) / WIDTH))
    t = torch.arange(8)[:, None]
    table = torch.zeros(8, WIDTH).double()
    table[:, 0::2], table[:, 1::2] = torch.sin(t * div), torch.cos(t * div)
    embed = lambda ids: F.embedding(known(ids), words, padding_idx=0) * math.sqrt(WIDTH) + table[:ids.size(1)]
    if pointer:
        names |= {"pointer.query.weight": leaf(WIDTH, WIDTH), "pointer.query.bias": leaf(WIDTH), "pointer.key.weight": leaf(WIDTH, WIDTH),
                  "pointer.key.bias": leaf(WIDTH), "pointer.gate.weight": leaf(1, 2 * WIDTH), "pointer.gate.bias": leaf(1)}

    def run():
        causal = torch.ones(inputs.size(1), inputs.size(1), dtype=torch.bool).triu(1)
        y = torch.func.functional_call(m, state, (embed(source), embed(inputs)), dict(
            tgt_mask=causal, src_key_padding_mask=padding, memory_key_padding_mask=padding))
        if not pointer:
            return y @ words.T, 0
        memory = torch.func.functional_call(m.encoder, {n[8:]: v for n, v in state.items() if n.startswith("encoder.")}, (embed(source),),
                                            dict(src_key_padding_mask=padding))
        line = lambda name, x: F.linear(x, names[f"pointer.{name}.weight"], names[f"pointer.{name}.bias"])
        keys = line("key", memory)
        scores = line("query", y) @ keys.transpose(1, 2) / math.sqrt(WIDTH)
        a = scores.masked_fill(padding[:, None], -math.inf).softmax(-1)
        return with_copies(y @ words.T, line("gate", torch.cat([y, a @ keys], -1)), a), 0

    name = f"transformer_{'pre' if norm_first else 'post'}"
    add(name + ("_pointer" if pointer else ""), run()[0], names)
    return run


def recurrent(case, cell, order, score, layers, coverage=False, pointer=False):
    """Bahdanau, Cho and Bengio 2014, and Luong, Pham and Manning 2015, written down step by step."""
    enc, dec, emb = 3, 5, 4
    memory, lstm = 2 * enc, cell == "lstm"
    encoder = (nn.LSTM if lstm else nn.GRU)(emb, enc, num_layers=layers, bidirectional=True, batch_first=True).double()
    beside = memory if order == "bahdanau" else dec
    decoder = (nn.LSTM if lstm else nn.GRU)(emb + beside, dec, num_layers=layers, batch_first=True).double()
    w = {"embedding.weight": leaf(VOCABULARY, emb), "source_embedding.weight": leaf(VOCABULARY, emb),
         "bridge.weight": leaf(layers * dec, memory), "bridge.bias": leaf(layers * dec),
         "output.weight": leaf(VOCABULARY, dec), "output.bias": leaf(VOCABULARY)}
    for name, module in [("encoder", encoder), ("decoder", decoder)]:
        for n, p in module.named_parameters():
            p.data = leaf(*p.shape).data
            w[f"{name}.{n}"] = p
    if lstm:
        w |= {"cell_bridge.weight": leaf(layers * dec, memory), "cell_bridge.bias": leaf(layers * dec)}
    if score == "additive":
        w |= {"attention.query": leaf(1, 7, dec), "attention.key": leaf(1, 7, memory), "attention.vector": leaf(1, 7)}
    else:
        w |= {"attention.query": leaf(1, dec, memory)}
    if coverage:
        w |= {"attention.coverage": leaf(7 if score == "additive" else 1)}
    if order == "bahdanau":
        w |= {"readout.weight": leaf(dec, dec + memory + emb), "readout.bias": leaf(dec)}
    else:
        w |= {"readout.weight": leaf(dec, memory + dec)}
    if pointer:
        w |= {"gate.weight": leaf(1, memory + dec + emb), "gate.bias": leaf(1)}
    run = lambda: decoded(w, encoder, decoder, lstm, order, score, layers, coverage, pointer)
    logits, more = run()
    add(case, logits, w, more)
    return run


def decoded(w, encoder, decoder, lstm, order, score, layers, coverage, pointer):
    """Logits, and what coverage adds to the loss."""
    dec = 5
    packed = nn.utils.rnn.pack_padded_sequence(F.embedding(known(source), w["source_embedding.weight"], padding_idx=0), lengths, batch_first=True)
    h, last = encoder(packed)
    h, _ = nn.utils.rnn.pad_packed_sequence(h, batch_first=True)
    top = lambda s: torch.cat([s[-2], s[-1]], -1)
    layered = lambda x: x.unflatten(-1, (layers, dec)).transpose(0, 1).contiguous()
    s = layered(torch.tanh(F.linear(top(last[0] if lstm else last), w["bridge.weight"], w["bridge.bias"])))
    if lstm:
        s = (s, layered(F.linear(top(last[1]), w["cell_bridge.weight"], w["cell_bridge.bias"])))

    covered, repeated, looked = torch.zeros(source.shape).double(), [], []

    def attend(query):  # [batch, decoder] → [batch, memory]
        nonlocal covered
        if score == "additive":
            z = (query @ w["attention.query"][0].T)[:, None] + h @ w["attention.key"][0].T
            if coverage:
                z = z + covered[:, :, None] * w["attention.coverage"]
            e = torch.tanh(z) @ w["attention.vector"][0]
        else:
            e = torch.einsum("bq,qk,bjk->bj", query, w["attention.query"][0], h)
            if coverage:
                e = e + covered * w["attention.coverage"]
        a = e.masked_fill(padding, -math.inf).softmax(-1)
        repeated.append(torch.minimum(a, covered).sum(-1))
        covered = covered + a
        looked.append(a)
        return torch.einsum("bj,bjk->bk", a, h)

    y, logits, gates, fed = F.embedding(known(inputs), w["embedding.weight"], padding_idx=0), [], [], torch.zeros(3, dec).double()
    for t in range(inputs.size(1)):
        if order == "bahdanau":
            c = attend((s[0] if lstm else s)[-1])
            out, s = decoder(torch.cat([y[:, t], c], -1)[:, None], s)
            o = torch.tanh(F.linear(torch.cat([out[:, 0], c, y[:, t]], -1), w["readout.weight"], w["readout.bias"]))
        else:
            out, s = decoder(torch.cat([y[:, t], fed], -1)[:, None], s)
            c = attend(out[:, 0])
            o = fed = torch.tanh(F.linear(torch.cat([c, out[:, 0]], -1), w["readout.weight"]))
        if pointer:
            gates.append(F.linear(torch.cat([c, out[:, 0], y[:, t]], -1), w["gate.weight"], w["gate.bias"]))
        logits.append(F.linear(o, w["output.weight"], w["output.bias"]))
    logits = torch.stack(logits, 1)
    if pointer:
        logits = with_copies(logits, torch.stack(gates, 1), torch.stack(looked, 1))
    if not coverage or inputs.shape != targets.shape:
        return logits, 0
    wanted = targets != 0
    return logits, 0.7 * torch.stack(repeated, 1)[wanted].sum() / wanted.sum()


def main():
    transformer(norm_first=False)
    transformer(norm_first=True)
    recurrent("bahdanau_additive_gru", "gru", "bahdanau", "additive", 1)
    recurrent("bahdanau_additive_lstm", "lstm", "bahdanau", "additive", 2)
    recurrent("luong_general_lstm", "lstm", "luong", "general", 2)
    recurrent("luong_general_gru", "gru", "luong", "general", 1)
    recurrent("bahdanau_additive_coverage", "gru", "bahdanau", "additive", 1, coverage=True)
    recurrent("luong_general_coverage", "lstm", "luong", "general", 1, coverage=True)
    save_file(file, pathlib.Path(__file__).parent / "models.safetensors")


if __name__ == "__main__":
    main()
