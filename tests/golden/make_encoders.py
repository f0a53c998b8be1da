"""BERT and its kin computed by Transformers, for fovea/models/encoders_test.cpp.

    python make_encoders.py         # needs torch, transformers, safetensors

A case of encoders.json holds config.json, the names and shapes of the tensors in the order of the file, and the output of the batch.
The numbers of tensor i are those of hash_numbers with seed i (norms' scales have 1 added), so that they need not be stored.
"""
import json, pathlib, sys, tempfile
import torch, transformers as t
from safetensors.torch import load_file

from hash_numbers import numbers

torch.set_num_threads(1)
VOCABULARY, SCALE = 40, 0.3
ids = torch.tensor([[5, 6, 7, 8, 9, 10, 11], [12, 13, 14, 1, 1, 1, 1], [15, 1, 1, 1, 1, 1, 1]])
lengths = torch.tensor([7, 3, 1])
types = torch.tensor([[0, 0, 0, 1, 1, 1, 1], [0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0]])
mask = (torch.arange(7)[None] < lengths[:, None]).long()


def is_scale(name):
    return name.endswith("weight") and ("norm" in name.lower())


def case(model, typed=True):
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        stored = load_file(folder + "/model.safetensors")
        config = json.loads(pathlib.Path(folder, "config.json").read_text())
    shapes = {key: list(stored[key].shape) for key in sorted(stored)}
    state = {key: numbers(tuple(shape), i, SCALE).float() + (1 if is_scale(key) else 0) for i, (key, shape) in enumerate(shapes.items())}
    missing = model.load_state_dict(state, strict=False).missing_keys
    model.tie_weights()
    assert all("position_ids" in key or "decoder" in key or "vocab_projector" in key for key in missing), missing
    model = model.double().eval()
    extra = {"token_type_ids": types} if typed else {}
    with torch.no_grad():
        y = model(input_ids=ids, attention_mask=mask, **extra)
    if "start_logits" in y: out = torch.stack([y.start_logits, y.end_logits], -1)
    else: out = y.logits if "logits" in y else y.last_hidden_state
    if out.dim() == 3: out = out * mask[:, :, None]
    return {"config": config, "tensors": shapes, "shape": list(out.shape), "output": [float(f"{v:.7g}") for v in out.flatten()]}


def small(**more):
    return dict(vocab_size=VOCABULARY, hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=20, max_position_embeddings=24,
                pad_token_id=1, attn_implementation="eager", **more)


distil = dict(vocab_size=VOCABULARY, dim=12, n_layers=2, n_heads=3, hidden_dim=20, max_position_embeddings=24, pad_token_id=1, attn_implementation="eager")
cases = {}
for head in ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"]:
    labels = dict(enumerate("xyz" if "Classification" in head else "xy"))
    named = dict(id2label=labels, label2id={v: k for k, v in labels.items()})
    cases["bert" + head] = case(getattr(t, "Bert" + head)(t.BertConfig(**small(**named))))
    cases["roberta" + head] = case(getattr(t, "Roberta" + head)(t.RobertaConfig(**small(type_vocab_size=1, **named))), typed=False)
    cases["distilbert" + head] = case(getattr(t, "DistilBert" + head)(t.DistilBertConfig(**distil, **named)), typed=False)
cases["bertTanh"] = case(t.BertModel(t.BertConfig(**small(hidden_act="gelu_new"))))
cases["xlmRoberta"] = case(t.XLMRobertaForMaskedLM(t.XLMRobertaConfig(**small(type_vocab_size=1))), typed=False)
pathlib.Path(__file__).with_name("encoders.json").write_text(json.dumps(
    {"ids": ids.tolist(), "types": types.tolist(), "lengths": lengths.tolist(), "scale": SCALE, "cases": cases}, separators=(",", ":")) + "\n")
