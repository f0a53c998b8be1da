"""Language models computed by Transformers, for fovea/models/language_models_test.cpp.

    python make_language_models.py         # needs torch, transformers, safetensors

A case holds CASE.prompt.N, CASE.logits.N and CASE.seed in the tensors and, in the metadata, CASE.configs (config.json as it was given, often in an
older spelling, and as Transformers writes it) and CASE.weights (the shape of each weight, by its name). Weight number i of a case
in the order of the names is numbers(shape, seed + i) · 0.25, plus 1 if it has one axis and is no bias: the test draws the same.
Computed in double precision, kept in single.
"""
import json, pathlib
import torch
from transformers import AutoConfig, AutoModelForCausalLM
from safetensors.torch import save_file

from hash_numbers import numbers

torch.set_num_threads(1)
PROMPTS = [[7, 3, 21, 9, 14, 2, 30, 5, 5, 11, 26, 8, 1, 17, 35, 4, 12], [33, 6, 10]]
small = dict(vocab_size=37, hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
             max_position_embeddings=64, bos_token_id=1, eos_token_id=2, pad_token_id=None)
gpt2 = dict(vocab_size=37, n_embd=32, n_layer=2, n_head=4, n_positions=64, bos_token_id=1, eos_token_id=2)
gemma = dict(head_dim=12, query_pre_attn_scalar=10, sliding_window=6, hidden_activation="gelu_pytorch_tanh", tie_word_embeddings=True)
pairs = lambda first, step, count: [first + step * i for i in range(count)]

cases = {
    "gpt2": ("gpt2", gpt2),
    "gpt2_inverse": ("gpt2", gpt2 | dict(scale_attn_by_inverse_layer_idx=True, n_inner=40, activation_function="gelu",
                                         layer_norm_epsilon=1e-3)),
    "llama": ("llama", small),
    "llama_bias": ("llama", small | dict(attention_bias=True, mlp_bias=True, head_dim=10, tie_word_embeddings=True, rope_theta=500.0,
                                         num_key_value_heads=4, eos_token_id=[2, 5], rms_norm_eps=1e-2)),
    "llama_linear": ("llama", small | dict(rope_scaling={"type": "linear", "factor": 3.0})),
    "llama_dynamic": ("llama", small | dict(rope_scaling={"type": "dynamic", "factor": 3.0})),
    "llama_llama3": ("llama", small | dict(rope_theta=5000.0, rope_scaling={
        "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16})),
    "llama_yarn": ("llama", small | dict(rope_theta=100.0, rope_scaling={
        "type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16})),
    "llama_yarn_scales": ("llama", small | dict(rope_parameters={
        "rope_type": "yarn", "rope_theta": 200.0, "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 8.0,
        "beta_slow": 0.5, "mscale": 1.5, "mscale_all_dim": 0.7, "truncate": False})),
    "mistral": ("mistral", small | dict(sliding_window=5)),
    "mistral_whole": ("mistral", small | dict(sliding_window=None, head_dim=6)),
    "qwen2": ("qwen2", small | dict(use_sliding_window=True, sliding_window=4, max_window_layers=1, tie_word_embeddings=True)),
    "qwen2_whole": ("qwen2", small | dict(use_sliding_window=False, sliding_window=4, max_window_layers=1)),
    "qwen3": ("qwen3", small | dict(head_dim=12, attention_bias=True, rope_theta=1000.0)),
    "gemma2": ("gemma2", small | gemma | dict(final_logit_softcapping=3.0, attn_logit_softcapping=2.0)),
    "gemma3": ("gemma3_text", small | gemma | dict(num_hidden_layers=3, sliding_window_pattern=2, rope_local_base_freq=100.0,
                                                   rope_theta=3000.0, rope_scaling={"rope_type": "linear", "factor": 4.0})),
    "phi3": ("phi3", small | dict(sliding_window=5, pad_token_id=0)),
    "phi3_long": ("phi3", small | dict(pad_token_id=0, hidden_size=48, original_max_position_embeddings=32, rope_scaling={
        "type": "longrope", "short_factor": pairs(1.0, 0.3, 3), "long_factor": pairs(2.0, 1.0, 3)}, partial_rotary_factor=0.5)),
}

tensors, metadata = {}, {}
for number, (case, (family, given)) in enumerate(cases.items()):
    model = AutoModelForCausalLM.from_config(AutoConfig.for_model(family, **json.loads(json.dumps(given))),
                                             attn_implementation="eager").double().eval()
    stored = {}
    for name, parameter in model.named_parameters():
        stored[name] = parameter
    for i, name in enumerate(sorted(stored)):
        shape = tuple(stored[name].shape)
        scale = 1.0 if len(shape) == 1 and not name.endswith("bias") else 0.0
        with torch.no_grad():
            stored[name].copy_((numbers(shape, 1000 * number + i) * 0.25 + scale).float())
    for i, prompt in enumerate(PROMPTS):
        with torch.no_grad():
            logits = model(torch.tensor([prompt]), use_cache=False).logits[0]
        tensors[f"{case}.prompt.{i}"] = torch.tensor(prompt)
        tensors[f"{case}.logits.{i}"] = logits.float().contiguous()
    tensors[f"{case}.seed"] = torch.tensor(1000 * number)
    saved = json.loads(model.config.to_json_string(use_diff=False))
    metadata[f"{case}.configs"] = json.dumps([{"model_type": family} | given, saved])
    metadata[f"{case}.weights"] = json.dumps({name: list(stored[name].shape) for name in sorted(stored)})
    print(case, float(logits.abs().max()), float(logits.std()))

save_file(tensors, pathlib.Path(__file__).parent / "language_models.safetensors", metadata=metadata)
