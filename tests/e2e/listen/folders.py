#!/usr/bin/env python3
# Makes folders.tar.xz: tiny wav2vec2, Parakeet and AST of random weights as Hugging Face folders, and transformers' results for the
# recording of tiny.tar.xz. Needs torch, transformers 5.24, soundfile.
import json
import os
import shutil
import subprocess

import soundfile
import torch
import transformers as T
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers.models.parakeet.tokenization_parakeet import ParakeetTokenizer

OUT = "folders"
WAVE = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, conv_dim=[8] * 4, conv_kernel=[10, 3, 3, 2],
            conv_stride=[5, 4, 4, 4], num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4)
TOKENS = ["<pad>", "<s>", "</s>", "<unk>", "|"] + list("ABCDEFGHI")


def saved(model, name):
    with torch.no_grad():
        for p in model.parameters():
            if p.dim() > 1:
                p.copy_(torch.randn_like(p) * 0.5)
    model.eval().save_pretrained(f"{OUT}/{name}")
    return model


subprocess.run(["tar", "-xJf", "tiny.tar.xz", "tiny/short.wav"], check=True)
samples = soundfile.read("tiny/short.wav", dtype="float32")[0]
shutil.rmtree("tiny")
shutil.rmtree(OUT, ignore_errors=True)
torch.manual_seed(11)

model = saved(T.Wav2Vec2ForCTC(T.Wav2Vec2Config(vocab_size=len(TOKENS), **WAVE)), "wave")
json.dump({token: i for i, token in enumerate(TOKENS)}, open(f"{OUT}/wave/vocab.json", "w"))
processor = T.Wav2Vec2Processor(T.Wav2Vec2FeatureExtractor(), T.Wav2Vec2CTCTokenizer(f"{OUT}/wave/vocab.json"))
processor.save_pretrained(f"{OUT}/wave")
with torch.no_grad():
    ids = model(processor(samples, sampling_rate=16000, return_tensors="pt").input_values).logits.argmax(-1)[0]
text = processor.tokenizer.decode([i for i in ids if i not in (1, 2, 3)], skip_special_tokens=True)
open(f"{OUT}/wave.txt", "w").write(text + "\n")

tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
words = "a cab bad dab ace bead cafe face fade deaf".split()
tokenizer.train_from_iterator([" ".join(words)] * 9, trainers.BpeTrainer(vocab_size=31, special_tokens=["<unk>"]))
blank = tokenizer.get_vocab_size()
tokenizer.add_special_tokens(["<pad>"])
model = saved(T.ParakeetForCTC(T.ParakeetCTCConfig(vocab_size=blank + 1, pad_token_id=blank, encoder_config=dict(
    hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, subsampling_conv_channels=4,
    num_mel_bins=16))), "parakeet")
T.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>").save_pretrained(f"{OUT}/parakeet")
extractor = T.ParakeetFeatureExtractor(feature_size=16)
extractor.save_pretrained(f"{OUT}/parakeet")
with torch.no_grad():
    ids = model.generate(**extractor(samples, sampling_rate=16000, return_tensors="pt"))
text = ParakeetTokenizer.from_pretrained(f"{OUT}/parakeet").batch_decode(ids, skip_special_tokens=True)[0]
open(f"{OUT}/parakeet.txt", "w").write(text + "\n")

labels = {0: "yes", 1: "no", 2: "music"}
model = saved(T.ASTForAudioClassification(T.ASTConfig(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24,
                                                      num_mel_bins=16, max_length=120, patch_size=8, frequency_stride=4,
                                                      time_stride=8, id2label=labels)), "ast")
extractor = T.ASTFeatureExtractor(num_mel_bins=16, max_length=120)
extractor.save_pretrained(f"{OUT}/ast")
with torch.no_grad():
    scores = model(**extractor(samples, sampling_rate=16000, return_tensors="pt")).logits.softmax(-1)[0]
order = scores.argsort(descending=True)
open(f"{OUT}/ast.txt", "w").write("\t".join(f"{labels[int(i)]}\t{scores[i]:.6f}" for i in order) + "\n")
for name in ("wave", "parakeet", "ast"):
    print(open(f"{OUT}/{name}.txt").read().strip())
    for unread in ("special_tokens_map.json",):
        if os.path.exists(f"{OUT}/{name}/{unread}"):
            os.remove(f"{OUT}/{name}/{unread}")
subprocess.run(["tar", "--sort=name", "--mtime=2026-01-01", "--owner=0", "--group=0", "-cJf", "folders.tar.xz", OUT], check=True)
shutil.rmtree(OUT)
