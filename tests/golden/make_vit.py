"""Tiny random models of ViT's kind computed by Transformers, for fovea/models/vit_test.cpp.

    python make_vit.py            # needs torch, transformers, safetensors

vit.safetensors holds for each case CASE.config (bytes of config.json as I64), CASE.weight.NAME under the names that Transformers stores,
CASE.pixels, CASE.states and CASE.logits; vit_larger also the states of a picture of another size.
"""
import json, pathlib, tempfile

import torch
from safetensors.torch import load_file, save_file
from transformers import (DeiTConfig, DeiTForImageClassification, DeiTForImageClassificationWithTeacher, ViTConfig,
                          ViTForImageClassification, ViTModel)

from hash_numbers import numbers

torch.set_num_threads(1)
file = {}
sizes = dict(hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=33, image_size=20, patch_size=5,
             id2label={0: "cat", 1: "dog", 2: "eel"}, label2id={"cat": 0, "dog": 1, "eel": 2})


def add(case, model, pixels, changed=None, renamed=lambda name: name, **options):
    for n, p in enumerate(model.parameters()):
        p.data = numbers(p.shape, n + 1, 0.3).float()
    model.eval()
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        for name, tensor in load_file(pathlib.Path(folder) / "model.safetensors").items():
            file[f"{case}.weight.{renamed(name)}"] = tensor.clone()
        config = json.loads((pathlib.Path(folder) / "config.json").read_text()) | (changed or {})
        text = json.dumps(config, indent=2, sort_keys=True) + "\n"
        file[f"{case}.config"] = torch.tensor(list(text.encode()))
    with torch.no_grad():
        out = model(pixels, output_hidden_states=True, **options)
        body = model if isinstance(model, ViTModel) else getattr(model, model.base_model_prefix)
        file[f"{case}.states"] = body(pixels, **options).last_hidden_state.contiguous().clone()
        if "logits" in out:
            file[f"{case}.logits"] = out.logits.contiguous().clone()
    file[f"{case}.pixels"] = pixels.clone()


pixels = numbers((2, 3, 20, 20), 100).float()
add("vit", ViTForImageClassification(ViTConfig(**sizes)), pixels)
add("vit_plain", ViTModel(ViTConfig(**sizes, qkv_bias=False, hidden_act="gelu_new"), add_pooling_layer=False), pixels)
add("vit_grey", ViTForImageClassification(ViTConfig(**sizes, num_channels=1)), numbers((1, 1, 20, 20), 101).float())
add("vit_larger", ViTForImageClassification(ViTConfig(**sizes)), numbers((1, 3, 30, 25), 102).float(), interpolate_pos_encoding=True)
add("deit", DeiTForImageClassification(DeiTConfig(**sizes)), pixels)
add("deit_teacher", DeiTForImageClassificationWithTeacher(DeiTConfig(**sizes)), pixels)

# Fovea's stem_vit: the projection of the patches is two convolutions with a GELU between them.
stem = ViTForImageClassification(ViTConfig(**sizes | {"patch_size": 4}))


class Stem(torch.nn.Sequential):
    weight = property(lambda self: self[0].weight)  # whose type Transformers asks for


stem.vit.embeddings.patch_embeddings.projection = Stem(
    torch.nn.Conv2d(3, 12, 3, 2, 1), torch.nn.GELU(), torch.nn.Conv2d(12, 24, 3, 2, 1))
add("stem_vit", stem, pixels, {"model_type": "stem_vit", "architectures": ["StemViTForImageClassification"], "convolutions": 2},
    lambda name: name.replace("projection.0.", "convolutions.0.").replace("projection.2.", "convolutions.1."))
save_file(file, pathlib.Path(__file__).parent / "vit.safetensors")
