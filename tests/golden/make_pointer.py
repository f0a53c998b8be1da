"""The sequence models of make_models.py with a pointer (See, Liu and Manning 2017), for fovea/models/pointer_test.cpp.

    python make_pointer.py        # needs torch, safetensors

Beside what make_models.py keeps of a case: CASE.greedy, the ids that are the most probable one after another. Sources have words outside of
the vocabulary of 11, ids 11 and 12.
"""
import pathlib
import torch
from safetensors.torch import save_file

import make_models as m

m.file = {}
m.draw = m.Draw(2)
m.source = torch.tensor([[3, 11, 5, 11, 12], [8, 11, 10, 0, 0], [4, 4, 0, 0, 0]])
m.lengths = torch.tensor([5, 3, 2])
m.inputs = torch.tensor([[1, 12, 6, 5], [1, 11, 9, 0], [1, 4, 0, 0]])
m.targets = torch.tensor([[12, 6, 5, 2], [11, 9, 2, 0], [4, 2, 0, 0]])
m.padding = torch.arange(m.source.size(1))[None] >= m.lengths[:, None]
m.file |= {"source": m.source, "lengths": m.lengths, "inputs": m.inputs, "targets": m.targets}

inputs = m.inputs
for case, make in {
    "bahdanau": lambda case: m.recurrent(case, "lstm", "bahdanau", "additive", 1, pointer=True),
    "bahdanau_coverage": lambda case: m.recurrent(case, "lstm", "bahdanau", "additive", 1, coverage=True, pointer=True),
    "luong": lambda case: m.recurrent(case, "gru", "luong", "general", 2, pointer=True),
    "luong_coverage": lambda case: m.recurrent(case, "gru", "luong", "general", 1, coverage=True, pointer=True),
    "transformer_post_pointer": lambda case: m.transformer(norm_first=False, pointer=True),
    "transformer_pre_pointer": lambda case: m.transformer(norm_first=True, pointer=True),
}.items():
    m.inputs = inputs
    m.file[f"{case}.greedy"] = m.greedy(make(case))
save_file(m.file, pathlib.Path(__file__).parent / "pointer.safetensors")
