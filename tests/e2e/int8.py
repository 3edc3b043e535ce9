#!/usr/bin/env python3
# Makes tests/e2e/int8.tar.xz: decoders with a past, quantized dynamically by ONNX Runtime's tools, and the logits that ONNX Runtime gives
# for TOKENS one at a time; and one without a past, quantized statically (QDQ around every product), with the logits of PROMPT. Needs numpy, onnx and onnxruntime; the tests do not. usage: int8.py OUT.tar.xz QDQ.onnx NAME=model.onnx...
import os, sys, tarfile, tempfile
import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantType, quantize_dynamic, quantize_static

TOKENS = [305, 19, 8, 103, 245, 71, 229, 4, 77]
PROMPT = np.array([[202, 92, 274, 99, 120, 82, 123, 231, 260, 105, 261]])
FEEDS = {"input_ids": PROMPT, "attention_mask": np.ones_like(PROMPT), "position_ids": np.arange(PROMPT.size)[None]}


class Once(CalibrationDataReader):
    def __init__(self):
        self.feeds = iter([FEEDS])

    def get_next(self):
        return next(self.feeds, None)


def at_once(path):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"]).run(["logits"], FEEDS)[0]


def steps(path):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    past = {i.name: np.zeros([1, *(n if isinstance(n, int) else 0 for n in i.shape[1:])], np.float32)
            for i in session.get_inputs() if "past" in i.name}
    names, logits = [o.name for o in session.get_outputs()], []
    given = {i.name for i in session.get_inputs()}
    for position, token in enumerate(TOKENS):
        feeds = {"input_ids": np.array([[token]]), "attention_mask": np.ones((1, position + 1), np.int64),
                 "position_ids": np.array([[position]])}
        results = dict(zip(names, session.run(None, {**{n: x for n, x in feeds.items() if n in given}, **past})))
        past = {n: results[n.replace("past_key_values", "present")] for n in past}
        logits.append(results["logits"][0, 0])
    return np.array(logits, np.float32)


with tarfile.open(sys.argv[1], "w:xz") as archive, tempfile.TemporaryDirectory() as folder:
    def add(name, *files):
        for file in files:
            archive.add(file, f"{name}/{os.path.basename(file)}")

    for name, path in (a.split("=") for a in ["qdq=" + sys.argv[2], *sys.argv[3:]]):
        model, logits = os.path.join(folder, "model.onnx"), os.path.join(folder, "logits.npy")
        if name == "qdq":
            quantize_static(path, model, Once(), op_types_to_quantize=["MatMul", "Gemm"], weight_type=QuantType.QInt8)
            np.save(logits, at_once(model))
        else:
            quantize_dynamic(path, model, weight_type=QuantType.QUInt8)
            np.save(logits, steps(model))
        add(name, model, logits)
