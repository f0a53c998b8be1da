"""A model of llama2.c (its .bin and the tokenizer's .bin) as a folder of Hugging Face's layout, which Transformers and Fovea read.

    python make_llama2c_folder.py stories260K.bin tok512.bin my-stories          # needs numpy, safetensors, sentencepiece
"""
import json, pathlib, struct, sys
import numpy as np
from safetensors.numpy import save_file
from sentencepiece import sentencepiece_model_pb2 as sp


def model(path):
    data = pathlib.Path(path).read_bytes()
    width, hidden, layers, heads, key_heads, vocabulary, positions = struct.unpack("7i", data[:28])
    tied, vocabulary, head = vocabulary > 0, abs(vocabulary), width // heads
    numbers, at = np.frombuffer(data, np.float32, offset=28), 0

    def take(*shape):
        nonlocal at
        at += int(np.prod(shape))
        return numbers[at - int(np.prod(shape)):at].reshape(shape)

    def halves(w):  # pairs of neighbours, as Llama was trained, become element i and i + half, as Transformers turns them
        return w.reshape(-1, head // 2, 2, width).transpose(0, 2, 1, 3).reshape(-1, width)

    tensors = {"model.embed_tokens.weight": take(vocabulary, width)}
    stacked = [("input_layernorm", (width,)), ("self_attn.q_proj", (heads * head, width)), ("self_attn.k_proj", (key_heads * head, width)),
               ("self_attn.v_proj", (key_heads * head, width)), ("self_attn.o_proj", (width, heads * head)),
               ("post_attention_layernorm", (width,)), ("mlp.gate_proj", (hidden, width)), ("mlp.down_proj", (width, hidden)),
               ("mlp.up_proj", (hidden, width))]
    for name, shape in stacked:
        for layer in range(layers):
            w = take(*shape)
            tensors[f"model.layers.{layer}.{name}.weight"] = halves(w) if name[-6:] in ("q_proj", "k_proj") else w
    tensors["model.norm.weight"] = take(width)
    take(2, positions, head // 2)  # cosines and sines
    if not tied:
        tensors["lm_head.weight"] = take(vocabulary, width)
    config = dict(architectures=["LlamaForCausalLM"], model_type="llama", vocab_size=vocabulary, hidden_size=width,
                  intermediate_size=hidden, num_hidden_layers=layers, num_attention_heads=heads, num_key_value_heads=key_heads,
                  max_position_embeddings=positions, rms_norm_eps=1e-5, rope_theta=10000.0, hidden_act="silu",
                  tie_word_embeddings=tied, bos_token_id=1, eos_token_id=2)
    return {name: np.ascontiguousarray(w) for name, w in tensors.items()}, config


def tokenizer(path, vocabulary):
    data, at = pathlib.Path(path).read_bytes(), 4
    proto = sp.ModelProto()
    for i in range(vocabulary):
        score, length = struct.unpack_from("fi", data, at)
        text = data[at + 8:at + 8 + length].decode()
        at += 8 + length
        kind = sp.ModelProto.SentencePiece.Type
        if i < 3:
            text, type = ["<unk>", "<s>", "</s>"][i], kind.UNKNOWN if i == 0 else kind.CONTROL
        elif i < 259:
            text, type = f"<0x{i - 3:02X}>", kind.BYTE
        else:
            text, type = text.replace(" ", "▁"), kind.NORMAL
        proto.pieces.add(piece=text, score=score, type=type)
    t, n = proto.trainer_spec, proto.normalizer_spec
    t.model_type, t.byte_fallback, t.vocab_size, t.unk_id, t.bos_id, t.eos_id, t.pad_id = t.BPE, True, vocabulary, 0, 1, 2, -1
    n.name, n.add_dummy_prefix, n.remove_extra_whitespaces, n.escape_whitespaces = "identity", True, False, True
    return proto.SerializeToString()


if __name__ == "__main__":
    weights, vocabulary, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    tensors, config = model(weights)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "tokenizer.model").write_bytes(tokenizer(vocabulary, config["vocab_size"]))
    special = dict(tokenizer_class="LlamaTokenizer", add_bos_token=True, add_eos_token=False, bos_token="<s>", eos_token="</s>", unk_token="<unk>")
    (folder / "tokenizer_config.json").write_text(json.dumps(special, indent=2) + "\n")
