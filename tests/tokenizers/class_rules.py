#!/usr/bin/env python3
"""tokenizer.json beside a tokenizer_config.json: the ids of AutoTokenizer, for every class that builds steps of its own.

usage: class_rules.py FILE.json [--all]     needs: transformers 5, tokenizers, sentencepiece

FILE.json has {"texts": [..], "files": {kind: tokenizer.json}, "cases": [{"kind", "config", "model", "ids"}]}; tools/class_cases
reads it. Without --all only cases whose ids differ from those of the class alone are kept, and few texts.
The tokenizers' steps are marked ones that no class has, so what a class leaves as it is shows in the ids.
"""
import json
import os
import re
import sys
import tempfile

os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_VERBOSITY="error", TOKENIZERS_PARALLELISM="false")
from tokenizers import Tokenizer, processors
from transformers import AutoTokenizer

HERE = os.path.dirname(os.path.abspath(__file__))
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]", "<|endoftext|>", "<cls>",
           "<sep>", "en_XX", "eng_Latn", "__eng__", "<|startoftext|>", "<|startoftranscript|>", "<|notimestamps|>"]
TEXTS = ["Hello World", "hello <s> world", " <mask> the  cat", "a\u2581b ab  \u2581a", "CAT Caf\u00e9 na\u00efve \u00c5ngstr\u00f6m",
         "\u4e2d\u6587 test, don't!", "trail  ", "[MASK][CLS] [SEP]</s><pad>", "`` x '' 12", "\ufb01 \uff21 \u00bd", "",
         "\u00e0 la\u200d carte Q Q"]


def byte_characters():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in plain]
    return [chr(b) for b in plain] + [chr(256 + i) for i in range(len(others))]


def model(kind):
    tokens = SPECIAL + byte_characters() + ["\u2581", "\u2581a", "ab", "\u0120a"]
    if kind == "Unigram":
        return {"type": kind, "unk_id": 3, "vocab": [[t, -i / 10] for i, t in enumerate(tokens)], "byte_fallback": False}
    vocab = {t: i for i, t in enumerate(tokens)}
    if kind == "WordPiece":
        return {"type": kind, "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100,
                "vocab": vocab}
    if kind == "WordLevel":
        return {"type": kind, "unk_token": "[UNK]", "vocab": vocab}
    return {"type": kind, "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None,
            "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "vocab": vocab,
            "merges": ["\u2581 a", "a b", "\u0120 a"]}


def tokenizer_json(kind):
    return {"version": "1.0", "truncation": {"max_length": 6, "stride": 0, "strategy": "LongestFirst", "direction": "Right"},
            "padding": {"strategy": {"Fixed": 9}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 1,
                        "pad_type_id": 0, "pad_token": "<pad>"},
            "added_tokens": [{"id": 0, "content": "<s>", "single_word": False, "lstrip": False, "rstrip": False,
                              "normalized": False, "special": True}],
            "normalizer": {"type": "Replace", "pattern": {"String": "Q"}, "content": "MARK"},
            "pre_tokenizer": {"type": "Split", "pattern": {"String": "MARK"}, "behavior": "Isolated", "invert": False},
            "post_processor": {"type": "TemplateProcessing",
                               "single": [{"SpecialToken": {"id": "<mask>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
                               "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
                               "special_tokens": {"<mask>": {"id": "<mask>", "ids": [4], "tokens": ["<mask>"]}}},
            "decoder": {"type": "Replace", "pattern": {"String": "Q"}, "content": "MARK"}, "model": model(kind)}


def token(content, **how):
    return {"content": content, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False, "special": True, **how}


FIELDS = {
    "add_prefix_space": [True, False], "do_lower_case": [True, False], "strip_accents": [True, False],
    "tokenize_chinese_chars": [True, False], "keep_accents": [True, False], "legacy": [True, False], "clean_text": [True, False],
    "split_by_punct": [True, False], "legacy_behaviour": [True, False], "extra_ids": [0, 3], "wordpieces_prefix": ["@"],
    "split_special_tokens": [True, False], "additional_special_tokens": [["ab", "<new1>"]],
    "extra_special_tokens": [["<new2>", "cat"], {"image_token": "the"}], "image_token": ["world"], "pad_token": ["test"],
    "bos_token": ["<s>", None, "<cls>"], "eos_token": ["</s>", "<sep>"], "cls_token": ["<cls>"], "sep_token": ["<sep>"],
    "mask_token": [{"__type": "AddedToken", **token("the", lstrip=True, rstrip=True)}], "model_max_length": [4],
    "trim_offsets": [True, False], "remove_space": [True, False],
    "added_tokens_decoder": [{"300": token("cat", rstrip=True), "7": token("[UNK]", single_word=True, special=False),
                              "20": token("ab", normalized=True, special=False)}]}
# What transformers ignores, or computes from parts that are no part of a folder: left out for these classes.
UNTRIED = {("HerbertTokenizer", "cls_token"), ("HerbertTokenizer", "sep_token"), ("CamembertTokenizer", "unk_token")}
MODELS = [{}, {"model_type": "bert"}, {"model_type": "gpt2"}, {"model_type": "llama"}, {"model_type": "qwen2"},
          {"model_type": "qwen3"}, {"model_type": "phi3"}, {"model_type": "mistral"}, {"model_type": "gemma2"},
          {"model_type": "roberta"}, {"model_type": "nonesuch"}, {"model_type": "t5", "tokenizer_class": "T5Tokenizer"}]


def classes():
    rules = open(os.path.join(HERE, "../../compiler/frontend/tokenizer/class_rules.def")).read()
    for names, kind in re.findall(r'CLASS\(((?:"[^"]*"\s*)+),\s*"(\w+)"', rules):
        for name in re.findall(r"\w+", names):
            yield name, kind
    for kind in ("BPE", "Unigram", "WordPiece", "WordLevel"):
        yield "PreTrainedTokenizerFast", kind
    yield "NoSuchTokenizer", "BPE"
    yield "FNetTokenizer", "Unigram"


# special_tokens_map.json and added_tokens.json, as folders before 2023 have them.
MAPS = [{"pad_token": "test", "additional_special_tokens": ["the", "world"]},
        {"mask_token": token("cat", lstrip=True), "eos_token": "</s>"}, {"extra_special_tokens": ["la"]}]
ADDED = [{"cat": 300, "the": 301}, {"ab": 250, "test": 299}]


def ids_of(kind, config, model_config, texts, special_map=None, added=None):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in (("tokenizer.json", tokenizer_json(kind)), ("tokenizer_config.json", config),
                              ("config.json", model_config), ("special_tokens_map.json", special_map),
                              ("added_tokens.json", added)):
            if content:
                json.dump(content, open(os.path.join(folder, name), "w"))
        tokenizer = AutoTokenizer.from_pretrained(folder)
        return [tokenizer(text)["input_ids"] for text in texts]


def cases_of(name, kind):
    yield {"tokenizer_class": name}, {}
    for field, values in FIELDS.items():
        for value in values:
            if (name, field) not in UNTRIED:
                yield {"tokenizer_class": name, field: value}, {}


def transformers_cases(texts, everything):
    for name, kind in classes():
        alone = None
        for config, model_config in cases_of(name, kind):
            try:
                ids = ids_of(kind, config, model_config, texts)
            except BaseException:  # refused
                continue
            if everything or alone is None or ids != alone:
                yield {"kind": kind, "config": config, "model": model_config, "ids": ids}
            alone = alone or ids
    for model_config in MODELS[1:]:
        for name in ("GPT2TokenizerFast", "LlamaTokenizerFast", "PreTrainedTokenizerFast", None):
            kind = "WordPiece" if model_config["model_type"] == "bert" and not name else "BPE"
            config = {"tokenizer_class": name} if name else {"bos_token": "<s>"}
            try:
                yield {"kind": kind, "config": config, "model": model_config, "ids": ids_of(kind, config, model_config, texts)}
            except BaseException:
                pass


def legacy_cases(texts):
    for name, kind in (("BertTokenizer", "WordPiece"), ("GPT2Tokenizer", "BPE"), ("LlamaTokenizer", "BPE"),
                       ("T5Tokenizer", "Unigram"), ("PreTrainedTokenizerFast", "BPE")):
        for special_map, added in [*((m, None) for m in MAPS), *((None, a) for a in ADDED), (MAPS[0], ADDED[0])]:
            for config in ({"tokenizer_class": name}, {"tokenizer_class": name, "pad_token": "carte"},
                           {"tokenizer_class": name, "added_tokens_decoder": FIELDS["added_tokens_decoder"][0]}):
                try:
                    ids = ids_of(kind, config, {}, texts, special_map, added)
                except BaseException:
                    continue
                yield {"kind": kind, "config": config, "model": {}, "map": special_map, "added": added, "ids": ids}


def cases_with_ends(texts):
    """add_bos_token and add_eos_token of a class that adds them, over a post-processor that does not: transformers before 5."""
    for name in ("LlamaTokenizerFast", "GemmaTokenizer", "CohereTokenizerFast"):
        for bos, eos in ((True, False), (False, True), (True, True)):
            config = {"tokenizer_class": name, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>",
                      "mask_token": "<mask>", "cls_token": None, "sep_token": None, "add_bos_token": bos, "add_eos_token": eos}
            tokenizer = Tokenizer.from_str(json.dumps({**tokenizer_json("BPE"), "truncation": None, "padding": None}))
            tokenizer.add_special_tokens(["<s>", "</s>", "<unk>", "<pad>", "<mask>"])
            tokenizer.post_processor = processors.TemplateProcessing(
                single=("<s> " if bos else "") + "$A" + (" </s>" if eos else ""), special_tokens=[("<s>", 0), ("</s>", 2)])
            yield {"kind": "BPE", "config": config, "model": {}, "ids": [tokenizer.encode(text).ids for text in texts]}


def main(path, everything):
    texts = TEXTS + json.load(open(os.path.join(HERE, "texts.json"))) * everything
    cases = [*transformers_cases(texts, everything), *legacy_cases(texts), *cases_with_ends(texts)]
    files = {kind: tokenizer_json(kind) for kind in ("BPE", "Unigram", "WordPiece", "WordLevel")}
    json.dump({"texts": texts, "files": files, "cases": cases}, open(path, "w"), ensure_ascii=False)
    print(len(cases), "cases of", len(texts), "texts")


if __name__ == "__main__":
    main(sys.argv[1], "--all" in sys.argv)
