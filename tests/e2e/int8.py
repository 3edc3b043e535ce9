#!/usr/bin/env python3
# Makes tests/e2e/int8.tar.xz: decoders with a past, quantized dynamically by ONNX Runtime's tools, and the logits that ONNX Runtime gives
# for TOKENS one at a time. Needs numpy, onnx and onnxruntime; the tests do not. usage: int8.py OUT.tar.xz NAME=model.onnx...
import os, sys, tarfile, tempfile
import numpy as np
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic

TOKENS = [305, 19, 8, 103, 245, 71, 229, 4, 77]


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
    for name, path in (a.split("=") for a in sys.argv[2:]):
        model, logits = os.path.join(folder, "model.onnx"), os.path.join(folder, "logits.npy")
        quantize_dynamic(path, model, weight_type=QuantType.QUInt8)
        np.save(logits, steps(model))
        for file in model, logits:
            archive.add(file, f"{name}/{os.path.basename(file)}")
