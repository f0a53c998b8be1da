"""What the peer scripts have in common: timing PyTorch as `fovea bench` times itself, and the table of both.

    rows = [Row("linear", "rows=512 columns=768 depth=768", 2 * 512 * 768 * 768, call)]
    compare("linear", rows)
"""

import argparse
import json
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch


@dataclass
class Row:
    bench: str
    case: str
    amount: float  # floating-point operations, bytes or tokens of a call
    call: Callable[[], object]
    scale: float = 1e-9  # of the amount, in the unit of `fovea bench`: GFLOP/s or GB/s; 1 for tokens/s


def best_decile(call: Callable[[], object], seconds: float) -> float:
    call()
    times, start = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 10]


def measured(fovea: str, group: str, threads: int, seconds: float) -> dict[tuple[str, str], dict]:
    command = [fovea, "bench", group, "--json", "--threads", str(threads), "--seconds", str(seconds)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    found = [json.loads(line) for line in lines]
    return {(line["bench"], line["case"]): line for line in found}


def compare(group: str, rows: list[Row]) -> None:
    """Measures in turns, so that a noisy neighbour disturbs both, and keeps the better of each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--fovea", default="build/release/fovea", help="the program")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, torch.get_num_threads()])
    parser.add_argument("--seconds", type=float, default=0.5, help="how long each line is measured, each time")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    print(f"{'bench':<24} {'case':<44} threads   fovea  PyTorch {torch.__version__:<12} ratio")
    for threads in options.threads:
        torch.set_num_threads(threads)
        ours: dict[tuple[str, str], dict] = {}
        theirs: dict[tuple[str, str], float] = {}
        for _ in range(options.turns):
            time.sleep(0.5)  # until PyTorch's threads have stopped spinning
            for key, line in measured(options.fovea, group, threads, options.seconds).items():
                if key not in ours or line["value"] > ours[key]["value"]:
                    ours[key] = line
            for row in rows:
                rate = row.amount * row.scale / best_decile(row.call, options.seconds)
                theirs[row.bench, row.case] = max(rate, theirs.get((row.bench, row.case), 0))
        for row in rows:
            rate = theirs[row.bench, row.case]
            for case in (row.case, f"{row.case} bf16"):  # against the peer's f32, too
                if (line := ours.get((row.bench, case))) is not None:
                    print(f"{row.bench:<24} {case:<44} {threads:>7} {line['value']:>7.1f} {rate:>8.1f} "
                          f"{line['unit']:<19} {line['value'] / rate:.2f}")
