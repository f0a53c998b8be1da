"""Models with an encoder and a decoder, computed by Transformers, for fovea/models/encoder_decoder_test.cpp and
fovea/generate/transformers_test.cpp.

    python make_seq2seq_models.py         # needs torch, transformers, safetensors; numbers from hash_numbers.py

A case holds its config.json as the metadata CASE.config, its weights CASE.weight.* under the names that Transformers saves (in half
precision, which the model computes with exactly), and of the two padded sources the encoder's states CASE.states and the logits
CASE.logits of the two targets. Of each search NAME: what it was asked for as the metadata CASE.search.NAME (generation_config.json),
and CASE.search.NAME.ids [sources, returned, tokens], −1 behind the last, and CASE.search.NAME.scores.
"""
import copy, json, pathlib, tempfile
import torch
from hash_numbers import Draw
from safetensors.torch import load_file, save_file
from transformers import (BartConfig, BartForConditionalGeneration, GenerationConfig, MarianConfig, MarianMTModel, MBartConfig,
                          MBartForConditionalGeneration, MT5Config, MT5ForConditionalGeneration, T5Config,
                          T5ForConditionalGeneration)

torch.set_num_threads(1)
torch.set_grad_enabled(False)
VOCABULARY = 97
file, metadata = {}, {}
draw = Draw(1)
ids = lambda *shape: (draw(shape) + 1).mul((VOCABULARY - 4) / 2).long() + 3  # 3 to VOCABULARY − 2
source = ids(3, 11)
lengths = torch.tensor([11, 4, 7])
targets = ids(3, 9)
mask = (torch.arange(source.size(1))[None] < lengths[:, None]).long()
file |= {"source": source, "lengths": lengths, "targets": targets}


def sharpen(model, end, likely):
    """Random weights whose outputs differ clearly, rounded to what half precision holds; the end is likely enough to be found."""
    for name, p in list(model.named_parameters()) + [("final_logits_bias", b) for n, b in model.named_buffers() if n == "final_logits_bias"]:
        if name.endswith("embed_positions.weight") and isinstance(model, MarianMTModel):
            continue
        scale = {1: 0.3, 2: 1.2 / p.shape[-1]**0.5}[p.dim()] if name != "final_logits_bias" else 0.5
        if "shared" in name or "embed_tokens" in name or "relative" in name or "embed_positions" in name or "lm_head" in name:
            scale = 1.0 if "shared" in name and isinstance(model, T5ForConditionalGeneration) else 0.5
        values = draw(p.shape, 3**0.5 * scale).float()  # which have that standard deviation
        if "norm" in name and name.endswith("weight"):
            values = values + 1
        if name == "final_logits_bias":
            values[0, end] += likely
        p.copy_(values.half().float())
    model.tie_weights()


def save(case, model):
    with tempfile.TemporaryDirectory() as folder:
        copy.deepcopy(model).half().save_pretrained(folder)
        metadata[f"{case}.config"] = (pathlib.Path(folder) / "config.json").read_text()
        for name, w in load_file(pathlib.Path(folder) / "model.safetensors").items():
            file[f"{case}.weight.{name}"] = w


def search(case, model, name, **options):
    if getattr(model.config, "forced_eos_token_id", None) is not None:
        options.setdefault("forced_eos_token_id", model.config.forced_eos_token_id)
    keys = dict(pad_token_id=model.config.pad_token_id, eos_token_id=model.config.eos_token_id,
                decoder_start_token_id=model.config.decoder_start_token_id, **options)
    found = model.generate(input_ids=source, attention_mask=mask, generation_config=GenerationConfig(**keys),
                           return_dict_in_generate=True, output_scores=True)
    returned = keys.get("num_return_sequences", 1)
    ids = found.sequences[:, 1:].reshape(len(source), returned, -1).clone()
    for row in ids.flatten(0, 1):
        ends = (row == keys["eos_token_id"]).nonzero()
        if len(ends):
            row[ends[0, 0] + 1:] = -1
    metadata[f"{case}.search.{name}"] = json.dumps(keys)
    file[f"{case}.search.{name}.ids"] = ids
    if found.get("sequences_scores") is not None:
        file[f"{case}.search.{name}.scores"] = found.sequences_scores.reshape(len(source), returned)
    print(case, name, ids[:, 0].tolist(), file.get(f"{case}.search.{name}.scores"))


def add(case, make, config, end, likely=0.0, lm_head=False):
    model = make(config).eval()
    if lm_head:
        model.lm_head.weight = torch.nn.Parameter(torch.zeros_like(model.lm_head.weight))
        model.config.tie_word_embeddings = False
    sharpen(model, end, likely)
    save(case, model)
    out = model(input_ids=source, attention_mask=mask, decoder_input_ids=targets)
    file[f"{case}.states"] = out.encoder_last_hidden_state.contiguous()
    file[f"{case}.logits"] = out.logits.contiguous()
    return model


def searches(case, model, **more):
    beams = dict(num_beams=4, num_return_sequences=4, do_sample=False)
    search(case, model, "greedy", max_length=14, **more)
    search(case, model, "beam", max_length=14, early_stopping=False, **beams, **more)
    search(case, model, "early", max_length=16, early_stopping=True, length_penalty=0.6, **beams, **more)
    search(case, model, "never", max_length=17, early_stopping="never", length_penalty=2.0, no_repeat_ngram_size=2, **beams, **more)
    search(case, model, "forced", max_length=10, min_length=6, forced_bos_token_id=5, forced_eos_token_id=model.config.eos_token_id,
           suppress_tokens=[11, 12, 13], **beams, **more)
    search(case, model, "penalised", max_length=12, repetition_penalty=1.4, **beams, **more)


sizes = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_ffn_dim=40, decoder_ffn_dim=36, encoder_attention_heads=4,
             decoder_attention_heads=2, max_position_embeddings=24, vocab_size=VOCABULARY)
small = sizes | dict(d_model=24, encoder_layers=1, decoder_layers=1)
marian = dict(pad_token_id=VOCABULARY - 1, eos_token_id=0, decoder_start_token_id=VOCABULARY - 1, bad_words_ids=[[VOCABULARY - 1]])
# BART's and T5's ends are tokens that their random weights happen to write.
t5 = dict(vocab_size=VOCABULARY, d_model=32, d_kv=6, d_ff=40, num_layers=2, num_heads=4, relative_attention_num_buckets=8,
          relative_attention_max_distance=10, decoder_start_token_id=0)

searches("marian", add("marian", MarianMTModel, MarianConfig(**sizes, **marian, activation_function="swish", scale_embedding=True), 0, 3.0),
         bad_words_ids=[[VOCABULARY - 1]])
add("marian_two", MarianMTModel, MarianConfig(**small, **marian, activation_function="relu", share_encoder_decoder_embeddings=False,
                                              decoder_vocab_size=VOCABULARY + 6), 0)
searches("bart", add("bart", BartForConditionalGeneration, BartConfig(**sizes, eos_token_id=45), 45))
add("bart_scaled", BartForConditionalGeneration, BartConfig(**small, scale_embedding=True, activation_function="relu"), 2)
add("mbart", MBartForConditionalGeneration, MBartConfig(**small, scale_embedding=True), 2)
searches("t5", add("t5", T5ForConditionalGeneration, T5Config(**t5, eos_token_id=30), 30))
add("t5_gated", T5ForConditionalGeneration, T5Config(**t5 | dict(d_model=24, num_layers=1, num_decoder_layers=2), feed_forward_proj="gated-gelu",
                                                     tie_word_embeddings=False), 1, lm_head=True)
add("mt5", MT5ForConditionalGeneration, MT5Config(**t5 | dict(d_model=24, num_layers=1)), 1)
path = pathlib.Path(__file__).parent / "seq2seq_models.safetensors"
save_file({name: w.contiguous().clone() for name, w in file.items()}, path, metadata)
print(path.stat().st_size)
