"""Weights after each of a few steps of torch.optim, for fovea/train/optimiser_test.cpp.

    python make_optimisers.py     # needs torch

The gradients of step s are numbers(shape, s + 10 · weight), computed by the test too. Weights of one axis do not decay.
"""
import json, math, pathlib
import torch

from hash_numbers import numbers

torch.set_default_dtype(torch.float64)
SHAPES = {"matrix": (3, 5), "bias": (5,)}
STEPS = 5


def case(name, make, clip=0.0, factors=(1,) * STEPS, **config):
    weights = [numbers(shape, 100 + i).requires_grad_() for i, shape in enumerate(SHAPES.values())]
    decay = config.get("weight_decay", 0)
    rate = config["learning_rate"]
    optimiser = make([{"params": [weights[0]], "weight_decay": decay}, {"params": [weights[1]], "weight_decay": 0.0}], rate)
    norms, after = [], []
    for step in range(STEPS):
        for i, weight in enumerate(weights):
            weight.grad = numbers(weight.shape, step + 10 * i)
        norms.append(float(torch.nn.utils.clip_grad_norm_(weights, clip if clip else math.inf)))
        for group in optimiser.param_groups:
            group["lr"] = rate * factors[step]
        optimiser.step()
        after.append([weight.detach().flatten().tolist() for weight in weights])
    return {"name": name, "config": {**config, "clip": clip}, "factors": factors, "norms": norms, "after": after}


optim = torch.optim
cases = [
    case("adamw", lambda p, lr: optim.AdamW(p, lr=lr), optimiser="adamw", learning_rate=0.01, weight_decay=0.1),
    case("adamw_clipped", lambda p, lr: optim.AdamW(p, lr=lr, betas=(0.8, 0.98), eps=1e-6), clip=0.5,
         factors=(0.25, 0.5, 0.75, 1, 0.7), optimiser="adamw", learning_rate=0.02, beta1=0.8, beta2=0.98, epsilon=1e-6,
         weight_decay=0.01),
    case("adam", lambda p, lr: optim.Adam(p, lr=lr), optimiser="adam", learning_rate=0.01, weight_decay=0.1),
    case("sgd", lambda p, lr: optim.SGD(p, lr=lr), optimiser="sgd", learning_rate=0.1, momentum=0.0, weight_decay=0.0),
    case("sgd_momentum", lambda p, lr: optim.SGD(p, lr=lr, momentum=0.9), clip=1.5, factors=(1, 0.5, 0.5, 0.25, 0.25),
         optimiser="sgd", learning_rate=0.1, momentum=0.9, weight_decay=0.05),
]
shapes = {name: list(shape) for name, shape in SHAPES.items()}
out = pathlib.Path(__file__).with_name("optimisers.json")
out.write_text(json.dumps({"torch": torch.__version__, "shapes": shapes, "cases": cases}) + "\n")
