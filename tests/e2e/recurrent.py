#!/usr/bin/env python3
# Makes tests/e2e/recurrent.tar.xz: language models of a few thousand weights whose layers are recurrences, causal convolutions and
# token shifts, exported by torch, with the logits that ONNX Runtime gives: NAME.onnx, NAME.tokens, NAME.npy. Needs torch, onnx,
# onnxscript and onnxruntime; the test does not. usage: recurrent.py OUT.tar.xz
import io, os, sys, tarfile, tempfile
import numpy, onnxruntime, torch
import torch.nn.functional as F
from torch import nn

VOCABULARY, WIDTH, LENGTH, MOST = 24, 12, 21, 128


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, input_ids):
        return self.head(self.layers(self.embed(input_ids)))


class Recurrent(Model):
    """LSTM, GRU or RNN; a first state of its own when `begins`."""

    def __init__(self, kind, layers=1, begins=False, **options):
        super().__init__()
        self.cell = getattr(nn, kind)(WIDTH, WIDTH, layers, batch_first=True, **options)
        self.first = nn.Parameter(torch.randn(2, 1, 1, WIDTH)) if begins else None

    def layers(self, x):
        return self.cell(x, None if self.first is None else (self.first[0], self.first[1]))[0]


class Bidirectional(Model):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTM(WIDTH, WIDTH // 2, batch_first=True, bidirectional=True)

    def layers(self, x):
        return self.cell(x)[0]


class Convolution(Model):
    """Padded in front; or at both ends, of which the first results are kept, as in Mamba."""

    def __init__(self, both, look_ahead=0):
        super().__init__()
        self.both, self.look_ahead = both, look_ahead
        self.conv = nn.ModuleList(
            nn.Conv1d(WIDTH, WIDTH, 3, groups=WIDTH if d > 1 else 1, dilation=d, padding=2 * d if both else 0) for d in (1, 2))

    def layers(self, x):
        for conv in self.conv:
            y = x.transpose(1, 2)
            pad = 2 * conv.dilation[0]
            y = conv(y)[..., : x.shape[1]] if self.both else conv(F.pad(y, (pad - self.look_ahead, self.look_ahead)))
            x = x + F.silu(y).transpose(1, 2)
        return x


class Shift(Model):
    """RWKV's token shift; in front of the first row zeros, or a row of its own."""

    def __init__(self, begins):
        super().__init__()
        self.begins = nn.Parameter(torch.randn(1, 1, WIDTH)) if begins else None
        self.mix, self.key, self.value = nn.Parameter(torch.rand(WIDTH)), nn.Linear(WIDTH, 32), nn.Linear(32, WIDTH)

    def layers(self, x):
        for _ in range(2):
            before = F.pad(x, (0, 0, 1, -1)) if self.begins is None else torch.cat([self.begins, x[:, :-1]], 1)
            x = x + self.value(torch.relu(self.key(x * self.mix + before * (1 - self.mix))) ** 2)
        return x


class Mixed(Model):
    """A gated convolution and attention, as in LFM2."""

    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.conv = nn.Conv1d(WIDTH, WIDTH, 4, groups=WIDTH, padding=3)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def layers(self, x):
        length = x.shape[1]
        b, c, y = self.enter(x).transpose(1, 2).chunk(3, 1)
        x = x + self.leave((c * self.conv(b * y)[..., :length]).transpose(1, 2))
        q, k, v = (t.view(1, length, 2, WIDTH // 2).transpose(1, 2) for t in self.qkv(x).chunk(3, -1))
        return x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(1, length, WIDTH))


MODELS = {  # name: model, exporter
    "lstm": (lambda: Recurrent("LSTM", 2), "script"),
    "lstm-begins": (lambda: Recurrent("LSTM", begins=True), "dynamo"),
    "gru": (lambda: Recurrent("GRU", 2), "dynamo"),
    "rnn": (lambda: Recurrent("RNN", nonlinearity="relu"), "script"),
    "convolution": (lambda: Convolution(False), "dynamo"),
    "convolution-both": (lambda: Convolution(True), "script"),
    "shift": (lambda: Shift(False), "script"),
    "shift-begins": (lambda: Shift(True), "dynamo"),
    "mixed": (Mixed, "dynamo"),
    "bidirectional": (Bidirectional, "script"),
    "look-ahead": (lambda: Convolution(False, 1), "script"),
}


def export(model, ids, path, exporter):
    names = dict(input_names=["input_ids"], output_names=["logits"])
    if exporter == "script":
        names.update(dynamic_axes={"input_ids": {1: "seq"}, "logits": {1: "seq"}}, opset_version=17, dynamo=False)
    else:
        names.update(dynamic_shapes={"input_ids": {1: torch.export.Dim("seq", max=MOST)}}, dynamo=True, external_data=False,
                     verbose=False)
    torch.onnx.export(model, (ids,), path, **names)


def add(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def main(path):
    torch.manual_seed(1)
    with tarfile.open(path, "w:xz", preset=9) as archive, tempfile.TemporaryDirectory() as folder:
        for name, (make, exporter) in MODELS.items():
            model, file = make().eval(), os.path.join(folder, name + ".onnx")
            ids = torch.randint(0, VOCABULARY, (1, LENGTH))
            export(model, ids, file, exporter)
            logits = onnxruntime.InferenceSession(file).run(["logits"], {"input_ids": ids.numpy()})[0]
            npy = io.BytesIO()
            numpy.save(npy, logits[0])
            with open(file, "rb") as f:
                add(archive, name + ".onnx", f.read())
            add(archive, name + ".tokens", ",".join(map(str, ids[0].tolist())).encode())
            add(archive, name + ".npy", npy.getvalue())


main(sys.argv[1])
