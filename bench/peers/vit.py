"""ONNX Runtime and OpenVINO on ViT-S/16 at 224 × 224 pixels with random weights, against `fovea bench media`.

    pip install torch transformers onnx onnxscript onnxruntime openvino
    python bench/peers/vit.py --threads 1
"""

import argparse
import tempfile
from pathlib import Path

import onnxruntime
import openvino
import torch
from transformers import ViTConfig, ViTModel

from peer import best_decile, measured

parser = argparse.ArgumentParser()
parser.add_argument("--fovea", default=str(Path(__file__).parents[2] / "build/release/fovea"))
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--seconds", type=float, default=1)
args = parser.parse_args()


class First(torch.nn.Module):
    """The state of the class token."""

    def __init__(self):
        super().__init__()
        config = ViTConfig(hidden_size=384, num_hidden_layers=12, num_attention_heads=6, intermediate_size=1536)
        self.model = ViTModel(config, add_pooling_layer=False)

    def forward(self, pixels: torch.Tensor) -> torch.Tensor:
        return self.model(pixel_values=pixels).last_hidden_state[:, 0]


torch.manual_seed(0)
model, calls = First().eval(), {}
with tempfile.TemporaryDirectory() as folder:
    for batch in (1, 8):
        pixels, file = torch.randn(batch, 3, 224, 224), f"{folder}/{batch}.onnx"
        torch.onnx.export(model, (pixels,), file, input_names=["pixels"], output_names=["state"], dynamo=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = args.threads
        session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        compiled = openvino.Core().compile_model(file, "CPU", {"INFERENCE_NUM_THREADS": args.threads, "INFERENCE_PRECISION_HINT": "f32"})
        feed = {"pixels": pixels.numpy()}
        calls[batch] = {"ONNX Runtime": lambda s=session, f=feed: s.run(None, f), "OpenVINO": lambda c=compiled, f=feed: c(f)}

ours: dict[str, float] = {}
theirs = {batch: dict.fromkeys(peers, 0.0) for batch, peers in calls.items()}
for _ in range(args.rounds):
    for (bench, case), line in measured(args.fovea, "media", args.threads, args.seconds).items():
        if bench == "pictures":
            ours[case] = max(ours.get(case, 0), line["value"])
    for batch, peers in calls.items():
        for name, call in peers.items():
            theirs[batch][name] = max(theirs[batch][name], batch / best_decile(call, args.seconds))
for case, rate in ours.items():
    peers = theirs[int(case.split("=")[1])]
    print(f"{case}, {args.threads} threads: Fovea {rate:.1f}/s, " + ", ".join(f"{n} {v:.1f}/s" for n, v in peers.items()) +
          f", ratio {rate / max(peers.values()):.2f}")
