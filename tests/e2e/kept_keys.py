#!/usr/bin/env python3
# Makes kept_keys.tar.xz: small causal decoders whose weights no attention computes, as PyTorch's two exporters write them, with its logits
# of TOKENS: NAME.onnx, NAME.npy. Needs torch, onnx and onnxscript; the tests do not.
# usage: kept_keys.py OUT.tar.xz
import contextlib, io, math, os, sys, tarfile, tempfile
import numpy as np
import onnx
import torch
from torch import nn
from torch.nn import functional as F

WIDTH, HEADS, HEAD, VOCABULARY, CONTEXT = 8, 2, 4, 24, 40
TOKENS = [5, 17, 3, 2, 20, 11, 7, 23, 9, 9, 1, 14, 0]
FAR = float("-inf")
NAMES = ["blocks", "strides", "sigmoid", "squares", "difference", "forgetting", "retention", "talking", "convolved", "shaw", "shifted",
         "gated_keys", "highest", "turned", "groups", "hyper"]


class Mixer(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.name, self.qkv, self.out = name, nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.gate, self.far = nn.Linear(WIDTH, HEADS), nn.Linear(WIDTH, WIDTH)
        self.one, self.two = nn.Conv2d(HEADS, HEADS, 1), nn.Conv2d(HEADS, HEADS, 1)
        self.mix = nn.Parameter(torch.randn(HEADS, HEADS) / 2)
        self.distance = nn.Parameter(torch.randn(2 * CONTEXT + 1, HEAD) / 3)

    def weights(self, x, q, k, q_at, k_at):
        seen, name = k_at <= q_at, self.name
        s = q @ k.transpose(-1, -2) / 2
        gates = self.gate(x).transpose(1, 2)
        softmax = lambda scores, allowed=seen: scores.masked_fill(~allowed, FAR).softmax(-1)
        if name == "blocks":
            return softmax(s, seen & (q_at // 4 == k_at // 4))
        if name == "strides":
            return softmax(s, seen & (((q_at - k_at) % 3 == 0) | (q_at - k_at < 2)))
        if name in ("sigmoid", "turned"):
            return torch.sigmoid(s - 1).masked_fill(~seen, 0.0)
        if name == "squares":
            p = (F.relu(s) ** 2).masked_fill(~seen, 0.0)
            return p / (p.sum(-1, keepdim=True) + 1e-3)
        if name == "difference":
            return softmax(s) - 0.4 * softmax(q[..., :2] @ k[..., 2:].transpose(-1, -2))
        if name == "forgetting":
            kept = F.logsigmoid(gates).cumsum(-1)
            return softmax(s + kept[..., :, None] - kept[..., None, :])
        if name == "retention":
            decay = torch.log(1 - 2.0 ** (-3 - torch.arange(HEADS).float()))
            return s * torch.exp((q_at - k_at).float() * decay[:, None, None]).masked_fill(~seen, 0.0)
        if name == "talking":
            return torch.einsum("bhqk,hg->bgqk", softmax(torch.einsum("bhqk,hg->bgqk", s, self.mix)), self.mix)
        if name == "convolved":
            return self.two(softmax(self.one(s))).masked_fill(~seen, 0.0)
        if name == "shaw":
            return softmax(s + torch.einsum("bhqd,qkd->bhqk", q, self.distance[(q_at - k_at).clamp(-CONTEXT, CONTEXT) + CONTEXT]))
        if name == "shifted":
            return softmax(s + self.shifted(q))
        if name == "gated_keys":
            return softmax(s + gates[..., None, :])
        if name == "highest":
            s = s.masked_fill(~seen, -1e9)
            return softmax(s.masked_fill(s < torch.topk(s, 2, -1)[0][..., -1:], FAR))
        return softmax(s)

    def shifted(self, q):
        length = q.shape[-2]
        at = torch.arange(length - 1, -1, -1.0)[:, None] / 10.0 ** (torch.arange(0, WIDTH, 2.0) / WIDTH)
        far = self.far(torch.cat([at.sin(), at.cos()], -1)).view(length, HEADS, HEAD).transpose(0, 1)
        s = F.pad(q @ far.transpose(-1, -2), (1, 0))
        return s.view(1, HEADS, length + 1, length)[:, :, 1:].reshape(1, HEADS, length, length)

    def groups(self, q, k, v, length, seen):  # both queries of the only key head, over five axes
        s = torch.einsum("bgrqd,bgkd->bgrqk", q.reshape(1, 1, HEADS, length, HEAD), k[:, :1]) / 2
        return torch.einsum("bgrqk,bgkd->bgrqd", s.masked_fill(~seen, FAR).softmax(-1), v[:, :1]).reshape(1, HEADS, length, HEAD)

    def forward(self, x):
        length = x.shape[1]
        q, k, v = (y.view(1, length, HEADS, HEAD).transpose(1, 2) for y in self.qkv(x).chunk(3, -1))
        q_at, k_at = torch.arange(length)[:, None], torch.arange(length)[None]
        if self.name == "groups":
            y = self.groups(q, k, v, length, k_at <= q_at)
        else:
            p = self.weights(x, q, k, q_at, k_at)
            y = (v.transpose(-1, -2) @ p.transpose(-1, -2)).transpose(-1, -2) if self.name == "turned" else p @ v
        return self.out(y.transpose(1, 2).reshape(1, length, WIDTH))


class Decoder(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.token, self.position, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH), nn.Linear(WIDTH, VOCABULARY)
        self.mixer, self.norm, self.hyper = Mixer(name), nn.LayerNorm(WIDTH), name == "hyper"
        self.width, self.depth = nn.Parameter(torch.randn(2, 3) / 2), nn.Parameter(torch.randn(2))

    def forward(self, input_ids):
        x = self.token(input_ids) + self.position(torch.arange(input_ids.shape[1]))
        if not self.hyper:
            return self.head(x + self.mixer(self.norm(x)))
        streams = torch.einsum("btnd,nm->btmd", x[:, :, None].repeat(1, 1, 2, 1), self.width)
        y = self.mixer(self.norm(streams[:, :, 0]))
        return self.head((streams[:, :, 1:] + self.depth[:, None] * y[:, :, None]).sum(2))


def export(model, path, dynamo):
    ids = torch.tensor([TOKENS[:7]])
    shared = dict(input_names=["input_ids"], output_names=["logits"], dynamo=dynamo)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        if dynamo:
            length = torch.export.Dim("length", min=2, max=CONTEXT)
            torch.onnx.export(model, (ids,), path, dynamic_shapes={"input_ids": {1: length}}, external_data=False, **shared)
        else:
            torch.onnx.export(model, (ids,), path, dynamic_axes={"input_ids": {1: "length"}}, opset_version=17, **shared)


def without_names_of_modules(path):
    model = onnx.load(path)
    for value in [model, model.graph, *model.graph.node, *model.graph.value_info, *model.graph.initializer]:
        del value.metadata_props[:]
    del model.graph.value_info[:]
    onnx.save(model, path)


def anonymous(entry):
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    return entry


def main(out):
    with tempfile.TemporaryDirectory() as folder:
        for i, name in enumerate(NAMES):
            torch.manual_seed(i)
            model = Decoder(name).eval()
            export(model, f"{folder}/{name}.onnx", dynamo=i % 2 == 1)
            without_names_of_modules(f"{folder}/{name}.onnx")
            with torch.no_grad():
                np.save(f"{folder}/{name}.npy", model(torch.tensor([TOKENS]))[0].numpy())
        with tarfile.open(out, "w:xz") as archive:
            for file in sorted(os.listdir(folder)):
                archive.add(f"{folder}/{file}", file, filter=anonymous)


main(sys.argv[1])
