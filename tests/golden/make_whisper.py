"""Tiny random Whispers computed by Transformers, for fovea/models/whisper_test.cpp and fovea/generate/transcribe_test.cpp.

    python make_whisper.py        # needs torch, transformers, safetensors; after make_sound.py

whisper/tiny.bin and whisper/tiny.pt are the same tiny model as whisper.cpp and OpenAI store it, in half precision; whisper_file.* are
its states and logits. whisper.safetensors holds for each case CASE.config (bytes of config.json as I64), CASE.weight.NAME under the names that Transformers
stores, CASE.ids, CASE.states and CASE.logits of the sound of sound.safetensors, padded to 2 s; and what Transformers makes of random
scores and weights: rules.* (which tokens may follow), warping.* (which token was said when).
"""
import pathlib, struct, tempfile

import numpy as np
import torch
from safetensors.numpy import load_file as load_numpy
from safetensors.torch import load_file, save_file
from transformers import GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration
from transformers.generation.logits_process import WhisperTimeStampLogitsProcessor
from transformers.models.whisper.generation_whisper import _dynamic_time_warping, _median_filter

from hash_numbers import numbers

torch.set_num_threads(1)
here = pathlib.Path(__file__).parent
file = {}
samples = load_numpy(here / "sound.safetensors")["samples"]


def add(case, **sizes):
    config = WhisperConfig(vocab_size=40, d_model=24, max_source_positions=100, max_target_positions=30, pad_token_id=1,
                           bos_token_id=1, eos_token_id=1, decoder_start_token_id=2, suppress_tokens=None,
                           begin_suppress_tokens=None, **sizes)
    model = WhisperForConditionalGeneration(config).eval()
    for n, p in enumerate(model.parameters()):
        p.data = numbers(p.shape, n + 1, 0.3).float()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        for name, tensor in load_file(pathlib.Path(folder) / "model.safetensors").items():
            file[f"{case}.weight.{name}"] = tensor.clone()
        file[f"{case}.config"] = torch.tensor(list((pathlib.Path(folder) / "config.json").read_bytes()))
    extractor = WhisperFeatureExtractor(feature_size=config.num_mel_bins, chunk_length=2)
    frames = extractor(samples, sampling_rate=16000, return_tensors="pt")["input_features"]
    ids = torch.tensor([[2, 5, 8, 33, 12, 39, 7]])
    with torch.no_grad():
        out = model(frames, decoder_input_ids=ids)
    file[f"{case}.ids"], file[f"{case}.logits"] = ids, out.logits.contiguous().clone()
    file[f"{case}.states"] = out.encoder_last_hidden_state.contiguous().clone()


heads = dict(encoder_attention_heads=3, decoder_attention_heads=2)
add("whisper", num_mel_bins=80, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=33, decoder_ffn_dim=30, **heads)
add("whisper_large", num_mel_bins=128, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=33, decoder_ffn_dim=30, **heads)

# Tokens 0 to 9 are words, 10 ends, 20 stands before a text without times, 21 to 39 are times.
rules = WhisperTimeStampLogitsProcessor(
    GenerationConfig(no_timestamps_token_id=20, eos_token_id=10, bos_token_id=10, max_initial_timestamp_index=5), begin_index=2)
histories = [[], [21], [21, 3], [21, 3, 4, 25], [21, 3, 25, 25], [21, 3, 25, 25, 6], [22, 3, 25, 27, 6, 30], [26, 7, 7, 39],
             [26, 7, 7, 39, 39], [24, 30]]
for i, history in enumerate(histories):
    scores = 3 * torch.log_softmax(4 * numbers((1, 40), 300 + i).float(), -1)
    scores[:, 11:20] = -torch.inf  # marks, which are never written
    file[f"rules.{i}.history"] = torch.tensor(history + [0])[:-1]
    file[f"rules.{i}.scores"] = scores[0].clone()
    masked = rules(torch.tensor([[18, 19] + history]), scores.clone())[0]
    file[f"rules.{i}.open"] = torch.isfinite(masked).long()

for i, (tokens, states) in enumerate([(7, 40), (1, 9), (12, 12), (5, 3)]):
    weights = torch.softmax(6 * numbers((3, tokens, states), 500 + i), -1).float()  # heads, tokens, states
    deviation, mean = torch.std_mean(weights, dim=-2, keepdim=True, unbiased=False)
    matrix = _median_filter((weights - mean) / deviation, 7).mean(0) if states > 3 else ((weights - mean) / deviation).mean(0)
    if tokens == 1:
        matrix = torch.zeros_like(matrix)
    file[f"warping.{i}.weights"] = weights.contiguous()
    for name, rows in (("times", matrix), ("inner_times", matrix[1:-1])):
        if len(rows):
            text, time = _dynamic_time_warping(-rows.double().numpy())
            file[f"warping.{i}.{name}"] = torch.tensor(time[np.pad(np.diff(text), (1, 0), constant_values=1).astype(bool)])

# The model of one file, with OpenAI's names; a matrix lies transposed in the .pt, as some do.
config = WhisperConfig(vocab_size=1640, num_mel_bins=8, d_model=8, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
                       decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_source_positions=10,
                       max_target_positions=12, pad_token_id=32, bos_token_id=32, eos_token_id=32, decoder_start_token_id=33,
                       suppress_tokens=None, begin_suppress_tokens=None)
model = WhisperForConditionalGeneration(config).eval()
for n, p in enumerate(model.parameters()):
    p.data = numbers(p.shape, n + 1, 0.3).half().float()
names = [("embed_positions.weight", "positional_embedding"), ("decoder.embed_tokens", "decoder.token_embedding"), (".layers.", ".blocks."),
         (".encoder_attn_layer_norm.", ".cross_attn_ln."), (".self_attn_layer_norm.", ".attn_ln."), (".encoder_attn.", ".cross_attn."),
         (".self_attn.", ".attn."), (".fc1.", ".mlp.0."), (".fc2.", ".mlp.2."), (".final_layer_norm.", ".mlp_ln."),
         (".q_proj.", ".query."), (".k_proj.", ".key."), (".v_proj.", ".value."), (".out_proj.", ".out."),
         ("encoder.layer_norm.", "encoder.ln_post."), ("decoder.layer_norm.", "decoder.ln.")]
state = {}
for name, tensor in model.model.state_dict().items():
    for old, new in names:
        name = name.replace(old, new)
    state[name] = tensor.half()
(here / "whisper").mkdir(exist_ok=True)
sizes = dict(n_mels=8, n_vocab=1640, n_audio_ctx=10, n_audio_state=8, n_audio_head=2, n_audio_layer=1, n_text_ctx=12, n_text_state=8,
             n_text_head=2, n_text_layer=1)
fc1 = state["encoder.blocks.0.mlp.0.weight"]
torch.save({"dims": sizes, "model_state_dict": state | {"encoder.blocks.0.mlp.0.weight": fc1.T.contiguous().T}},
           here / "whisper" / "tiny.pt")
with open(here / "whisper" / "tiny.bin", "wb") as out:
    ints = lambda *values: out.write(struct.pack(f"{len(values)}i", *values))
    ints(0x67676D6C, 1640, 10, 8, 2, 1, 12, 8, 2, 1, 8, 1, 8, 3)
    out.write(bytes(4 * 8 * 3))
    ints(32)
    for i in range(32):
        ints(1)
        out.write(bytes([97 + i if i < 26 else 32 + i]))
    for name, tensor in state.items():
        array = tensor.numpy() if tensor.dim() > 1 else tensor.float().numpy()
        shape = [len(array), 1] if "conv" in name and name.endswith("bias") else list(array.shape)
        ints(len(shape), len(name), 1 if tensor.dim() > 1 else 0, *reversed(shape))
        out.write(name.encode() + array.tobytes())
frames, ids = numbers((1, 8, 20), 700).float(), torch.tensor([[33, 5, 8, 1600, 12]])
with torch.no_grad():
    out = model(frames, decoder_input_ids=ids)
file["whisper_file.frames"], file["whisper_file.ids"] = frames, ids
file["whisper_file.logits"] = out.logits.contiguous().clone()
save_file(file, here / "whisper.safetensors")
