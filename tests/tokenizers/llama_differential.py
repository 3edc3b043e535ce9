"""Compares vocabularies of GGUF files with llama.cpp: every model and every pre-tokenizer that burin knows, over hostile texts.

    python tests/tokenizers/llama_differential.py TOOL DIR [NAME...]    TOOL is build/tools/tokenize; DIR gets the files
    python tests/tokenizers/llama_differential.py TOOL DIR --record     120 texts, and what llama.cpp says: llama.tar.xz

Vocabularies are small and trained over the texts themselves, across spaces, so that every cut shows. Prints a line for each that
differs, and the first texts; exit 1 then. Needs llama_cpp, gguf, tokenizers and sentencepiece."""
import ctypes
import json
import pathlib
import random
import re
import subprocess
import sys
import unicodedata

import gguf
import llama_cpp
import sentencepiece
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

import generate
from differential import any_character, emoji, mixed, run, zero_width

TOOL, OUT, NAMES = sys.argv[1], pathlib.Path(sys.argv[2]), [n for n in sys.argv[3:] if n != "--record"]
RECORD = "--record" in sys.argv
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
SPECIAL = ["<|endoftext|>", "<s>", "</s>", "<|im_end|>", "<|user|>"]
OWN = {}  # what SentencePiece and tokenizers say, where llama.cpp does less: Hangul and other long decompositions, U+2581 in a text
STRIPS = ["gpt2-phi-3", "gpt2-jina-mask", "gpt2-modern", "gpt2-whitespace", "gpt2-whitespace-no-bos"]
FIVE = "\u2581" * 5
SOURCE = pathlib.Path("compiler/frontend/tokenizer/gguf_vocabulary.c").read_text()


def hostile(count, seed):
    r = random.Random(seed)
    sorts = [mixed, run, emoji, zero_width, lambda r: "".join(any_character(r) for _ in range(r.randint(0, 30))),
             lambda r: "".join(r.choice(["a", "B", "é", " ", "  ", "\n", "\r\n", "\t", "1", "12", "345", "'s", "'LL", "_", "...", "日本", "ß",
                                         "\u00a0", "\u3000", "٣", "½", "क्", "\u200d", "İ", " <|user|> ", "<mask>",
                                         " [MASK]", "<|im_end|>\n"]) for _ in range(r.randint(1, 25)))]
    texts = generate.hostile(count // 3, seed) + [r.choice(sorts)(r) for _ in range(count - count // 3)]
    # What Unicode has given no meaning yet, it has in another version.
    texts = ["".join(c for c in t if c != "\0" and unicodedata.category(c) != "Cn") for t in texts]
    return ["-\u2055\u2058", "\u0609\u0654-\u2055\u2058 \u054b", " -\u2016\u2017", "a</s>b", " <|user|> x", *(t for t in texts if t)]


def write(name, model, tokens, scores=None, types=None, merges=None, **more):
    path = OUT / f"{name}.gguf"
    w = gguf.GGUFWriter(path, "llama")
    w.add_tokenizer_model(model)
    w.add_token_list(tokens)
    if scores is not None:
        w.add_array("tokenizer.ggml.scores", scores)
    if types is not None:
        w.add_token_types(types)
    if merges is not None:
        w.add_token_merges(merges)
    for key, value in more.items():
        key = key if key.startswith("general.") else "tokenizer.ggml." + key
        if isinstance(value, bool):
            w.add_bool(key, value)
        elif isinstance(value, bytes):
            w.add_array(key, value)
        elif isinstance(value, int):
            w.add_uint32(key, value)
        else:
            w.add_string(key, value)
    w.write_header_to_file(), w.write_kv_data_to_file(), w.close()
    return path


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def silent(level, text, data):
    pass


def llama_ids(path, texts):
    p = llama_cpp.llama_model_default_params()
    p.vocab_only = True
    model = llama_cpp.llama_model_load_from_file(str(path).encode(), p)
    if not model:
        return None
    vocab, ids, room = llama_cpp.llama_model_get_vocab(model), [], (ctypes.c_int32 * 100000)()
    for text in texts:
        bytes_ = text.encode()
        n = llama_cpp.llama_tokenize(vocab, bytes_, len(bytes_), room, len(room), True, True)
        ids.append(list(room[:n]))
    llama_cpp.llama_model_free(model)
    return ids


def burin_ids(path, texts):
    (OUT / "texts.json").write_text(json.dumps(texts))
    ran = subprocess.run([TOOL, path, OUT / "texts.json"], capture_output=True)
    if ran.returncode:
        return ran.stderr.decode().strip()
    return [json.loads(line)[0] for line in ran.stdout.decode().split("\n")[:-1]]


def bpe(texts, size=700 if RECORD else 2500):
    t = Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, show_progress=False, special_tokens=SPECIAL,
                                                     initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), max_token_length=12))
    return json.loads(t.to_str())["model"]


def pieces(texts, kind, **more):
    if kind == "unigram":
        more["hard_vocab_limit"] = False
    (OUT / "corpus").write_text("\n".join(t.replace("\n", " ") for t in texts))
    sentencepiece.SentencePieceTrainer.train(input=str(OUT / "corpus"), model_prefix=str(OUT / "m"), model_type=kind, vocab_size=2500 if RECORD else 6000,
                                             minloglevel=2, num_threads=1, character_coverage=0.98, **more)
    from sentencepiece import sentencepiece_model_pb2
    m = sentencepiece_model_pb2.ModelProto()
    m.ParseFromString((OUT / "m.model").read_bytes())
    return m, dict(tokens=[p.piece.encode() for p in m.pieces], scores=[p.score for p in m.pieces], types=[p.type for p in m.pieces])


def bytes_of(text):
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    byte = {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(b for b in range(256) if b not in plain)}
    return bytes(byte[c] for c in text)


def escaped(b):
    return "".join({9: "\\t", 10: "\\n", 13: "\\r", 92: "\\\\"}.get(x, chr(x) if 32 <= x < 127 else f"\\x{x:02x}") for x in b)


# <|user|> gets another name.
def renamed(v, name):
    tokens = ["<other>" if t == name else name if t == "<|user|>" else t for t in v["tokens"]]
    return v | {"tokens": tokens, "merges": [m for m in v["merges"] if not {name, "<|user|>"} & {m.replace(" ", ""), *m.split(" ")}]}


# BPE over characters: a space is U+2581, and unknown characters are bytes; or words alone.
def of_characters(texts):
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.Replace(" ", "\u2581")
    t.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=2500, show_progress=False, special_tokens=["<bos>", "<eos>"], limit_alphabet=900,
                                                     max_token_length=8))
    m = json.loads(t.to_str())["model"]
    tokens = sorted(m["vocab"], key=m["vocab"].get)
    tokens = [t for t in tokens if t != FIVE] + [f"<0x{b:02X}>" for b in range(256)] + ["<|turn>", FIVE]
    n = len(tokens) - 258
    v = dict(tokens=tokens, types=[CONTROL] * 2 + [NORMAL] * (n - 2) + [BYTE] * 256 + [CONTROL, USER], merges=[" ".join(x) for x in m["merges"] if FIVE not in ("".join(x), *x)],
             bos_token_id=0, eos_token_id=1)
    yield "gemma4", lambda n: write(n, "gemma4", scores=[0.0] * len(tokens), **v)
    yield "gemma4-no-bos", lambda n: write(n, "gemma4", **v, add_bos_token=False)
    for pre in ["gemma4", "granite-embed-multi-311m", "sarvam-moe", "whitespace"]:
        yield f"gpt2-{pre}", lambda n, pre=pre: write(n, "whitespace" if pre == "whitespace" else "gpt2", **v, pre=pre)
        yield f"gpt2-{pre}-no-bos", lambda n, pre=pre: write(n, "whitespace" if pre == "whitespace" else "gpt2", **v, pre=pre, add_bos_token=False, **{"normalizer.lowercase": True})


def files(texts):
    m = bpe(texts + texts[:5] * 60)  # the first ones merge across every cut
    tokens = sorted(m["vocab"], key=m["vocab"].get)
    types = [CONTROL if t in SPECIAL else NORMAL for t in tokens]
    merges = [" ".join(x) for x in m["merges"]]
    for table in re.findall(r"\.names = \{([^}]*)\}", SOURCE, re.S):
        for pre in re.findall(r'"([^"]*)"', table):
            yield f"gpt2-{pre}", lambda n, pre=pre: write(n, "gpt2", tokens, types=types, merges=merges, pre=pre, bos_token_id=1, eos_token_id=2)
    yield "gpt2-types", lambda n: write(n, "gpt2", tokens, types=[USER if t in SPECIAL else NORMAL for t in tokens], merges=merges,
                                        pre="gpt-2", bos_token_id=1, add_bos_token=True, eos_token_id=2, add_eos_token=True)
    yield "gpt2-no-types", lambda n: write(n, "gpt2", tokens, types=[NORMAL] * len(tokens), merges=merges, pre="gpt-2")
    rare = dict(tokens=tokens, types=types, merges=merges, pre="gpt-2")
    yield "gpt2-phi-3", lambda n: write(n, "gpt2", **renamed(rare, "<unk>"), **{"general.name": "Phi-3 mini"})
    yield "gpt2-jina-mask", lambda n: write(n, "gpt2", **renamed(rare, "<mask>") | {"pre": "jina-v2-es"})
    yield "gpt2-modern", lambda n: write(n, "gpt2", **renamed(rare, "[MASK]"), **{"general.name": "modern-bert x"})
    for name, more in [("plain", {}), ("whole", {"add_dummy_prefix": False}), ("symbols", {"user_defined_symbols": ["<|im_end|>", "  ", "\u2581\u2581\u2581"]})]:
        _, v = pieces(texts, "bpe", byte_fallback=True, normalization_rule_name="identity", remove_extra_whitespaces=False, **more)
        yield f"llama-{name}", lambda n, v=v, name=name: write(n, "llama", **v, add_space_prefix=name != "whole")
    yield "llama-whole-numbers", lambda n: write(n, "llama", **v | {"scores": [int(x) for x in v["scores"]]}, add_bos_token=False)
    for name, more in [("nfkc", {}), ("cf", {"normalization_rule_name": "nmt_nfkc_cf"}), ("identity", {"normalization_rule_name": "identity"}),
                       ("spaces", {"remove_extra_whitespaces": False}), ("symbols", {"user_defined_symbols": ["<|im_end|>"]})]:
        m, v = pieces(texts, "unigram", pad_id=0, eos_id=1, unk_id=2, bos_id=-1, **more)
        charsmap = {"precompiled_charsmap": m.normalizer_spec.precompiled_charsmap} if m.normalizer_spec.precompiled_charsmap else {}
        own = sentencepiece.SentencePieceProcessor(model_proto=m.SerializeToString())
        cut = re.compile("(" + "|".join(re.escape(p.piece) for p in m.pieces if p.type in (UNKNOWN, CONTROL, USER)) + ")")
        OWN[f"t5-{name}"] = lambda text, own=own, cut=cut: [
            i for k, part in enumerate(cut.split(text)) for i in ([own.piece_to_id(part)] if k % 2 else own.encode(part))] + [1]
        yield f"t5-{name}", lambda n, m=m, v=v, c=charsmap: write(n, "t5", **v, **c, add_space_prefix=True,
                                                                 remove_extra_whitespaces=m.normalizer_spec.remove_extra_whitespaces)
    for lower in [True, False]:
        t = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=10000))
        t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(lowercase=lower), pre_tokenizers.BertPreTokenizer()
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        t.train_from_iterator(texts, trainers.WordPieceTrainer(vocab_size=1500, special_tokens=special, show_progress=False))
        OWN[f"bert-{lower}"] = lambda text, t=t: [2, *t.encode(text).ids, 3]
        words = sorted(t.get_vocab(), key=t.get_vocab().get)
        words = [w if w in special else w[2:] if w.startswith("##") else "\u2581" + w for w in words]
        yield f"bert-{lower}", lambda n, words=words, lower=lower: write(
            n, "bert", words, types=[CONTROL if w.startswith("[") and len(w) > 2 else NORMAL for w in words], unknown_token_id=1,
            cls_token_id=2, bos_token_id=2, seperator_token_id=3, padding_token_id=0, **{"normalizer.lowercase": lower})
    yield from of_characters(texts)
    world = sorted({bytes([b]) for b in range(256)} | {bytes_of(t) for t in tokens if t not in SPECIAL})
    yield "rwkv", lambda n: write(n, "rwkv", ["<s>", *map(escaped, world)], types=[CONTROL] + [NORMAL] * len(world))


def record(texts, said):
    (OUT / "texts.json").write_text(json.dumps(texts))
    for name, ids in said.items():
        (OUT / f"{name}.ids").write_text("".join(json.dumps(ids[t], separators=(",", ":")) + "\n" for t in texts))
    for left in ["corpus", "m.model", "m.vocab"]:
        (OUT / left).unlink()


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    llama_cpp.llama_log_set(silent, None)
    every, bad, said, differs = hostile(400 if RECORD else 1500, 5), 0, {}, set()
    for name, make in files(every):
        if NAMES and not any(n in name for n in NAMES):
            continue
        path = make(name)
        # llama.cpp strips the white space of C alone, the models' own libraries that of Unicode.
        texts = [t for t in every if t.isascii() or not re.search("[^\\S \\n\\t\\r\\f\\v]|[\x1c-\x1f\u0130]", t)] if name in STRIPS else every
        ours, theirs = burin_ids(path, texts), llama_ids(path, texts)
        if isinstance(ours, str) or theirs is None:
            print(f"{name}: {ours if isinstance(ours, str) else 'llama.cpp refuses it'}")
            bad += 1
            continue
        wrong = [(t, a, b) for t, a, b in zip(texts, ours, theirs) if a != b]
        own = [t for t, a, _ in wrong if name in OWN and OWN[name](t) == a]
        print(f"{name}: {len(texts)} texts, {len(wrong)} differ, {len(own)} of them as the model's own library has it", flush=True)
        wrong = [w for w in wrong if w[0] not in own]
        for t, a, b in sorted(wrong, key=lambda x: len(x[0]))[:3]:
            print(f"  {ascii(t[:120])}\n    burin     {a[:40]}\n    llama.cpp {b[:40]}")
        bad += bool(wrong)
        said[name] = dict(zip(texts, theirs))
        differs |= {t for t, a, b in zip(texts, ours, theirs) if a != b}
    if RECORD:
        record([t for t in every if t not in differs and all(t in ids for ids in said.values())][:120], said)
    sys.exit(bad > 0)


main()
