"""Texts a second of a sentence encoder in PyTorch, loading and the first batch left out.   sentences.py MODEL TEXTS THREADS"""
import sys
import time

import torch
from transformers import AutoModel, AutoTokenizer

BATCH = 32


def embed(tokenizer, model, texts):
    batch = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
    states, mask = model(**batch).last_hidden_state, batch["attention_mask"].unsqueeze(-1).float()
    return torch.nn.functional.normalize((states * mask).sum(1) / mask.sum(1).clamp(min=1e-9)).numpy()


@torch.no_grad()
def main(path, texts, threads):
    torch.set_num_threads(int(threads))
    tokenizer, model = AutoTokenizer.from_pretrained(path), AutoModel.from_pretrained(path).eval()
    lines = sorted(open(texts).read().splitlines(), key=len, reverse=True)
    embed(tokenizer, model, lines[:BATCH])
    start = time.time()
    for i in range(0, len(lines), BATCH):
        embed(tokenizer, model, lines[i : i + BATCH])
    print(len(lines) / (time.time() - start))


main(*sys.argv[1:])
