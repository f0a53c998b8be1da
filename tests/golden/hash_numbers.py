"""Numbers that look random and are the same on every machine and in every version of every library.

    from hash_numbers import numbers, Draw
    numbers((2, 3), seed=1)                       # float64 in [−1, 1); the C++ tests compute the same
    draw = Draw(7);  draw((2, 3), scale=0.5)      # the next ones
"""
import math
import torch


def numbers(shape, seed, scale=1.0):
    """Numbers in [−scale, scale): an integer hash of the index and the seed."""
    v = (torch.arange(math.prod(shape), dtype=torch.int64) + 1 + 1000003 * seed) * 2654435761 & 0xFFFFFFFF
    v = (v ^ v >> 15) * 2246822519 & 0xFFFFFFFF
    v = v ^ v >> 13
    return (((v >> 16).double() / 32768 - 1) * scale).reshape(shape)


class Draw:
    """One tensor after the other, each of its own seed."""

    def __init__(self, seed):
        self.seed = 1000 * seed

    def __call__(self, shape, scale=1.0):
        self.seed += 1
        return numbers(tuple(shape), self.seed, scale)
