"""Adapters as PEFT writes them, with their tiny bases, and what they compute: python make_lora.py, writes lora/.

Each case is a base folder, an adapter folder beside it, and in expected.safetensors the logits of both together, the loss of a few labels
and its gradients with respect to what learns. `python make_lora.py ADAPTER` prints the logits of an adapter's folder, which Fovea may
have written, for the ids 2 5 7 3 and 2 9 3, to be compared with Fovea's own.
"""
import json
import shutil
import sys
from pathlib import Path

import torch
from hash_numbers import Draw
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import save_file
from transformers import (AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification,
                          BertForTokenClassification, BertModel, GPT2Config, GPT2LMHeadModel, Phi3Config, Phi3ForCausalLM)

HERE = Path(__file__).parent / "lora"
IDS = torch.tensor([[2, 5, 7, 9, 11, 3], [2, 8, 6, 3, 0, 0]])
MASK = torch.tensor([[1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 0, 0]])
BERT = dict(vocab_size=16, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
            max_position_embeddings=12, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)


def randomise(model, scale=0.2):
    draw = Draw(11)
    for name, weight in sorted(model.named_parameters()):
        with torch.no_grad():
            middle = 1 if weight.dim() == 1 and name.endswith("weight") else 0  # of a norm
            weight.copy_((middle + draw(weight.shape, 3**0.5 * scale)).float())


def adapt(base, **options):
    model = get_peft_model(base, LoraConfig(r=3, lora_alpha=5, lora_dropout=0.0, **options))
    draw = Draw(12)
    for name, weight in sorted(model.named_parameters()):
        if "lora_" in name:
            with torch.no_grad():
                weight.copy_(draw(weight.shape, 0.5).float())
    return model.eval()


def gradients(name, model, loss, expected):
    model.zero_grad()
    loss.backward()
    expected[f"{name}.loss"] = loss.detach().reshape(1)
    for path, weight in model.named_parameters():
        if weight.grad is not None:
            plain = path.replace("base_model.model.", "").replace(".default", "").replace(".modules_to_save", "")
            expected[f"{name}.gradient.{plain}"] = weight.grad.contiguous()


def store(name, base, model):
    for folder in (HERE / name, HERE / f"{name}-adapter"):
        shutil.rmtree(folder, ignore_errors=True)
    base.save_pretrained(HERE / name)
    model.save_pretrained(HERE / f"{name}-adapter")
    config = HERE / f"{name}-adapter" / "adapter_config.json"
    values = json.loads(config.read_text())
    values["base_model_name_or_path"] = name  # beside it, wherever both lie
    values["target_modules"] = sorted(values["target_modules"])  # a set, which has no order
    config.write_text(json.dumps(values, indent=2) + "\n")
    for extra in ("README.md", "generation_config.json"):
        for folder in (HERE / name, HERE / f"{name}-adapter"):
            (folder / extra).unlink(missing_ok=True)


def classification(expected):
    body = BertModel(BertConfig(**BERT))
    randomise(body)
    HERE.mkdir(exist_ok=True)
    body.save_pretrained(HERE / "bert")
    base = BertForSequenceClassification.from_pretrained(HERE / "bert", num_labels=3)
    model = adapt(base, task_type="SEQ_CLS")
    randomise(model.base_model.model.classifier)
    store("bert", body, model)
    labels = torch.tensor([2, 0])
    out = model(input_ids=IDS, attention_mask=MASK)
    expected["bert.logits"] = out.logits.detach()
    gradients("bert", model, torch.nn.functional.cross_entropy(out.logits, labels, reduction="sum"), expected)


def tokens(expected):
    model = BertForTokenClassification(BertConfig(num_labels=4, **BERT)).eval()
    randomise(model)
    shutil.rmtree(HERE / "tokens", ignore_errors=True)
    model.save_pretrained(HERE / "tokens")
    out = model(input_ids=IDS, attention_mask=MASK)
    expected["tokens.logits"] = out.logits.detach()
    labels = torch.tensor([[-100, 1, 3, -100, 0, -100], [-100, 2, 2, -100, -100, -100]])
    loss = torch.nn.functional.cross_entropy(out.logits.reshape(-1, 4), labels.reshape(-1), reduction="sum")
    gradients("tokens", model, loss, expected)


def language(name, base, expected, **options):
    randomise(base, 0.1)
    model = adapt(base, task_type="CAUSAL_LM", **options)
    logits = model(input_ids=IDS[:1]).logits
    expected[f"{name}.logits"] = logits.detach()
    loss = torch.nn.functional.cross_entropy(logits[0, :-1], IDS[0, 1:], reduction="sum")
    gradients(name, model, loss, expected)
    model.zero_grad()
    plain = model.get_base_model()
    store(name, base_without(plain), model)


def base_without(model):
    """The base's own weights, from under the adapters."""
    state = {name.replace(".base_layer", ""): weight for name, weight in model.state_dict().items() if "lora_" not in name}
    fresh = type(model)(model.config)
    fresh.load_state_dict(state)
    return fresh


def show(folder):
    values = json.loads((Path(folder) / "adapter_config.json").read_text())
    labels = json.loads((Path(folder) / "model_config.json").read_text())["id2label"]
    base = AutoModelForSequenceClassification.from_pretrained(values["base_model_name_or_path"], num_labels=len(labels))
    model = PeftModel.from_pretrained(base, folder).eval()
    for ids in ([2, 5, 7, 3], [2, 9, 3]):
        print(model(input_ids=torch.tensor([ids])).logits.detach().numpy())


def main():
    if len(sys.argv) > 1:
        return show(sys.argv[1])
    expected = {"ids": IDS, "lengths": MASK.sum(1)}
    classification(expected)
    tokens(expected)
    language("gpt2", GPT2LMHeadModel(GPT2Config(vocab_size=16, n_positions=12, n_embd=16, n_layer=2, n_head=2, resid_pdrop=0, embd_pdrop=0,
                                                attn_pdrop=0, bos_token_id=2, eos_token_id=3)), expected, fan_in_fan_out=True)
    language("phi3", Phi3ForCausalLM(Phi3Config(vocab_size=16, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
                                                num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=12,
                                                original_max_position_embeddings=12, pad_token_id=0, bos_token_id=2, eos_token_id=3,
                                                tie_word_embeddings=False)), expected, target_modules=["qkv_proj", "o_proj"])
    save_file(expected, HERE / "expected.safetensors")


main()
