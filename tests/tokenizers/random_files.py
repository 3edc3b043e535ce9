"""Random tokenizer.json files: every normalizer, pre-tokenizer, model, post-processor and decoder in random combinations.

    python tests/tokenizers/random_files.py DIR SEED COUNT      writes NAME.json, NAME.items (texts, and ids to decode), NAME.ids
    python tests/tokenizers/random_files.py DIR TOOL            runs build/tools/tokenize on each, and says what differs

Needs the package tokenizers 0.22. A file that burin refuses by name is no failure; more than a quarter of them are."""
import json
import pathlib
import random
import subprocess
import sys

import generate as g
from tokenizers import AddedToken, Regex, Tokenizer, decoders as D, models, normalizers as N, pre_tokenizers as P
from tokenizers import processors, trainers

MANNERS = ["isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous"]
SCHEMES = ["always", "first", "never"]
PATTERNS = [r"\s+", r"\d{1,3}", r"[a-z]+|[A-Z]+", r"(?i:'s|'t)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+", r"(?:\d\d)*\d",
            r"\p{Han}|[a-z]+?(?=[A-Z]|\b)", r"(?:[a-z][A-Z]?)+", r"(ab|x)+?", r"\s*[\r\n]+", r"[^\s]*?\.", r"(?:\p{L}\p{M}*)+",
            r"((a|b)*c)*", r"\p{P}+?", r"\w+(?:'\w+)*", r"(?>\s+)", r"(?:[^\w\s]|_)+", r"x{2,}?", r".{1,4}?", r"(?<name>\d)",
            r"\S+\s??", r"[[:space:][:digit:]]+", r"\h+", r"(?i)the|fox", r"\A\s|\s\z", r"[\p{L}&&[^a-c]]+", r"\B.", r"(a+)+b"]


class Draw(random.Random):
    def likely(self, p=0.5):
        return self.random() < p

    def some(self, make, most):
        return [step for step in (make(inside=True) for _ in range(self.randint(1, most))) if step]

    def normalizer(self, inside=False):
        return self.choice([
            lambda: None, lambda: None, N.NFC, N.NFD, N.NFKC, N.NFKD, N.Nmt, N.Lowercase, N.StripAccents,
            lambda: N.BertNormalizer(self.likely(), self.likely(), self.choice([None, True, False]), self.likely()),
            lambda: N.Prepend(self.choice(["▁", " ", "x", "ab"])),
            lambda: N.Replace(self.choice([" ", "  ", "a", "``", "\n"]), self.choice(["▁", "", '"', " ", "xyz"])),
            lambda: N.Replace(Regex(self.choice(PATTERNS[:12])), self.choice([" ", "", "▁", "#"])),
            lambda: N.Strip(self.likely(), self.likely()),
            lambda: None if inside else N.Sequence(self.some(self.normalizer, 3))])()

    def pretokenizer(self, inside=False):
        pattern = self.choice([" ", "a", "▁", "--"]) if self.likely(0.2) else Regex(self.choice(PATTERNS))
        return self.choice([
            lambda: None, lambda: P.ByteLevel(self.likely(), use_regex=self.likely()),
            lambda: P.Split(pattern, self.choice(MANNERS), self.likely(0.2)), lambda: P.Digits(self.likely()),
            lambda: P.Punctuation(self.choice(MANNERS)),
            lambda: P.Metaspace(self.choice(["▁", "▁", "_"]), self.choice(SCHEMES), self.likely()), P.BertPreTokenizer,
            P.WhitespaceSplit, P.Whitespace, lambda: P.CharDelimiterSplit(self.choice([" ", "-", "▁"])),
            lambda: P.FixedLength(self.randint(1, 6)), P.UnicodeScripts,
            lambda: None if inside else P.Sequence(self.some(self.pretokenizer, 3))])()

    def decoder(self, inside=False):
        return self.choice([
            lambda: D.Fuse() if inside else None, D.ByteLevel, D.Fuse, D.ByteFallback,
            lambda: D.Replace(self.choice(["▁", "##", " ", "</w>", "a", "--"]), self.choice([" ", "", "_", "ab"])),
            lambda: D.Replace(Regex(self.choice([r"\s+", "▁+", "^▁", "[aeiou]"])), self.choice([" ", "", "x"])),
            lambda: D.Strip(self.choice([" ", " ", "▁", "x"]), self.randint(0, 2), self.randint(0, 2)),
            lambda: D.WordPiece(self.choice(["##", ""]), self.likely()), lambda: D.BPEDecoder("</w>"),
            lambda: D.Metaspace(self.choice(["▁", "▁", "_"]), self.choice(SCHEMES), self.likely()),
            lambda: D.Fuse() if inside else D.Sequence(self.some(self.decoder, 4))])()

    def model(self, byte_level):
        special = g.SPECIAL + ([f"<0x{i:02X}>" for i in range(256)] if self.likely(0.35) else [])
        common = {"special_tokens": special, "show_progress": False}
        letters = P.ByteLevel.alphabet() if byte_level else []
        more = self.choice([{}] * 5 + [{"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": "##"}])
        bpe = models.BPE(unk_token=self.choice(["<unk>", None]), byte_fallback=len(special) > 3, fuse_unk=self.likely(),
                         ignore_merges=self.likely(), **more)
        return self.choice([
            (bpe, trainers.BpeTrainer(vocab_size=500, initial_alphabet=letters, **more, **common)),
            (models.WordPiece(unk_token="<unk>", max_input_chars_per_word=self.choice([100, 8])),
             trainers.WordPieceTrainer(vocab_size=500, initial_alphabet=letters, **common)),
            (models.Unigram(), trainers.UnigramTrainer(vocab_size=500, unk_token="<unk>", initial_alphabet=letters, **common)),
            (models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=300, **common))])

    def processor(self, begin, end):
        ends = [("<s>", begin), ("</s>", end)]
        template = processors.TemplateProcessing(single=self.choice(["<s> $A </s>", "$A", "<s> <s> $0"]), special_tokens=ends)
        return self.choice([None, template, processors.RobertaProcessing(ends[1], ends[0]), processors.ByteLevel(),
                            processors.BertProcessing(ends[1], ends[0]), processors.Sequence([processors.ByteLevel(), template])])

    def added(self):
        words = self.sample(["word", "fox", "12", "<mask>", "[MASK]", "the ", "  ", "é", "▁▁", "n't", "a .", "中", " do not"],
                            self.randint(0, 4))
        return [AddedToken(w, single_word=self.likely(0.2), lstrip=self.likely(0.3), rstrip=self.likely(0.3), normalized=self.likely(),
                           special=w[0] in "<[") for w in words]

    def tokenizer(self):
        pre = self.pretokenizer()
        model, trainer = self.model("ByteLevel" in str(pre))
        t = g.made(model, trainer, self.normalizer(), pre, self.decoder(), None, self.added())
        post = self.processor(t.token_to_id("<s>"), t.token_to_id("</s>"))
        if post:
            t.post_processor = post
        if self.likely(0.15):
            t.enable_truncation(self.choice([3, 5, 8]), direction=self.choice(["right", "left"]))
        if self.likely(0.15):
            t.enable_padding(direction=self.choice(["right", "left"]), length=self.choice([None, 6]),
                             pad_to_multiple_of=self.choice([None, 4]))
        return Tokenizer.from_str(t.to_str())


def write(out, seed, count):
    draw, texts = Draw(seed), g.hostile(60, seed) + ["the quick brown fox", " the  word's \n\n x", "ababxabc x cabc aab fooBar"]
    out.mkdir(exist_ok=True)
    while count:
        try:
            t = draw.tokenizer()
            size = t.get_vocab_size(True)
            items = texts + [[draw.randrange(size) for _ in range(draw.randint(0, 9))] for _ in range(20)]
            lines = [[i, t.decode(i)] for i in (x if isinstance(x, list) else t.encode(x).ids for x in items)]
        except BaseException as error:  # a panic of Rust is no Exception
            if isinstance(error, KeyboardInterrupt):
                raise
            continue
        count -= 1
        t.save(str(out / f"{count}.json"))
        (out / f"{count}.items").write_text(json.dumps(items))
        (out / f"{count}.ids").write_text(json.dumps(lines))


def compare(out, tool):
    wrong, refused, files = [], 0, sorted(out.glob("*.json"))
    for path in files:
        run = subprocess.run([tool, path, path.with_suffix(".items")], capture_output=True, timeout=60)
        got = [json.loads(line) for line in run.stdout.decode().split("\n") if line]
        expected = json.loads(path.with_suffix(".ids").read_text())
        same = len(got) == len(expected) and all(a == c and (b == d or "\ufffd" in d) for (a, b), (c, d) in zip(got, expected))
        refused += run.returncode == 1
        if run.returncode > 1 or run.returncode < 0 or (run.returncode == 0 and not same):
            wrong.append(path.name)
    print(f"{len(files)} files, {refused} refused, wrong: {wrong}")
    sys.exit(bool(wrong) or refused * 4 > len(files))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        write(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    else:
        compare(pathlib.Path(sys.argv[1]), sys.argv[2])
