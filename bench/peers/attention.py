#!/usr/bin/env python3
"""PyTorch's fused attention on the cases of `fovea bench attention`, in the same run, with the ratio of the two.

    bench/peers/attention.py --fovea build/release/fovea --threads 1

Forward and backward: torch.nn.functional.scaled_dot_product_attention on [1, heads, tokens, width] views of a
[1, tokens, heads, width] array. With the weights: matmul, softmax, matmul, as one has to write it to see them.
Needs PyTorch; Fovea itself does not.
"""

import argparse
import json
import math
import subprocess
import time

import torch
import torch.nn.functional as F


def best_decile(work, seconds=0.5):
    work()
    times = []
    start = time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    times.sort()
    return times[len(times) // 10]


def parse(case):
    return {key: int(value) for key, value in (part.split("=") for part in case.split())}


def inputs(c, gradient=False):
    shape = (1, c["tokens"], c["heads"], c["width"])
    return [torch.randn(shape).transpose(1, 2).detach().requires_grad_(gradient) for _ in range(3)]


def forward_seconds(c):
    q, k, v = inputs(c)
    with torch.no_grad():
        return best_decile(lambda: F.scaled_dot_product_attention(q, k, v, is_causal=bool(c["causal"])))


def backward_seconds(c):
    q, k, v = inputs(c, gradient=True)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=bool(c["causal"]))
    d_out = torch.randn_like(out)
    return best_decile(lambda: torch.autograd.grad(out, (q, k, v), d_out, retain_graph=True))


def weights_seconds(c):
    q, k, v = inputs(c)
    hidden = torch.ones(c["tokens"], c["tokens"], dtype=torch.bool).triu(1)

    def work():
        scores = q @ k.transpose(-1, -2) / math.sqrt(c["width"])
        if c["causal"]:
            scores = scores.masked_fill(hidden, -math.inf)
        weights = scores.softmax(-1)
        return weights @ v, weights

    with torch.no_grad():
        return best_decile(work)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fovea", default="build/release/fovea", help="the program")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    command = [options.fovea, "bench", "attention", "--threads", str(options.threads), "--json"]
    lines = [json.loads(line) for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()]
    lines = [line for line in lines if line["threads"] == options.threads]
    ours = {line["case"]: line["value"] for line in lines if line["bench"] == "attention_forward"}

    def show(bench, case, fovea, peer, unit):
        print(f"{bench:<26}{case:<46}threads={options.threads}  fovea {fovea:8.1f}  torch {peer:8.1f} {unit}  ratio {fovea / peer:5.2f}", flush=True)

    for line in lines:
        bench, case = line["bench"], line["case"]
        if bench not in ("attention_forward", "attention_backward", "attention_probe_all"):
            continue
        c = parse(case)
        flops = 4 * c["tokens"] ** 2 * c["width"] * c["heads"] / (2 if c["causal"] else 1)
        if bench == "attention_forward":
            show(bench, case, line["value"], flops / forward_seconds(c) * 1e-9, "GFLOP/s")
        elif bench == "attention_backward":
            show(bench, case, line["value"], 2.5 * flops / backward_seconds(c) * 1e-9, "GFLOP/s")
        else:
            show(bench, case, ours[case] / line["value"], flops / weights_seconds(c) * 1e-9, "GFLOP/s")


if __name__ == "__main__":
    main()
