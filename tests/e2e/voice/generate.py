#!/usr/bin/env python3
# Makes tiny.tar.xz: a voice in the form of Piper's, of random weights: lengths of phonemes that values decide, two random inputs, an
# upsampling convolution. expected.pcm: ONNX Runtime's samples for "ab, c" without noise. Needs onnx and onnxruntime.
import json
import os
import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T
from onnx import helper as H
from onnx import numpy_helper

OUT, WIDTH, HOP = "tiny", 8, 4
MAP = {c: [i] for i, c in enumerate("_^$ ,.abcdeø")}
r = np.random.default_rng(3)
nodes, weights = [], []


def constant(name, value):
    weights.append(numpy_helper.from_array(np.asarray(value), name))
    return name


def node(op, inputs, output, **attributes):
    nodes.append(H.make_node(op, inputs, [output], name=output, **attributes))
    return output


constant("zero", np.int64(0)), constant("one", np.int64(1)), constant("ones", np.int64([1])), constant("last", np.int64([2]))
constant("zeros", np.int64([0]))
constant("table", (r.standard_normal((len(MAP), WIDTH)) * 0.8).astype("f"))
node("Gather", ["table", "input"], "embedded")

# Relative positions, as VITS has them: a table of 9 distances padded to 2 T - 1, a band of [T, 2 T - 1] moved to [T, T].
for name, value in (("two", 2), ("five", 5), ("big", 2**62)):
    constant(name, np.int64([value]))
constant("distances", (r.standard_normal((1, 9, WIDTH)) * 0.5).astype("f"))
node("Shape", ["embedded"], "shape")
node("Gather", ["shape", "ones"], "T")
node("Sub", ["T", "five"], "more")
node("Concat", ["zeros", "more", "zeros", "zeros", "more", "zeros"], "pads", axis=0)
node("Pad", ["distances", "pads"], "padded")
node("Mul", ["T", "two"], "2T")
node("Sub", ["2T", "ones"], "2T-1")
node("Slice", ["padded", "zeros", "2T-1", "ones"], "relative")
node("Transpose", ["relative"], "relative_t", perm=[0, 2, 1])
node("MatMul", ["embedded", "relative_t"], "band")  # [1, T, 2 T - 1]
node("Pad", ["band", constant("one_more", np.int64([0, 0, 0, 0, 0, 1]))], "wide")
node("Mul", ["T", "2T"], "all")
node("Concat", ["ones", "all"], "flat_shape", axis=0)
node("Reshape", ["wide", "flat_shape"], "flat_band")
node("Sub", ["T", "ones"], "T-1")
node("Concat", ["zeros", "zeros", "zeros", "T-1"], "end_pads", axis=0)
node("Pad", ["flat_band", "end_pads"], "long_band")
node("Add", ["T", "ones"], "T+1")
node("Concat", ["ones", "T+1", "2T-1"], "moved_shape", axis=0)
node("Reshape", ["long_band", "moved_shape"], "moved")
node("Slice", ["moved", "zeros", "T", "ones"], "rows")
node("Slice", ["rows", "T-1", "big", "two"], "scores")
node("Softmax", ["scores"], "weights", axis=2)
node("MatMul", ["weights", "embedded"], "attended")
node("Add", ["embedded", "attended"], "states")
node("Transpose", ["states"], "x", perm=[0, 2, 1])  # [1, WIDTH, T]
constant("w.length", (r.standard_normal((1, WIDTH, 1)) * 0.4).astype("f"))
node("Conv", ["x", "w.length"], "raw")
for i, at in enumerate(["0", "1", "2"]):
    node("Gather", ["scales", constant(f"at{i}", np.int64(i))], f"scale{i}")
node("RandomNormalLike", ["raw"], "drawn", dtype=1)
node("Mul", ["drawn", "scale2"], "jitter")
node("Add", ["raw", "jitter"], "logs")
node("Exp", ["logs"], "lengths0")
node("Mul", ["lengths0", "scale1"], "lengths1")
node("Ceil", ["lengths1"], "lengths")  # [1, 1, T]
node("ReduceSum", ["lengths", constant("axes12", np.int64([1, 2]))], "total0", keepdims=0)
node("Clip", ["total0", constant("least", np.float32(1)), ""], "total1")
node("Cast", ["total1"], "total", to=T.INT64)
node("ReduceMax", ["total"], "longest", keepdims=0)
node("Range", ["zero", "longest", "one"], "positions")
node("Unsqueeze", ["positions", "zeros"], "row")
node("Unsqueeze", ["total", "ones"], "column")
node("Less", ["row", "column"], "inside")
node("Cast", ["inside"], "mask0", to=T.FLOAT)
node("Unsqueeze", ["mask0", "ones"], "mask")  # [1, 1, F]
node("Squeeze", ["lengths", "ones"], "flat")
node("CumSum", ["flat", "one"], "ends")  # [1, T]
node("Cast", ["positions"], "where", to=T.FLOAT)
node("Unsqueeze", ["ends", "last"], "ends3")  # [1, T, 1]
node("Less", ["where", "ends3"], "before0")  # [1, T, F]
node("Cast", ["before0"], "before", to=T.FLOAT)
node("Pad", ["before", constant("one_later", np.int64([0, 1, 0, 0, -1, 0]))], "shifted")
node("Sub", ["before", "shifted"], "path")
node("MatMul", ["x", "path"], "means")  # [1, WIDTH, F]
node("RandomNormalLike", ["means"], "drawn2", dtype=1)
node("Mul", ["drawn2", "scale0"], "noise")
node("Add", ["means", "noise"], "z0")
node("Mul", ["z0", "mask"], "z")
constant("w.up", (r.standard_normal((WIDTH, 1, 2 * HOP)) * 0.3).astype("f"))
node("ConvTranspose", ["z", "w.up"], "wave", strides=[HOP], pads=[HOP // 2, HOP // 2])
node("Tanh", ["wave"], "loud")
node("Unsqueeze", ["loud", "ones"], "sound")
# input_lengths has a use that changes no sample.
node("Cast", ["input_lengths"], "n0", to=T.FLOAT)
node("ReduceMin", ["n0"], "n1", keepdims=0)
node("Mul", ["n1", constant("nothing", np.float32(0))], "n2")
node("Add", ["sound", "n2"], "output")

inputs = [H.make_tensor_value_info("input", T.INT64, ["batch_size", "phonemes"]), H.make_tensor_value_info("input_lengths", T.INT64, ["batch_size"]),
          H.make_tensor_value_info("scales", T.FLOAT, [3])]
output = H.make_tensor_value_info("output", T.FLOAT, ["batch_size", 1, 1, "time"])
model = H.make_model(H.make_graph(nodes, "voice", inputs, [output], weights), opset_imports=[H.make_opsetid("", 15)])
model.ir_version = 8
onnx.checker.check_model(model, full_check=True)

os.makedirs(OUT, exist_ok=True)
onnx.save(model, f"{OUT}/voice.onnx")
settings = {"audio": {"sample_rate": 8000}, "espeak": {"voice": "en-us"}, "phoneme_type": "espeak", "num_speakers": 1, "speaker_id_map": {},
            "inference": {"noise_scale": 0.6, "length_scale": 1.5, "noise_w": 0.7}, "phoneme_id_map": MAP}
json.dump(settings, open(f"{OUT}/voice.onnx.json", "w"), ensure_ascii=False)
ids = [1, 0] + [i for c in "ab, c" for i in (MAP[c][0], 0)] + [2]
wave = onnxruntime.InferenceSession(f"{OUT}/voice.onnx").run(None, {"input": np.int64([ids]), "input_lengths": np.int64([len(ids)]),
                                                                   "scales": np.float32([0, 1.5, 0])})[0].reshape(-1)
print(len(ids), wave.shape, abs(wave).max())
np.rint(wave * 32767).clip(-32768, 32767).astype("<i2").tofile(f"{OUT}/expected.pcm")
subprocess.check_call(["tar", "-cJf", "tiny.tar.xz", "--owner=0", "--group=0", "--mtime=@0", "--sort=name", OUT])
