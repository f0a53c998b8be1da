"""Trains two small SentencePiece models with the Python package and encodes odd lines with them, for sentencepiece_test.cpp.

    python make_tokenizers.py     # needs sentencepiece
"""
import io, json, pathlib, tempfile
import sentencepiece

here = pathlib.Path(__file__).parent / "tokenizers"
here.mkdir(exist_ok=True)
people = ["the cook", "my sister", "an old sailor", "the teacher", "a young doctor", "our neighbour", "the gardener"]
deeds = ["opened the window", "was looking for the lighthouse", "wrote three letters", "repaired the clock",
         "sang a song about the sea", "counted the seeds", "never found the station"]
times = ["yesterday", "before the rain came", "at 7 o'clock", "in the summer of 1931", "without a word", "again and again"]
german = ["Der Leuchtturm steht am Ende der Straße.", "Wir zählten die Schiffe, bis es dunkel wurde.",
          "Können Sie die Tür bitte schließen?", "Über dem Hafen kreisten weiße Möwen.", "Im Garten blühen im März die ersten Blumen."]
text = [f"{p.capitalize()} {d} {t}." for p in people for d in deeds for t in times] + german * 12

# A few rules of NFKC (the whole table alone has 240 KB): ligatures, full-width digits, wide and no-break spaces, a composition.
rules = {"ﬁ": "fi", "ﬂ": "fl", "　": " ", "\u00a0": " ", "…": "...", "u\u0308": "ü", "o\u0308": "ö", "½": "1/2",
         **{chr(0xff10 + d): str(d) for d in range(10)}}
with tempfile.NamedTemporaryFile("w", suffix=".tsv") as table:
    for source, target in rules.items():
        table.write(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n")
    table.flush()
    models = {}
    for kind in ["unigram", "bpe"]:
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(text), model_writer=out, model_type=kind, vocab_size=480 if kind == "bpe" else 460, hard_vocab_limit=False,
            normalization_rule_tsv=table.name, byte_fallback=kind == "bpe", character_coverage=1.0, num_threads=1,
            pad_id=0, bos_id=1, eos_id=2, unk_id=3, minloglevel=2)
        models[kind] = out.getvalue()

lines = text[::9] + ["", " ", "  two  spaces  ", "ﬁnd the ﬂower", "１９３１ or 1931", "wide　space", "no\u00a0break", "tu\u0308r and Tür",
                     "a ½ clock…", "漢字 and letters", "👩‍👩‍👧 sings", "tab\tinside", "UPPER lower 12345", "<s> </s> <unk> <pad>", "ﬁ", "x" * 70,
                     "The sailor, the cook & the doctor: 3 people!", "Straßenschild", "e\u0301 stays as it is", "zero\u200bwidth"]
golden = {"lines": lines}
for kind, model in models.items():
    (here / f"{kind}.model").write_bytes(model)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    golden[kind] = [processor.encode(line) for line in lines]
    golden[kind + "_decoded"] = [processor.decode(ids) for ids in golden[kind]]
(here / "ids.json").write_text(json.dumps(golden, ensure_ascii=False, indent=0) + "\n")
