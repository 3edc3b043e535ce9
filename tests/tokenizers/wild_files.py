"""tokenizer.json files as nobody's library writes them: vocabularies with gaps and strangers, merges in any order, added tokens
that overlap, fields left out or null, steps of steps.

    python tests/tokenizers/wild_files.py DIR SEED COUNT      writes NAME.json, NAME.items (texts, and ids to decode), NAME.ids
    python tests/tokenizers/random_files.py DIR TOOL          runs build/tools/tokenize on each, and says what differs

Needs the package tokenizers 0.22."""
import json
import pathlib
import sys

import generate as g
import random_files as r
from tokenizers import Tokenizer

LETTERS = list("abcdehlmnorstwxy' .,-_1230AEHTéß中文▁") + ["Ġ", "Ċ", "Ã", "©", "\n", "\t", "ﬁ", "İ", "\u0301", "😀"]
WORDS = ["the", "he", "th", "ab", "abc", "er", "or", "ow", "word", "wor", "123", "12", "  ", "▁the", "▁w", "Ġthe", "Ġt", "s's",
         "do", "not", "中文", "Hello", "ll", "Ã©", "x.", "--", "aa", "bb", "cab"]
TEXTS = ["the quick brown fox", " the  word's \n\n x", "ababxabc x cabc aab fooBar", "", " ", "aa bb cab 中文ab 123", "word, do not. the",
         "HELLO  Hello hello\tÉé İx ﬁ", "a\u0301 e\u0301\u0301 ▁the ▁▁ Ġthe", "<s>word</s> <mask>the [MASK] [PAD]x", "---- 12 1 23 .. n't"]


class Wild(r.Draw):
    def field(self, fields, name, *values):
        """One of the values, or the field is absent."""
        value = self.choice(values + (None,))
        if value is not None:
            fields[name] = value

    def step(self, draw, lists):
        """Of a package's step: what serializes, with some optional fields dropped."""
        step = draw()
        if not step:
            return None
        holder = g.Tokenizer(r.models.BPE())
        setattr(holder, lists, step)
        fields = json.loads(holder.to_str())[lists]
        self.drop(fields)
        return fields

    def drop(self, fields):
        for name in ("use_regex", "trim_offsets", "add_prefix_space", "split", "prepend_scheme", "individual_digits", "cleanup",
                     "behavior_", "length", "strip_left_"):
            if name in fields and self.likely(0.15):
                del fields[name]
        if fields.get("type") == "Metaspace" and self.likely(0.3):
            fields.pop("prepend_scheme", None)
            fields["add_prefix_space"] = self.likely()
            fields["str_rep"] = fields["replacement"]
        for inner in fields.values():
            if isinstance(inner, list):
                for item in inner:
                    if isinstance(item, dict):
                        self.drop(item)

    def pieces(self):
        made = self.sample(WORDS, self.randint(5, len(WORDS))) + self.sample(LETTERS, self.randint(20, len(LETTERS)))
        if self.likely(0.3):
            made += [f"<0x{i:02X}>" for i in range(256) if self.likely(0.97)]
        for _ in range(self.randint(0, 30)):
            made.append("".join(self.choice(LETTERS) for _ in range(self.randint(2, 4))))
        made += self.sample(["<unk>", "<s>", "</s>", "[PAD]", "<mask>"], self.randint(1, 5))
        made = list(dict.fromkeys(made))
        self.shuffle(made)
        return made

    def ids(self, pieces):
        """Ids from 0 up, or with gaps."""
        at, ids = 0, {}
        gaps = self.likely(0.15)
        for piece in pieces:
            at += self.randint(1, 3) if gaps else 0
            ids[piece] = at
            at += 1
        return ids

    def bpe(self):
        pieces = self.pieces()
        fields = {"type": "BPE"}
        prefix, suffix = self.choice([("", "")] * 6 + [("##", ""), ("", "</w>"), ("##", "</w>"), ("@", ""), ("", "@")])
        affixed = [prefix + p for p in pieces if prefix and self.likely(0.7)] + [p + suffix for p in pieces if suffix and self.likely(0.7)]
        pieces = list(dict.fromkeys(pieces + affixed))
        known, merges = set(pieces), []
        for piece in pieces:
            cuts = [i for i in range(1, len(piece)) if piece[:i] in known and (prefix + piece[i:]) in known]
            for cut in self.sample(cuts, min(len(cuts), self.randint(0, 2))):
                merges.append([piece[:cut], prefix + piece[cut:]])
        self.shuffle(merges)
        if self.likely(0.2) and merges:
            merges.append(merges[0])
        if self.likely() and not any(" " in m[0] + m[1] for m in merges):
            merges = [" ".join(m) for m in merges]
        vocabulary = self.ids(pieces)
        self.field(fields, "unk_token", "<unk>")
        if "<unk>" not in vocabulary:
            fields.pop("unk_token", None)
        for name in ("fuse_unk", "byte_fallback", "ignore_merges"):
            self.field(fields, name, True, False)
        if prefix or self.likely(0.3):
            fields["continuing_subword_prefix"] = prefix or self.choice([None, ""])
        if suffix or self.likely(0.3):
            fields["end_of_word_suffix"] = suffix or self.choice([None, ""])
        if self.likely(0.3):
            fields["dropout"] = None
        return fields | {"vocab": vocabulary, "merges": merges}

    def wordpiece(self):
        prefix = self.choice(["##", "##", "", "@@", "▁"])
        pieces = self.pieces()
        pieces = list(dict.fromkeys(pieces + [prefix + p for p in pieces if self.likely(0.6)] + ["<unk>"]))
        return {"type": "WordPiece", "unk_token": "<unk>", "continuing_subword_prefix": prefix,
                "max_input_chars_per_word": self.choice([100, 5, 1]), "vocab": self.ids(pieces)}

    def wordlevel(self):
        return {"type": "WordLevel", "unk_token": "<unk>", "vocab": self.ids(list(dict.fromkeys(self.pieces() + ["<unk>"])))}

    def unigram(self):
        pieces = self.pieces()
        fields = {"type": "Unigram", "unk_id": self.choice([None, 0, 1, len(pieces) - 1]),
                  "vocab": [[p, self.choice([0, -1, -2.5, -self.random() * 12, -3.0])] for p in pieces]}
        self.field(fields, "byte_fallback", True, False)
        return fields

    def added_entries(self, model):
        vocabulary = model["vocab"]
        ids = vocabulary if isinstance(vocabulary, dict) else {p: i for i, (p, _) in enumerate(vocabulary)}
        at = max(ids.values()) + 1 if self.likely(0.9) else len(ids)
        names = self.sample(["<s>", "</s>", "<unk>", "[PAD]", "<mask>", "[MASK]", "word", "the", " the", "the ", "  ", "é", "É", "▁▁", "n't",
                             "中", "a .", "12", "<mask>x", "<m", "HE", "\n", "\n\n", "Ġ", "\u0301"], self.randint(0, 9))
        entries = []
        for name in names:
            if name in ids:
                token = ids[name]
            else:
                token, at = at, at + 1
            entry = {"id": token, "content": name, "single_word": self.likely(0.15), "lstrip": self.likely(0.2),
                     "rstrip": self.likely(0.2), "normalized": self.likely(0.4), "special": name[0] in "<["}
            entries.append(entry)
        if self.likely(0.85):
            entries.sort(key=lambda e: e["id"])
        return entries

    def some_ids(self, entries, model):
        vocabulary = model["vocab"]
        ids = dict(vocabulary) if isinstance(vocabulary, dict) else {p: i for i, (p, _) in enumerate(vocabulary)}
        ids |= {e["content"]: e["id"] for e in entries}
        return [(name, ids[name]) for name in ("<s>", "</s>", "<unk>", "[PAD]", "<mask>") if name in ids]

    def processor_of(self, known, inside=False):
        if not known or self.likely(0.3):
            return None
        (a, i), (z, k) = self.choice(known), self.choice(known)
        around = [{"SpecialToken": {"id": a, "type_id": 0}}], [{"SpecialToken": {"id": z, "type_id": 0}}]
        single = self.choice([around[0], []]) + [{"Sequence": {"id": "A", "type_id": 0}}] + self.choice([around[1], [], around[1] * 2])
        pair = single + [{"Sequence": {"id": "B", "type_id": 1}}] + around[1]
        more = [i] if self.likely() else [i, k]
        template = {"type": "TemplateProcessing", "single": single, "pair": pair,
                    "special_tokens": {a: {"id": a, "ids": more, "tokens": [a] * len(more)}, z: {"id": z, "ids": [k], "tokens": [z]}}}
        if a == z:
            template["special_tokens"] = {a: {"id": a, "ids": more, "tokens": [a] * len(more)}}
        choices = [template, template, {"type": "RobertaProcessing", "sep": [z, k], "cls": [a, i], "trim_offsets": True,
                                        "add_prefix_space": False}, {"type": "BertProcessing", "sep": [z, k], "cls": [a, i]},
                   {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False}]
        if not inside:
            inner = [p for p in (self.processor_of(known, True) for _ in range(self.randint(1, 3))) if p]
            choices.append({"type": "Sequence", "processors": inner})
        return self.choice(choices)

    def file(self):
        pre = self.step(self.pretokenizer, "pre_tokenizer")
        model = self.choice([self.bpe, self.bpe, self.wordpiece, self.unigram, self.wordlevel])()
        entries = self.added_entries(model)
        made = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": entries,
                "normalizer": self.step(self.normalizer, "normalizer"), "pre_tokenizer": pre,
                "post_processor": self.processor_of(self.some_ids(entries, model)), "decoder": self.step(self.decoder, "decoder"),
                "model": model}
        return made


def write(out, seed, count):
    draw, texts = Wild(seed), TEXTS + g.hostile(25, seed)
    out.mkdir(exist_ok=True)
    rejected = 0
    while count:
        try:
            fields = draw.file()
            text = json.dumps(fields, ensure_ascii=draw.likely(), indent=draw.choice([None, 2]))
            t = Tokenizer.from_str(text)
            size = max(max(t.get_vocab().values()) + 1, 1)
            items = texts + [[draw.randrange(size) for _ in range(draw.randint(0, 9))] for _ in range(15)]
            lines = [[i, t.decode(i)] for i in (x if isinstance(x, list) else t.encode(x).ids for x in items)]
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            rejected += 1
            print(error, file=sys.stderr)
            continue
        count -= 1
        (out / f"{count}.json").write_text(text)
        (out / f"{count}.items").write_text(json.dumps(items))
        (out / f"{count}.ids").write_text(json.dumps(lines))
    print(rejected, "rejected by the package")


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
