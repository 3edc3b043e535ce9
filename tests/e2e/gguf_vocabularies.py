"""Makes gguf_vocabularies.tar.xz: GGUF files that hold vocabularies alone, texts, and the ids that llama.cpp's rules give.

    python tests/e2e/gguf_vocabularies.py        needs gguf, regex, tokenizers

The rules are written down here once more, in Python, after llama-vocab.cpp: defaults of special tokens by kind, how pre-tokenizers
cut, SentencePiece's merges by score, WordPiece with U+2581. NAME.gguf, NAME.ids: a line for each of texts.txt.
"""
import io
import pathlib
import tarfile
import tempfile
import unicodedata

import gguf
import regex
import tokenizers

HERE = pathlib.Path(__file__).parent
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)"
CONTRACTED = r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
BREAKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTED + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BREAKS
QWEN2 = CONTRACTED + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BREAKS
CASED = (r"[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))*((?=[\p{L}])([^A-Z]))+%s|"
         r"[^\r\n\p{L}\p{N}]?((?=[\p{L}])([^a-z]))+((?=[\p{L}])([^A-Z]))*%s|")
SIGN_LETTERS = r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+"
CASED_LETTERS = ("[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af"
                 "\u0370-\u0373\u0376-\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5"
                 "\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba"
                 "\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45"
                 "\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-"
                 "\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107"
                 "\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139\u213c-\u213f"
                 "\u2145-\u2149\u214e\u2183-\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2-\u2cf3\ua640-"
                 "\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-"
                 "\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb"
                 "\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943]+")
GROUPED = r"(?<=\p{N})(?=(?:\p{N}{3})*(?!\p{N}))"
HAN = "\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0002a6df\U0002a700-\U0002ebef\U0002f800-\U0002fa1f"
SCRIPTS = ("[\u4e00-\u9fff\u3400-\u4dbf\u8c48-\ufaff\u3040-\u309f\u30a0-\u30ff\uff65-\uff9f\u2f00-\u2fdf\u0e40-\u0eff\u1780-\u17ff"
           "\u1000-\u109f\uaa60-\uaa7f\ua9e0-\ua9ff\uac00-\ud7af\u1100-\u11ff]+")
BLOOM = " ?[^(\\s|.,!?…。，、।۔،)]+"
# pre -> patterns, do words that are tokens ignore merges, does a text begin with BOS
PRE = {
    "gpt-2": ([GPT2], False, False), "mpt": ([GPT2], False, False), "smollm": ([r"\p{N}", GPT2], False, False),
    "command-r": ([r"\p{N}", GPT2], False, False), "refact": ([r"\p{N}", GPT2], False, False),
    "falcon": ([r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"], False, False),
    "": ([r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"], False, False),
    "llama-bpe": ([LLAMA3], True, True), "falcon3": ([LLAMA3], True, True), "dbrx": ([LLAMA3], False, False),
    "chatglm-bpe": ([LLAMA3], False, False), "qwen2": ([QWEN2], False, False), "stablelm2": ([QWEN2], False, False),
    "tekken": ([CASED % ("", "") + r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + BREAKS], True, True),
    "gpt-4o": ([CASED % (CONTRACTED + "?", CONTRACTED + "?") + r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + BREAKS], False, False),
    "deepseek-v3": ([r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
                     r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
                     + BREAKS], False, False),
    "deepseek-coder": ([r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+", r"\p{N}"], False, False),
    "glm4": ([LLAMA3], True, False),
    "deepseek-llm": (["[\r\n]", r"\s?" + CASED_LETTERS, r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", "[一-龥ࠀ-一가-퟿]+", r"\p{N}+"],
                     False, False),
    "spark2_5": ([r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", SIGN_LETTERS + r"|[\r\n]|\s+(?!\S)|\s+", r"\p{N}"], False, False),
    "youtu": (["[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-ヿ]+",
               r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+" + CONTRACTED + "?|"
               r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + BREAKS], True, False),
    "qwen35": ([CONTRACTED + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + BREAKS], False, False),
    "chameleon": (["<sentinel:[0-9]+>", "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z", r"([\t\n]|    |  )", r"\p{N}", r"[\p{P}!-/:-@\[-`{-~]",
                   GPT2], False, True),
    "bailingmoe": ([r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|"
                    r"\s+(?!\S)|\s+"], False, False),
    "ufakzeka": ([r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BREAKS], False, False),
    "laguna": ([r"[^\n]+|[\n]+", QWEN2], False, False),
    "minicpm5": ([r"\p{N}{1,3}", CONTRACTED + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BREAKS], True, False),
    "k2-horizon": ([CONTRACTED + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}|\p{M}|\u200C|\u200D)+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BREAKS],
                   False, False),
    "superbpe": ([r"\p{N}+", r"(?=([0-9]{3})+(?![0-9]))"], False, False),
    "exaone-moe": ([CONTRACTED + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|"
                    r"\s+(?!\S)|\s+"], False, False),
    "tiny_aya": ([GROUPED, r"[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+" + CONTRACTED + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + BREAKS],
                 False, False),
    "afmoe": ([GROUPED, SCRIPTS, SIGN_LETTERS + r"[\r\n]*|" + BREAKS], False, False),
    "kimi-k2": (["[" + HAN + r"]+|[^\r\n\p{L}\p{N}]?(?:(?![" + HAN + r"])\p{L})+" + CONTRACTED
                 + r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + BREAKS], False, False),
    "granite-embed-multi-97m": ([CASED.replace(r"\p{L}]", r"\p{L}\p{M}]") % (CONTRACTED + "?", CONTRACTED + "?")
                                 + r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|" + BREAKS], True, False),
    "jais-2": ([CONTRACTED + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
                + "".join(r"\s{%s}(?!\S)|" % n for n in (512, 256, 128, 64, 32, 16, 8, 4, "1,2")) + r"\s{1}"], False, False),
    "bloom": ([BLOOM], False, False), "viking": ([BLOOM, r"\p{N}"], False, False),
    "seed-coder": ([CONTRACTED + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|" + BREAKS], False, False),
}
TEXTS = ["Once upon a time, there was a little girl.", "It's 1234567 o'clock; WE'LL see...", "", " ", "   three  spaces ",
         "line one\\n\\n  line two\\n", "The <|im_start|>user said <s> and </s> <unk>", "<s>begin", "a<|im_end|> b", "ünïcödé Straße",
         "中文字符，日本語のテキスト。한국어", "e\u0301 combining", "emoji 🙂👍 done", "tab\there", "x=1+2*3;//code", "don't CAN'T won'T",
         "mixedCase HTTPServer iPhone", "12 345 6,789.01", "a\u00a0b", "[INST] hi [/INST] ok", "…wait—what?", "Ω≈ç√ ∑", "Ａ，Ｂ！ Букварь ǅ ῥῲ  ", "      six IMGIMGABZ 7", "!the ,time", "हिन्दी a\u200db", "(a|b).c,d!e?f"]
WORDS = ("the little girl and the dog went to see a big house in the time of once upon there was said user begin line one two "
         "three spaces its clock see will not do mixed case server code tab here done straße 中文 日本 the The There Once HTTP 12 123 ")


def byte_characters():
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return {b: chr(b) if b in shown else chr(256 + i) for b, i in
            ((b, sorted(set(range(256)) - set(shown)).index(b) if b not in shown else 0) for b in range(256))}


BYTES = byte_characters()


def special_cut(text, tokens, types):
    """The text around tokens that are cut out first, longer ones before shorter."""
    parts = [text]
    special = sorted((t for t, k in zip(tokens, types) if k in (2, 3, 4)), key=lambda t: -len(t.encode()))
    for token in special:
        cut = []
        for part in parts:
            if isinstance(part, int):
                cut.append(part)
                continue
            for i, piece in enumerate(part.split(token)):
                cut += [tokens.index(token)] if i else []
                cut += [piece] if piece else []
        parts = cut
    return parts


def split(text, patterns):
    pieces = [text]
    for pattern in patterns:
        cut = []
        for piece in pieces:
            at = 0
            for m in regex.finditer(pattern, piece):
                cut += [piece[at:m.start()]] if m.start() > at else []
                cut += [m.group()] if m.group() else []
                at = m.end()
            cut += [piece[at:]] if at < len(piece) else []
        pieces = cut
    return pieces


def merge(symbols, rank):
    while True:
        best = min(((rank(symbols[i], symbols[i + 1]), i) for i in range(len(symbols) - 1) if rank(symbols[i], symbols[i + 1]) is not None),
                   default=None)
        if best is None:
            return symbols
        i = best[1]
        symbols[i:i + 2] = [symbols[i] + symbols[i + 1]]


def merged(text, v, symbols_of):
    """Ids of the text; symbols_of(part, index, rank) gives those of a part between special tokens."""
    index, ranks = {t: i for i, t in enumerate(v["tokens"])}, {tuple(m.split(" ")): i for i, m in enumerate(v["merges"])}
    ids = [v["bos"]] if v["add_bos"] else []
    for part in special_cut(text, v["tokens"], v["types"]):
        ids += [part] if isinstance(part, int) else symbols_of(part, index, lambda a, b: ranks.get((a, b)))
    return ids


def bpe_ids(text, v):
    def symbols_of(part, index, rank):
        ids = []
        for word in split(part, PRE[v["pre"]][0]):
            word = "".join(BYTES[b] for b in word.encode())
            whole = PRE[v["pre"]][1] and word in index
            ids += [index[symbol] for symbol in ([word] if whole else merge(list(word), rank)) if symbol in index]
        return ids
    return merged(text, v, symbols_of)


def or_bytes(symbol, index):
    return [index[symbol]] if symbol in index else [index[f"<0x{b:02X}>"] for b in symbol.encode()]


def spm_ids(text, v):
    ids, after_special = [v["bos"]] if v["add_bos"] else [], True
    index = {t: i for i, t in enumerate(v["tokens"])}
    for part in special_cut(text, v["tokens"], v["types"]):
        if isinstance(part, int):
            ids.append(part)
            after_special = True
            continue
        part = (" " if after_special and v["space"] else "") + part
        after_special = False
        for symbol in merge(list(part.replace(" ", "▁")), lambda a, b: -v["scores"][index[a + b]] if a + b in index else None):
            ids += or_bytes(symbol, index)
    return ids


def marked_ids(text, v):
    def symbols_of(part, index, rank):
        lines = split(part.replace(" ", "▁"), [r"[^\n]+|[\n]+"])
        return [i for line in lines for symbol in merge(list(line), rank) for i in or_bytes(symbol, index)]
    return merged(text, v, symbols_of)


def wpm_ids(text, v):
    index, ids = {t: i for i, t in enumerate(v["tokens"])}, [v["bos"]]
    for part in special_cut(text, v["tokens"], v["types"]):
        if isinstance(part, int):
            ids.append(part)
            continue
        words = [""]
        for c in unicodedata.normalize("NFD", part):
            kind = unicodedata.category(c)
            if c.isspace():
                words.append("")
            elif kind in ("Cc", "Cf", "Co", "Cs", "Mn") or c == "\ufffd":
                continue
            elif kind[0] == "P" or (ord(c) < 127 and kind[0] == "S") or 0x4E00 <= ord(c) <= 0x9FFF or 0x3400 <= ord(c) <= 0x4DBF:
                words += [c.lower(), ""]
            else:
                words[-1] += c.lower()
        for word in filter(None, words):
            found, at, word = [], 0, "▁" + word
            while at < len(word):
                end = next((e for e in range(len(word), at, -1) if word[at:e] in index), None)
                if end is None:
                    found = [v["unk"]]
                    break
                found.append(index[word[at:end]])
                at = end
            ids += found
    return ids + [v["sep"]]


def ugm_normalized(text, v):
    out, word = "", False
    for c in "".join(v["charsmap"].get(c, c) for c in text):
        if c == " ":
            word = False
            out += "" if v["squeezes"] else "▁"
            continue
        if not word and ((v["space"] and not out) or v["squeezes"]):
            out += "▁"
        word = True
        out += c
    return out


def ugm_ids(text, v):
    ids = []
    scores = {t: (i, 0.0 if k == 4 else s) for i, (t, k, s) in enumerate(zip(v["tokens"], v["types"], v["scores"])) if k in (1, 4, 5)}
    unknown = min(s for s, k in zip(v["scores"], v["types"]) if k == 1) - 10
    for part in special_cut(text, v["tokens"], v["types"]):
        if isinstance(part, int):
            ids.append(part)
            continue
        part = ugm_normalized(part, v)
        best = [(0.0, 0, 0)] + [None] * len(part)
        for at in range(len(part)):
            found = [(part[at:end], *scores[part[at:end]]) for end in range(at + 1, len(part) + 1) if part[at:end] in scores]
            if not any(len(t) == 1 for t, _, _ in found):
                found.append((part[at], v["unk"], unknown))
            for t, i, score in found:
                if best[at + len(t)] is None or best[at][0] + score > best[at + len(t)][0]:
                    best[at + len(t)] = (best[at][0] + score, at, i)
        way, at = [], len(part)
        while at:
            way.append(best[at][2])
            at = best[at][1]
        ids += [i for k, i in enumerate(way[::-1]) if i != v["unk"] or k == 0 or way[::-1][k - 1] != i]
    return ids + [v["eos"]]


def rwkv_ids(text, v):
    ids = []
    index = {t: i for i, t in enumerate(v["bytes"]) if v["types"][i] == 1}
    longest = max(map(len, index))
    for part in special_cut(text, v["tokens"], v["types"]):
        data = b"" if isinstance(part, int) else part.encode()
        ids += [part] if isinstance(part, int) else []
        while data:
            token = next(data[:n] for n in range(longest, 0, -1) if data[:n] in index)
            ids.append(index[token])
            data = data[len(token):]
    return ids


def whitespace_ids(text, v):
    def symbols_of(part, index, rank):
        part = part.lower() if v["lower"] else part
        return [index[s] for word in split(part, [r"\S+"]) for s in merge(list(word), rank) if s in index]
    return merged(text, v, symbols_of)


def trained(alphabet, prepare):
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    model.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.BpeTrainer(vocab_size=len(alphabet) + 160, initial_alphabet=alphabet, show_progress=False)
    model.train_from_iterator([prepare(WORDS * 3 + " ".join(TEXTS))], trainer)
    import json
    made = json.loads(model.to_str())["model"]
    return sorted(made["vocab"], key=made["vocab"].get), [" ".join(m) for m in made["merges"]]


def bpe_vocabulary(pre, bos=None, add_bos=None, lacks=()):
    tokens, merges = trained(list(BYTES.values()), lambda t: " ".join(
        "".join(BYTES[b] for b in (" " * (i > 0) + w).encode()) for i, w in enumerate(t.split())))
    gone = {BYTES[b] for b in lacks}
    tokens = [t for t in tokens if not gone & set(t)]
    merges = [m for m in merges if not gone & set(m)]
    types = [1] * len(tokens)
    tokens += ["<|im_start|>", "<|im_end|>", "<s>", "</s>", "<unk>"]
    types += [3, 3, 3, 3, 2]
    v = dict(model="gpt2", pre=pre, tokens=tokens, types=types, merges=merges, bos=11 if bos is None else bos, bos_key=bos, flag=add_bos)
    v["add_bos"] = PRE[pre][2] if add_bos is None else add_bos
    return v, bpe_ids


def spm_vocabulary(space=None, add_bos=None):
    tokens, merges = trained([], lambda t: " ".join("▁" + w for w in t.split()))
    alphabet = [t for t in tokens if len(t) == 1]
    joined = [m.replace(" ", "") for m in merges]
    table = ["<unk>", "<s>", "</s>"] + [f"<0x{b:02X}>" for b in range(256)] + joined + alphabet + ["<|im_start|>", "[INST]", "unusedtoken"]
    types = [2, 3, 3] + [6] * 256 + [1] * (len(joined) + len(alphabet)) + [4, 3, 5]
    scores = [0.0] * 259 + [-float(i) for i in range(len(joined))] + [-1e3 - i for i in range(len(alphabet))] + [0.0] * 3
    v = dict(model="llama", tokens=table, types=types, scores=scores, bos=1, bos_key=None, flag=add_bos, space_key=space)
    v["space"], v["add_bos"] = space is not False, add_bos is not False
    return v, spm_ids


def marked_vocabulary(model, pre, add_bos):
    """Of Gemma 4: llama_cpp 0.3.36 gives the same ids."""
    tokens, merges = trained([], lambda t: " ".join("▁" + w for w in t.split()))
    table = ["<pad>", "<eos>", "<bos>", "<unk>"] + [f"<0x{b:02X}>" for b in range(256)] + tokens + ["\n", "\n\n", "▁▁", "<|im_start|>"]
    types = [3, 3, 3, 2] + [6] * 256 + [1] * (len(tokens) + 3) + [4]
    v = dict(model=model, pre=pre, tokens=table, types=types, merges=merges + ["\n \n", "▁ ▁"], bos=2, bos_key=2, flag=None)
    v["add_bos"] = add_bos
    return v, marked_ids


def wpm_vocabulary():
    tokens, _ = trained([], lambda t: t.lower())
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + sorted({"▁" + t for t in tokens} | set(tokens))
    v = dict(model="bert", tokens=tokens, types=[3] * 5 + [1] * (len(tokens) - 5), bos=2, bos_key=2, flag=None, sep=3, unk=1)
    return v, wpm_ids


def ugm_vocabulary(space, squeezes, mapped=True):
    """The table is that of the T5 tokenizer's: here only what TEXTS has in it is written down once more."""
    tokens, _ = trained([], lambda t: " ".join("▁" + w for w in t.split()))
    table = ["<pad>", "</s>", "<unk>"] + tokens + ["<|im_start|>", "[INST]"]
    types = [3, 3, 2] + [1] * len(tokens) + [4, 3]
    scores = [0.0] * 3 + [-3.0 - 0.01 * i for i in range(len(tokens))] + [0.0] * 2
    v = dict(model="t5", tokens=table, types=types, scores=[float(gguf.np.float32(s)) for s in scores], bos=-1, bos_key=None, flag=None)
    v |= dict(space=space, space_key=space, squeezes=squeezes, unk=2, eos=1, charsmap={"É": "E", "Ω": "ab"} if mapped else {})
    return v, ugm_ids


def charsmap(mapping):
    """A double array over UTF-8 bytes as SentencePiece stores it, 256 places for each node."""
    texts, nodes = b"", {}
    for key, value in mapping.items():
        at = nodes
        for byte in key.encode():
            at = at.setdefault(byte, {})
        at[0] = len(texts)
        texts += value.encode() + b"\0"
    units, bases = [0] * 4096, iter(range(256, 4096, 256))

    def place(node, at):
        base = next(bases)
        units[at] |= (base ^ at) << 10
        for c, child in node.items():
            if c:
                units[base ^ c] |= c
                place(child, base ^ c)
            else:
                units[at] |= 1 << 8
                units[base] = child | 1 << 31
    place(nodes, 0)
    trie = gguf.np.array(units, dtype="<u4").tobytes()
    return len(trie).to_bytes(4, "little") + trie + texts


def rwkv_vocabulary():
    tokens = [bytes([b]) for b in range(256)] + sorted({w.encode() for w in WORDS.split() if w != "a"} | {b" " + w.encode() for w in WORDS.split()}
                                                       | {b"  ", b"   ", b"\n\n", b"'s", b"\xe4\xb8"})
    def escaped(t):
        return "".join({9: "\\t", 10: "\\n", 13: "\\r", 39: "\\'", 92: "\\\\"}.get(b, chr(b) if 32 <= b < 127 else f"\\x{b:02x}") for b in t)
    v = dict(model="rwkv", tokens=["<s>"] + [escaped(t) for t in tokens], types=[3] + [1] * len(tokens), bos=-1, bos_key=None, flag=None)
    return v | dict(bytes=[b"<s>"] + tokens), rwkv_ids


def whitespace_vocabulary(lower):
    tokens, merges = trained([], lambda t: t.lower() if lower else t)
    v = dict(model="gpt2", pre="whitespace", tokens=tokens + ["<s>", "</s>"], types=[1] * len(tokens) + [3, 3], merges=merges, bos=len(tokens))
    return v | dict(bos_key=len(tokens), flag=True, add_bos=True, lower=lower), whitespace_ids


def write(path, v):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(v["model"])
    if v.get("pre"):
        writer.add_tokenizer_pre(v["pre"])
    writer.add_token_list(v["tokens"])
    writer.add_token_types(v["types"])
    if "scores" in v:
        writer.add_token_scores(v["scores"])
    if "merges" in v:
        writer.add_token_merges(v["merges"])
    if v["bos_key"] is not None:
        writer.add_bos_token_id(v["bos_key"])
        writer.add_eos_token_id(v["bos_key"])
    if v["flag"] is not None:
        writer.add_add_bos_token(v["flag"])
    if v.get("space_key") is not None:
        writer.add_add_space_prefix(v["space_key"])
    if "squeezes" in v:
        writer.add_remove_extra_whitespaces(v["squeezes"])
        writer.add_unk_token_id(v["unk"])
        writer.add_eos_token_id(v["eos"])
        if v["charsmap"]:
            writer.add_precompiled_charsmap(charsmap(v["charsmap"]))
    if v.get("lower"):
        writer.add_bool("tokenizer.ggml.normalizer.lowercase", True)
    if "sep" in v:
        writer.add_sep_token_id(v["sep"])
        writer.add_unk_token_id(v["unk"])
    elif v["model"] == "gpt2":
        writer.add_unk_token_id(len(v["tokens"]) - 1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def main():
    made = {f"bpe-{pre or 'none'}": bpe_vocabulary(pre, bos=260) for pre in PRE}
    made |= {"bpe-bos": bpe_vocabulary("qwen2", bos=260, add_bos=True), "bpe-no-bos": bpe_vocabulary("llama-bpe", bos=260, add_bos=False),
             "bpe-no-key": bpe_vocabulary("llama-bpe"), "bpe-lacking": bpe_vocabulary("gpt-2", lacks=[*range(128, 256), 10, 88]),
             "spm": spm_vocabulary(), "spm-no-space": spm_vocabulary(space=False), "spm-no-bos": spm_vocabulary(add_bos=False),
             "wpm": wpm_vocabulary(), "t5": ugm_vocabulary(True, True), "t5-plain": ugm_vocabulary(True, True, False),
             "t5-no-space": ugm_vocabulary(False, False), "rwkv": rwkv_vocabulary(), "whitespace": whitespace_vocabulary(False),
             "whitespace-lower": whitespace_vocabulary(True), "gemma4": marked_vocabulary("gemma4", "gemma4", True),
             "bpe-gemma4": marked_vocabulary("gpt2", "gemma4", True), "bpe-sarvam-moe": marked_vocabulary("gpt2", "sarvam-moe", False),
             "bpe-granite-embed-multi-311m": marked_vocabulary("gpt2", "granite-embed-multi-311m", True)}
    with tempfile.TemporaryDirectory() as folder, tarfile.open(HERE / "gguf_vocabularies.tar.xz", "w:xz") as tar:
        texts = {"texts.txt": "".join(t + "\n" for t in TEXTS).encode()}
        for name, (v, ids) in made.items():
            write(f"{folder}/x", v)
            texts[f"{name}.gguf"] = pathlib.Path(f"{folder}/x").read_bytes()
            texts[f"{name}.ids"] = "".join(
                " ".join(map(str, ids(t.replace("\\n", "\n"), v))) + "\n" for t in TEXTS).encode()
        for name, data in sorted(texts.items()):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


if __name__ == "__main__":
    main()
