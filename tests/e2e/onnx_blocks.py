#!/usr/bin/env python3
"""Makes tests/e2e/onnx_blocks.tar.xz: one ONNX file with a product by weights of every kind that ONNX Runtime's tools quantize to, the input
and ONNX Runtime's results. Needs onnx, onnxruntime; the tests do not. usage: onnx_blocks.py OUT.tar.xz"""
import os, sys, tarfile, tempfile
import numpy as np
import onnx, onnxruntime
from onnx import TensorProto as T, helper as H, numpy_helper as N

K, COLUMNS, ROWS = 192, 32, 5
rng = np.random.default_rng(14)
nodes, tensors, outputs = [], [], []


def anonymous(member):
    member.mtime = member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def add(name, array):
    tensors.append(array if isinstance(array, onnx.TensorProto) else N.from_array(array, name))
    return name


def scales(*shape, halves=False):
    s = (rng.random(shape) * .02 + .002).astype(np.float32)
    return s.astype(np.float16).astype(np.float32) if halves else s


def packed(codes, bits):
    """Codes along the last axis, the first lowest, rows padded to whole bytes"""
    bit = np.unpackbits(codes.astype(np.uint8)[..., None], axis=-1, count=bits, bitorder="little")
    return np.packbits(bit.reshape(*codes.shape[:-1], -1), axis=-1, bitorder="little")


def nbits(bits, block, zero=None, halves=False):
    y, blocks = f"nbits_{bits}_{block}_{zero or 'none'}{'_halves' if halves else ''}", -(-K // block)
    codes = rng.integers(0, 1 << bits, (COLUMNS, blocks, block))
    operands = ["x", add(y + ".q", packed(codes, bits)), add(y + ".s", scales(COLUMNS * blocks, halves=halves))]
    if zero == "whole":
        operands.append(add(y + ".z", packed(rng.integers(0, 1 << bits, (COLUMNS, blocks)), bits).reshape(-1)))
    if zero == "fraction":
        operands.append(add(y + ".z", (rng.random(COLUMNS * blocks) * ((1 << bits) - 1)).astype(np.float32)))
    nodes.append(H.make_node("MatMulNBits", operands, [y], domain="com.microsoft", K=K, N=COLUMNS, bits=bits, block_size=block))
    outputs.append(y)


def dequantized(y, kind, shape, zero=False, **attributes):
    w, low = y + ".w", 0 if kind in (T.UINT8, T.UINT4) else -8 if kind == T.INT4 else -128
    most = low + (15 if kind in (T.INT4, T.UINT4) else 255)
    codes = rng.integers(low, most + 1, (K, COLUMNS))
    operands = [add(y + ".q", H.make_tensor(y + ".q", kind, codes.shape, codes.reshape(-1))), add(y + ".s", scales(*shape))]
    if zero:
        z = rng.integers(low, most + 1, shape)
        operands.append(add(y + ".z", H.make_tensor(y + ".z", kind, shape, z.reshape(-1))))
    nodes.append(H.make_node("DequantizeLinear", operands, [w], **attributes))
    nodes.append(H.make_node("MatMul", ["x", w], [y]))
    outputs.append(y)


for block in 16, 32, 64, 128:
    nbits(4, block, "whole")
nbits(4, 32)
nbits(4, 64, halves=True)
nbits(4, 32, "whole", halves=True)
nbits(4, 64, "fraction")
nbits(8, 64, "whole")
nbits(8, 32)
nbits(2, 64, "whole")
dequantized("one", T.INT8, ())
dequantized("columns", T.INT8, (COLUMNS,), axis=1)
dequantized("columns_zero", T.UINT8, (COLUMNS,), True, axis=1)
dequantized("columns_four", T.UINT4, (COLUMNS,), True, axis=1)
dequantized("rows", T.INT8, (K,), axis=0)
dequantized("blocks", T.INT4, (K // 32, COLUMNS), axis=0, block_size=32)
dequantized("blocks_zero", T.UINT4, (K // 64, COLUMNS), True, axis=0, block_size=64)
graph = H.make_graph(nodes, "blocks", [H.make_tensor_value_info("x", T.FLOAT, [ROWS, K])],
                     [H.make_tensor_value_info(y, T.FLOAT, [ROWS, COLUMNS]) for y in outputs], tensors)
model = H.make_model(graph, opset_imports=[H.make_opsetid("", 21), H.make_opsetid("com.microsoft", 1)], ir_version=10)
x = rng.standard_normal((ROWS, K)).astype(np.float32)
plainly = onnxruntime.SessionOptions()  # else DequantizeLinear becomes MatMulNBits, with rows of int8
plainly.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
session = onnxruntime.InferenceSession(model.SerializeToString(), plainly, providers=["CPUExecutionProvider"])
with tarfile.open(sys.argv[1], "w:xz") as archive, tempfile.TemporaryDirectory() as folder:
    onnx.save(model, os.path.join(folder, "model.onnx"))
    np.save(os.path.join(folder, "x.npy"), x)
    for y, value in zip(outputs, session.run(None, {"x": x})):
        np.save(os.path.join(folder, y + ".npy"), value)
    archive.add(folder, "onnx_blocks", filter=anonymous)
