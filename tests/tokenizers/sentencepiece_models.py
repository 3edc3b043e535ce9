"""Makes sentencepiece.tar.xz: small models that SentencePiece trains, texts, and the ids that it gives them."""
import os, random, sys
import sentencepiece

out, text = sys.argv[1], open("examples/austen/held_out.txt").read()
lines = [line for line in text.split("\n") if line.strip()][:3000]
lines += ["Grüße aus München", "naïve café ﬁne ½ ①", "日本語のテキスト です", "привет мир", "  two  spaces ", "x = 1;\ty = 2"] * 20
with open(f"{out}/corpus", "w") as f:
    f.write("\n".join(lines))
kinds = {"unigram": dict(model_type="unigram", vocab_size=300),
         "unigram_bytes": dict(model_type="unigram", vocab_size=520, byte_fallback=True, character_coverage=0.98,
                               normalization_rule_name="identity"),
         "bpe_bytes": dict(model_type="bpe", vocab_size=500, byte_fallback=True, normalization_rule_name="identity",
                           remove_extra_whitespaces=False, character_coverage=0.98),
         "bpe": dict(model_type="bpe", vocab_size=400, user_defined_symbols=["<sep>"], add_dummy_prefix=False,
                     normalization_rule_name="identity")}
random.seed(1)
words = ("It is a truth universally acknowledged that single man, in Grüße café ﬁne ½ ① 日本語の テキスト привет мир x = 1;\t é e\u0301 "
         "\u200b\u200d 👩‍👩‍👧 \u00a0 ．ＡＢＣ <0x41> ▁ ∑ \u0378 \U0001F600 \U0010FFFD").split(" ")
planes = [(32, 126), (32, 0x24f), (0x300, 0x36f), (0x370, 0xd7ff), (0xe000, 0xffff), (0x10000, 0x10ffff)]
texts = ["", " ", "  ", "a", " a ", "  two  spaces  ", "tab\tx", "▁▁a ▁", "aaaa" * 50, "日本語" * 30]
texts += ["".join(random.choice(words) + random.choice([" ", "", " ", "  "]) for _ in range(random.randint(1, 12))) for _ in range(300)]
texts += ["".join(chr(random.randint(*random.choice(planes))) for _ in range(random.randint(1, 20))) for _ in range(200)]
with open(f"{out}/texts", "w") as f:
    f.write("\n".join(texts) + "\n")
for name, options in kinds.items():
    sentencepiece.SentencePieceTrainer.train(input=f"{out}/corpus", model_prefix=f"{out}/{name}", minloglevel=2, num_threads=1, **options)
    os.remove(f"{out}/{name}.vocab")
    p = sentencepiece.SentencePieceProcessor(model_file=f"{out}/{name}.model")
    with open(f"{out}/{name}.ids", "w") as f:
        f.writelines(",".join(map(str, p.encode(t))) + "\n" for t in texts)
    with open(f"{out}/{name}.text", "w") as f:
        f.writelines(p.decode(p.encode(t)) + "\n" for t in texts[10:40])
os.remove(f"{out}/corpus")
