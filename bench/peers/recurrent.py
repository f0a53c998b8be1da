"""PyTorch's nn.LSTM and nn.GRU, forward and backward, on the cases of bench/cases/recurrent.cpp.

    python bench/peers/recurrent.py --fovea build/release/fovea
"""

import torch

from peer import Row, compare

BATCH, STEPS, INPUTS, WIDTH = 64, 32, 256, 256


def step_of(layer: torch.nn.Module):
    x = torch.randn(BATCH, STEPS, INPUTS, requires_grad=True)
    dy = torch.randn(BATCH, STEPS, WIDTH)

    def step() -> None:
        layer.zero_grad()
        x.grad = None
        layer(x)[0].backward(dy)

    return step


def main() -> None:
    case = f"batch={BATCH} steps={STEPS} inputs={INPUTS} width={WIDTH}"
    layers = {"lstm": (torch.nn.LSTM, 4), "gru": (torch.nn.GRU, 3)}
    compare("recurrent", [
        Row(f"{name}_forward_backward", case, 3 * 2.0 * BATCH * STEPS * gates * WIDTH * (INPUTS + WIDTH),
            step_of(layer(INPUTS, WIDTH, batch_first=True)))
        for name, (layer, gates) in layers.items()
    ])


if __name__ == "__main__":
    main()
