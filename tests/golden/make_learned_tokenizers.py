"""Byte-level BPE as Hugging Face's tokenizers learns it, for fovea/data/text/pretrained/learned_tokenizers_test.cpp.

    python make_learned_tokenizers.py      # needs tokenizers
"""
import json, pathlib
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

TEXT = """The harbour master's daughter counted the ships: one, two, three... "There's nothing to count," he said.
She counted the gulls instead; the gulls didn't mind being counted, nor did the ferry, the ferrymen, the ferryman's hat.

    An indented line, with   many    spaces, and	a tab.
In 1897 the harbour had 42 ships; in 1998 it had 7. Größe, naïve, façade, 日本語, and an emoji 🙂🙂.
Nothing, nothing at all, was there to be counted any more: the ships had gone, the gulls had gone, and the hat was hers.
"""
found = {"text": TEXT, "sizes": {}}
for size in (258, 300, 400):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([TEXT], trainers.BpeTrainer(
        vocab_size=size, min_frequency=2, special_tokens=["<|endoftext|>", "<|padding|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    model = json.loads(tokenizer.to_str())["model"]
    pieces = sorted(model["vocab"], key=model["vocab"].get)
    found["sizes"][str(size)] = {"pieces": pieces[258:], "merges": model["merges"], "ids": tokenizer.encode(TEXT).ids}
    print(size, len(pieces), model["merges"][:3])
(pathlib.Path(__file__).parent / "learned_tokenizers.json").write_text(json.dumps(found, ensure_ascii=False, indent=0) + "\n")
