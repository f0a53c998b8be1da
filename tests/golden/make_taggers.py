"""Taggers and classifiers computed by PyTorch, scores and gradients of the loss, for fovea/models/{tagger,classifier}_test.cpp.

    python make_taggers.py         # needs torch, safetensors

A case holds CASE.weight.*, CASE.scores, CASE.loss and CASE.gradient.* of the loss added up over the batch. Computed in double
precision, kept in single. The batch is the same for all of them.
"""
import pathlib, math
import torch
from torch import nn
from torch.nn import functional as F
from safetensors.torch import save_file

from hash_numbers import Draw

file = {}
torch.set_num_threads(1)
draw = Draw(2)

VOCABULARY, CHARACTERS, LABELS = 11, 7, 4
words = torch.tensor([[3, 4, 5, 6, 7], [8, 9, 10, 0, 0], [4, 4, 0, 0, 0]])
lengths = torch.tensor([5, 3, 2])
characters = torch.tensor([[[1, 2, 3], [4, 0, 0], [5, 6, 0], [1, 1, 0], [2, 3, 4]],
                           [[6, 0, 0], [4, 0, 0], [3, 2, 1], [0, 0, 0], [0, 0, 0]],
                           [[4, 0, 0], [4, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]]])
character_lengths = torch.tensor([[3, 1, 2, 2, 3], [1, 1, 3, 0, 0], [1, 1, 0, 0, 0]])
tags = torch.tensor([[0, 1, 3, 2, 1], [2, 2, 0, 0, 0], [1, 3, 0, 0, 0]])
classes = torch.tensor([2, 0, 1])
real = torch.arange(5)[None] < lengths[:, None]
file |= {"words": words, "lengths": lengths, "characters": characters, "character_lengths": character_lengths, "tags": tags,
         "classes": classes}


def leaf(*shape, scale=0.5):
    return draw(shape, scale).float().double().requires_grad_()


def add(case, scores, loss, weights):
    loss.backward()
    keep = lambda key, tensor: file.__setitem__(f"{case}.{key}", tensor.detach().float().contiguous().clone())
    keep("scores", scores)
    keep("loss", loss)
    for name, tensor in weights.items():
        keep(f"weight.{name}", tensor)
        keep(f"gradient.{name}", torch.zeros_like(tensor) if tensor.grad is None else tensor.grad)


def cells(w, name, cell, inputs, width, layers=1, bidirectional=True):
    module = (nn.LSTM if cell == "lstm" else nn.GRU)(inputs, width, num_layers=layers, bidirectional=bidirectional,
                                                     batch_first=True).double()
    for n, p in module.named_parameters():
        p.data = leaf(*p.shape).data
        w[f"{name}.{n}"] = p
    return module


def run(module, x, n):
    """Outputs and [last →; last ←], or last → alone, of sequences of different lengths."""
    packed = nn.utils.rnn.pack_padded_sequence(x, n, batch_first=True, enforce_sorted=False)
    h, last = module(packed)
    last = last[0] if isinstance(last, tuple) else last
    ends = torch.cat([last[-2], last[-1]], -1) if module.bidirectional else last[-1]
    return nn.utils.rnn.pad_packed_sequence(h, batch_first=True, total_length=x.size(1))[0], ends


def form_weights(form, query, key, hidden):
    if form == "additive":
        return {"query": leaf(1, hidden, query), "key": leaf(1, hidden, key), "vector": leaf(1, hidden)}
    if form == "concat":
        return {"query": leaf(1, hidden, query + key), "vector": leaf(1, hidden)}
    return {"query": leaf(1, query, key)} if form == "general" else {}


def weights_of(form, f, q, k, n):
    """Attention weights of queries [batch, queries, width] over keys [batch, keys, width] of which n are real."""
    if form == "additive":
        e = torch.tanh((q @ f["query"][0].T)[:, :, None] + (k @ f["key"][0].T)[:, None]) @ f["vector"][0]
    elif form == "concat":
        pairs = torch.cat([q[:, :, None].expand(-1, -1, k.size(1), -1), k[:, None].expand(-1, q.size(1), -1, -1)], -1)
        e = torch.tanh(pairs @ f["query"][0].T) @ f["vector"][0]
    elif form == "general":
        e = q @ f["query"][0] @ k.transpose(1, 2)
    else:
        e = q @ k.transpose(1, 2) / (math.sqrt(k.size(-1)) if form == "scaled-dot" else 1)
    return e.masked_fill(torch.arange(k.size(1))[None, None] >= n[:, None, None], -math.inf).softmax(-1)


def crf_loss(e, start, transition, stop):
    """−log p of the tags, the sum over all sequences by the forward algorithm."""
    loss = 0
    for b in range(3):
        n, y = int(lengths[b]), tags[b]
        alpha = start + e[b, 0]
        score = start[y[0]] + e[b, 0, y[0]]
        for t in range(1, n):
            alpha = torch.logsumexp(alpha[:, None] + transition, 0) + e[b, t]
            score = score + transition[y[t - 1], y[t]] + e[b, t, y[t]]
        loss = loss + torch.logsumexp(alpha + stop, 0) - score - stop[y[n - 1]]
    return loss


def tagger(case, cell, form, crf, layers):
    embedding, width, character_embedding, character_width = 4, 3, 2, 3
    w = {"words.weight": leaf(VOCABULARY, embedding), "characters.weight": leaf(CHARACTERS, character_embedding)}
    spelling = cells(w, "spelling", cell, character_embedding, character_width)
    encoder = cells(w, "encoder", cell, embedding + 2 * character_width, width, layers)
    flat = F.embedding(characters[real], w["characters.weight"], padding_idx=0)
    _, ends = run(spelling, flat, character_lengths[real])
    c = torch.zeros(3, 5, 2 * character_width).double()
    c[real] = ends
    h, _ = run(encoder, torch.cat([F.embedding(words, w["words.weight"], padding_idx=0), c], -1), lengths)
    if form != "none":
        for part in ["query", "key", "value", "output"]:
            w |= {f"attention.{part}.weight": leaf(2 * width, 2 * width), f"attention.{part}.bias": leaf(2 * width)}
        f = form_weights(form, 2 * width, 2 * width, 2 * width)
        w |= {f"attention.form.{name}": tensor for name, tensor in f.items()}
        project = lambda part, x: F.linear(x, w[f"attention.{part}.weight"], w[f"attention.{part}.bias"])
        a = weights_of(form, f, project("query", h), project("key", h), lengths) @ project("value", h)
        h = torch.cat([h, project("output", a)], -1)
    w |= {"output.weight": leaf(LABELS, h.size(-1)), "output.bias": leaf(LABELS)}
    e = F.linear(h, w["output.weight"], w["output.bias"])
    if crf:
        w |= {"crf.start": leaf(LABELS), "crf.transition": leaf(LABELS, LABELS), "crf.stop": leaf(LABELS)}
        loss = crf_loss(e, w["crf.start"], w["crf.transition"], w["crf.stop"])
    else:
        loss = F.cross_entropy(e[real], tags[real], reduction="sum")
    add(case, e * real[:, :, None], loss, w)


def transformer_encoder(w, x, width, layers):
    hidden, heads = 7, 2
    t, div = torch.arange(5)[:, None], torch.exp(torch.arange(0, width, 2).double() * (-math.log(10000.0) / width))
    table = torch.zeros(5, width).double()
    table[:, 0::2], table[:, 1::2] = torch.sin(t * div), torch.cos(t * div)
    x = x * math.sqrt(width) + table
    for i in range(layers):
        layer = nn.TransformerEncoderLayer(width, heads, hidden, 0.0, batch_first=True, norm_first=True).double()
        state = {}
        for name, p in layer.named_parameters():
            value = leaf(*p.shape)
            if name.startswith("self_attn.in_proj"):
                thirds = [part.detach().clone().requires_grad_() for part in value.chunk(3)]
                for which, third in zip(["query", "key", "value"], thirds):
                    w[f"encoder.{i}.self.{which}.{name[18:]}"] = third
                state[name] = torch.cat(thirds)
                continue
            where = {"self_attn.out_proj": "self.output", "norm1": "self_norm", "norm2": "feed_forward_norm",
                     "linear1": "feed_forward.up", "linear2": "feed_forward.down"}[name.rsplit(".", 1)[0]]
            w[f"encoder.{i}.{where}.{name.rsplit('.', 1)[1]}"] = state[name] = value
        x = torch.func.functional_call(layer, state, (x,), dict(src_key_padding_mask=~real))
    w |= {"encoder_norm.weight": leaf(width), "encoder_norm.bias": leaf(width)}
    return F.layer_norm(x, (width,), w["encoder_norm.weight"], w["encoder_norm.bias"])


def classifier(case, encoder, pooling, form, layers=1, bidirectional=True):
    embedding, width = 6, 4 if encoder != "transformer" else 6
    w = {"embedding.weight": leaf(VOCABULARY, embedding)}
    h = F.embedding(words, w["embedding.weight"], padding_idx=0)
    if encoder in ("lstm", "gru"):
        h, ends = run(cells(w, "encoder", encoder, embedding, width, layers, bidirectional), h, lengths)
    elif encoder == "transformer":
        h = transformer_encoder(w, h, width, 2)
    state = h.size(-1)
    if pooling == "attention":
        q = w["pooling.learned_query"] = leaf(state)
        f = form_weights(form, state, state, state)
        w |= {f"pooling.{name}": tensor for name, tensor in f.items()}
        p = (weights_of(form, f, q.expand(3, 1, -1), h, lengths) @ h)[:, 0]
    elif pooling == "mean":
        p = (h * real[:, :, None]).sum(1) / lengths[:, None]
    else:
        p = ends
    w |= {"output.weight": leaf(LABELS, state), "output.bias": leaf(LABELS)}
    logits = F.linear(p, w["output.weight"], w["output.bias"])
    add(case, logits, F.cross_entropy(logits, classes, reduction="sum"), w)


tagger("tagger_lstm_crf", "lstm", "scaled-dot", True, 1)
tagger("tagger_gru_softmax", "gru", "additive", False, 2)
tagger("tagger_plain", "lstm", "none", True, 1)
classifier("classifier_lstm_additive", "lstm", "attention", "additive")
classifier("classifier_gru_general", "gru", "attention", "general")
classifier("classifier_gru_last", "gru", "last", "additive")
classifier("classifier_lstm_mean", "lstm", "mean", "additive")
classifier("classifier_transformer_scaled_dot", "transformer", "attention", "scaled-dot")
classifier("classifier_transformer_mean", "transformer", "mean", "additive")
classifier("classifier_none_concat", "none", "attention", "concat")
classifier("classifier_none_dot", "none", "attention", "dot")
classifier("classifier_forward_lstm_last", "lstm", "last", "additive", bidirectional=False)
classifier("classifier_forward_lstm_additive", "lstm", "attention", "additive", bidirectional=False)
classifier("classifier_forward_gru_last", "gru", "last", "additive", layers=2, bidirectional=False)
save_file(file, pathlib.Path(__file__).parent / "taggers.safetensors")
