"""Whole training steps in PyTorch (eager, fused AdamW) on the cases of bench/cases/training.cpp.

    python bench/peers/training.py --fovea build/release/fovea
"""

import math

import torch
from torch import nn
from torch.nn import functional as F

from peer import Row, compare

BATCH, TOKENS, VOCABULARY = 64, 16, 8000


class Attention(nn.Module):
    """Multi-head attention through the fused scaled_dot_product_attention."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key_value, self.output = (nn.Linear(width, n * width) for n in (1, 2, 1))

    def forward(self, x: torch.Tensor, memory: torch.Tensor, causal: bool = False) -> torch.Tensor:
        def split(y: torch.Tensor) -> torch.Tensor:
            return y.view(*y.shape[:2], self.heads, -1).transpose(1, 2)

        q = split(self.query(x))
        k, v = (split(y) for y in self.key_value(memory).chunk(2, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.output(y.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    """Post-norm, with dropout where fovea/models/transformer_layer.h has it."""

    def __init__(self, width: int, heads: int, hidden: int, cross: bool, dropout: float):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.attention = Attention(width, heads)
        self.cross = Attention(width, heads) if cross else None
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(3 if cross else 2))

    def forward(self, x: torch.Tensor, memory: torch.Tensor | None = None) -> torch.Tensor:
        x = self.norms[0](x + self.drop(self.attention(x, x, causal=self.cross is not None)))
        if self.cross:
            x = self.norms[1](x + self.drop(self.cross(x, memory)))
        return self.norms[-1](x + self.drop(self.down(F.relu(self.up(x)))))


class Transformer(nn.Module):
    def __init__(self, dropout: float, width: int = 256, heads: int = 4, hidden: int = 1024, layers: int = 3):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.embedding = nn.Embedding(VOCABULARY, width, padding_idx=0)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.encoder = nn.ModuleList(Layer(width, heads, hidden, cross=False, dropout=dropout) for _ in range(layers))
        self.decoder = nn.ModuleList(Layer(width, heads, hidden, cross=True, dropout=dropout) for _ in range(layers))
        self.register_buffer("positions", torch.randn(TOKENS, width))
        self.scale = math.sqrt(width)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        memory = self.drop(self.embedding(source) * self.scale + self.positions)
        for layer in self.encoder:
            memory = layer(memory)
        x = self.drop(self.embedding(target) * self.scale + self.positions)
        for layer in self.decoder:
            x = layer(x, memory)
        return F.linear(x, self.embedding.weight)


class Bahdanau(nn.Module):
    """A bidirectional LSTM encoder and an LSTM decoder with additive attention, step by step."""

    def __init__(self, embedding: int = 256, encoder: int = 256, decoder: int = 512):
        super().__init__()
        memory = 2 * encoder
        self.source, self.target = (nn.Embedding(VOCABULARY, embedding, padding_idx=0) for _ in range(2))
        self.encoder = nn.LSTM(embedding, encoder, bidirectional=True, batch_first=True)
        self.bridge, self.cell_bridge = nn.Linear(memory, decoder), nn.Linear(memory, decoder)
        self.cell = nn.LSTMCell(embedding + memory, decoder)
        self.query, self.key = nn.Linear(decoder, decoder, bias=False), nn.Linear(memory, decoder, bias=False)
        self.vector = nn.Linear(decoder, 1, bias=False)
        self.readout = nn.Linear(decoder + memory + embedding, decoder)
        self.output = nn.Linear(decoder, VOCABULARY)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        states, (hidden, cell) = self.encoder(self.source(source))
        h = torch.tanh(self.bridge(torch.cat((hidden[0], hidden[1]), -1)))
        c = self.cell_bridge(torch.cat((cell[0], cell[1]), -1))
        keys, inputs, parts = self.key(states), self.target(target), []
        for y in inputs.unbind(1):
            scores = self.vector(torch.tanh(self.query(h).unsqueeze(1) + keys)).squeeze(-1)
            context = torch.bmm(scores.softmax(-1).unsqueeze(1), states).squeeze(1)
            h, c = self.cell(torch.cat((y, context), -1), (h, c))
            parts.append(torch.cat((h, context, y), -1))
        return self.output(torch.tanh(self.readout(torch.stack(parts, 1))))


class Tagger(nn.Module):
    def __init__(self, vocabulary: int = 20000, embedding: int = 100, width: int = 128, tags: int = 9):
        super().__init__()
        self.words = nn.Embedding(vocabulary, embedding)
        self.lstm = nn.LSTM(embedding, width, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(2 * width, tags)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.tags(self.lstm(self.words(ids))[0])


def step_of(model: nn.Module, inputs: tuple[torch.Tensor, ...], targets: torch.Tensor):
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)

    def step() -> None:
        optimiser.zero_grad(set_to_none=True)
        logits = model(*inputs)
        F.cross_entropy(logits.flatten(0, 1), targets.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()

    return step


def main() -> None:
    def ids(batch: int, tokens: int, vocabulary: int) -> torch.Tensor:
        return torch.randint(3, vocabulary, (batch, tokens))

    translation = f"batch={BATCH} tokens={TOKENS} vocabulary={VOCABULARY}"
    pair, wanted = (ids(BATCH, TOKENS, VOCABULARY), ids(BATCH, TOKENS, VOCABULARY)), ids(BATCH, TOKENS, VOCABULARY)
    compare("training", [
        *(Row("train_transformer", f"{translation} dropout={dropout:g}", BATCH * TOKENS,
              step_of(Transformer(dropout), pair, wanted), scale=1) for dropout in (0.1, 0.0)),
        Row("train_bahdanau", f"{translation} dropout=0", BATCH * TOKENS, step_of(Bahdanau(), pair, wanted), scale=1),
        Row("train_tagger", "batch=32 tokens=32 vocabulary=20000", 32 * 32,
            step_of(Tagger(), (ids(32, 32, 20000),), torch.randint(0, 9, (32, 32))), scale=1),
    ])


if __name__ == "__main__":
    main()
