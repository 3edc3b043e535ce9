"""Texts of every sort through a tokenizer of burin and through Hugging Face's tokenizers: ids, and what they become again.

    python tests/tokenizers/differential.py TOOL TOKENIZER COUNT SEED [FILE]     TOOL: build/tools/tokenize

COUNT texts: any characters of all planes, long runs, emoji, zero-width characters, mixed scripts, code, words of the vocabulary; one
of 1 MB without a space; the lines of FILE, and all of it. Needs the package tokenizers 0.22. Prints what differs; exit 1 then."""
import json
import pathlib
import random
import subprocess
import sys
import tempfile

from generate import hostile
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

SCRIPTS = [(0x41, 0x7a), (0xc0, 0x24f), (0x370, 0x3ff), (0x400, 0x4ff), (0x530, 0x58f), (0x590, 0x5ff), (0x600, 0x6ff), (0x900, 0x97f),
           (0xe00, 0xe7f), (0x10a0, 0x10ff), (0x1100, 0x11ff), (0x1e00, 0x1eff), (0x2000, 0x206f), (0x2100, 0x214f), (0x3040, 0x30ff),
           (0x4e00, 0x9fff), (0xac00, 0xd7a3), (0xf900, 0xfaff), (0xfb00, 0xfb4f), (0xff00, 0xffef), (0x1d400, 0x1d7ff),
           (0x20000, 0x2a6df)]
EMOJI = "😀 😂 ❤️ 👍🏽 👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪 🇯🇵 1️⃣ #️⃣ 🧑🏿‍🚀 🫠 ☕ ✈︎ ✈️ 🤷🏻‍♂️".split()
ZERO_WIDTH = list("\u200b\u200c\u200d\u2060\ufeff\u00ad\u180e\u034f\u061c\u200e\u200f\u202a\u202e\ufe0e\ufe0f\u0301\u0323\u20dd")
SPACES = list(" \t\n\r\x0b\x0c\x85\xa0\u1680\u2003\u2009\u2028\u2029\u202f\u205f\u3000")


def any_character(r):
    code = r.choice([r.randrange(0x80), r.randrange(0x800), r.randrange(0x10000), r.randrange(0x110000)])
    return "?" if 0xd800 <= code < 0xe000 else chr(code)


def of_script(r, n):
    low, high = r.choice(SCRIPTS)
    return "".join(chr(r.randint(low, high)) for _ in range(n))


def mixed(r):
    return "".join(of_script(r, r.randint(1, 6)) + r.choice(["", " ", " ", ", ", "-", r.choice(SPACES)]) for _ in range(r.randint(1, 12)))


def run(r):
    unit = r.choice([" ", "a", "\n", "=", "9", "é", "中", "😀", "ab", " a", "\u0301", "▁", "A", any_character(r)])
    return r.choice(["", "x", " "]) + unit * r.choice([2, 3, 17, 100, r.randint(1, 1000)]) + r.choice(["", "y", " z"])


def emoji(r):
    return "".join(r.choice(EMOJI) + r.choice(["", " ", "ok"]) for _ in range(r.randint(1, 8)))


def zero_width(r):
    return "".join(of_script(r, r.randint(0, 3)) + r.choice(ZERO_WIDTH) * r.randint(1, 2) for _ in range(r.randint(1, 10)))


def slice_of(text):
    def cut(r):
        at = r.randrange(len(text))
        return text[at : at + r.randint(1, 200)]
    return cut


def words_of(t):
    vocabulary = [t.id_to_token(i) or "" for i in range(t.get_vocab_size(True))]
    return lambda r: "".join(r.choice(vocabulary).replace("Ġ", " ") + r.choice(["", "", " ", "\n"]) for _ in range(r.randint(1, 15)))


def texts_of(t, count, seed):
    r = random.Random(seed)
    code = "".join(path.read_text() for path in sorted(pathlib.Path("compiler").glob("*/*.c"))[:40])
    sorts = [lambda r: "".join(any_character(r) for _ in range(r.randint(0, 40))), mixed, run, emoji, zero_width, slice_of(code), words_of(t)]
    texts = hostile(count // 8, seed)
    return texts + [r.choice(sorts)(r) for _ in range(count - len(texts))] + ["".join(of_script(r, 8) for _ in range(60000))]


def load(path):
    if path.name != "encoder.json":
        return Tokenizer.from_file(str(path))
    t = Tokenizer(models.BPE.from_file(str(path), str(path.with_name("vocab.bpe"))))
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.add_special_tokens(["<|endoftext|>"])
    return t


def decoded(t, ids):
    return t.decode(ids).replace("\ufffd", "")


def main(tool, path, count, seed, files):
    t = load(pathlib.Path(path))
    texts = texts_of(t, count, seed)
    for file in files:
        whole = pathlib.Path(file).read_text()
        texts += [whole] + whole.splitlines(True)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as listed:
        json.dump(texts, listed)
        listed.flush()
        ran = subprocess.run([tool, path, listed.name], stdout=subprocess.PIPE, check=True)
    lines, wrong = ran.stdout.decode().split("\n"), []
    for text, line in zip(texts, lines):
        ids, back = json.loads(line)
        expected = t.encode(text).ids
        if ids != expected or (back != decoded(t, ids) and "\0" not in text):
            wrong.append((text, ids, expected, back))
    for text, ids, expected, back in wrong[:5]:
        print(repr(text[:200]), ids[:60], expected[:60], repr(back[:200]), repr(decoded(t, expected)[:200]), sep="\n  ")
    print(f"{len(texts)} texts, {sum(len(x.encode()) for x in texts)} bytes: {len(wrong)} differ")
    sys.exit(bool(wrong) or len(lines) != len(texts) + 1)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:])
