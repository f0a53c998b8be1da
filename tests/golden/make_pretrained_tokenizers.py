"""Tiny tokenizers of every kind that tokenizer.json has, and what the `tokenizers` library makes of odd texts with them, for
pretrained_test.cpp; and, if they lie beside the checkout, the same for the vocabularies of well-known models.

    python make_pretrained_tokenizers.py [FOLDER]    # needs tokenizers, sentencepiece, tiktoken; FOLDER/data/tokenizers has the others
"""
import base64, io, json, pathlib, sys, tempfile, zlib
import sentencepiece, tiktoken
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers)

here = pathlib.Path(__file__).parent / "pretrained_tokenizers"
here.mkdir(exist_ok=True)
shared = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[3] / "shared") / "data" / "tokenizers"

sentences = [
    "The ferry leaves at seven, and the harbour is quiet until noon.", "She's been counting gulls: 17, 18, 19, twenty!",
    "Don't ask me why the lighthouse-keeper painted his door green.", "Where did they put the old maps? Nobody knows...",
    "Der Bäcker öffnet früh; die Straße riecht nach Brötchen.", "L'été dernier, nous avons vu des étoiles filantes près du phare.",
    "Вечером в порту зажигают огни, и рыбаки возвращаются домой.", "港は静かで、船はゆっくり出て行く。", "def count(gulls):\n    return len(gulls) + 1",
    "In 1931 there were 2,500 boats; in 2014 only 38.", "ΜΕΓΑΛΗ θάλασσα και μικρά νησιά.", "naïve café coöperate façade résumé",
    "I'll say we've lost; you'd think they're here, but it's not so.", "Rain, rain, and again rain on the roof of the boathouse."]

texts = [
    "", " ", "  ", "\t", "\n", "\r\n", " \t\n\r\x0b\x0c ", "a", " a", "a ", "  a  b   c    ", "The ferry leaves at seven.", "the FERRY Leaves aT SEVEN",
    "It's what they'll say: don't, can't, we've, I'd, I'm, you're, 'twas 'S 'LL", "Hello, world! How are you?", "x" * 300, "lighthouse" * 20,
    "supercalifragilisticexpialidocious antidisestablishmentarianism", "0 1 12 123 1234 12345 1,234,567.89 1e-9 0x1F ½ ² Ⅷ ٣٤٥ १२३",
    "def f(x):\n\treturn x[0] + x['key']  # done\n\n\nif __name__ == \"__main__\":\n    f({})\n", "<html><body class=\"a b\">&amp;</body></html>", "https://example.org/a?b=c&d=%20#e",
    "naïve café", "nai\u0308ve cafe\u0301", "Ṩ s\u0323\u0307 s\u0307\u0323 q\u0307\u0323", "ﬁ ﬂ ﬃ ﷺ ㎏ ① ﾊﾝｶｸ ＦＵＬＬ　ＷＩＤＴＨ", "Å Å Ω Ω K K", "İstanbul ISPARTA ıi ǅ ẞß ΌΣΟΣ",
    "Straße STRASSE Über Größe", "L'été dernier — « vu » – “phare” ‘x’ …", "Вечером в порту ЗАЖИГАЮТ огни", "港は静かで、船はゆっくり出て行く。",
    "漢字かなカナ 한국어 각 각 中文,字。", "𠀀𪜀 𝔘𝔫𝔦 𝟘𝟙", "السلام عليكم ١٢٣ مَرْحَبًا", "שָׁלוֹם עולם", "नमस्ते दुनिया क्षि", "สวัสดีชาวโลก", "ဗမာ ខ្មែរ ᏣᎳᎩ",
    "👍", "👩‍👩‍👧‍👦 family", "🇫🇷🇩🇪 flags 🏳️‍🌈", "👍🏽👍🏿 skin ☝️ ❤️", "e" + "\u0301" * 40, "zero\u200bwidth\u200cjoin\u200der\u2060\ufeffx", "soft\u00adhyphen no\u00a0break thin\u2009space ideo\u3000space",
    "line\u2028sep\u2029para\x85nel\u180emongol\u1680ogham\u205fm\u202fn", "nul\x00byte \x01\x02\x1b[31m\x7f\x80\x9f", "\ufffd\ufffe\uffff \U0010ffff \ue000", "right \u202eto left\u202c \u200f\u200e \u2067x\u2069",
    "CR\rLF\nCRLF\r\nend\r\n\r\n", "tabs\t\tand  spaces \n \n x", "!!! ??? ... --- ''' \"\"\" ``` ~~~ ___ $$$ %%% ^^^ +++ === |||", "a.b,c;d:e!f?g(h)i[j]k{l}m<n>o@p#q$r%s^t&u*v-w_x+y=z~",
    "[CLS] the ferry [SEP] is [MASK] here [PAD] [UNK]", "<s>the ferry</s> <mask> is<pad>here <unk> <extra>", "<|endoftext|>The end<|endoftext|>", "x<mask>y  <mask>  z <MASK> [mask] ferry-boat ferryboat",
    "▁metaspace▁ already ▁▁ there", "Ġbyte Ċlevel ## ##ing </w> a</w> @@", "<0x41> <0xE2> <0x0A>", "a\u0300b\u0301c\u0302 d̸̡͉ zalgo t̵e̷x̴t̸", "ab" * 100 + " " + "ba" * 100, "é" * 120, "日" * 150, "🙂" * 70,
    " leading and trailing ", "\nleading newline", "trailing newline\n", "one\ntwo\nthree", "MiXeD cAsE wOrDs", "ﬀ\u0301 ſt ŉ ǰ", "㍿ ㋿ ㏿ ﹏ ︽", "𐍈 gothic 𒀀 cuneiform", "ⓐⒷ🅰🄱 circled", "꙰ ⃝ enclosing a⃝",
]
texts += sentences


def bytes_at(text):
    """The byte of each character's beginning."""
    at, places = 0, [0]
    for c in text:
        at += len(c.encode())
        places.append(at)
    return places


def narrowed(tokens, spans, text):
    """The bytes of a stretch of unknown characters that share one span: each has that of its own character."""
    i = 0
    spans = list(spans)
    while i < len(tokens):
        j = i
        while j < len(tokens) and spans[j] == spans[i] and len(tokens[j]) == 6 and tokens[j].startswith("<0x"):
            j += 1
        if j > i + 1:
            whole = bytes(int(t[3:5], 16) for t in tokens[i:j]).decode()
            begin = spans[i][1] - len(whole)
            at = i
            for n, c in enumerate(whole):
                for _ in c.encode():
                    spans[at] = (begin + n, begin + n + 1)
                    at += 1
        i = max(j, i + 1)
    return spans


def golden(tokenizer, lines, narrow=False):
    tokenizer.no_padding()
    tokenizer.no_truncation()
    found = []
    for text in lines:
        e = tokenizer.encode(text, add_special_tokens=False)
        places = bytes_at(text)
        offsets = narrowed(e.tokens, e.offsets, text) if narrow else e.offsets
        found.append([e.ids, [places[x] for span in offsets for x in span], tokenizer.decode(e.ids, skip_special_tokens=True)])
    return found


def pair(tokenizer):
    both, one = tokenizer.encode("the ferry", "a harbour"), tokenizer.encode("the ferry")
    return [one.ids, one.type_ids, both.ids, both.type_ids]


def trained(model, trainer, normalizer=None, pre=None, post=None, decoder=None, added=(), special=()):
    t = Tokenizer(model)
    if normalizer: t.normalizer = normalizer
    if pre: t.pre_tokenizer = pre
    if trainer: t.train_from_iterator(sentences, trainer)
    if special: t.add_special_tokens(list(special))
    if added: t.add_tokens(list(added))
    if post: t.post_processor = post(t)
    if decoder: t.decoder = decoder
    return t


P, N, D, C = pre_tokenizers, normalizers, decoders, processors


def charsmap():
    """A small table: a few rules of NFKC and some of SentencePiece's own."""
    rules = {"ﬁ": "fi", "ﬂ": "fl", "　": " ", "\u00a0": " ", "…": "...", "u\u0308": "ü", "e\u0301": "é", "i\u0308": "ï", "½": "1/2", "㎏": "kg", "\t": " ", "\n": " ", "\r": " ", "\u200b": " ",
             "\x01": "", "\u00ad": "", "①": "1", **{chr(0xff21 + d): chr(65 + d) for d in range(26)}}
    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as table:
        for source, target in rules.items():
            table.write(" ".join(f"{ord(c):X}" for c in source) + "\t" + " ".join(f"{ord(c):X}" for c in target) + "\n")
        table.flush()
        out = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(sentences), model_writer=out, model_type="unigram", vocab_size=140, hard_vocab_limit=False,
                                                 normalization_rule_tsv=table.name, minloglevel=2)
    from sentencepiece import sentencepiece_model_pb2 as pb
    model = pb.ModelProto()
    model.ParseFromString(out.getvalue())
    return model.normalizer_spec.precompiled_charsmap


def template(t, single, both, names):
    return C.TemplateProcessing(single=single, pair=both, special_tokens=[(n, t.token_to_id(n)) for n in names])


def bpe_trainer(size=330, **o): return trainers.BpeTrainer(vocab_size=size, show_progress=False, **o)


alphabet = P.ByteLevel.alphabet()
made = {}
made["byte_level_gpt2"] = trained(models.BPE(), bpe_trainer(initial_alphabet=alphabet, special_tokens=["<|endoftext|>"]), pre=P.ByteLevel(add_prefix_space=False),
                                  post=lambda t: C.ByteLevel(trim_offsets=False), decoder=D.ByteLevel())
made["byte_level_roberta"] = trained(models.BPE(), bpe_trainer(360, initial_alphabet=alphabet, special_tokens=["<s>", "<pad>", "</s>", "<unk>"]), pre=P.ByteLevel(add_prefix_space=True),
                                     post=lambda t: C.RobertaProcessing(("</s>", t.token_to_id("</s>")), ("<s>", t.token_to_id("<s>")), trim_offsets=True, add_prefix_space=True), decoder=D.ByteLevel(),
                                     special=[AddedToken("<mask>", lstrip=True, normalized=False)])
made["byte_level_trimmed"] = trained(models.BPE(), bpe_trainer(initial_alphabet=alphabet), pre=P.ByteLevel(add_prefix_space=False), normalizer=N.NFC(),
                                     post=lambda t: C.Sequence([C.ByteLevel(trim_offsets=True, add_prefix_space=False), template(t, "<s> $A", "<s> $A <s>:1 $B:1", ["<s>"])]), decoder=D.ByteLevel(), special=["<s>"])
cl100k = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
made["llama3_like"] = trained(models.BPE(ignore_merges=True), bpe_trainer(initial_alphabet=alphabet), pre=P.Sequence([P.Split(Regex(cl100k), "isolated"), P.ByteLevel(add_prefix_space=False, use_regex=False)]),
                              post=lambda t: C.Sequence([C.ByteLevel(trim_offsets=True), template(t, "<|begin|> $A", "<|begin|> $A <|begin|>:1 $B:1", ["<|begin|>"])]), decoder=D.ByteLevel(), special=["<|begin|>", "<|endoftext|>"])
made["llama2_like"] = trained(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True), bpe_trainer(420, special_tokens=["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)]),
                              normalizer=N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")]), post=lambda t: template(t, "<s> $A", "<s> $A <s>:1 $B:1", ["<s>"]),
                              decoder=D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)]), special=["<unk>", "<s>", "</s>"])
made["bpe_word_suffix"] = trained(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>", fuse_unk=False), bpe_trainer(300, special_tokens=["<unk>"], end_of_word_suffix="</w>"),
                                  normalizer=N.Sequence([N.NFD(), N.StripAccents(), N.Lowercase()]), pre=P.Whitespace(), decoder=D.BPEDecoder(suffix="</w>"))
made["bpe_prefix_no_unk"] = trained(models.BPE(continuing_subword_prefix="##"), bpe_trainer(300, continuing_subword_prefix="##"), normalizer=N.NFKD(), pre=P.Sequence([P.WhitespaceSplit(), P.Digits(individual_digits=True)]),
                                    decoder=D.WordPiece(prefix="##", cleanup=False))
made["bpe_unk_runs"] = trained(models.BPE(unk_token="<unk>", fuse_unk=True), bpe_trainer(200, special_tokens=["<unk>"], limit_alphabet=20), pre=P.Punctuation("merged_with_previous"))
wp = dict(vocab_size=300, show_progress=False, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
bert = lambda t: C.BertProcessing(("[SEP]", t.token_to_id("[SEP]")), ("[CLS]", t.token_to_id("[CLS]")))
made["bert_uncased"] = trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(**wp), normalizer=N.BertNormalizer(), pre=P.BertPreTokenizer(), post=bert, decoder=D.WordPiece())
made["bert_cased"] = trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20), trainers.WordPieceTrainer(**wp), normalizer=N.BertNormalizer(lowercase=False, strip_accents=None),
                             pre=P.BertPreTokenizer(), post=lambda t: template(t, "[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", ["[CLS]", "[SEP]"]), decoder=D.WordPiece(cleanup=False))
made["bert_no_clean"] = trained(models.WordPiece(unk_token="[UNK]"), trainers.WordPieceTrainer(**wp), normalizer=N.BertNormalizer(clean_text=False, handle_chinese_chars=False, lowercase=True, strip_accents=False),
                                pre=P.Sequence([P.WhitespaceSplit(), P.Punctuation("contiguous")]), post=bert, decoder=D.WordPiece())
un = dict(vocab_size=220, show_progress=False, unk_token="<unk>", special_tokens=["<pad>", "</s>", "<unk>"])
made["t5_like"] = trained(models.Unigram(), trainers.UnigramTrainer(**un), normalizer=N.Sequence([N.Precompiled(charsmap()), N.Replace(Regex(" {2,}"), " ")]), pre=P.Metaspace(prepend_scheme="always"),
                          post=lambda t: template(t, "$A </s>", "$A </s> $B </s>", ["</s>"]), decoder=D.Metaspace())
made["unigram_first"] = trained(models.Unigram(), trainers.UnigramTrainer(**un), normalizer=N.Sequence([N.Nmt(), N.NFKC(), N.Strip()]), pre=P.Metaspace(prepend_scheme="first", split=True), decoder=D.Metaspace(prepend_scheme="first"),
                                special=["<extra>", AddedToken("<mask>", rstrip=True, normalized=False)])
made["unigram_never"] = trained(models.Unigram(), trainers.UnigramTrainer(**un), normalizer=N.Strip(left=True, right=False), pre=P.Metaspace(prepend_scheme="never", split=False), decoder=D.Metaspace(prepend_scheme="never"))
byte_vocab = [("<unk>", 0.0)] + [(f"<0x{b:02X}>", -8.0) for b in range(256)] + [(p, -2.5 - i / 50) for i, p in enumerate(["▁", "the", "▁the", "e", "r", "f", "fer", "ry", "▁ferry", "a", "s", "t", "h", "ea", "▁sea"])]
made["unigram_bytes"] = trained(models.Unigram(byte_vocab, 0, True), None, pre=P.Metaspace(), decoder=D.Sequence([D.ByteFallback(), D.Metaspace()]))
wl = dict(show_progress=False, vocab_size=120, special_tokens=["[UNK]", "<pad>"])
made["words"] = trained(models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(**wl), normalizer=N.Lowercase(), pre=P.Whitespace(),
                        added=[AddedToken("ferry-boat", single_word=True), AddedToken("FERRYBOAT", normalized=True), AddedToken("seven", normalized=False, rstrip=True, lstrip=True)])
made["words_normalized_tokens"] = trained(models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(**wl), normalizer=N.Sequence([N.NFKC(), N.StripAccents(), N.Lowercase()]), pre=P.Sequence([P.Whitespace(), P.Digits()]),
                                          added=[AddedToken("CAFÉ", normalized=True, single_word=True), AddedToken("The", normalized=True, rstrip=True), AddedToken("ünd", normalized=True), AddedToken("  ", normalized=False)])
for name, pre in {"removed": P.Split("e", "removed"), "isolated": P.Split(Regex(r"[aeiou]+\d?|\s"), "isolated"), "previous": P.Split(Regex(r"[^\w]"), "merged_with_previous"),
                  "next": P.Split(Regex(r"\s+"), "merged_with_next"), "contiguous": P.Split(Regex(r"[.,!?'\s]"), "contiguous"), "inverted": P.Split(Regex(r"\w+|\d"), "removed", invert=True),
                  "boundaries": P.Split(Regex(r"\b"), "isolated"), "lines": P.Split(Regex(r"^.|.$"), "isolated"), "counted": P.Split(Regex(r"\p{L}{2,3}+|[[:punct:]]|\h{,2}"), "isolated"), "empty": P.Split(Regex(r"x*"), "merged_with_next"),
                  "delimiter": P.CharDelimiterSplit("t"), "punctuation_next": P.Punctuation("merged_with_next"), "fixed": P.FixedLength(length=3), "case": P.Split(Regex(r"(?i:the|ſ)(?=\s)|(?m:e.)"), "isolated"),
                  "scripts": P.UnicodeScripts(), "han": P.Split(Regex(r"\p{Han}+|\p{^Katakana}"), "isolated"), "looks": P.Split(Regex(r"(?<=[a-z])(?=[A-Z0-9])|(?<!\S)\S"), "isolated")}.items():
    made["split_" + name] = trained(models.WordLevel({"[UNK]": 0, "the": 1, "e": 2, " ": 3, "a": 4}, unk_token="[UNK]"), None, pre=pre)
ctc = ["<pad>", "|", "<unk>"] + sorted(set("abcdefghijklmnopqrstuvwxyz'.,"))
made["ctc"] = trained(models.WordLevel({c: i for i, c in enumerate(ctc)}, unk_token="<unk>"), None, normalizer=N.Sequence([N.Lowercase(), N.Replace(Regex(r"\s"), "|")]), pre=P.Split(Regex("."), "isolated"), decoder=D.CTC())
made["byte_normalizer"] = trained(models.BPE(), bpe_trainer(initial_alphabet=alphabet), normalizer=N.Sequence([N.Lowercase(), N.ByteLevel()]), decoder=D.ByteLevel())
made["odd_decoder"] = trained(models.WordLevel(unk_token="[UNK]"), trainers.WordLevelTrainer(**wl), pre=P.Whitespace(), decoder=D.Sequence([D.Strip("e", 1, 0), D.Strip("s", 0, 1), D.WordPiece(prefix="t"), D.Replace(Regex("[aeiou]{2}"), "_"), D.Fuse()]))

files, results = {}, {"texts": texts, "tokenizers": {}}
for name, t in made.items():
    files[name] = json.loads(t.to_str())
    results["tokenizers"][name] = {"texts": golden(t, texts, narrow=name == "unigram_bytes"), "pair": pair(t)}
(here / "tokenizers.json").write_text(json.dumps(files, ensure_ascii=False, separators=(",", ":")) + "\n")
(here / "golden.json").write_text(json.dumps(results, ensure_ascii=False, separators=(",", ":")) + "\n")


# ---- the vocabularies of well-known models: only a hash of what comes out is kept ----
def check(*values):
    return zlib.crc32(json.dumps(values, ensure_ascii=False, separators=(",", ":")).encode())


def checks(rows): return [[check(r[0]), check(r[1]), check(r[2])] for r in rows]


def sentencepiece_rows(processor, lines, decode=None, ids_of=None):
    rows = []
    for text in lines:
        proto = processor.encode(text, return_type="proto")
        spans, raw = [], text.encode()
        for piece in proto.pieces:
            begin, end = piece.begin, piece.end
            if begin == end and piece.piece != "▁" and begin < len(raw):
                end = begin + len(raw[begin:].decode()[0].encode())
            else:
                inner = raw[begin:end].decode()
                left = begin + len(inner[:len(inner) - len(inner.lstrip(blanks))].encode())
                right = left + len(inner.strip(blanks).encode())
                if right > left: begin, end = left, right
            spans += [begin, end]
        ids = ids_of(proto.pieces) if ids_of else [p.id for p in proto.pieces]
        rows.append([ids, spans, decode(ids) if decode else processor.decode(ids)])
    return rows


blanks = "".join(chr(c) for c in [*range(9, 14), 32, 0x85, 0xa0, 0x1680, *range(0x2000, 0x200c), 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff])
if shared.exists():
    known = {}
    gpt2 = Tokenizer(models.BPE.from_file(str(shared / "gpt2-vocab.json"), str(shared / "gpt2-merges.txt")))
    gpt2.pre_tokenizer, gpt2.decoder = P.ByteLevel(add_prefix_space=False), D.ByteLevel()
    gpt2.add_special_tokens(["<|endoftext|>"])
    known["gpt2"] = checks(golden(gpt2, texts))
    for case in ["cased", "uncased"]:
        b = Tokenizer(models.WordPiece.from_file(str(shared / f"bert-{case}-vocab.txt"), unk_token="[UNK]"))
        b.normalizer, b.pre_tokenizer, b.decoder = N.BertNormalizer(lowercase=case == "uncased"), P.BertPreTokenizer(), D.WordPiece()
        b.add_special_tokens(["[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"])
        known["bert-" + case] = checks(golden(b, texts))
    for name, file in {"t5": "t5-spiece.model", "llama2": "llama2-tokenizer.model"}.items():
        known[name] = checks(sentencepiece_rows(sentencepiece.SentencePieceProcessor(str(shared / file)), texts))
    source, target = (sentencepiece.SentencePieceProcessor(str(shared / f"opus-mt-en-fr.{side}.spm")) for side in ["source", "target"])
    vocab = json.loads((shared / "opus-mt-en-fr.vocab.json").read_text())
    spelled = {i: p for p, i in vocab.items()}
    plain = [t for t in texts if not any(s in t for s in ["</s>", "<unk>", "<pad>", "abab"])]  # the last is a tie, which versions of the library break differently
    known["opus"] = checks(sentencepiece_rows(source, plain, lambda ids: target.decode([spelled[i] for i in ids if spelled[i] not in ("</s>", "<unk>", "<pad>")]).replace("\u2581", " ").strip(), lambda pieces: [vocab.get(p.piece, vocab["<unk>"]) for p in pieces]))
    for name, file in {"gpt2_tiktoken": "gpt2.tiktoken", "whisper_tiktoken": "whisper-multilingual.tiktoken"}.items():
        ranks = {base64.b64decode(a): int(r) for a, r in (line.split(" ") for line in (shared / file).read_text().splitlines() if line)}
        e = tiktoken.Encoding(name, pat_str=r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": len(ranks)})
        known[name] = []
        for text in texts:
            ids = e.encode(text, allowed_special="all")
            known[name].append([check(ids), check(e.decode([i for i in ids if i < len(ranks)]))])
    (here / "known.json").write_text(json.dumps(known, separators=(",", ":")) + "\n")
