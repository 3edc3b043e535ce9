"""Makes heads.tar.xz: small encoders with heads for texts, pairs, tokens and masks, and what transformers says of some texts."""
import sys, torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (AutoTokenizer, BertConfig, BertForMaskedLM, BertForSequenceClassification, BertForTokenClassification,
                          PreTrainedTokenizerFast, RobertaConfig, RobertaForMaskedLM, RobertaForSequenceClassification, pipeline)

out = sys.argv[1]
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "anna", "lives", "in", "paris", "and", "likes", "cats", "the", "cat", "sat", "on",
         "mat", ".", ",", "?", "where", "does", "live", "who", "a", "is", "of", "france", "capital", "new", "york", "##s", "##ing",
         "##er", "good", "bad", "very", "not", "film", "ber", "##lin"]


def bert_tokenizer():
    t = Tokenizer(models.WordPiece({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1",
                                                     special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    t.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(tokenizer_object=t, unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]",
                                   mask_token="[MASK]")


def roberta_tokenizer():
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"] + [chr(c) for c in pre_bytes()]
    merges = [("Ġ", "c"), ("Ġc", "a"), ("Ġca", "t"), ("a", "n"), ("Ġ", "i"), ("Ġi", "s")]
    vocab = {p: i for i, p in enumerate(dict.fromkeys(pieces + [a + b for a, b in merges]))}
    t = Tokenizer(models.BPE(vocab, merges))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return PreTrainedTokenizerFast(tokenizer_object=t, bos_token="<s>", eos_token="</s>", cls_token="<s>", sep_token="</s>",
                                   pad_token="<pad>", unk_token="<unk>", mask_token="<mask>")


def pre_bytes():
    return sorted(ord(c) for c in pre_tokenizers.ByteLevel.alphabet())


def config(kind, vocab, **more):
    torch.manual_seed(1)
    return kind(vocab_size=vocab, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24,
                max_position_embeddings=28, initializer_range=0.8, **more)


def save(name, model, tokenizer, texts, say):
    folder = f"{out}/{name}"
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    with torch.no_grad(), open(f"{folder}/expected", "w") as f, open(f"{folder}/texts", "w") as lines:
        for i, x in enumerate(texts):
            lines.write(("\t".join(x) if isinstance(x, tuple) else x) + "\n")
            f.write(("\n" if i and say in (spans, fills) else "") + say(model, tokenizer, x))


# As burin prints them: the best label with its score, spans with their bytes, words with the texts they make.
def scores(function):
    def say(model, tokenizer, x):
        pair = x if isinstance(x, tuple) else (x, None)
        most = model.config.max_position_embeddings - (2 if model.config.model_type == "roberta" else 0)
        score = function(model(**tokenizer(*pair, truncation="longest_first", max_length=most, return_tensors="pt")).logits[0])
        best = int(score.argmax())
        return ("" if len(score) == 1 else model.config.id2label[best] + "\t") + f"{score[best]:.4f}\n"
    return say


def spans(model, tokenizer, x):
    found = pipeline("token-classification", model=model, tokenizer=tokenizer, aggregation_strategy="simple")(x)
    lines = [f"{s['entity_group']}\t{s['score']:.4f}\t{s['start']}\t{s['end']}\t{x[s['start']:s['end']]}\n" for s in found]
    return "".join(lines)


def fills(model, tokenizer, x):
    e = tokenizer(x, return_tensors="pt")
    rows = model(**e).logits[0][e["input_ids"][0] == tokenizer.mask_token_id].softmax(-1).topk(3)
    parts, groups = x.split(tokenizer.mask_token), []
    for at, (ids, values) in enumerate(zip(rows.indices.tolist(), rows.values.tolist())):
        before, behind = tokenizer.mask_token.join(parts[:at + 1]), tokenizer.mask_token.join(parts[at + 1:])
        groups.append("")
        for i, value in zip(ids, values):
            word = tokenizer.convert_ids_to_tokens(i).replace("##", "").replace("Ġ", "")
            groups[-1] += f"{value:.4f}\t{word}\t{before}{word}{behind}\n"
    return "\n".join(groups)


pairs = [("where does anna live?", "Anna lives in Paris."), ("the cat", "The cats, sitting on a mat"), ("who", " ".join(["cat"] * 40)),
         (" ".join(["cat"] * 40), " ".join(["mat"] * 30)), ("", "cat")]
texts = ["A very good film.", "not good, very bad", "", "cat " * 40]
named = ["Anna lives in New York and likes Berlin, Paris.", "the cat", "Paris"]
bert, roberta = bert_tokenizer(), roberta_tokenizer()
n = len(words)
save("cross", BertForSequenceClassification(config(BertConfig, n, num_labels=1)), bert, pairs, scores(torch.sigmoid))
plain = config(BertConfig, n, num_labels=1)
plain.sentence_transformers = {"activation_fn": "torch.nn.modules.linear.Identity", "version": "4.1.0"}
save("plain", BertForSequenceClassification(plain), bert, pairs[:2], scores(lambda x: x))
save("mood", BertForSequenceClassification(config(BertConfig, n, id2label={0: "negative", 1: "neutral", 2: "positive"})), bert, texts,
     scores(lambda x: x.softmax(-1)))
save("topics", BertForSequenceClassification(config(BertConfig, n, num_labels=2, problem_type="multi_label_classification")), bert,
     texts[:2], scores(torch.sigmoid))
save("names", BertForTokenClassification(config(BertConfig, n, id2label={0: "O", 1: "B-PER", 2: "I-PER", 3: "B-LOC", 4: "I-LOC"})), bert,
     named, spans)
save("mask", BertForMaskedLM(config(BertConfig, n)), bert, ["Paris is the [MASK] of France.", "a [MASK] sat on the [MASK]"], fills)
r = len(roberta)
save("nli", RobertaForSequenceClassification(config(RobertaConfig, r, pad_token_id=1, type_vocab_size=1,
     id2label={0: "contradiction", 1: "entailment", 2: "neutral"})), roberta, [("a cat", "an animal"), ("x", "y z")],
     scores(lambda x: x.softmax(-1)))
save("rmask", RobertaForMaskedLM(config(RobertaConfig, r, pad_token_id=1, type_vocab_size=1)), roberta, ["a cat<mask> is"], fills)
