"""Small tokenizers of every kind, and what Hugging Face's tokenizers makes of hostile texts.

    python tests/tokenizers/generate.py            writes NAME.json and NAME.ids (lines of tests/tools/tokenize.c) of each kind
    python tests/tokenizers/generate.py DIR SEED   writes texts.json (other texts, many), and NAME.ids of each NAME.json, to DIR

Needs the package tokenizers 0.22; neither the build nor make test does."""
import json
import pathlib
import random
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = pathlib.Path(__file__).parent
SPECIAL = ["<s>", "</s>", "<unk>"]
PARTS = """Hello|the|quick|Brown|fox's|I'll|DON'T|can't|1234567|3.14|_|-|--|...|!?|é|É|ñ|ß|İ|ı|Ａ|ﬁ|中文|日本語|カタカナ|ひらがな|ー|한국어
привет|мир|العربية
עברית|हिन्दी|ไทย|😀|👨‍👩‍👧
##|</w>|▁|<s>|</s>|[MASK]|x|xx|word|words|sword|123|1|$|€|²|½|Ⅷ|ǅ|$100|@user|#tag|http://a.b/c?d=e|क्ष|'s|n't|<|>"""
PARTS = PARTS.replace("\n", "|").split("|") + [" ", "  ", "\n", "\t", "\r\n", "\u200d", "\u200b", "\u0301", "a\u0301",
                                               "\u00a0", "\u3000", "\u2028", "\x00", "\x07", "\x7f", "\ufffd", "\U00020000"]


# Characters that the package's parts know in different versions of Unicode (8, 9, 16, 17), and equal sums of scores.
VERSIONS = ["".join(f"a{chr(c)}\u0301 {chr(c)}1" for c in (
    0x61d, 0x890, 0x166d, 0x1734, 0x1885, 0x1cf2, 0xa9bd, 0x111c9, 0x11938, 0x32ff, 0xa7ce, 0x1c89, 0x16ea0, 0x105c0, 0x11de0, 0x1cc00,
    0x10efc, 0x113d4, 0x9fd6, 0x2ebf0)), "---" * 20 + "--"]


def hostile(count, seed):
    random.seed(seed)
    words = (random.randint(0, 12) for _ in range(count))
    return ["".join(random.choice(PARTS) + random.choice(["", " ", ""]) for _ in range(n)) for n in words]


def corpus():
    return [text.replace("\0", "") for text in hostile(300, 0)] + ["the quick brown fox and the word of words"] * 5


def made(model, trainer, normalizer=None, pre=None, decoder=None, post=None, added=()):
    t = Tokenizer(model)
    if normalizer:
        t.normalizer = normalizer
    if pre:
        t.pre_tokenizer = pre
    t.train_from_iterator(corpus(), trainer)
    if decoder:
        t.decoder = decoder
    if post:
        t.post_processor = post
    t.add_tokens(list(added))
    return t


def bpe(pre, size=320, decoder=decoders.ByteLevel(), byte_level=True, normalizer=None, added=(), **more):
    alphabet = pre_tokenizers.ByteLevel.alphabet() if byte_level else []
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=SPECIAL, show_progress=False, initial_alphabet=alphabet, **more)
    return made(models.BPE(unk_token=None if byte_level else "<unk>", **more), trainer, normalizer, pre, decoder, None, added)


def cut(pattern, behaviour="isolated", invert=False):
    split = pre_tokenizers.Split(Regex(pattern), behaviour, invert)
    return bpe(pre_tokenizers.Sequence([split, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]))


def words(pre, normalizer=None):
    trainer = trainers.WordLevelTrainer(vocab_size=250, special_tokens=SPECIAL, show_progress=False)
    return made(models.WordLevel(unk_token="<unk>"), trainer, normalizer, pre)


def pieces(pre, decoder=decoders.WordPiece()):
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[UNK]"], show_progress=False)
    return made(models.WordPiece(unk_token="[UNK]"), trainer, normalizers.NFKC(), pre, decoder,
                processors.TemplateProcessing(single="[UNK] $A", special_tokens=[("[UNK]", 0)]))


def unigram(pre, decoder):
    trainer = trainers.UnigramTrainer(vocab_size=300, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    return made(models.Unigram(), trainer, normalizers.Nmt(), pre, decoder)


def sentence_piece(*decode):
    trainer = trainers.BpeTrainer(vocab_size=560, show_progress=False, limit_alphabet=100,
                                  special_tokens=SPECIAL + [f"<0x{i:02X}>" for i in range(256)])
    prepend = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    model = models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>")
    return made(model, trainer, prepend, None, decoders.Sequence(list(decode)))


def cut_and_padded():
    t = words(pre_tokenizers.Whitespace())
    t.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])
    t.enable_truncation(7, direction="left")
    t.enable_padding(direction="left", pad_id=2, pad_token="<unk>", pad_to_multiple_of=4)
    return t


def nul():
    alphabet = {c: i for i, c in enumerate("abcdefghijklmnopqrstuvwxyz \0")}
    t = Tokenizer(models.BPE(alphabet | {" \0": 28, "<\0>": 29}, [(" ", "\0")], unk_token=None))
    t.add_special_tokens(["<\0>"])
    return t


class Written(str):
    def to_str(self):
        return str(self)


def written(model, added=(), **parts):
    """A file as nobody's library writes it: (id, text, special, normalized) for each added token."""
    fields = [{"id": i, "content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": normalized,
               "special": special} for i, text, special, normalized in added]
    return Written(json.dumps(parts | {"added_tokens": fields, "model": model}, ensure_ascii=False))


LETTERS = list("▁_ abcdefghlnorstuwxy'ĠHÃ©") + ["<unk>", "th", "the", "<s>", "</s>"]
BYTES_OF_LATIN = [f"<0x{i:02X}>" for i in list(range(0x20, 0x60)) + list(range(0xA0, 0xD0))]


def bytes_missing():
    vocabulary = {p: i for i, p in enumerate(LETTERS + BYTES_OF_LATIN)}
    return written({"type": "BPE", "vocab": vocabulary, "merges": ["t h", "th e"], "unk_token": "<unk>", "fuse_unk": True,
                    "byte_fallback": True})


def unigram_twice():
    vocabulary = [[p, -1.0 - i / 7] for i, p in enumerate(["<s>"] + LETTERS + BYTES_OF_LATIN + ["the"])]
    return written({"type": "Unigram", "vocab": vocabulary, "unk_id": LETTERS.index("<unk>") + 1, "byte_fallback": True},
                   [(LETTERS.index("<s>") + 1, "<s>", True, False)])


def ids_of_their_own():
    """The ids of added tokens are not those of the file, and two of them are one text once normalized."""
    return written({"type": "WordLevel", "vocab": {p: i for i, p in enumerate(LETTERS)}, "unk_token": "<unk>"},
                   [(500, "quick", False, False), (77, "THE", False, True), (32, "The", True, True), (90, "12", False, False)],
                   normalizer={"type": "Lowercase"}, pre_tokenizer={"type": "BertPreTokenizer"})


def first_of_copies():
    return written({"type": "BPE", "vocab": {p: i for i, p in enumerate(LETTERS)}, "merges": []},
                   pre_tokenizer={"type": "Sequence", "pretokenizers": [
                       {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
                       {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"}]})


KIMI = (r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)
REPLACE, FALLBACK, FUSE = decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()
TIES = [("<unk>", 0.0), ("-", -5.129043102264404), ("---", -12.130167007446289), ("--------", -12.9)]
KINDS = {
    "unigram-ties": lambda: Tokenizer(models.Unigram(TIES, 0, False)),
    "gpt1": lambda: bpe(pre_tokenizers.BertPreTokenizer(), decoder=decoders.BPEDecoder("</w>"), byte_level=False,
                        normalizer=normalizers.BertNormalizer(), end_of_word_suffix="</w>"),
    "bpe-prefix": lambda: bpe(pre_tokenizers.Whitespace(), decoder=decoders.WordPiece(), byte_level=False,
                              continuing_subword_prefix="##"),
    "bytes-normalizer": lambda: bpe(None, normalizer=normalizers.ByteLevel()),
    "bytes-nfc": lambda: bpe(None, normalizer=normalizers.Sequence([normalizers.NFC(), normalizers.ByteLevel()])),
    "bytes-no-decoder": lambda: bpe(BYTES, decoder=None),
    "fixed-length": lambda: bpe(pre_tokenizers.Sequence([pre_tokenizers.FixedLength(3),
                                                       pre_tokenizers.ByteLevel(False, use_regex=False)])),
    "single-word": lambda: bpe(BYTES, added=[AddedToken("word", single_word=True), AddedToken("fox", single_word=True, lstrip=True),
                                             AddedToken("12", single_word=True, normalized=False)]),
    "look-behind": lambda: cut(r"(?<=\d)(?=(\d{3})+\b)|\b|_"),
    "look-behind-not": lambda: cut(r"(?<![a-z])[a-z]|(?<=ab|\s\s)x", "merged_with_previous"),
    "line-start": lambda: cut(r"^\S|\n", "merged_with_next"),
    "empty-contiguous": lambda: cut(r"\b", "contiguous"),
    "empty-removed": lambda: cut(r"\s*", "removed"),
    "kimi": lambda: cut(KIMI),
    "delimiter": lambda: words(pre_tokenizers.CharDelimiterSplit(" ")),
    "scripts": lambda: words(pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.UnicodeScripts()]),
                             normalizers.NFKC()),
    "scripts-spaces": lambda: words(pre_tokenizers.UnicodeScripts()),
    "punctuation-next": lambda: pieces(pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                                                pre_tokenizers.Punctuation("merged_with_next")])),
    "pieces-no-decoder": lambda: pieces(pre_tokenizers.Whitespace(), None),
    "unigram": lambda: unigram(pre_tokenizers.Metaspace(), decoders.Metaspace()),
    "sentence-piece": lambda: sentence_piece(REPLACE, FALLBACK, FUSE, decoders.Strip(" ", 1, 0)),
    "loops": lambda: cut(r"(?:[a-z][A-Z]?)+|((a|b)*c)*\d|(?:\p{L}\p{M}*)+?(?=\s)|(?>\s+)|.{1,4}?"),
    "lazy": lambda: cut(r"(?i)the|fox|(?<digit>\d)+?x{2,}?|[[:space:][:digit:]]+|\h+\B|(?:\w_?)*?[^\w\s]", "merged_with_next"),
    "bytes-in-unigram": lambda: unigram(pre_tokenizers.Sequence([pre_tokenizers.Digits(), BYTES]), decoders.ByteLevel()),
    "two-copies": lambda: words(pre_tokenizers.Sequence([pre_tokenizers.Metaspace("_"), pre_tokenizers.ByteLevel()]),
                                normalizers.Sequence([normalizers.ByteLevel(), normalizers.Lowercase()])),
    "cut-and-padded": cut_and_padded,
    "nul": nul,
    "bytes-missing": bytes_missing,
    "unigram-twice": unigram_twice,
    "ids-of-their-own": ids_of_their_own,
    "first-of-copies": first_of_copies,
    "replace-strip": lambda: sentence_piece(decoders.Replace(Regex("[aeiou]"), ""), decoders.Strip("▁", 1, 0), REPLACE, FALLBACK,
                                            FUSE, decoders.Strip("x", 2, 0)),
    "word-ends": lambda: bpe(pre_tokenizers.BertPreTokenizer(), byte_level=False, end_of_word_suffix="</w>",
                             decoder=decoders.Sequence([decoders.BPEDecoder("</w>"), decoders.Replace("o", "oo")])),
    "strip-each": lambda: sentence_piece(REPLACE, FALLBACK, decoders.Strip(" ", 1, 0), FUSE),
}


def untyped(name, text):
    """As files of before 2021: the model does not say what it is."""
    if name != "punctuation-next":
        return text
    fields = json.loads(text)
    del fields["model"]["type"]
    return json.dumps(fields, ensure_ascii=False)


def expected(path, texts):
    t = Tokenizer.from_file(str(path))
    lines = []
    for text in texts:
        ids = t.encode(text).ids
        lines.append(json.dumps([ids, t.decode(ids).replace("\ufffd", "")], ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(lines)


def main(out, seed=None):
    texts = hostile(2000 if seed else 60, seed or 1) + VERSIONS
    (out / "texts.json").write_text(json.dumps(texts, ensure_ascii=False) + "\n")
    for name, make in KINDS.items():
        path = HERE / f"{name}.json"
        if not seed:
            path.write_text(untyped(name, make().to_str()))
        (out / f"{name}.ids").write_text(expected(path, texts))


if __name__ == "__main__":
    main(*([pathlib.Path(sys.argv[1]), sys.argv[2]] if len(sys.argv) > 2 else [HERE]))
