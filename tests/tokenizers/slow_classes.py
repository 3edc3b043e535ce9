"""Makes slow_classes.tar.xz: folders of small vocabularies without a tokenizer.json, texts, and the ids that transformers gives them.

    python tests/tokenizers/slow_classes.py DIR && tar cJf tests/tokenizers/slow_classes.tar.xz -C DIR .

Classes with a fast one are compared with that, made of the same files; those of SentencePiece with the slow one, but for ALBERT's kin. Vocabularies of bytes
(tiktoken, tekken) are compared with tokenizers' BPE over the same tokens. Needs transformers 4.57, tokenizers, sentencepiece."""
import base64
import json
import os
import pathlib
import sys

import sentencepiece
import transformers
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

import generate

OUT = pathlib.Path(sys.argv[1])
TEXTS = [t.replace("\0", "").replace("\r", "").replace("\n", " ") for t in generate.hostile(300, 3)]
CORPUS = generate.corpus() + pathlib.Path("examples/austen/held_out.txt").read_text()[:100000].split("\n")
QWEN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
LETTERS = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]")
KIMI = "|".join([r"[\p{Han}]+", "*".join(LETTERS) + "+(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "+".join(LETTERS) + "*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
                 r"\p{N}{1,3}", r" ?[^\s\p{L}\p{N}]+[\r\n]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
SPECIAL = {"special": True, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}


def folder(name, files, config):
    (OUT / name).mkdir(parents=True)
    for file, text in files.items():
        (OUT / name / file).write_text(text)
    if config is not None:
        (OUT / name / "tokenizer_config.json").write_text(json.dumps(config))


def record(name, ids):
    (OUT / f"{name}.ids").write_text("".join(",".join(map(str, ids(t))) + "\n" for t in TEXTS))


def fast(name, kind):
    tokenizer = getattr(transformers, kind + "Fast").from_pretrained(OUT / name, local_files_only=True)
    record(name, lambda t: tokenizer(t)["input_ids"])


def wordpiece(name, kind, config, special=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), lower=True):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer, t.pre_tokenizer = normalizers.BertNormalizer(lowercase=lower), pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(CORPUS, trainers.WordPieceTrainer(vocab_size=600, special_tokens=list(special), show_progress=False))
    words = sorted(t.get_vocab().items(), key=lambda x: x[1])
    folder(name, {"vocab.txt": "".join(word + "\n" for word, _ in words)}, config)
    fast(name, kind)


def trained(special=(), suffix=None, size=700):
    more = {"end_of_word_suffix": suffix} if suffix else {}
    t = Tokenizer(models.BPE(**more))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=size, special_tokens=list(special), show_progress=False,
                                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), **more))
    return json.loads(t.to_str())["model"]


def pair(name, kind, special, config, suffix=None):
    model = trained(special, suffix)
    merges = "".join(" ".join(m) + "\n" for m in model["merges"])
    folder(name, {"vocab.json": json.dumps(model["vocab"]), "merges.txt": "#version: 0.2\n" + merges}, config)
    fast(name, kind)


def pieces(name, kind, config, file="sentencepiece.bpe.model", **options):
    options = options or {"normalization_rule_name": "identity"}
    folder(name, {}, config)
    (OUT / "corpus").write_text("\n".join(CORPUS))
    sentencepiece.SentencePieceTrainer.train(input=str(OUT / "corpus"), model_prefix=str(OUT / "m"), model_type="unigram",
                                             vocab_size=400, minloglevel=2, num_threads=1, **options)
    os.replace(OUT / "m.model", OUT / name / file)
    os.remove(OUT / "m.vocab"), os.remove(OUT / "corpus")
    tokenizer = getattr(transformers, kind).from_pretrained(OUT / name, local_files_only=True)
    record(name, lambda t: tokenizer(t)["input_ids"])
    (OUT / name / "tokenizer.json").unlink(missing_ok=True)


def ranked(name, pattern, write, nfc=False, first=0, before=()):
    t = Tokenizer(models.BPE(ignore_merges=True))
    if nfc:
        t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(vocab_size=700, show_progress=False,
                                                      initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    byte = {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(b for b in range(256) if b not in plain)}
    vocabulary = sorted(t.get_vocab().items(), key=lambda x: x[1])
    write(name, [base64.b64encode(bytes(byte[c] for c in text)).decode() for text, _ in vocabulary])
    record(name, lambda text: [*before, *(i + first for i in t.encode(text).ids)])


def tiktoken(file, config):
    return lambda name, tokens: folder(name, {file: "".join(f"{t} {i}\n" for i, t in enumerate(tokens))}, config)


def tekken(name, tokens):
    config = {"pattern": QWEN, "num_vocab_tokens": len(tokens), "default_vocab_size": len(tokens) + 60, "default_num_special_tokens": 60}
    vocabulary = [{"rank": i, "token_bytes": t, "token_str": None} for i, t in enumerate(tokens + [base64.b64encode(b"never").decode()])]
    folder(name, {"tekken.json": json.dumps({"config": config, "vocab": vocabulary,
                                            "special_tokens": [{"rank": i, "token_str": f"[S{i}]"} for i in range(40)]})}, None)


GOOGLE = {"pad_id": 0, "unk_id": 1, "bos_id": -1, "eos_id": -1, "control_symbols": ["[CLS]", "[SEP]", "[MASK]"], "split_by_number": False}
fairseq = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
wordpiece("bert", "BertTokenizer", {"do_lower_case": True})
wordpiece("bert-cased", "BertTokenizer", {"do_lower_case": False, "tokenizer_class": "BertTokenizer"}, lower=False)
wordpiece("electra", "ElectraTokenizer", {"tokenizer_class": "ElectraTokenizer", "strip_accents": False, "tokenize_chinese_chars": False})
pair("gpt2", "GPT2Tokenizer", ["<|endoftext|>"], {"tokenizer_class": "GPT2Tokenizer", "add_bos_token": True})
pair("roberta", "RobertaTokenizer", fairseq, {"tokenizer_class": "RobertaTokenizer"})
pair("roberta-space", "RobertaTokenizer", fairseq, {"tokenizer_class": "RobertaTokenizer", "add_prefix_space": True})
pair("clip", "CLIPTokenizer", ["<|startoftext|>", "<|endoftext|>"], {"tokenizer_class": "CLIPTokenizer"}, "</w>")
pair("qwen2", "Qwen2Tokenizer", ["<|endoftext|>"],
     {"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {"700": SPECIAL | {"content": "<s>"}}})
pair("whisper", "WhisperTokenizer", ["<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>"], {"tokenizer_class": "WhisperTokenizer"})
pieces("xlm-roberta", "XLMRobertaTokenizer", {"tokenizer_class": "XLMRobertaTokenizer"})
pieces("mbart", "MBartTokenizer", {"tokenizer_class": "MBartTokenizer", "src_lang": "de_DE"})
pieces("camembert", "CamembertTokenizer", {"tokenizer_class": "CamembertTokenizer"})
pieces("deberta", "DebertaV2Tokenizer", {"do_lower_case": False, "vocab_type": "spm"}, "spm.model", pad_id=0, bos_id=1, eos_id=2,
       unk_id=3, pad_piece="[PAD]", bos_piece="[CLS]", eos_piece="[SEP]", unk_piece="[UNK]")
(OUT / "deberta" / "config.json").write_text(json.dumps({"model_type": "deberta-v2"}))
CODES = ["<mask>", *sorted(transformers.models.nllb.tokenization_nllb.FAIRSEQ_LANGUAGE_CODES)]
pieces("nllb", "NllbTokenizer", {"tokenizer_class": "NllbTokenizer", "src_lang": "deu_Latn", "added_tokens_decoder":
                                 {str(401 + i): SPECIAL | {"content": c, "lstrip": c == "<mask>"} for i, c in enumerate(CODES)}})
pieces("nllb-legacy", "NllbTokenizer", {"tokenizer_class": "NllbTokenizer", "legacy_behaviour": True, "added_tokens_decoder":
                                        {str(401 + i): SPECIAL | {"content": c} for i, c in enumerate(CODES)}})
pieces("mbart50", "MBart50Tokenizer", {"tokenizer_class": "MBart50Tokenizer", "src_lang": "gl_ES"})
pieces("xglm", "XGLMTokenizer", {"tokenizer_class": "XGLMTokenizer"})
pieces("big-bird", "BigBirdTokenizer", {"tokenizer_class": "BigBirdTokenizer"}, "spiece.model")
pieces("pegasus", "PegasusTokenizer", {"tokenizer_class": "PegasusTokenizer"}, "spiece.model", pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
pieces("albert", "AlbertTokenizerFast", {"tokenizer_class": "AlbertTokenizer"}, "spiece.model", **GOOGLE)
pieces("albert-cased", "AlbertTokenizerFast", {"tokenizer_class": "AlbertTokenizer", "do_lower_case": False, "keep_accents": True},
       "spiece.model", **GOOGLE)
pieces("fnet", "FNetTokenizerFast", {"tokenizer_class": "FNetTokenizer"}, "spiece.model", **GOOGLE)
pieces("rembert", "RemBertTokenizerFast", {"tokenizer_class": "RemBertTokenizer"}, "sentencepiece.model", **GOOGLE)
pieces("xlnet", "XLNetTokenizerFast", {"tokenizer_class": "XLNetTokenizer"}, "spiece.model", user_defined_symbols=["<sep>", "<cls>"])
ranked("qwen", QWEN, tiktoken("qwen.tiktoken", {"tokenizer_class": "QWenTokenizer"}), nfc=True)
ranked("kimi", KIMI, tiktoken("tiktoken.model", {"tokenizer_class": "TikTokenTokenizer", "eos_token": "[EOS]",
                                                 "added_tokens_decoder": {"705": SPECIAL | {"content": "[EOS]"}}}))
ranked("tekken", QWEN, tekken, first=60, before=[1])
(OUT / "texts").write_text("".join(t + "\n" for t in TEXTS))
