"""Whole training steps of GPTs in PyTorch (fused AdamW, eager and torch.compile) on the cases of bench/cases/language.cpp.

    python bench/peers/language.py --fovea build/release/fovea
"""

import argparse
import time

import torch
from torch import nn
from torch.nn import functional as F

from peer import best_decile, measured


class Block(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (y.view(*y.shape[:2], self.heads, -1).transpose(1, 2) for y in self.qkv(self.norms[0](x)).chunk(3, -1))
        x = x + self.output(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(self.norms[1](x)), approximate="tanh"))


class Gpt(nn.Module):
    def __init__(self, tokens: int, vocabulary: int, width: int, layers: int, heads: int):
        super().__init__()
        self.words, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(tokens, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        x = self.words(ids) + self.positions.weight
        for block in self.blocks:
            x = block(x)
        return F.cross_entropy(F.linear(self.norm(x), self.words.weight).flatten(0, 1), targets.flatten())


def step_of(model: nn.Module, batch: int, tokens: int, vocabulary: int, compiled: bool):
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    run = torch.compile(model, dynamic=False) if compiled else model
    ids, targets = (torch.randint(vocabulary, (batch, tokens)) for _ in range(2))

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        run(ids, targets).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()

    return step


CASES = {"train_characters": dict(batch=12, tokens=64, vocabulary=65, width=128, layers=4, heads=4),
         "train_gpt2": dict(batch=1, tokens=512, vocabulary=50257, width=768, layers=12, heads=12)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--fovea", default="build/release/fovea", help="the program")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, torch.get_num_threads()])
    parser.add_argument("--seconds", type=float, default=2, help="how long each line is measured, each time")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print(f"{'bench':<22} threads    fovea    eager  compile  tokens/s, PyTorch {torch.__version__}; ratio to the faster")
    for threads in options.threads:
        torch.set_num_threads(threads)
        steps = {}
        for name, case in CASES.items():
            for compiled in (False, True):
                model = Gpt(*(case[key] for key in ("tokens", "vocabulary", "width", "layers", "heads")))
                steps[name, compiled] = step_of(model, case["batch"], case["tokens"], case["vocabulary"], compiled)
                steps[name, compiled]()  # compiles
        best: dict = {}
        for _ in range(options.turns):
            time.sleep(0.5)  # until PyTorch's threads have stopped spinning
            for (name, case), line in measured(options.fovea, "language", threads, options.seconds).items():
                name += " bf16" if case.endswith("bf16") else ""
                best[name] = max(line["value"], best.get(name, 0))
            for key, step in steps.items():
                rate = CASES[key[0]]["batch"] * CASES[key[0]]["tokens"] / best_decile(step, options.seconds)
                best[key] = max(rate, best.get(key, 0))
        for name in CASES:
            eager, compiled = best[name, False], best[name, True]
            for ours in (name, f"{name} bf16"):
                print(f"{ours:<22} {threads:>7} {best[ours]:>8.0f} {eager:>8.0f} {compiled:>8.0f}  "
                      f"{best[ours] / max(eager, compiled):.2f} (to eager {best[ours] / eager:.2f})")


if __name__ == "__main__":
    main()
