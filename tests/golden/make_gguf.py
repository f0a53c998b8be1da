"""Writes small GGUF files with the gguf package itself, for fovea/formats/gguf_test.cpp, fovea/data/text/gguf_tokenizer_test.cpp
and fovea/models/gguf_config_test.cpp.

    python make_gguf.py        # needs numpy, gguf, sentencepiece and tokenizers

blocks.gguf: random blocks of each type T as tensor "T", what gguf makes of them as "T.numbers"; numbers "x" and gguf's blocks of them
("x.q8_0", "x.q5_0", "x.q4_0"); a metadata value of each type. ARCHITECTURE.gguf: two layers with Hugging Face's names (in config.json's terms)
turned into GGUF's by gguf's own map; expected.json has both names and what config.json must say.
"""
import json, pathlib
import numpy as np
import gguf
from gguf import GGMLQuantizationType as Q, MODEL_ARCH

here = pathlib.Path(__file__).parent / "gguf"
here.mkdir(exist_ok=True)
rng = np.random.default_rng(1)


def blocks():
    w = gguf.GGUFWriter(here / "blocks.gguf", "none")
    w.add_uint8("a.u8", 200); w.add_int8("a.i8", -3); w.add_uint16("a.u16", 60000); w.add_int16("a.i16", -300)
    w.add_uint32("a.u32", 4000000000); w.add_int32("a.i32", -70000); w.add_uint64("a.u64", 1 << 40); w.add_int64("a.i64", -(1 << 40))
    w.add_float32("a.f32", 0.5); w.add_float64("a.f64", 0.1); w.add_bool("a.flag", True); w.add_string("a.text", "Grüße")
    w.add_array("a.texts", ["", "a", "bc"]); w.add_array("a.numbers", [1, -2, 3]); w.add_array("a.floats", [0.25, -1.0])
    for name in ("Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"):
        numbers, size = gguf.GGML_QUANT_SIZES[Q[name]]
        rows, each = 2, 64 // numbers if numbers == 32 else 1
        raw = rng.integers(0, 256, (rows, each, size), dtype=np.uint8)
        places = {"Q2_K": [80, 82], "Q3_K": [108], "Q6_K": [208]}.get(name, [0, 2] if name in ("Q4_1", "Q5_1", "Q4_K", "Q5_K") else [0])
        for p in places:
            halves = (rng.standard_normal((rows, each, 1)) * np.array([[[1e-2]], [[2e-5]]])).astype(np.float16)
            raw[:, :, p:p + 2] = halves.view(np.uint8)
        raw = raw.reshape(rows, each * size)
        w.add_tensor(name.lower().replace("_k", "_K"), raw, raw_dtype=Q[name])
        w.add_tensor(name.lower().replace("_k", "_K") + ".numbers", gguf.quants.dequantize(raw, Q[name]))
    x = rng.standard_normal((2, 128)).astype(np.float32)
    x[0, 32:64] = 0
    x[1, :32] = np.round(x[1, :32] * 2) / 4  # ties
    w.add_tensor("x", x)
    w.add_tensor("half", x[:, :4].astype(np.float16))
    for name in ("Q8_0", "Q5_0", "Q4_0"):
        w.add_tensor("x." + name.lower(), gguf.quants.quantize(x, Q[name]), raw_dtype=Q[name])
    finish(w)


def finish(w):
    w.write_header_to_file(); w.write_kv_data_to_file(); w.write_tensors_to_file(); w.close()


decoder = ["self_attn.q_proj.weight", "self_attn.k_proj.weight", "self_attn.v_proj.weight", "self_attn.o_proj.weight", "mlp.gate_proj.weight",
           "mlp.up_proj.weight", "mlp.down_proj.weight", "input_layernorm.weight", "post_attention_layernorm.weight"]
biases = ["self_attn.q_proj.bias", "self_attn.k_proj.bias", "self_attn.v_proj.bias"]
norms = ["self_attn.q_norm.weight", "self_attn.k_norm.weight"]
gemma = ["pre_feedforward_layernorm.weight", "post_feedforward_layernorm.weight"]
ends = ["model.embed_tokens.weight", "model.norm.weight"]
gpt2 = [f"{n}.{s}" for n in ("ln_1", "attn.c_attn", "attn.c_proj", "ln_2", "mlp.c_fc", "mlp.c_proj") for s in ("weight", "bias")]
bert = [f"{n}.{s}" for n in ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense",
        "attention.output.LayerNorm", "intermediate.dense", "output.dense", "output.LayerNorm") for s in ("weight", "bias")]
# Hugging Face's config.json, of which everything below must come back, and the tensors of a layer and outside of the layers.
base = dict(vocab_size=48, hidden_size=8, intermediate_size=16, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
            max_position_embeddings=64, rms_norm_eps=1e-5, rope_theta=10000.0, head_dim=2)
cases = {
    "llama": (dict(base, model_type="llama", tie_word_embeddings=False, bos_token_id=1, eos_token_id=2, rope_interleaved=True),
              "model.layers", decoder, ends + ["lm_head.weight"]),
    "qwen2": (dict(base, model_type="qwen2", tie_word_embeddings=True, rope_theta=1e6), "model.layers", decoder + biases, ends),
    "qwen3": (dict(base, model_type="qwen3", tie_word_embeddings=True, head_dim=4), "model.layers", decoder + norms, ends),
    "gemma2": (dict(base, model_type="gemma2", tie_word_embeddings=True, head_dim=4, sliding_window=32, attn_logit_softcapping=50.0,
                    final_logit_softcapping=30.0, query_pre_attn_scalar=4, norm_plus_one=False), "model.layers", decoder + gemma, ends),
    "gemma3": (dict(base, model_type="gemma3_text", tie_word_embeddings=True, head_dim=4, sliding_window=32, sliding_window_pattern=6,
                    query_pre_attn_scalar=4, rope_theta=1e6, rope_local_base_freq=10000.0, norm_plus_one=False),
               "model.layers", decoder + norms + gemma, ends),
    "phi3": (dict(base, model_type="phi3", tie_word_embeddings=False, sliding_window=48, original_max_position_embeddings=64), "model.layers",
             ["self_attn.qkv_proj.weight", "self_attn.o_proj.weight", "mlp.gate_up_proj.weight", "mlp.down_proj.weight", "input_layernorm.weight",
              "post_attention_layernorm.weight"], ends + ["lm_head.weight"]),
    "gpt2": (dict(model_type="gpt2", vocab_size=48, n_embd=8, n_layer=2, n_head=4, n_positions=64, n_inner=32, layer_norm_epsilon=1e-5,
                  tie_word_embeddings=True), "h", gpt2, ["wte.weight", "wpe.weight", "ln_f.weight", "ln_f.bias"]),
    "bert": (dict(model_type="bert", vocab_size=48, hidden_size=8, intermediate_size=16, num_hidden_layers=2, num_attention_heads=4,
                  max_position_embeddings=64, layer_norm_eps=1e-12, type_vocab_size=2), "encoder.layer", bert,
             ["embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight",
              "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"]),
}


def metadata(w, name, c):
    """As llama.cpp's converters write it."""
    w.add_context_length(c.get("max_position_embeddings", c.get("n_positions")))
    w.add_embedding_length(c.get("hidden_size", c.get("n_embd")))
    w.add_block_count(c.get("num_hidden_layers", c.get("n_layer")))
    w.add_feed_forward_length(c.get("intermediate_size", c.get("n_inner")))
    w.add_head_count(c.get("num_attention_heads", c.get("n_head")))
    if "num_key_value_heads" in c: w.add_head_count_kv(c["num_key_value_heads"])
    if "rms_norm_eps" in c: w.add_layer_norm_rms_eps(c["rms_norm_eps"])
    if "layer_norm_epsilon" in c or "layer_norm_eps" in c: w.add_layer_norm_eps(c.get("layer_norm_epsilon", c.get("layer_norm_eps")))
    if "rope_theta" in c: w.add_rope_freq_base(c["rope_theta"])
    if c.get("head_dim", 2) != 2: w.add_key_length(c["head_dim"]); w.add_value_length(c["head_dim"])
    if "head_dim" in c: w.add_rope_dimension_count(c["head_dim"])
    if "sliding_window" in c: w.add_sliding_window(c["sliding_window"])
    if "attn_logit_softcapping" in c: w.add_attn_logit_softcapping(c["attn_logit_softcapping"])
    if "final_logit_softcapping" in c: w.add_final_logit_softcapping(c["final_logit_softcapping"])
    if "original_max_position_embeddings" in c: w.add_rope_scaling_orig_ctx_len(c["original_max_position_embeddings"])
    if name == "bert": w.add_causal_attention(False); w.add_token_type_count(2)
    w.add_tokenizer_model("none")
    w.add_token_list([f"t{i}" for i in range(48)])
    if "bos_token_id" in c: w.add_bos_token_id(c["bos_token_id"]); w.add_eos_token_id(c["eos_token_id"])


def architectures():
    expected = {}
    for name, (config, layers, inner, outer) in cases.items():
        names = {}
        arch = MODEL_ARCH[name.upper()]
        table = gguf.get_tensor_name_map(arch, 2)
        w = gguf.GGUFWriter(here / f"{name}.gguf", gguf.MODEL_ARCH_NAMES[arch])
        metadata(w, name, config)
        for tensor in outer + [f"{layers}.{i}.{t}" for i in range(2) for t in inner]:
            found = table.get_name(tensor, try_suffixes=(".weight", ".bias"))
            assert found, (name, tensor)
            names[found] = tensor
            w.add_tensor(found, np.zeros(48 if "embd" in found and "norm" not in found else 2, np.float32))
        if name == "llama":  # llama3's scaling, as the converter computes it for a rope of 2 numbers
            w.add_tensor("rope_freqs.weight", np.ones(1, np.float32))
        finish(w)
        expected[name] = {"config": config, "names": names}
    (here / "expected.json").write_text(json.dumps(expected, indent=0))


texts = ["Hello world", "two  spaces and\ttabs", "It's 2024, isn't it?", "Grüße aus Köln", "a<x>b the cat sat on the mat", "lower lowest 12345"]


def tokenizers():
    """Small vocabularies in GGUF's terms, with the ids that SentencePiece and the tokenizers package give."""
    import sentencepiece, tokenizers as hf
    from sentencepiece import sentencepiece_model_pb2 as pb
    expected = {"texts": texts, "ids": {}}
    for kind, model in (("llama", "bpe"), ("t5", "unigram")):
        path = str(here.parent / "tokenizers" / f"{model}.model")
        sp = sentencepiece.SentencePieceProcessor(model_file=path)
        proto = pb.ModelProto.FromString(open(path, "rb").read())
        w = gguf.GGUFWriter(here / f"tokenizer_{kind}.gguf", "none")
        w.add_tokenizer_model(kind)
        w.add_token_list([p.piece for p in proto.pieces]); w.add_token_scores([p.score for p in proto.pieces])
        w.add_token_types([p.type for p in proto.pieces])
        w.add_unk_token_id(sp.unk_id()); w.add_bos_token_id(sp.bos_id()); w.add_eos_token_id(sp.eos_id())
        w.add_add_space_prefix(proto.normalizer_spec.add_dummy_prefix)
        w.add_remove_extra_whitespaces(proto.normalizer_spec.remove_extra_whitespaces)
        if proto.normalizer_spec.precompiled_charsmap: w.add_precompiled_charsmap(proto.normalizer_spec.precompiled_charsmap)
        finish(w)
        expected["ids"][kind] = [sp.encode(t) for t in texts]
    bpe = hf.Tokenizer(hf.models.BPE())
    bpe.pre_tokenizer = hf.pre_tokenizers.Sequence([hf.pre_tokenizers.Digits(individual_digits=True), hf.pre_tokenizers.ByteLevel(add_prefix_space=False)])
    bpe.train_from_iterator(texts * 3, hf.trainers.BpeTrainer(vocab_size=300, special_tokens=["<x>"], initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    stored = json.loads(bpe.to_str())["model"]
    pieces = sorted(stored["vocab"], key=stored["vocab"].get)
    w = gguf.GGUFWriter(here / "tokenizer_gpt2.gguf", "none")
    w.add_tokenizer_model("gpt2"); w.add_tokenizer_pre("smollm")
    w.add_token_list(pieces); w.add_token_types([3 if p == "<x>" else 1 for p in pieces])
    w.add_token_merges([" ".join(m) for m in stored["merges"]])
    w.add_bos_token_id(0); w.add_add_bos_token(True)
    finish(w)
    expected["ids"]["gpt2"] = [bpe.encode(t).ids for t in texts]
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "hello", "world", "the", "cat", "sat", "on", "mat", "low", "##er", "##est", "it", "'", "s", "is", "##n", "t", "?", ",",
             "gru", "##ße", "##sse", "aus", "koln", "two", "space", "##s", "and", "tab", "a", "b", "<", "x", ">", "12", "##34", "##5", "2024"]
    bert = hf.Tokenizer(hf.models.WordPiece({p: i for i, p in enumerate(words)}, unk_token="[UNK]"))
    bert.normalizer = hf.normalizers.BertNormalizer(lowercase=True)
    bert.pre_tokenizer = hf.pre_tokenizers.BertPreTokenizer()
    w = gguf.GGUFWriter(here / "tokenizer_bert.gguf", "none")
    w.add_tokenizer_model("bert")
    special = lambda p: p.startswith("[") and p.endswith("]")
    w.add_token_list([p if special(p) else p[2:] if p.startswith("##") else "\u2581" + p for p in words])
    w.add_token_types([3 if special(p) else 1 for p in words])
    w.add_unk_token_id(1); w.add_uint32("tokenizer.ggml.cls_token_id", 2); w.add_sep_token_id(3); w.add_pad_token_id(0)
    finish(w)
    expected["ids"]["bert"] = [bert.encode(t, add_special_tokens=False).ids for t in texts]
    (here / "tokenizers.json").write_text(json.dumps(expected))


blocks()
architectures()
tokenizers()
