#!/usr/bin/env python3
# Makes tiny.tar.xz: wav2vec2 of random weights as ONNX with its files beside it, for characters (ctc/) and for classes (classes/), two
# recordings and transformers' results (text.txt, scores.txt). Needs torch, transformers, onnx, soundfile.
import json
import os
import shutil
import subprocess

import numpy as np
import soundfile
import torch
from transformers import (HubertConfig, HubertForSequenceClassification, Wav2Vec2Config, Wav2Vec2CTCTokenizer, Wav2Vec2FeatureExtractor,
                          Wav2Vec2ForCTC)

OUT = "tiny"
SIZES = dict(hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=24, conv_dim=[8] * 4, conv_kernel=[10, 3, 3, 2],
             conv_stride=[5, 4, 4, 4], num_feat_extract_layers=4, num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4,
             attn_implementation="eager")
TOKENS = ["<pad>", "<s>", "</s>", "<unk>", "|"] + list("ABCDEFGHI")


def export(model, folder, axes):
    torch.onnx.export(model, (torch.randn(1, 4000),), f"{OUT}/{folder}/model.onnx", input_names=["input_values"], output_names=["logits"],
                      dynamic_axes={"input_values": {0: "batch_size", 1: "sequence_length"}, "logits": axes}, opset_version=17, dynamo=False)


def randomize(model):
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.dim() > 1:
                p.copy_(torch.randn_like(p) * 0.5)
    return model.eval()


shutil.rmtree(OUT, ignore_errors=True)
for folder in ("ctc", "classes"):
    os.makedirs(f"{OUT}/{folder}")
    Wav2Vec2FeatureExtractor(return_attention_mask=False).save_pretrained(f"{OUT}/{folder}")
torch.manual_seed(7)
r = np.random.default_rng(2)
t = np.arange(14321) / 16000
wave = np.sin(2 * np.pi * t * (200 + 900 * t)) * np.sin(12 * t) ** 2 * 0.4 + r.standard_normal(t.size) * 0.02
soundfile.write(f"{OUT}/short.wav", wave, 16000, subtype="PCM_16")
samples = soundfile.read(f"{OUT}/short.wav", dtype="float32")[0]
values = Wav2Vec2FeatureExtractor()(samples, sampling_rate=16000, return_tensors="pt").input_values

json.dump({token: i for i, token in enumerate(TOKENS)}, open(f"{OUT}/ctc/vocab.json", "w"))
Wav2Vec2CTCTokenizer(f"{OUT}/ctc/vocab.json").save_pretrained(f"{OUT}/ctc")
ctc = randomize(Wav2Vec2ForCTC(Wav2Vec2Config(vocab_size=len(TOKENS), **SIZES)))
with torch.no_grad():
    ids = ctc(values).logits.argmax(-1)[0]
text = Wav2Vec2CTCTokenizer.from_pretrained(f"{OUT}/ctc").decode(ids, skip_special_tokens=True)
print(ids.tolist(), repr(text))
open(f"{OUT}/text.txt", "w").write(text + "\n")
export(ctc, "ctc", {0: "batch_size", 1: "frames"})

labels = {0: "yes", 1: "no", 2: "music"}
classes = randomize(HubertForSequenceClassification(HubertConfig(id2label=labels, classifier_proj_size=8, **SIZES)))
classes.config.save_pretrained(f"{OUT}/classes")
with torch.no_grad():
    scores = classes(values).logits.softmax(-1)[0]
order = scores.argsort(descending=True)
open(f"{OUT}/scores.txt", "w").write("\t".join(f"{labels[int(i)]}\t{scores[i]:.6f}" for i in order) + "\n")
export(classes, "classes", {0: "batch_size"})
subprocess.run(["tar", "--sort=name", "--mtime=2026-01-01", "--owner=0", "--group=0", "-cJf", "tiny.tar.xz", OUT], check=True)
