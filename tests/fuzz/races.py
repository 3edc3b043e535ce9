#!/usr/bin/env python3
# Makes tests/fuzz/races.tar.xz: graphs on which threads raced or buffers were too small, as cases in the layout of ONNX's backend tests
# with ONNX Runtime's results: those of FOUND (NAME/model.onnx, in0.INPUT.npy, want0.OUTPUT.npy), rows of bytes whose widths are no multiple
# of 32, and operators over axes of 0 elements, fixed and as the run decides. Needs onnx, onnxruntime; the tests do not.
# usage: races.py FOUND OUT.tar.xz
import glob, io, os, sys, tarfile
import numpy as np
import onnx, onnxruntime
from onnx import TensorProto as T, helper, numpy_helper

FOUND = ["race-size-threads", "esm2-token-dropout", "int8-rows-not-32", "zero-width-rows", "matmul-k0"]
random = np.random.default_rng(7)


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def put(archive, path, data):
    entry = tarfile.TarInfo(path)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


def add(archive, name, model, inputs):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = session.run(None, inputs)
    if not all(np.isfinite(o).all() for o in outputs):
        return print(f"{name}: not finite")
    put(archive, f"{name}/model.onnx", model.SerializeToString())
    for i, value in enumerate(model.graph.input):
        tensor = numpy_helper.from_array(inputs[value.name], value.name)
        put(archive, f"{name}/test_data_set_0/input_{i}.pb", tensor.SerializeToString())
    for i, (value, output) in enumerate(zip(model.graph.output, outputs)):
        tensor = numpy_helper.from_array(np.asarray(output), value.name)
        put(archive, f"{name}/test_data_set_0/output_{i}.pb", tensor.SerializeToString())


# ONNX Runtime refuses some empty operands, and ends by a signal on others.
def computes(model, inputs):
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, inputs)
        except Exception:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def model_of(nodes, inputs, constants):
    given = [helper.make_tensor_value_info(n, t, shape) for n, t, shape in inputs]
    graph = helper.make_graph(nodes, "g", given, [helper.make_empty_tensor_value_info("y")],
                              [numpy_helper.from_array(v, k) for k, v in constants.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


# Two products of bytes, of rows that are `width` long
def quantized(width):
    nodes, constants, x = [], {}, "x"
    for i, (k, n) in enumerate([(width, width + 8), (width + 8, width)]):
        constants[f"w{i}"], constants[f"wz{i}"] = random.integers(-128, 128, (k, n)).astype(np.int8), np.int8(0)
        constants[f"ws{i}"] = np.float32(0.01)
        nodes += [helper.make_node("DynamicQuantizeLinear", [x], [f"q{i}", f"s{i}", f"z{i}"]),
                  helper.make_node("MatMulInteger", [f"q{i}", f"w{i}", f"z{i}", f"wz{i}"], [f"p{i}"]),
                  helper.make_node("Cast", [f"p{i}"], [f"f{i}"], to=T.FLOAT), helper.make_node("Mul", [f"s{i}", f"ws{i}"], [f"ss{i}"]),
                  helper.make_node("Mul", [f"f{i}", f"ss{i}"], ["y" if i else "h"])]
        x = "h"
    return model_of(nodes, [("x", T.FLOAT, ["B", "S", width])], constants)


# Operators over z, rows [0, 8] or columns [5, 0] of x [5, 8]; w is [8, 6].
def empties():
    node = helper.make_node
    one, zero = np.array([1], np.int64), np.array([0], np.int64)
    def of(op, *others, **attributes):
        return [node(op, ["z", *others], ["y"], **attributes)]
    both = {"relu": of("Relu"), "transpose": of("Transpose", perm=[1, 0]), "softmax0": of("Softmax", axis=0), "softmax1": of("Softmax", axis=1),
            "sum0": of("ReduceSum", "a0"), "sum1": of("ReduceSum", "a1", keepdims=0), "prod0": of("ReduceProd", "a0"),
            "prod1": of("ReduceProd", "a1"), "cumsum0": of("CumSum", "s0"), "cumsum1": of("CumSum", "s1"), "cast": of("Cast", to=T.INT64),
            "pad": of("Pad", "pads"), "einsum": of("Einsum", "z", equation="ij,kj->ik"), "gram": [node("Transpose", ["z"], ["t"]), node("MatMul", ["t", "z"], ["y"])],
            "outer": [node("Transpose", ["z"], ["t"]), node("MatMul", ["z", "t"], ["y"])], "where": [node("Greater", ["z", "c"], ["b"]), node("Where", ["b", "z", "c"], ["y"])],
            "half": [node("Cast", ["z"], ["h"], to=T.FLOAT16), node("Add", ["h", "h"], ["y"])], "size": [node("Shape", ["z"], ["y"])],
            "l2": of("ReduceL2", "a1")}
    rows = {"add": of("Add", "bias"), "product": of("MatMul", "w"), "gemm": of("Gemm", "w", "b6"), "concat": [node("Concat", ["z", "x"], ["y"], axis=0)],
            "norm": of("LayerNormalization", "bias", "bias"), "argmax": of("ArgMax", axis=1), "chain": [node("MatMul", ["z", "w"], ["p"]), node("Softmax", ["p"], ["q"]), node("ReduceSum", ["q", "a0"], ["y"])],
            "scatter": [node("ScatterElements", ["x", "ze", "z"], ["y"], axis=0), node("Cast", ["z"], ["ze"], to=T.INT64)][::-1],
            "scores": [node("Transpose", ["z"], ["t"]), node("MatMul", ["x", "t"], ["s"]), node("Softmax", ["s"], ["p"]), node("MatMul", ["p", "z"], ["y"])]}
    columns = {"add": of("Add", "c"), "concat": [node("Concat", ["x", "z"], ["y"], axis=1)]}
    constants = {"w": floats(8, 6), "bias": floats(8), "b6": floats(6), "c": np.float32(0.5), "a0": zero, "a1": one, "s0": np.int64(0), "s1": np.int64(1),
                 "pads": np.array([1, 2, 0, 1], np.int64), "axis": one, "none": np.zeros(0, np.int64)}
    for axis, ops in [(0, both), (0, rows), (1, both), (1, columns)]:
        for name, nodes in ops.items():
            for how in ("fixed", "run"):
                if how == "fixed":
                    constants["start"], constants["end"], constants["along"] = zero, zero, np.array([axis], np.int64)
                    empty = [node("Slice", ["x", "start", "end", "along"], ["z"])]
                else:
                    empty = [node("NonZero", ["m"], ["at"]), node("Squeeze", ["at", "a0"], ["found"]), node("Gather", ["x", "found"], ["z"], axis=axis)]
                inputs = [("x", T.FLOAT, ["n", 8] if axis == 0 or how == "run" else [5, 8])]
                used = {i for n in empty + nodes for i in n.input}
                if how == "run":
                    inputs.append(("m", T.INT64, ["n" if axis == 0 else 8]))
                yield (f"empty_{'rows' if axis == 0 else 'columns'}_{how}_{name}", model_of(empty + nodes, inputs, {k: v for k, v in constants.items() if k in used}), how, axis)


# Five numbers of 4 bits: the rest of the last byte is 0, whatever the memory had. Not by ONNX Runtime, which gives Python no such numbers.
def add_packed(archive):
    model = model_of([helper.make_node("Cast", ["x"], ["y"], to=T.UINT4)], [("x", T.FLOAT, [5])], {})
    numbers = [3, 0, 15, 7, 9]
    put(archive, "packed_rest/model.onnx", model.SerializeToString())
    for name, tensor in [("input", numpy_helper.from_array(np.array(numbers, np.float32), "x")), ("output", helper.make_tensor("y", T.UINT4, [5], numbers))]:
        put(archive, f"packed_rest/test_data_set_0/{name}_0.pb", tensor.SerializeToString())


with tarfile.open(sys.argv[2], "w:xz") as archive:
    for name in FOUND:
        folder = os.path.join(sys.argv[1], name)
        model = onnx.load(os.path.join(folder, "model.onnx"))
        inputs = {os.path.basename(f).split(".")[1]: np.load(f) for f in glob.glob(folder + "/in0.*.npy")}
        add(archive, name.replace("-", "_"), model, inputs)
    for width in (40, 33, 7):
        add(archive, f"int8_rows_{width}", quantized(width), {"x": floats(3, 5, width)})
    for name, model, how, axis in empties():
        inputs = {"x": floats(5, 8)}
        if how == "run":
            inputs["m"] = np.zeros(5 if axis == 0 else 8, np.int64)
        if computes(model, inputs):
            add(archive, name, model, inputs)
        else:
            print(f"{name}: not by ONNX Runtime")
    add_packed(archive)
