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


def dequantized(y, kind, shape, zero=False, how="matmul", **attributes):
    w, low = y + ".w", 0 if kind in (T.UINT8, T.UINT4) else -8 if kind == T.INT4 else -128
    most = low + (15 if kind in (T.INT4, T.UINT4) else 255)
    codes = rng.integers(low, most + 1, (K, COLUMNS) if how == "matmul" else (COLUMNS, K))
    operands = [add(y + ".q", H.make_tensor(y + ".q", kind, codes.shape, codes.reshape(-1))), add(y + ".s", scales(*shape))]
    if zero:
        z = rng.integers(low, most + 1, shape)
        operands.append(add(y + ".z", H.make_tensor(y + ".z", kind, shape, z.reshape(-1))))
    nodes.append(H.make_node("DequantizeLinear", operands, [w], **attributes))
    if how == "gemm":
        nodes.append(H.make_node("Gemm", ["x", w], [y], transB=1))
    elif how == "transpose":
        nodes.append(H.make_node("Transpose", [w], [w + ".t"], perm=[1, 0]))
        nodes.append(H.make_node("MatMul", ["x", w + ".t"], [y]))
    else:
        nodes.append(H.make_node("MatMul", ["x", w], [y]))
    outputs.append(y)


def experts(y, block, zero=False, inner=32, n=4):
    """Two of four experts, gate and up side by side"""
    def weights(i, rows, depth):
        shape = (n, rows, depth // block) if block else (n, rows)
        z = add(f"{y}.z{i}", rng.integers(0, 256, shape[:-1] + (-(-shape[-1] // 2),)).astype(np.uint8)) if zero else ""
        return [add(f"{y}.q{i}", rng.integers(0, 256, (n, rows, depth // 2)).astype(np.uint8)), add(f"{y}.s{i}", scales(*shape) / 4), ""], z
    (first, z1), (second, z2) = weights(1, 2 * inner, K), weights(2, K, inner)
    operands = ["x", y + ".r"] + first + second + ["", "", "", z1, z2]
    nodes.append(H.make_node("MatMul", ["x", add(y + ".router", rng.standard_normal((K, n)).astype(np.float32))], [y + ".r"]))
    nodes.append(H.make_node("QMoE", operands, [y], domain="com.microsoft", activation_type="swiglu", swiglu_fusion=1, k=2, expert_weight_bits=4,
                             normalize_routing_weights=1, **({"block_size": block} if block else {})))
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
dequantized("gemm", T.INT8, (COLUMNS,), how="gemm", axis=0)
dequantized("transposed", T.UINT8, (), True, how="transpose")
dequantized("gemm_blocks", T.UINT4, (COLUMNS, K // 32), True, how="gemm", axis=1, block_size=32)
table = add("table", H.make_tensor("table", T.INT8, (K, COLUMNS), rng.integers(-128, 128, K * COLUMNS)))
nodes.append(H.make_node("DequantizeLinear", [table, add("table.s", scales())], ["table.w"]))
nodes.append(H.make_node("MatMul", ["x", "table.w"], ["table.product"]))
nodes.append(H.make_node("Gather", ["table.w", add("which", np.array([3, 1, 4, 1, 5]))], ["table.rows"]))
nodes.append(H.make_node("Add", ["table.product", "table.rows"], ["looked_up"]))
outputs.append("looked_up")
nodes.append(H.make_node("GatherBlockQuantized", [add("embedded.q", rng.integers(0, 256, (40, COLUMNS // 2)).astype(np.uint8)), "which",
                                                  add("embedded.s", scales(40, 1))], ["embedded"], domain="com.microsoft", bits=4, block_size=32))
outputs.append("embedded")
experts("experts", 32)
experts("experts_zero", 32, True)
experts("experts_rows", 0, True)
graph = H.make_graph(nodes, "blocks", [H.make_tensor_value_info("x", T.FLOAT, [ROWS, K])],
                     [H.make_tensor_value_info(y, T.FLOAT, [ROWS, K if "experts" in y else COLUMNS]) for y in outputs], tensors)
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
    # Zero points of a wider type than the codes', which ONNX Runtime refuses: the values are NumPy's.
    os.mkdir(os.path.join(folder, "wide"))
    codes, zeros, step = rng.integers(0, 16, (K, COLUMNS)), rng.integers(0, 256, COLUMNS), scales(COLUMNS)
    wide = H.make_graph([H.make_node("DequantizeLinear", ["q", "s", "z"], ["w"], axis=1), H.make_node("MatMul", ["x", "w"], ["y"])], "wide",
                        [H.make_tensor_value_info("x", T.FLOAT, [ROWS, K])], [H.make_tensor_value_info("y", T.FLOAT, [ROWS, COLUMNS])],
                        [H.make_tensor("q", T.UINT4, codes.shape, codes.reshape(-1)), N.from_array(step, "s"), N.from_array(zeros.astype(np.uint8), "z")])
    onnx.save(H.make_model(wide, opset_imports=[H.make_opsetid("", 21)], ir_version=10), os.path.join(folder, "wide", "model.onnx"))
    np.save(os.path.join(folder, "wide", "y.npy"), (x.astype(np.float64) @ ((codes - zeros) * step.astype(np.float64))).astype(np.float32))
    archive.add(folder, "onnx_blocks", filter=anonymous)
