"""A vocabulary for masks of grammars: texts of every kind that runtime/grammar/vocabulary.h tells apart, byte by byte as BPE has them.

    python tests/grammar/vocabulary.py > tests/grammar/vocabulary.json"""
import json
import random


def alphabet():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return {b: chr(b) for b in plain} | {b: chr(256 + i) for i, b in enumerate(b for b in range(256) if b not in plain)}


random.seed(7)
kinds = ["abcdexyz", "abcABC019", "ab .,-:/'@#_%&", "ab\"\\<>[]{}|`", "a \n\t\r", "éßяжñ", "中日本あ한", "😀👍𝔸", "a\u2028\u2029\u00a0\u3000\u0085\ufeff",
         "“”…–", "azAZ09 é中", "abéя中z", "aB7é"]
texts = {bytes([b]) for b in range(256)} | {b"a" * 31, b"a" * 32, b"a" * 33, b" " * 40, b" " + b"b" * 31, "é".encode() * 32, "é".encode() * 33}
while len(texts) < 1400:
    text = "".join(random.choice(random.choice(kinds)) for _ in range(random.randint(1, 7)))
    if random.random() < 0.6:
        kind = random.choice(kinds)
        text = random.choice(["", " ", "\"", "A", "-"]) + "".join(random.choice(kind) for _ in range(random.randint(1, 6)))
    text = text.encode()
    texts.add(text[: random.randint(1, len(text))] if random.random() < 0.05 else text)
names = alphabet()
vocabulary = {"".join(names[b] for b in text): i for i, text in enumerate(sorted(texts, key=lambda t: (len(t), t)))}
byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
print(json.dumps({"version": "1.0", "added_tokens": [], "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None,
                  "decoder": byte_level, "model": {"type": "BPE", "unk_token": None, "vocab": vocabulary, "merges": []}},
                 ensure_ascii=False))
