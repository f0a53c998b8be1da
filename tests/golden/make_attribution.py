"""Explanations of one answer each, for fovea/explain/attribution_test.cpp: by captum (gradient × input, integrated gradients), by
autograd (gradient × attention), as plain products of matrices (rollout) and by their formula (value-weighted attention).

    python make_attribution.py      # needs torch, transformers, safetensors, captum

A case of attribution.json holds config.json, the names and shapes of the tensors (their numbers are those of make_encoders.py), what is read,
the answer, and the scores of each token by each method.
"""
import json, pathlib, tempfile
import torch, transformers as t
from captum.attr import LayerGradientXActivation, LayerIntegratedGradients
from safetensors.torch import load_file

from hash_numbers import numbers

torch.set_num_threads(1)
SCALE, STEPS, REPLACEMENT, PREFIX = 0.3, 64, 3, 1
ids = torch.tensor([[5, 6, 7, 8, 9, 10, 11]])


def is_scale(name):
    return name.endswith("weight") and ("norm" in name.lower() or ".ln_" in name)


def filled(model):
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        stored = load_file(folder + "/model.safetensors")
        config = json.loads(pathlib.Path(folder, "config.json").read_text())
    shapes = {key: list(stored[key].shape) for key in sorted(stored)}
    state = {key: numbers(tuple(shape), i, SCALE).float() + (1 if is_scale(key) else 0) for i, (key, shape) in enumerate(shapes.items())}
    model.load_state_dict(state, strict=False)
    model.tie_weights()
    return model.double().eval(), {"config": config, "tensors": shapes}


def rounded(x):
    return [float(f"{v:.9g}") for v in x.detach().flatten()]


def mean_heads(a):
    return a[0].mean(0)


def layer(a):
    return 0.5 * mean_heads(a) + 0.5 * torch.eye(a.shape[-1], dtype=torch.float64)


def brought(weights, values, output, row):
    """‖Σ over heads of α f(v)‖ for one row: weights [heads, rows, keys], values [keys, heads · width], output [heads · width, any]."""
    heads, keys = weights.shape[0], weights.shape[-1]
    v = values.reshape(keys, heads, -1)
    f = torch.einsum("khd,hdo->kho", v, output.reshape(heads, v.shape[-1], -1))
    return torch.einsum("hk,kho->ko", weights[:, row], f).norm(dim=-1)


def common(probability, embedding, attention, row, source):
    """p(ids) → a number for each row; `attention` gives the weights that the row looks through."""
    answer = probability(source)
    baseline = torch.full_like(source, REPLACEMENT)
    # Where the model's own tokens stand, they stay.
    for i, own in enumerate(OWN):
        if own: baseline[0, i] = source[0, i]
    integrated = LayerIntegratedGradients(probability, embedding).attribute(source, baselines=baseline, n_steps=STEPS, method="riemann_middle")
    product = LayerGradientXActivation(probability, embedding).attribute(source)
    weights, p = attention(source)
    gradient, = torch.autograd.grad(p, weights)
    return {"probability": rounded(answer)[0], "integrated-gradients": rounded(integrated.sum(-1)), "gradient-input": rounded(product.sum(-1)),
            "attention": rounded(weights[0].mean(0)[row]), "gradient-attention": rounded((weights * gradient)[0].sum(0)[row])}


OWN = [False] * 7
cases = {}

# BERT: the label of a text.
labels = dict(enumerate("xyz"))
model, case = filled(t.BertForSequenceClassification(t.BertConfig(vocab_size=40, hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=20,
    max_position_embeddings=24, pad_token_id=1, attn_implementation="eager", id2label=labels, label2id={v: k for k, v in labels.items()})))
run = lambda x: model(input_ids=x, output_attentions=True, output_hidden_states=True)
label = 2
p = lambda x: run(x).logits.softmax(-1)[:, label]
def attention(x):
    y = run(x)
    return y.attentions[-1], y.logits.softmax(-1)[0, label]
y = run(ids)
last = model.bert.encoder.layer[-1].attention
case |= {"ids": ids.tolist()[0], "answer": "z"} | common(p, model.bert.embeddings.word_embeddings, attention, 0, ids)
case["rollout"] = rounded((layer(y.attentions[1]) @ layer(y.attentions[0]))[0])
case["value"] = rounded(brought(y.attentions[-1][0], last.self.value(y.hidden_states[-2])[0], last.output.dense.weight.T, 0))
cases["bert"] = case

# GPT-2 and Llama: the next token.
def language_model(model, case, embedding, value_and_output):
    run = lambda x: model(input_ids=x, output_attentions=True, output_hidden_states=True)
    wanted = int(run(ids).logits[0, -1].argmax())
    p = lambda x: run(x).logits[:, -1].softmax(-1)[:, wanted]
    def attention(x):
        y = run(x)
        return y.attentions[-1], y.logits[0, -1].softmax(-1)[wanted]
    y = run(ids)
    case |= {"ids": ids.tolist()[0], "answer": "", "wanted": wanted} | common(p, embedding, attention, 6, ids)
    case["rollout"] = rounded((layer(y.attentions[1]) @ layer(y.attentions[0]))[6])
    case["value"] = rounded(brought(y.attentions[-1][0], *value_and_output(y.hidden_states[-2]), 6))
    return case

model, case = filled(t.GPT2LMHeadModel(t.GPT2Config(vocab_size=40, n_embd=12, n_layer=2, n_head=3, n_positions=24, bos_token_id=38, eos_token_id=39,
    attn_implementation="eager")))
block = model.transformer.h[-1]
cases["gpt2"] = language_model(model, case, model.transformer.wte, lambda x: (block.attn.c_attn(block.ln_1(x))[0, :, 24:], block.attn.c_proj.weight))

model, case = filled(t.LlamaForCausalLM(t.LlamaConfig(vocab_size=40, hidden_size=12, intermediate_size=20, num_hidden_layers=2, num_attention_heads=6,
    num_key_value_heads=3, head_dim=4, max_position_embeddings=24, bos_token_id=38, eos_token_id=39, attn_implementation="eager")))
top = model.model.layers[-1]
def llama_parts(x):
    v = top.self_attn.v_proj(top.input_layernorm(x))[0].reshape(7, 3, 4).repeat_interleave(2, 1).reshape(7, 24)
    return v, top.self_attn.o_proj.weight.T
cases["llama"] = language_model(model, case, model.model.embed_tokens, llama_parts)

# T5: the second token of what is written greedily; the end of the source is the model's own.
model, case = filled(t.T5ForConditionalGeneration(t.T5Config(vocab_size=40, d_model=12, d_kv=4, d_ff=20, num_layers=2, num_decoder_layers=2, num_heads=3,
    relative_attention_num_buckets=8, relative_attention_max_distance=20, pad_token_id=1, eos_token_id=2, decoder_start_token_id=1, attn_implementation="eager")))
source = torch.cat([ids, torch.tensor([[2]])], 1)
OWN = [False] * 7 + [True]
run = lambda x, prefix: model(input_ids=x, decoder_input_ids=prefix.expand(x.shape[0], -1), output_attentions=True, output_hidden_states=True)
prefix = torch.tensor([[PREFIX]])
first = int(run(source, prefix).logits[0, -1].argmax())
prefix = torch.tensor([[PREFIX, first]])
wanted = int(run(source, prefix).logits[0, -1].argmax())
assert first != 2 and wanted != 2
# The embedding is shared with the decoder, so that captum has to look at the encoder's copy of it.
model.encoder.embed_tokens = torch.nn.Embedding.from_pretrained(model.shared.weight.detach().clone(), freeze=False)
p = lambda x: run(x, prefix).logits[:, -1].softmax(-1)[:, wanted]
def attention(x):
    y = run(x, prefix)
    return y.cross_attentions[-1], y.logits[0, -1].softmax(-1)[wanted]
y = run(source, prefix)
case |= {"ids": ids.tolist()[0], "answer": "1", "wanted": wanted} | common(p, model.encoder.embed_tokens, attention, 1, source)
row, rolled = torch.tensor([[0., 1.]], dtype=torch.float64), torch.zeros(1, 8, dtype=torch.float64)
for self_attention, cross in list(zip(y.decoder_attentions, y.cross_attentions))[::-1]:
    rolled, row = rolled + 0.5 * row @ mean_heads(cross), 0.5 * row
    row = row @ layer(self_attention)
case["rollout"] = rounded(rolled @ layer(y.encoder_attentions[1]) @ layer(y.encoder_attentions[0]))
cross = model.decoder.block[-1].layer[1].EncDecAttention
case["value"] = rounded(brought(y.cross_attentions[-1][0], cross.v(y.encoder_last_hidden_state)[0], cross.o.weight.T, 1))
cases["t5"] = case

pathlib.Path(__file__).with_name("attribution.json").write_text(json.dumps({"scale": SCALE, "steps": STEPS, "cases": cases}, separators=(",", ":")) + "\n")
