#!/usr/bin/env python3
"""Makes onnx_sizes.tar.xz: small ONNX models whose sizes a run decides, two runs each, with what ONNX Runtime computes.
usage: python3 tests/e2e/onnx_sizes.py        (needs onnx, onnxruntime and numpy)"""
import os
import subprocess
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

random = np.random.default_rng(7)
cases = {}


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def add(name, nodes, inputs, constants, runs, outputs=(("y", TensorProto.FLOAT),), declared=None):
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_tensor_value_info(n, t, declared) for n, t in outputs],
        [numpy_helper.from_array(v, k) for k, v in constants.items()])
    cases[name] = (helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), runs)


def image(name, nodes, constants, **more):
    runs = [{"x": floats(2, 4, 7, 6)}, {"x": floats(1, 4, 8, 9)}]
    add(name, nodes, [("x", TensorProto.FLOAT, ["B", 4, "H", "W"])], constants, runs, **more)


node = helper.make_node
for mode in ("edge", "reflect", "wrap"):
    image(f"pad-{mode}", [node("Pad", ["x", "p"], ["y"], mode=mode)], {"p": np.array([0, 0, 2, 1, 0, 0, 3, 2])})
for auto, stride, kernel in (("SAME_UPPER", 1, 3), ("SAME_UPPER", 2, 3), ("SAME_LOWER", 2, 2), ("SAME_LOWER", 3, 1), ("VALID", 2, 3)):
    both = {"auto_pad": auto, "strides": [stride, stride]}
    image(f"conv-{auto}-{stride}", [node("Conv", ["x", "w"], ["y"], **both)], {"w": floats(6, 4, kernel, kernel)})
    image(f"pool-{auto}-{stride}", [node("MaxPool", ["x"], ["y"], kernel_shape=[3, 3], **both)], {})
for pads in (0, 1):
    image(f"ceil-{pads}", [node("AveragePool", ["x"], ["y"], kernel_shape=[3, 3], strides=[2, 2], pads=[pads] * 4, ceil_mode=1)], {})
for name, more in (("pads", {"pads": [1, 0, 1, 2]}), ("upper", {"auto_pad": "SAME_UPPER"}), ("lower", {"auto_pad": "SAME_LOWER"}),
                   ("rest", {"output_padding": [1, 1]}), ("dilated", {"dilations": [2, 2]}), ("groups", {"group": 2})):
    image(f"transposed-{name}", [node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2], **more)], {"w": floats(4, 2, 3, 3)})
image("same-residual", [node("Conv", ["x", "w"], ["a"], auto_pad="SAME_UPPER", strides=[2, 2]),
                        node("MaxPool", ["x"], ["b"], auto_pad="SAME_UPPER", strides=[2, 2], kernel_shape=[2, 2]),
                        node("Add", ["a", "b"], ["y"])], {"w": floats(4, 4, 3, 3)})
add("unnamed", [node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])], [("x", TensorProto.FLOAT, ["?", 4, "?", "?"])],
    {"w": floats(2, 4, 3, 3)}, [{"x": floats(2, 4, 7, 5)}])
add("declared-rank", [node("ReduceMean", ["x", "a"], ["y"], keepdims=0)], [("x", TensorProto.FLOAT, ["B", 4])], {"a": np.array([1])},
    [{"x": floats(3, 4)}], declared=[])
add("top-of-product", [node("Reshape", ["x", "s"], ["r"]), node("TopK", ["r", "k"], ["y", "i"], largest=0)],
    [("x", TensorProto.FLOAT, ["b", "n"])], {"s": np.array([-1]), "k": np.array([3])}, [{"x": floats(3, 4)}, {"x": floats(1, 3)}],
    outputs=(("y", TensorProto.FLOAT), ("i", TensorProto.INT64)))
for step in (1, 3, -2):
    add(f"range-{step}", [node("Range", ["a", "b", "c"], ["y"])], [("a", TensorProto.INT64, []), ("b", TensorProto.INT64, [])],
        {"c": np.array(step)}, [{"a": np.array(2), "b": np.array(11)}, {"a": np.array(9), "b": np.array(-3)}],
        outputs=(("y", TensorProto.INT64),))
add("range-of-floats", [node("ReduceMax", ["n"], ["m"], keepdims=0), node("Cast", ["m"], ["f"], to=1), node("Mul", ["f", "h"], ["u"]),
                        node("Ceil", ["u"], ["t"]), node("Range", ["z", "t", "o"], ["y"])], [("n", TensorProto.INT64, ["b"])],
    {"h": np.float32(0.5), "z": np.float32(0), "o": np.float32(1)}, [{"n": np.array([3, 9, 4])}, {"n": np.array([2])}])

# Two symbols that only a product ties to two others; parts whose sizes are counted; squeeze as PyTorch writes it.
add("two-symbols", [node("Shape", ["x"], ["s"]), node("Mul", ["s", "f"], ["s5"]), node("Unsqueeze", ["m", "one"], ["u"]),
                    node("Tile", ["u", "r"], ["t"]), node("Reshape", ["t", "s5"], ["v"]), node("ReduceSum", ["v"], ["w"], keepdims=0),
                    node("Add", ["x", "w"], ["y"])], [("x", TensorProto.FLOAT, ["b1", "n1"]), ("m", TensorProto.FLOAT, ["b2", "n2"])],
    {"f": np.array([5, 1]), "one": np.array([1]), "r": np.array([1, 5, 1])}, [{"x": floats(2, 3), "m": floats(2, 3)}])
add("split-by-counts", [node("OneHot", ["e", "d", "v"], ["h"]), node("ReduceSum", ["h", "zero"], ["n"], keepdims=0),
                        node("Split", ["x", "n"], ["a", "b", "c"], axis=0), node("Mul", ["b", "w"], ["p"]), node("Neg", ["c"], ["q"]),
                        node("Concat", ["a", "p", "q"], ["y"], axis=0)],
    [("x", TensorProto.FLOAT, ["n", 4]), ("e", TensorProto.INT64, ["n"])],
    {"d": np.array(3), "v": np.array([0, 1]), "zero": np.array([0]), "w": floats(4)},
    [{"x": floats(5, 4), "e": np.array([2, 0, 2, 1, 0])}, {"x": floats(3, 4), "e": np.array([1, 1, 1])}])
branches = [helper.make_graph([node(op, names, ["r"])], op, [], [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)])
            for op, names in (("Squeeze", ["p", "two"]), ("Identity", ["p"]))]
add("squeeze-if-one", [node("MaxPool", ["x"], ["p"], kernel_shape=[8], strides=[8]), node("Shape", ["p"], ["s"]),
                       node("Gather", ["s", "two"], ["g"]), node("Equal", ["g", "one"], ["c"]),
                       node("If", ["c"], ["q"], then_branch=branches[0], else_branch=branches[1]), node("MatMul", ["q", "w"], ["y"])],
    [("x", TensorProto.FLOAT, ["b", 4, "t"])], {"two": np.array([2]), "one": np.array([1]), "w": floats(4, 3)},
    [{"x": floats(2, 4, 9)}, {"x": floats(1, 4, 15)}])

with tempfile.TemporaryDirectory() as folder:
    for name, (model, runs) in cases.items():
        os.mkdir(f"{folder}/{name}")
        onnx.save(model, f"{folder}/{name}/model.onnx")
        session = onnxruntime.InferenceSession(model.SerializeToString())
        for i, inputs in enumerate(runs):
            for key, value in inputs.items():
                np.save(f"{folder}/{name}/in{i}.{key}.npy", value)
            for out, value in zip(session.get_outputs(), session.run(None, inputs)):
                np.save(f"{folder}/{name}/want{i}.{out.name}.npy", value)
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(["tar", "-C", folder, "--sort=name", "--owner=0", "--group=0", "--mtime=2026-11-28", "-cJf",
                    f"{here}/onnx_sizes.tar.xz", *sorted(cases)], check=True)
