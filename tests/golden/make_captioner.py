"""The captioner of Xu et al. 2015, written down step by step, for fovea/models/families/captioner_test.cpp.

    python make_captioner.py        # needs torch, safetensors

pixels, inputs, targets; for each case CASE.weight.PATH, CASE.logits, CASE.loss, CASE.gradient.PATH and CASE.looked, the weights of each step.
The loss is the mean over the tokens that count of the cross-entropy, and of 0.7 · Σ (1 − Σ a[t, j] over t)² over j if the case is "doubly".
"""
import pathlib

import torch
import torch.nn.functional as F
from hash_numbers import Draw
from safetensors.torch import save_file
from torch import nn

VOCABULARY, EMBEDDING, FEATURES, DECODER, HIDDEN, SIZE, PATCH = 11, 4, 16, 5, 7, 12, 4
draw = Draw(1)
leaf = lambda *shape: draw(shape, 0.9).float().double().requires_grad_()
pixels = draw((3, 3, SIZE, SIZE), 1.7).float().double()
inputs = torch.tensor([[1, 4, 6, 5], [1, 7, 9, 0], [1, 4, 0, 0]])
targets = torch.tensor([[4, 6, 5, 2], [7, 9, 2, 0], [4, 2, 0, 0]])
file = {"pixels": pixels.float(), "inputs": inputs, "targets": targets}


def weights(attention, gate, cell):
    w = {"embedding.weight": leaf(VOCABULARY, EMBEDDING), "bridge.weight": leaf(DECODER, FEATURES), "bridge.bias": leaf(DECODER),
         "readout.weight": leaf(DECODER, DECODER + FEATURES + EMBEDDING), "readout.bias": leaf(DECODER),
         "output.weight": leaf(VOCABULARY, DECODER), "output.bias": leaf(VOCABULARY),
         "encoder.positions": leaf(1, (SIZE // PATCH) ** 2, FEATURES), "encoder.norm.weight": leaf(FEATURES),
         "encoder.norm.bias": leaf(FEATURES)}
    for i, (channels, outputs, kernel) in enumerate([(3, 8, 4), (8, FEATURES, 4), (FEATURES, FEATURES, 3)]):
        w |= {f"encoder.convolutions.{i}.weight": leaf(outputs, channels, kernel, kernel), f"encoder.convolutions.{i}.bias": leaf(outputs)}
    if attention:
        w |= {"attention.query": leaf(1, HIDDEN, DECODER), "attention.key": leaf(1, HIDDEN, FEATURES), "attention.vector": leaf(1, HIDDEN)}
    if gate:
        w |= {"context_gate.weight": leaf(1, DECODER), "context_gate.bias": leaf(1)}
    if cell == "lstm":
        w |= {"cell_bridge.weight": leaf(DECODER, FEATURES), "cell_bridge.bias": leaf(DECODER)}
    return w


def features(w):
    x = pixels
    for i, stride in enumerate([2, 2, 1]):
        x = F.relu(F.conv2d(x, w[f"encoder.convolutions.{i}.weight"], w[f"encoder.convolutions.{i}.bias"], stride=stride, padding=1))
    x = x.flatten(2).transpose(1, 2) + w["encoder.positions"]
    return F.layer_norm(x, (FEATURES,), w["encoder.norm.weight"], w["encoder.norm.bias"])


def run(w, decoder, attention, gate, cell):
    a = features(w)
    mean = a.mean(1)
    s = torch.tanh(F.linear(mean, w["bridge.weight"], w["bridge.bias"]))[None]
    if cell == "lstm":
        s = (s, F.linear(mean, w["cell_bridge.weight"], w["cell_bridge.bias"])[None])
    y, logits, looked = F.embedding(inputs, w["embedding.weight"], padding_idx=0), [], []
    for t in range(inputs.size(1)):
        query = (s[0] if cell == "lstm" else s)[-1]
        c = mean
        if attention:
            z = (query @ w["attention.query"][0].T)[:, None] + a @ w["attention.key"][0].T
            alpha = (torch.tanh(z) @ w["attention.vector"][0]).softmax(-1)
            if attention == "hard":
                alpha = F.one_hot(alpha.argmax(-1), alpha.size(-1)).double()
            looked.append(alpha)
            c = torch.einsum("bj,bjk->bk", alpha, a)
        if gate:
            c = torch.sigmoid(F.linear(query, w["context_gate.weight"], w["context_gate.bias"])) * c
        out, s = decoder(torch.cat([y[:, t], c], -1)[:, None], s)
        o = torch.tanh(F.linear(torch.cat([out[:, 0], c, y[:, t]], -1), w["readout.weight"], w["readout.bias"]))
        logits.append(F.linear(o, w["output.weight"], w["output.bias"]))
    return torch.stack(logits, 1), torch.stack(looked, 1) if looked else None


def add(case, attention, gate, cell, doubly):
    w = weights(attention, gate, cell)
    decoder = (nn.LSTM if cell == "lstm" else nn.GRU)(EMBEDDING + FEATURES, DECODER, batch_first=True).double()
    for name, p in decoder.named_parameters():
        p.data = leaf(*p.shape).data
        w[f"decoder.{name}"] = p
    logits, looked = run(w, decoder, attention, gate, cell)
    counts = (targets != 0).double()
    loss = F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=0, reduction="sum")
    if doubly:
        loss = loss + 0.7 * ((1 - (counts[:, :, None] * looked).sum(1)) ** 2).sum()
    loss = loss / counts.sum()
    loss.backward()
    file.update({f"{case}.weight.{name}": p.detach().float() for name, p in w.items()})
    file.update({f"{case}.logits": logits.detach().float(), f"{case}.loss": loss.detach()})
    if attention != "hard":
        file.update({f"{case}.gradient.{name}": (torch.zeros_like(p) if p.grad is None else p.grad).float() for name, p in w.items()})
    if looked is not None:
        file[f"{case}.looked"] = looked.detach().float()


add("soft", "soft", True, "lstm", False)
add("doubly", "soft", True, "lstm", True)
add("ungated", "soft", False, "gru", True)
add("none", None, True, "lstm", False)
add("hard", "hard", True, "lstm", False)
save_file(file, pathlib.Path(__file__).parent / "captioner.safetensors")
