#!/usr/bin/env python3
# Makes tests/conformance/microsoft.tar.xz: small cases of com.microsoft's operators, their results computed by ONNX Runtime, in
# the folders of the ONNX backend tests. Needs numpy, onnx and onnxruntime; the tests do not. usage: microsoft.py OUT.tar.xz
import io, os, sys, tarfile
import numpy as np
import onnx, onnxruntime
from onnx import helper, numpy_helper, TensorProto

random = np.random.default_rng(1)
cases = []
programs = []  # name, model, logits as .npy


def session_of(model):
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # without VNNI its sums of bytes saturate
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def case(name, op, inputs, constants=(), outputs=1, keep=None, domain="com.microsoft", **attributes):
    """inputs: name -> array or None (left out); those in `constants` become initializers; outputs: how many; keep: which."""
    keep = list(range(outputs)) if keep is None else keep
    names = [n if a is not None else "" for n, a in inputs.items()]
    results = [f"y{i}" if i in keep else "" for i in range(outputs)]
    node = helper.make_node(op, names, results, domain=domain, **attributes)
    graph = helper.make_graph([node], name,
        [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape) for n, a in inputs.items()
         if a is not None and n not in constants],
        [helper.make_tensor_value_info(r, TensorProto.FLOAT, None) if r == "y3" else helper.make_empty_tensor_value_info(r) for r in results if r],
        [numpy_helper.from_array(inputs[n], n) for n in constants if inputs.get(n) is not None])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    session = session_of(model)
    given = {n: a for n, a in inputs.items() if a is not None and n not in constants}
    got = session.run(None, given)
    del model.graph.output[:]
    for r, a in zip([r for r in results if r], got):
        model.graph.output.append(helper.make_tensor_value_info(r, helper.np_dtype_to_tensor_dtype(a.dtype), a.shape))
    cases.append((name, model, list(given.values()), got))


def main(path):
    x, bias = floats(2, 3, 8), floats(8)
    case("gelu", "Gelu", {"x": x})
    case("bias_gelu", "BiasGelu", {"x": x, "b": bias})
    case("fast_gelu", "FastGelu", {"x": x, "b": bias})
    case("quick_gelu", "QuickGelu", {"x": x}, alpha=1.5)
    case("fused_matmul", "FusedMatMul", {"a": floats(2, 4, 3), "b": floats(2, 5, 4)}, transA=1, transB=1, alpha=0.5)
    case("skip_layer_norm", "SkipLayerNormalization",
         {"x": x, "skip": floats(2, 3, 8), "g": floats(8), "b": floats(8), "bias": bias}, outputs=4, keep=[0, 3], epsilon=1e-5)
    case("skip_simplified_layer_norm", "SkipSimplifiedLayerNormalization", {"x": x, "skip": floats(2, 3, 8), "g": floats(8)},
         outputs=4, keep=[0, 3], epsilon=1e-6)
    case("simplified_layer_norm", "SimplifiedLayerNormalization", {"x": x, "g": floats(8)}, domain="", axis=-1, epsilon=1e-6)
    ids = random.integers(0, 7, (2, 3)).astype(np.int32)
    case("embed_layer_norm", "EmbedLayerNormalization",
         {"ids": ids, "segments": (ids % 2).astype(np.int32), "word": floats(7, 8), "position": floats(5, 8),
          "segment": floats(2, 8), "g": floats(8), "b": floats(8), "mask": np.array([[1, 1, 1], [1, 1, 0]], np.int32)},
         outputs=2, epsilon=1e-5)
    rotary_cases()
    group_cases()
    multi_head_cases()
    quantized_cases()
    decoder("decoder", False)
    decoder("decoder_4_bits", True)
    expert_cases()
    integer_cases()
    fused_cases()
    linear_cases()
    mask_cases()
    later_group_cases()
    byte_cases()
    quantized_layer_cases()
    state_cases()
    length_cases()
    block_cases()
    score_cases()
    write(path)


def tables(length, half):
    angle = np.arange(length)[:, None] / 10.0 ** (np.arange(half) / half)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def rotary_cases():
    cosine, sine = tables(16, 2)
    first, each = np.array([3], np.int64), np.array([[0, 1, 2], [5, 6, 7]], np.int64)
    case("rotary_offset", "RotaryEmbedding", {"x": floats(2, 3, 8), "p": first, "c": cosine, "s": sine})
    case("rotary_each", "RotaryEmbedding", {"x": floats(2, 2, 3, 4), "p": each, "c": cosine, "s": sine}, interleaved=1)
    case("rotary_part", "RotaryEmbedding", {"x": floats(2, 3, 16), "p": each, "c": cosine, "s": sine}, num_heads=2,
         rotary_embedding_dim=4)


def group_cases():
    cosine, sine = tables(16, 8)
    none = {"past_k": None, "past_v": None}
    totals = lambda n: {"seqlens": np.array([n - 1] * 2, np.int32), "total": np.array([n], np.int32)}
    rotary = {"c": cosine, "s": sine}
    attributes = dict(outputs=3, num_heads=4, kv_num_heads=2)
    q, k, v = floats(2, 5, 64), floats(2, 5, 32), floats(2, 5, 32)
    case("gqa_prompt", "GroupQueryAttention", {"q": q, "k": k, "v": v, **none, **totals(5)}, **attributes)
    case("gqa_rotary", "GroupQueryAttention", {"q": q, "k": k, "v": v, **none, **totals(5), **rotary}, do_rotary=1, **attributes)
    case("gqa_window", "GroupQueryAttention", {"q": q, "k": k, "v": v, **none, **totals(5)}, local_window_size=2, scale=0.5,
         **attributes)
    case("gqa_softcap", "GroupQueryAttention", {"q": q, "k": k, "v": v, **none, **totals(5)}, softcap=1.5, **attributes)
    packed = np.concatenate([q, k, v], axis=2)
    case("gqa_packed", "GroupQueryAttention", {"q": packed, "k": None, "v": None, **none, **totals(5), **rotary}, do_rotary=1,
         rotary_interleaved=1, **attributes)
    past = {"past_k": floats(2, 2, 4, 16), "past_v": floats(2, 2, 4, 16)}
    step = {"q": floats(2, 1, 64), "k": floats(2, 1, 32), "v": floats(2, 1, 32)}
    case("gqa_step", "GroupQueryAttention", {**step, **past, **totals(5), **rotary}, do_rotary=1, **attributes)


def later_group_cases():
    """What newer versions of GroupQueryAttention take; of norms ONNX Runtime's CPU computes only what is normalized before."""
    totals = {"past_k": None, "past_v": None, "seqlens": np.array([4] * 2, np.int32), "total": np.array([5], np.int32)}
    rest = {"c": None, "s": None, "p": None, "bias": None}
    attributes = dict(outputs=3, num_heads=4, kv_num_heads=2)
    q, k, v, sinks = floats(2, 5, 64), floats(2, 5, 32), floats(2, 5, 32), floats(4)
    case("gqa_sinks", "GroupQueryAttention", {"q": q, "k": k, "v": v, **totals, **rest, "sinks": sinks}, constants=["sinks"], **attributes)
    case("gqa_smooth", "GroupQueryAttention", {"q": q, "k": k, "v": v, **totals}, smooth_softmax=1, **attributes)
    case("gqa_both_ways", "GroupQueryAttention", {"q": q, "k": k, "v": v, **totals}, causal=0, **attributes)
    cosine, sine = tables(16, 8)
    weights = [1 + floats(16) / 4, 1 + floats(16) / 4]
    normed = [(x.reshape(2, 5, -1, 16) / np.sqrt((x.reshape(2, 5, -1, 16) ** 2).mean(-1, keepdims=True) + 1e-3) * w).reshape(x.shape)
              for x, w in zip((q, k), weights)]
    case("gqa_norms", "GroupQueryAttention", {"q": normed[0], "k": normed[1], "v": v, **totals, "c": cosine, "s": sine},
         constants=["c", "s"], do_rotary=1, **attributes)
    name, model, given, got = cases.pop()
    node = model.graph.node[0]
    node.input.extend([""] * (14 - len(node.input)) + ["q_norm", "k_norm"])
    node.attribute.append(helper.make_attribute("qk_norm_epsilon", 1e-3))
    model.graph.initializer.extend(numpy_helper.from_array(w.astype(np.float32), n) for w, n in zip(weights, ("q_norm", "k_norm")))
    cases.append((name, model, [q, k, *given[2:]], got))


def multi_head_cases():
    q, k, v = floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8)
    case("mha_cross", "MultiHeadAttention", {"q": q, "k": k, "v": v, "b": floats(24)}, num_heads=2)
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int32)
    case("mha_mask", "MultiHeadAttention", {"q": q, "k": k, "v": v, "b": None, "m": mask, "a": floats(1, 2, 3, 5)}, num_heads=2,
         scale=0.3)
    new = floats(2, 2, 8)
    case("mha_past", "MultiHeadAttention",
         {"q": new, "k": floats(2, 2, 8), "v": floats(2, 2, 8), "b": None, "m": None, "a": None, "pk": floats(2, 2, 3, 4),
          "pv": floats(2, 2, 3, 4)}, outputs=3, num_heads=2, unidirectional=1)
    x, w, b = floats(2, 4, 8), floats(8, 24), floats(24)
    case("attention", "Attention", {"x": x, "w": w, "b": b}, num_heads=2)
    case("attention_causal", "Attention", {"x": x, "w": w, "b": b}, num_heads=2, unidirectional=1)
    case("attention_mask", "Attention", {"x": x, "w": w, "b": b, "m": np.array([[1, 1, 1, 1], [1, 1, 0, 0]], np.int32)}, num_heads=2)
    case("attention_lengths", "Attention", {"x": x, "w": w, "b": b, "m": np.array([4, 3], np.int32)}, num_heads=2)
    case("attention_past", "Attention", {"x": x, "w": w, "b": b, "m": None, "past": floats(2, 2, 2, 3, 4)}, outputs=2,
         num_heads=2, unidirectional=1)


def quantized_cases():
    bytes_of = lambda *shape: random.integers(0, 256, shape).astype(np.uint8)
    constants = ("b", "s", "z")
    a = floats(3, 40)
    case("matmul_4_bits", "MatMulNBits", {"a": a, "b": bytes_of(6, 3, 8), "s": floats(18)}, constants, K=40, N=6, bits=4,
         block_size=16)
    case("matmul_4_bits_zeros", "MatMulNBits", {"a": a, "b": bytes_of(6, 3, 8), "s": floats(18), "z": bytes_of(6 * 2)}, constants,
         K=40, N=6, bits=4, block_size=16)
    case("matmul_4_bits_bias", "MatMulNBits",
         {"a": a, "b": bytes_of(6, 3, 8), "s": floats(18), "z": None, "g": None, "bias": floats(6)}, constants, K=40, N=6, bits=4,
         block_size=16)
    case("matmul_8_bits", "MatMulNBits", {"a": a, "b": bytes_of(6, 3, 16), "s": floats(18)}, constants, K=40, N=6, bits=8,
         block_size=16)
    which = np.array([[1, 0], [4, 1]], np.int64)
    case("gather_quantized", "GatherBlockQuantized", {"b": bytes_of(5, 16), "i": which, "s": floats(5, 2)}, ("b", "s"), bits=4,
         block_size=16, quantize_axis=1)
    case("gather_quantized_zeros", "GatherBlockQuantized",
         {"b": bytes_of(5, 16), "i": which, "s": floats(5, 2), "z": bytes_of(5, 1)}, ("b", "s", "z"), bits=4, block_size=16,
         quantize_axis=1)


def expert_cases():
    experts, hidden, inner = 3, 16, 8
    x, router = floats(2, 3, hidden), floats(6, experts)
    given = lambda fusion: {"x": x, "r": router, "w1": floats(experts, fusion * inner, hidden),
                            "b1": floats(experts, fusion * inner), "w2": floats(experts, hidden, inner), "b2": floats(experts, hidden)}
    for kind in ("relu", "gelu", "silu", "identity"):
        case(f"experts_{kind}", "MoE", given(1), activation_type=kind, k=2)
    case("experts_shares", "MoE", {**given(1), "b1": None, "b2": None}, activation_type="silu", k=3, normalize_routing_weights=1)
    case("experts_swiglu", "MoE", given(2), activation_type="swiglu", swiglu_fusion=1, k=2, normalize_routing_weights=1)
    case("experts_limit", "MoE", given(2), activation_type="swiglu", swiglu_fusion=1, k=1, activation_alpha=1.702,
         activation_beta=1.0, swiglu_limit=0.75)
    bytes_of = lambda *shape: random.integers(0, 256, shape).astype(np.uint8)
    constants = ("w1", "s1", "b1", "w2", "s2", "b2")
    inner = 32
    for bits in (4, 8):
        rows = {"x": x, "r": router, "w1": bytes_of(experts, inner, hidden * bits // 8), "s1": floats(experts, inner) / 64,
                "b1": floats(experts, inner), "w2": bytes_of(experts, hidden, inner * bits // 8),
                "s2": floats(experts, hidden) / 64, "b2": floats(experts, hidden)}
        case(f"experts_{bits}_bits", "QMoE", rows, constants, activation_type="silu", k=2, expert_weight_bits=bits,
             normalize_routing_weights=1)  # ONNX Runtime's QMoE does so in any case
    blocks = {"x": x, "r": router, "w1": bytes_of(experts, 2 * inner, 8), "s1": floats(experts, 2 * inner, 1) / 64,
              "b1": floats(experts, 2 * inner), "w2": bytes_of(experts, hidden, 16), "s2": floats(experts, hidden, 2) / 64}
    case("experts_blocks", "QMoE", blocks, constants, activation_type="swiglu", swiglu_fusion=1, k=2, block_size=16,
         normalize_routing_weights=1)


def integer_cases():
    """What ONNX Runtime's optimizer makes of quantized graphs."""
    integers = lambda t, *shape: random.integers(np.iinfo(t).min, np.iinfo(t).max, shape).astype(t)
    u8 = lambda *shape: integers(np.uint8, *shape)
    i8 = lambda *shape: integers(np.int8, *shape)
    scale, zero = lambda x: np.array(x, np.float32), lambda x, t=np.uint8: np.array(x, t)
    constants = ("b", "bs", "bz", "bias")
    row = np.linspace(-2, 3, 8, dtype=np.float32).reshape(1, 2, 4)
    case("layer_norm_one_weight", "LayerNormalization", {"x": row, "w": np.array([1.5], np.float32), "b": np.array(0.5, np.float32)}, ["w"], domain="", epsilon=1e-5)
    case("simplified_layer_norm_ones", "SimplifiedLayerNormalization", {"x": row, "w": np.full((1, 1, 1), 1.5, np.float32)}, domain="", axis=-1, epsilon=1e-5)
    case("layer_norm_broadcast", "LayerNormalization", {"x": row, "w": np.array([[2], [3]], np.float32)}, domain="", axis=1, epsilon=1e-5)
    case("pow_of_integers", "Pow", {"x": np.array([1, 2, 9, 7]), "y": np.array([-0.5, -0.5, 0.5, 2], np.float32)}, domain="")
    case("shrink_integers", "Shrink", {"x": np.array([-7, -1, 0, 2, 9], np.int32)}, domain="", lambd=1.5, bias=1.5)
    rows = lambda *shape: np.linspace(-1, 2, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    case("embed_layer_norm_no_segments", "EmbedLayerNormalization",
         {"ids": np.array([[1, 3, 2], [0, 2, 2]], np.int32), "segments": None, "word": rows(7, 8) ** 2, "position": rows(5, 8), "segment": -rows(2, 8),
          "g": rows(8), "b": rows(8), "mask": np.array([[1, 2, 1], [1, 1, 0]], np.int32)}, outputs=2, epsilon=1e-5)
    case("dynamic_quantize_zeros", "DynamicQuantizeLinear", {"x": np.zeros((2, 3), np.float32)}, outputs=3, domain="")
    case("dynamic_matmul", "DynamicQuantizeMatMul", {"a": floats(2, 3, 8), "b": i8(8, 6), "bs": scale(0.02)}, constants)
    case("dynamic_matmul_columns", "DynamicQuantizeMatMul",
         {"a": floats(2, 3, 8), "b": u8(8, 6), "bs": np.abs(floats(6)) / 50, "bz": u8(6), "bias": floats(6)}, constants)
    case("integer_matmul", "MatMulIntegerToFloat",
         {"a": u8(3, 8), "b": u8(8, 6), "as": scale(0.1), "bs": scale(0.02), "az": zero(120), "bz": zero(130), "bias": floats(6)},
         constants)
    case("integer_matmul_columns", "MatMulIntegerToFloat",
         {"a": u8(3, 8), "b": i8(8, 6), "as": scale(0.1), "bs": np.abs(floats(6)) / 50, "az": zero(3), "bz": i8(6)}, constants)
    pair = {"a": u8(2, 3, 8), "as": scale(0.1), "az": zero(100), "b": u8(3, 8), "bs": scale(0.05), "bz": zero(90),
            "ys": scale(0.09), "yz": zero(110)}
    case("qlinear_add", "QLinearAdd", pair)
    case("qlinear_mul", "QLinearMul", {**pair, "ys": scale(0.5)})
    case("qlinear_add_signed", "QLinearAdd", {"a": i8(2, 8), "as": scale(0.1), "az": zero(-5, np.int8), "b": i8(2, 8),
         "bs": scale(0.05), "bz": zero(7, np.int8), "ys": scale(0.23), "yz": zero(1, np.int8)})
    one = {"x": u8(2, 4, 3, 5), "xs": scale(0.04), "xz": zero(128), "ys": scale(1 / 256), "yz": zero(0)}
    case("qlinear_softmax", "QLinearSoftmax", one, axis=-1, opset=13)
    case("qlinear_sigmoid", "QLinearSigmoid", one)
    case("qlinear_leaky_relu", "QLinearLeakyRelu", {**one, "ys": scale(0.03), "yz": zero(64)}, alpha=0.2)
    case("qlinear_global_pool", "QLinearGlobalAveragePool", {**one, "ys": scale(0.02), "yz": zero(100)}, channels_last=0)
    case("qlinear_concat", "QLinearConcat", {"ys": scale(0.08), "yz": zero(120), "a": u8(2, 3), "as": scale(0.05), "az": zero(100),
         "b": u8(2, 4), "bs": scale(0.1), "bz": zero(130)}, axis=1)
    gemm = {"a": u8(3, 8), "as": scale(0.1), "az": zero(120), "b": u8(6, 8), "bs": scale(0.02), "bz": zero(130),
            "bias": integers(np.int32, 6) // 2**20}
    case("qgemm", "QGemm", {**gemm, "ys": scale(0.8), "yz": zero(60)}, constants, transB=1)
    case("qgemm_floats", "QGemm", gemm, constants, transB=1, alpha=0.5)


def fused_cases():
    x, w = floats(1, 4, 6, 6), floats(3, 4, 3, 3)
    case("fused_conv_relu", "FusedConv", {"x": x, "w": w, "b": floats(3)}, activation="Relu", pads=[1, 1, 1, 1])
    case("fused_conv_clip", "FusedConv", {"x": x, "w": w, "b": floats(3)}, activation="Clip", activation_params=[-0.5, 2.0])
    case("fused_conv_sum", "FusedConv", {"x": x, "w": w, "b": floats(3), "z": floats(1, 3, 4, 4)}, activation="Relu")
    case("fused_gemm", "FusedGemm", {"a": floats(3, 8), "b": floats(8, 4), "c": floats(4)}, activation="LeakyRelu",
         activation_alpha=0.1)


def mask_cases():
    """A causal mask of the least float that was quantized with the scores: one scale of 1.3e36 for both."""
    scale, zero = lambda x: np.array(x, np.float32), lambda x: np.array(x, np.int8)
    scores = random.integers(-128, 128, (2, 4, 4)).astype(np.int8)
    mask = np.triu(np.full((4, 4), -255), 1) + 127
    wide = scale(1.3344406e36)
    case("qlinear_add_mask", "QLinearAdd", {"a": scores, "as": scale(0.007), "az": zero(20), "b": mask.astype(np.int8), "bs": wide,
         "bz": zero(127), "ys": wide, "yz": zero(127)})
    case("qlinear_softmax_mask", "QLinearSoftmax", {"x": mask.astype(np.int8), "xs": wide, "xz": zero(127), "ys": scale(1 / 256),
         "yz": zero(-128)}, axis=-1, opset=17)


def linear_cases():
    """QuantizeLinear and DequantizeLinear of 16 bits and of 4, as ONNX Runtime's quantizer writes them for opsets before 21."""
    narrow = lambda t: lambda x: numpy_helper.to_array(helper.make_tensor("t", t, np.shape(x), np.ravel(x)))
    kinds = {"i16": np.int16, "u16": np.uint16, "i32": np.int32, "i4": narrow(TensorProto.INT4), "u4": narrow(TensorProto.UINT4)}
    zeros = {"i16": -7, "u16": 32000, "i4": -2, "u4": 7}
    x, columns = floats(3, 8), np.abs(floats(8)) / 4
    for kind, zero in zeros.items():
        wide = kind.endswith("16")
        scale = np.array(0.0001 if wide else 0.3, np.float32)
        if wide:  # results of 4 bits have no type in numpy
            case(f"quantize_{kind}", "QuantizeLinear", {"x": x, "s": scale, "z": kinds[kind](zero)}, ("s", "z"))
        values = random.integers(0, 100 if wide else 8, (3, 8))
        case(f"dequantize_{kind}", "DequantizeLinear", {"x": kinds[kind](values), "s": scale, "z": kinds[kind](zero)}, ("x", "s", "z"))
    case("quantize_columns", "QuantizeLinear", {"x": x, "s": columns, "z": np.arange(8).astype(np.uint16)}, ("s", "z"), axis=1)
    case("dequantize_columns", "DequantizeLinear",
         {"x": random.integers(-99, 99, (3, 8)).astype(np.int16), "s": columns, "z": np.arange(8).astype(np.int16)}, ("s", "z"), axis=1)
    case("dequantize_i32", "DequantizeLinear", {"x": random.integers(-99, 99, (3, 8)).astype(np.int32), "s": np.float32(0.1)}, ("s",))


def decoder(name, quantized):
    """One layer as ONNX Runtime GenAI's builder writes it, with its caches empty: a text program must give the same logits."""
    hidden, heads, groups, width, inner, vocabulary = 32, 4, 2, 16, 32, 40
    nodes, constants = [], []

    def constant(name, array):
        constants.append(numpy_helper.from_array(array, name))
        return name

    def node(op, inputs, outputs, domain="", **attributes):
        nodes.append(helper.make_node(op, inputs, outputs, name=outputs[0], domain=domain, **attributes))

    def product(x, name, rows, columns, result):
        if not quantized:
            return node("MatMul", [x, constant(name, floats(rows, columns) / np.float32(np.sqrt(rows)))], [result])
        blocks = rows // 16
        bytes_ = random.integers(0, 256, (columns, blocks, 8)).astype(np.uint8)
        scales = np.abs(floats(columns * blocks)) / np.float32(8 * np.sqrt(rows))
        node("MatMulNBits", [x, constant(name, bytes_), constant(name + ".scale", scales)], [result], "com.microsoft", K=rows,
             N=columns, bits=4, block_size=16)

    def weight(name):
        return constant(name, 1 + floats(hidden) / 10)

    cosine, sine = tables(64, width // 2)
    constant("cos", cosine), constant("sin", sine), constant("one", np.array([1])), constant("last", np.array(1))
    node("ReduceSum", ["attention_mask", "one"], ["valid"])
    node("Sub", ["valid", "one"], ["valid.1"])
    node("Cast", ["valid.1"], ["seqlens"], to=TensorProto.INT32)
    node("Shape", ["attention_mask"], ["mask.shape"])
    node("Gather", ["mask.shape", "last"], ["total.64"])
    node("Cast", ["total.64"], ["total"], to=TensorProto.INT32)
    node("Gather", [constant("embed", floats(vocabulary, hidden)), "input_ids"], ["x"])
    node("SimplifiedLayerNormalization", ["x", weight("norm.1")], ["h"], epsilon=1e-5)
    product("h", "q_proj", hidden, heads * width, "q")
    product("h", "k_proj", hidden, groups * width, "k")
    product("h", "v_proj", hidden, groups * width, "v")
    past = ["past_key_values.0.key", "past_key_values.0.value"]
    node("GroupQueryAttention", ["q", "k", "v", *past, "seqlens", "total", "cos", "sin"],
         ["a", "present.0.key", "present.0.value"], "com.microsoft", num_heads=heads, kv_num_heads=groups, do_rotary=1)
    product("a", "o_proj", heads * width, hidden, "o")
    node("SkipSimplifiedLayerNormalization", ["x", "o", weight("norm.2")], ["h2", "", "", "x2"], "com.microsoft", epsilon=1e-5)
    product("h2", "gate_proj", hidden, inner, "gate")
    product("h2", "up_proj", hidden, inner, "up")
    node("Sigmoid", ["gate"], ["sigmoid"])
    node("Mul", ["gate", "sigmoid"], ["silu"])
    node("Mul", ["silu", "up"], ["m"])
    product("m", "down_proj", inner, hidden, "d")
    node("SkipSimplifiedLayerNormalization", ["x2", "d", weight("norm.3")], ["h3"], "com.microsoft", epsilon=1e-5)
    product("h3", "lm_head", hidden, vocabulary, "logits")
    value = helper.make_tensor_value_info
    text = ["batch_size", "sequence_length"]
    inputs = [value("input_ids", TensorProto.INT64, text), value("attention_mask", TensorProto.INT64, ["batch_size", "total_length"])]
    inputs += [value(n, TensorProto.FLOAT, ["batch_size", groups, "past_length", width]) for n in past]
    graph = helper.make_graph(nodes, name, inputs, [value("logits", TensorProto.FLOAT, [*text, vocabulary])], constants)
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=10)
    ids = np.array([[5, 17, 33, 2, 30, 11, 7]])
    empty = np.zeros((1, groups, 0, width), np.float32)
    logits = session_of(model).run(["logits"], {"input_ids": ids, "attention_mask": np.ones_like(ids), past[0]: empty, past[1]: empty})[0]
    npy = io.BytesIO()
    np.save(npy, logits[0])
    programs.append((name, model, npy.getvalue()))


def number(value, kind=np.float32):
    return np.array(value, kind)


def byte_cases():
    """What static quantization and the layout with channels last leave; weights of 7 bits, whose sums do not saturate in ONNX Runtime."""
    for kind, zero, least in ((np.uint8, 120, 0), (np.int8, -5, -128)):
        name = np.dtype(kind).name
        some = lambda *shape: random.integers(least, least + 256, shape).astype(kind)
        weights = lambda *shape: random.integers(-64, 64, shape).astype(np.int8)
        x, q, y = some(2, 5, 9, 8), {"xs": number(.02), "xz": number(zero, kind)}, {"ys": number(.0313), "yz": number(zero + 3, kind)}
        other = {"bs": number(.05), "bz": number(zero - 7, kind)}
        known = [*q, *y, *other, "w", "ws", "wz", "bias"]
        for last in (0, 1):
            where = "last" if last else "first"
            case(f"qlinear_average_pool_{where}_{name}", "QLinearAveragePool", {"x": x, **q, **y}, known, kernel_shape=[3, 2],
                 strides=[2, 1], pads=[1, 0, 1, 1], channels_last=last, count_include_pad=last, ceil_mode=last)
            scales = {"ws": (random.random(6) * .02 + .01).astype(np.float32), "wz": np.zeros(6, np.int8)}
            image = some(1, 9, 8, 4) if last else some(1, 4, 9, 8)
            case(f"qlinear_conv_{where}_{name}", "QLinearConv",
                 {"x": image, **q, "w": weights(6, 4, 3, 3), **scales, "ys": number(1), "yz": y["yz"],
                  "bias": random.integers(-200, 200, 6).astype(np.int32)}, known, kernel_shape=[3, 3], pads=[1, 1, 1, 1], channels_last=last)
        case(f"nhwc_max_pool_{name}", "NhwcMaxPool", {"x": x}, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1])
        case(f"qlinear_where_{name}", "QLinearWhere", {"c": random.random((2, 5, 1, 8)) > .5, "x": x, **q, "b": some(5, 9, 8), **other, **y}, known)
        columns = {"w": weights(5, 8), "ws": (random.random(5) * .02).astype(np.float32), "wz": np.zeros(5, np.int8)}
        case(f"qgemm_columns_{name}", "QGemm", {"x": some(3, 8), **q, **columns, "bias": np.arange(-2, 3).astype(np.int32), "ys": number(.1), "yz": q["xz"]},
             known, transB=1, alpha=1.0)
    case("matmul_integer16", "MatMulInteger16", {"a": random.integers(-99, 99, (3, 8)).astype(np.int16), "b": random.integers(-99, 99, (8, 5)).astype(np.int16)})


def quantized_layer_cases():
    seven = lambda *shape: random.integers(-64, 64, shape).astype(np.int8)
    x = {"x": random.integers(0, 256, (2, 3, 8)).astype(np.uint8), "w": seven(8, 24), "b": floats(24), "xs": number(.02), "ws": number(.01)}
    points = {"xz": number(120, np.uint8), "wz": number(3, np.int8)}
    known = ["w", "b", "xs", "ws", "xz", "wz"]
    case("qattention_lengths", "QAttention", {**x, "m": np.array([3, 2], np.int32), **points}, known, num_heads=2)
    case("qattention_past", "QAttention", {**x, "m": None, **points, "past": floats(2, 2, 2, 4, 4)}, known, outputs=2, num_heads=2, unidirectional=1)
    for name, d, direction in (("one", 1, "forward"), ("columns", 2, "bidirectional")):
        scale = (lambda: np.full((1,), .01, np.float32)) if d == 1 else (lambda: (random.random((2, 24)) * .02 + .005).astype(np.float32))
        zero = np.zeros(1 if d == 1 else (2, 24), np.int8)
        given = {"w": seven(d, 4, 24), "r": seven(d, 6, 24), "b": floats(d, 48), "lengths": None, "h": floats(d, 1, 6), "c": floats(d, 1, 6), "p": None, "ws": scale(), "wz": zero, "rs": scale(), "rz": zero}
        case(f"dynamic_quantize_lstm_{name}", "DynamicQuantizeLSTM", {"x": floats(1, 1, 4), **given}, list(given), outputs=3, hidden_size=6, direction=direction)
    for kind, name in ((0, "fp4"), (1, "nf4")):
        case(f"matmul_{name}", "MatMulBnb4", {"a": floats(3, 64), "b": random.integers(0, 256, 160).astype(np.uint8), "s": random.random(10).astype(np.float32)},
             ["b", "s"], K=64, N=5, block_size=32, quant_type=kind)
    case("matmul_nbits_groups", "MatMulNBits", {"a": floats(2, 64), "b": random.integers(0, 256, (6, 2, 16)).astype(np.uint8), "s": floats(12), "z": None,
         "g": random.permutation(np.arange(64) // 32).astype(np.int32)}, ["b", "s", "g"], K=64, N=6, bits=4, block_size=32)
    case("fused_matmul_batch_inside", "FusedMatMul", {"a": floats(6, 2, 4), "b": floats(2, 4, 5)}, transBatchA=1)
    case("transpose_matmul", "TransposeMatMul", {"a": floats(2, 6, 4), "b": floats(2, 5, 6)}, transA=1, transB=1, alpha=.5)
    case("trilu", "Trilu", {"x": floats(3, 5, 6), "k": number(1, np.int64)}, ["k"], upper=0)


def state_cases():
    """What models with a state instead of a cache of keys are written with, and positions of three axes."""
    cosine, sine = tables(16, 4)
    places = random.integers(0, 16, (3, 2, 3))
    for layout in (0, 1):
        case(f"three_rotary_{layout}", "MRotaryEmbedding", {"x": floats(2, 2, 3, 8), "p": places, "c": cosine, "s": sine}, ["c", "s"], mrope_section=[2, 1, 1],
             mrope_layout=layout)
    case("causal_conv", "CausalConvWithState", {"x": floats(2, 6, 5), "w": floats(6, 1, 4), "b": floats(6), "past": floats(2, 6, 3)}, ["w", "b"], outputs=2, activation="silu")
    case("causal_conv_first", "CausalConvWithState", {"x": floats(2, 6, 5), "w": floats(6, 1, 4)}, ["w"], outputs=2)
    forget, take = -np.abs(floats(2, 3, 2)), random.random((2, 3, 2)).astype(np.float32)
    for rule in ("linear", "gated", "delta", "gated_delta"):
        case(f"linear_attention_{rule}", "LinearAttention",
             {"q": floats(2, 3, 16), "k": floats(2, 3, 16) * np.float32(.3), "v": floats(2, 3, 8), "state": floats(2, 2, 8, 4),
              "decay": forget if "gated" in rule else None, "beta": take if "delta" in rule else None}, outputs=2, update_rule=rule, q_num_heads=2, kv_num_heads=2)
    for name in ("silu", "sigmoid"):
        case(f"gated_norm_{name}", "GatedRMSNorm", {"x": floats(2, 3, 8), "g": floats(4), "gate": floats(2, 3, 8)}, ["g"], activation=name)
    case("linear_attention_gate", "LinearAttentionGate", {"a": floats(2, 3, 4), "dt": floats(4), "d": -np.abs(floats(4)), "b": floats(2, 3, 4)}, ["dt", "d"], outputs=2)
    case("pad", "Pad", {"x": floats(3, 5), "p": np.array([1, 0, 0, 2]), "v": number([2])}, ["p", "v"], mode="constant")
    case("gather_nd", "GatherND", {"x": floats(3, 5, 2), "i": np.array([[0, 1], [2, 3]])})
    case("grid_sample", "GridSample", {"x": floats(1, 2, 5, 6), "g": floats(1, 3, 4, 2) * np.float32(.6)}, align_corners=1)


def length_cases():
    """Sequences of different lengths; no row of these is padding, whose results are undefined."""
    cosine, sine = tables(16, 8)
    attributes = dict(outputs=3, num_heads=4, kv_num_heads=2)
    past = lambda rows: {"past_k": floats(2, 2, rows, 16), "past_v": floats(2, 2, rows, 16)}
    lengths = lambda *valid: {"seqlens": np.array(valid, np.int32) - 1, "total": np.array(max(valid), np.int32)}
    step = lambda rows=1: {"q": floats(2, rows, 64), "k": floats(2, rows, 32), "v": floats(2, rows, 32)}
    packed = {"q": floats(2, 1, 128), "k": None, "v": None}
    rotary = {"c": cosine, "s": sine}
    case("gqa_lengths", "GroupQueryAttention", {**step(), **past(4), **lengths(5, 3)}, **attributes)
    case("gqa_lengths_rotary", "GroupQueryAttention", {**step(), **past(4), **lengths(5, 3), **rotary}, do_rotary=1, **attributes)
    case("gqa_lengths_packed", "GroupQueryAttention", {**packed, **past(4), **lengths(3, 5), **rotary}, do_rotary=1, **attributes)
    case("gqa_lengths_window", "GroupQueryAttention", {**step(), **past(6), **lengths(7, 4), **rotary}, do_rotary=1, local_window_size=3, **attributes)
    case("gqa_lengths_both_ways", "GroupQueryAttention", {**step(), **past(4), **lengths(2, 5)}, causal=0, **attributes)
    case("gqa_lengths_bias", "GroupQueryAttention", {**step(), **past(8), **lengths(5, 3), "c": None, "s": None, "p": None, "bias": floats(1, 4, 1, 5)}, **attributes)
    case("gqa_buffer", "GroupQueryAttention", {**step(), **past(8), **lengths(5, 3), **rotary}, do_rotary=1, **attributes)
    case("gqa_buffer_prompt", "GroupQueryAttention", {**step(3), **past(8), **lengths(3, 3), **rotary}, do_rotary=1, **attributes)
    case("gqa_first_position", "GroupQueryAttention", {**step(3), "past_k": None, "past_v": None, **lengths(3, 3), **rotary, "p": np.array([[4, 1, 2], [9, 9, 0]])}, do_rotary=1, **attributes)
    case("gqa_positions", "GroupQueryAttention", {**step(), **past(4), **lengths(5, 3), **rotary, "p": np.array([[9], [2]])}, do_rotary=1, **attributes)
    case("gqa_rows_of_step", "GroupQueryAttention", {**step(3), **past(8), **lengths(6, 8), **rotary, **dict.fromkeys(("p", "bias", "sinks", "ks", "vs", "qn", "kn")),
         "rows": np.array([3, 3], np.int32)}, do_rotary=1, **attributes)
    x, new = {"x": floats(2, 4, 8), "w": floats(8, 24), "b": floats(24)}, {n: floats(2, 1, 8) for n in "qkv"}
    m = lambda *values: {"m": np.array(values, np.int32)}
    none = dict.fromkeys(("b", "a"))
    case("attention_ends", "Attention", {**x, **m(4, 3, 1, 0)}, num_heads=2)
    case("attention_ends_of_one", "Attention", {**x, "x": floats(1, 4, 8), **m(3, 1)}, num_heads=2)
    case("attention_rows", "Attention", {**x, **m(4, 2, 0, 4, 6, 0, 4, 6)}, num_heads=2, unidirectional=1)
    q, cross = {"q": floats(2, 3, 8)}, {"k": floats(2, 5, 8), "v": floats(2, 5, 8)}
    case("mha_rows", "MultiHeadAttention", {**q, **cross, "b": None, **m(5, 2, 0, 3, 6, 0, 5, 7)}, num_heads=2)
    case("mha_scores", "MultiHeadAttention", {**q, **cross, "b": None, "m": np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int32)}, outputs=4, keep=[0, 3], num_heads=2,
         mask_filter_value=-50.0)
    case("mha_last_row", "MultiHeadAttention", {**q, **cross}, num_heads=2, unidirectional=1)
    case("mha_buffer", "MultiHeadAttention", {**new, **none, "m": None, "pk": floats(2, 2, 6, 4), "pv": floats(2, 2, 6, 4), "n": np.array([3], np.int32)}, outputs=3, num_heads=2)
    case("mha_buffer_mask", "MultiHeadAttention", {**new, "b": None, "m": np.array([[1, 1, 0, 1], [0, 1, 1, 1]], np.int32), "a": None, "pk": floats(2, 2, 6, 4),
         "pv": floats(2, 2, 6, 4), "n": np.array([3], np.int32)}, outputs=3, num_heads=2)
    bytes_of = lambda *shape: random.integers(0, 256, shape).astype(np.uint8)
    case("experts_8_bits_zeros", "QMoE",
         {"x": floats(5, 32), "r": floats(5, 4), "w1": bytes_of(4, 16, 32), "s1": random.random((4, 16)).astype(np.float32) / 50, "b1": floats(4, 16),
          "w2": bytes_of(4, 32, 16), "s2": random.random((4, 32)).astype(np.float32) / 50, "b2": floats(4, 32), "w3": None, "s3": None, "b3": None,
          "z1": bytes_of(4, 16), "z2": bytes_of(4, 32)},
         ["w1", "s1", "b1", "w2", "s2", "b2", "z1", "z2"], activation_type="silu", k=2, normalize_routing_weights=1, expert_weight_bits=8)


def block_cases():
    """Blocks along any axis, rows that are no whole blocks, zero points of fewer than 8 bits a row of an expert, embeddings of bytes."""
    bytes_of = lambda *shape: random.integers(0, 256, shape).astype(np.uint8)
    narrow = lambda *shape: numpy_helper.to_array(helper.make_tensor("t", TensorProto.INT4, shape, random.integers(-8, 8, shape).ravel()))
    which, known = np.array([[1, 0], [3, 1]]), ["b", "s", "z"]
    case("gather_columns", "GatherBlockQuantized", {"b": narrow(32, 4), "i": which, "s": floats(2, 4), "z": narrow(2, 4)}, known, gather_axis=1, quantize_axis=0, block_size=16)
    case("gather_middle", "GatherBlockQuantized", {"b": narrow(4, 40, 3), "i": which, "s": floats(4, 3, 3)}, known, gather_axis=0, quantize_axis=1, block_size=16)
    for bits in (2, 4, 8):
        elements = 8 // bits
        case(f"gather_rest_{bits}_bits", "GatherBlockQuantized", {"b": bytes_of(5, 3, 40 // elements), "i": which, "s": floats(5, 3, 3), "z": bytes_of(5, 3, -(-3 // elements))},
             known, bits=bits, gather_axis=0, quantize_axis=2, block_size=16)
    for bits in (2, 4):
        elements = 8 // bits
        given = {"x": floats(5, 32), "r": floats(5, 4), "w1": bytes_of(4, 32, 32 // elements), "s1": random.random((4, 32)).astype(np.float32) / 20, "b1": floats(4, 32),
                 "w2": bytes_of(4, 32, 16 // elements), "s2": random.random((4, 32)).astype(np.float32) / 20, "b2": floats(4, 32), "w3": None, "s3": None, "b3": None,
                 "z1": bytes_of(4, 32 // elements), "z2": bytes_of(4, 32 // elements)}
        case(f"experts_{bits}_bits_zeros", "QMoE", given, [n for n in given if n not in "xr"], activation_type="swiglu", swiglu_fusion=1, k=2, normalize_routing_weights=1,
             expert_weight_bits=bits)
    given = {**given, "z1": None, "z2": None, "z3": None, "shares": random.random((5, 4)).astype(np.float32)}
    for name, whole in (("", 0), ("_whole", 1)):
        case(f"experts_other_shares{name}", "QMoE", given, [n for n in given if n not in "xr" and n != "shares"], activation_type="swiglu", swiglu_fusion=1, k=2,
             normalize_routing_weights=whole, expert_weight_bits=4)
    ids = random.integers(0, 7, (2, 3)).astype(np.int32)
    rows = {"w": (7, 8), "p": (5, 8), "t": (2, 8), "g": (8,), "b": (8,)}
    for name, left_out in (("whole", ()), ("plain", ("types", "t", "mask"))):
        kind = np.uint8 if left_out else np.int8
        given = {"ids": ids, "types": ids % 2, **{n: random.integers(np.iinfo(kind).min, np.iinfo(kind).max, s).astype(kind) for n, s in rows.items()},
                 "mask": np.array([[1, 1, 1], [1, 1, 0]], np.int32), **{n + "s": number(random.random() / 20 + .01) for n in rows}, **{n + "z": number(9, kind) for n in rows}}
        given = {n: None if n in left_out or n[0] in left_out else a for n, a in given.items()}
        case(f"embed_layer_norm_bytes_{name}", "QEmbedLayerNormalization", given, [n for n in given if n not in ("ids", "types", "mask")], outputs=2, epsilon=1e-5)


def score_cases():
    """Scores as a result, before the softmax (hidden keys are 0) and after it."""
    attributes = dict(outputs=4, num_heads=4, kv_num_heads=2, softcap=1.5)
    rows = lambda n: {"q": floats(2, n, 64), "k": floats(2, n, 32), "v": floats(2, n, 32)}
    past = {"past_k": floats(2, 2, 4, 16), "past_v": floats(2, 2, 4, 16)}
    ends = lambda *last: {"seqlens": np.array(last, np.int32), "total": np.array([max(last) + 1], np.int32)}
    rest = dict.fromkeys("csp")
    for form, name in ((1, "scores"), (2, "shares")):
        bias, sinks = {"bias": floats(1, 4, 5, 5)}, {"sinks": floats(4)}
        case(f"gqa_{name}", "GroupQueryAttention", {**rows(5), **dict.fromkeys(past), **ends(4, 4), **rest, **bias, **sinks}, ["sinks"], qk_output=form, **attributes)
        case(f"gqa_{name}_window", "GroupQueryAttention", {**rows(1), **past, **ends(4, 4)}, qk_output=form, local_window_size=3, **attributes)


def write(path):
    with tarfile.open(path, "w:xz") as archive:
        def add(name, data):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))

        for name, model, logits in programs:
            add(f"programs/{name}.onnx", model.SerializeToString(deterministic=True))
            add(f"programs/{name}.npy", logits)
        for name, model, inputs, outputs in cases:
            add(f"{name}/model.onnx", model.SerializeToString(deterministic=True))
            for kind, values in (("input", inputs), ("output", outputs)):
                for i, value in enumerate(values):
                    add(f"{name}/test_data_set_0/{kind}_{i}.pb", numpy_helper.from_array(np.asarray(value)).SerializeToString())


main(sys.argv[1])
