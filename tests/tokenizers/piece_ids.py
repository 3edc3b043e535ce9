"""Makes piece_ids.tar.xz: folders of translators whose SentencePiece cuts texts and whose vocab.json has the ids (Marian, M2M-100), without
a tokenizer.json; texts, the ids that transformers' slow classes give them, and what they decode; two with a small model, and its answers.

    python tests/tokenizers/piece_ids.py DIR && tar cJf tests/tokenizers/piece_ids.tar.xz -C DIR .

Needs transformers 4.57, torch, sentencepiece."""
import json
import os
import pathlib
import random
import sys

import sentencepiece
import torch
import transformers

import generate

OUT = pathlib.Path(sys.argv[1])
CODES = [">>fra<< Hello", " >>fra<< x", ">>zzz<<hi", "a >>fra<< b", ">>fra<<>>deu<< x", ">><< x", ">><<", ">>fra< x", "</s>>>fra<<x", ">>fra<<",
         "<pad> >>deu<< q <pad>>>deu<< q", "__en__ the fox __fr__", "__zu__.", "<s>word</s>", "日本 語 日", "▁ ▁▁x", ">>fra<<  the  word "]
TEXTS = CODES + [t.replace("\0", "").replace("\r", "").replace("\n", " ") for t in generate.hostile(300, 7)]
AUSTEN = pathlib.Path("examples/austen/held_out.txt").read_text()
CORPUS = generate.corpus() + [AUSTEN[i:i + 500].replace("\n", " ") for i in range(0, 60000, 500)]
FAIRSEQ = transformers.models.m2m_100.tokenization_m2m_100.FAIRSEQ_LANGUAGE_CODES
SMALL = {"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
         "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 128, "init_std": 0.6}


def train(path, texts, size, **options):
    corpus = OUT / "corpus"
    corpus.write_text("\n".join(texts))
    sentencepiece.SentencePieceTrainer.train(input=str(corpus), model_prefix=str(OUT / "m"), vocab_size=size + 256 * options.get("byte_fallback", False), minloglevel=2, num_threads=1,
                                             character_coverage=0.985, **options)
    os.replace(OUT / "m.model", path)
    os.remove(OUT / "m.vocab"), os.remove(corpus)
    pieces = sentencepiece.SentencePieceProcessor(str(path))
    return [pieces.id_to_piece(i) for i in range(pieces.get_piece_size())]


def vocabulary(path, pieces, before, behind):
    """Every seventh piece has no id."""
    random.seed(1)
    kept = [p for i, p in enumerate(dict.fromkeys(pieces)) if i % 7 != 6 and p not in before + behind]
    random.shuffle(kept)
    path.write_text(json.dumps({text: i for i, text in enumerate(before + kept + behind)}))


def record(name, tokenizer):
    (OUT / f"{name}.ids").write_text("".join(",".join(map(str, tokenizer(t)["input_ids"])) + "\n" for t in TEXTS))
    random.seed(2)
    size = len(tokenizer) if "separate" not in name else len(tokenizer.target_encoder)
    ids = [i for i in range(size) if not tokenizer.convert_ids_to_tokens(i).startswith("<0x")]
    answers = [random.choices(ids, k=8) for _ in range(25)]
    decoded = [tokenizer.decode(a, skip_special_tokens=True, clean_up_tokenization_spaces=False) for a in answers]
    (OUT / f"{name}.answers").write_text("".join(f"{','.join(map(str, a))}\t{t}\n" for a, t in zip(answers, decoded)))


def model(name, tokenizer, kind, config, **settings):
    torch.manual_seed(3)
    torch.set_num_threads(1)
    m = kind(config).eval()
    with torch.no_grad():
        for p in (p for p in m.parameters() if p.requires_grad):
            p.copy_(torch.randn_like(p) * 1.5)
    for key, value in settings.items():
        setattr(m.generation_config, key, value)
    m.save_pretrained(OUT / name)
    lines = []
    for text in [t for t in TEXTS if t.strip() and "\t" not in t][:20]:
        with torch.no_grad():
            ids = m.generate(**tokenizer([text], return_tensors="pt"), max_new_tokens=12, num_beams=1, do_sample=False)
        lines.append(text + "\t" + tokenizer.decode(ids[0], skip_special_tokens=True, clean_up_tokenization_spaces=False) + "\n")
    (OUT / f"{name}.translated").write_text("".join(lines))


def marian(name, config, separate=False, **options):
    folder = OUT / name
    folder.mkdir(parents=True)
    source, target = (train(folder / f"{side}.spm", texts, 250, **options) for side, texts in (("source", CORPUS[::2]), ("target", CORPUS[1::2])))
    codes = [">>fra<<", ">>deu<<"]
    bpe = "model_type" in options  # where a single character that only target.spm knows is unknown, whatever vocab.json says
    both = source + [p for p in target + ["日", "語"] if not bpe or len(p) > 1]
    vocabulary(folder / "vocab.json", source if separate else both, ["</s>", "<unk>"], codes + ["<pad>"])
    if separate:
        vocabulary(folder / "target_vocab.json", target + [f"<{i}>" for i in range(40)], ["</s>", "<unk>"], ["<pad>"])
    if config is not None:
        (folder / "tokenizer_config.json").write_text(json.dumps(config))
    (folder / "config.json").write_text(json.dumps({"model_type": "marian"}))
    return transformers.MarianTokenizer.from_pretrained(folder, local_files_only=True)


def m2m(name, config, **options):
    folder = OUT / name
    folder.mkdir(parents=True)
    pieces = train(folder / "sentencepiece.bpe.model", CORPUS, 300, **options)
    vocabulary(folder / "vocab.json", pieces, ["<s>", "<pad>", "</s>", "<unk>"], [])
    more = [f"__{c}__" for c in FAIRSEQ[config.get("language_codes", "m2m100")]]
    (folder / "tokenizer_config.json").write_text(json.dumps(config | {"additional_special_tokens": more}))
    (folder / "config.json").write_text(json.dumps({"model_type": "m2m_100"}))
    return transformers.M2M100Tokenizer.from_pretrained(folder, local_files_only=True)


def all_of_them():
    t = marian("marian", {"source_lang": "en", "target_lang": "fr"})
    record("marian", t)
    size = len(t)
    model("marian", t, transformers.MarianMTModel, transformers.MarianConfig(
        vocab_size=size, decoder_vocab_size=size, pad_token_id=size - 1, decoder_start_token_id=size - 1, eos_token_id=0, **SMALL),
        bad_words_ids=[[size - 1]])
    record("marian-bpe", marian("marian-bpe", {"tokenizer_class": "MarianTokenizer"}, model_type="bpe"))
    record("marian-separate", marian("marian-separate", {"separate_vocabs": True}, separate=True))
    listed = {"0": "</s>", "1": "<unk>", "999": "<far>"}
    record("marian-listed", marian("marian-listed", {"tokenizer_class": "MarianTokenizer", "added_tokens_decoder": {
        i: {"content": c, "special": True, "lstrip": False, "rstrip": False, "normalized": False, "single_word": False}
        for i, c in listed.items()}}, byte_fallback=True, normalization_rule_name="identity"))
    t = m2m("m2m", {"tokenizer_class": "M2M100Tokenizer", "src_lang": "de"}, model_type="bpe")
    record("m2m", t)
    size = len(t)
    model("m2m", t, transformers.M2M100ForConditionalGeneration, transformers.M2M100Config(
        vocab_size=size + 8, pad_token_id=1, bos_token_id=0, eos_token_id=2, decoder_start_token_id=2, **SMALL),
        forced_bos_token_id=t.get_lang_id("fr"))
    record("m2m-wmt21", m2m("m2m-wmt21", {"tokenizer_class": "M2M100Tokenizer", "language_codes": "wmt21"}, byte_fallback=True))
    (OUT / "texts").write_text("".join(t + "\n" for t in TEXTS))


all_of_them()
