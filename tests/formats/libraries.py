"""Tiny folders as hqq, torchao, mlx, compressed-tensors and amd-quark write them, with the values that these libraries compute from them, in float32. Not needed
to build or test burin.

usage: libraries.py [NAME...]   needs what folders.py does, hqq, torchao, mlx (and mlx-cpu), compressed-tensors (0.20), amd-quark; writes tests/formats/folders/*
"""
import json
import sys

import numpy as np
import torch
from torchao.quantization import MappingType, PerRow, PerTensor

import folders
from folders import SMALL, llama, wide
import transformers


def hqq(bits, group, axis=1, together=False, view=False, **more):
    from hqq.core.quantize import BaseQuantizeConfig, HQQLinear

    def quantize(name, w):
        linear = torch.nn.Linear(w.shape[1], w.shape[0], bias=False)
        linear.weight.data = torch.from_numpy(w)
        config = BaseQuantizeConfig(nbits=bits, group_size=group, axis=axis, view_as_float=view)
        config["weight_quant_params"] |= more
        layer = HQQLinear(linear, config, compute_dtype=torch.float16, device="cpu")
        tensors = {k: t.detach().clone() for k, t in layer.state_dict().items() if t is not None}
        again = HQQLinear(None, None, compute_dtype=torch.float32, device="cpu")
        again.load_state_dict({k: t.clone() for k, t in tensors.items()})
        if together:  # offload_meta
            tensors["zero_scale"] = torch.stack((tensors.pop("zero"), tensors.pop("scale")))
        return {f"{name}.{k}": t for k, t in tensors.items()}, again.dequantize().detach().numpy()
    params = {"nbits": bits, "group_size": group, "axis": axis, "view_as_float": view} | more
    return quantize, {"quant_method": "hqq", "skip_modules": ["lm_head"], "quant_config": {
        "offload_meta": together, "scale_quant_params": None, "zero_quant_params": None, "weight_quant_params": params}}


def tiled(code, inner=8):
    """What _convert_weight_to_int4pack gives on a GPU, in the words of its kernel: codes [n, k] to [n / 8, k / 16 inner, 32, inner / 2]"""
    n, k = code.shape
    out = np.zeros((n // 8, k // (16 * inner), 32, inner // 2), np.uint32)
    for tile, outer, t, pair in np.ndindex(out.shape):
        first = (outer * inner + 2 * pair) * 16 + t % 4 * 2
        v = [code[tile * 8 + t // 4, first + at] for at in (0, 1, 8, 9, 16, 17, 24, 25)]
        out[tile, outer, t, pair] = sum(int(v[i]) << 4 * place for place, i in enumerate((0, 2, 4, 6, 1, 3, 5, 7)))
    return torch.from_numpy(out.view(np.int32))


def int4_line(w, group, signed):
    """Codes, and scales and zero points [groups, out] of code * scale + zero (code - 8 where not signed), in bf16"""
    parts = w.reshape(len(w), -1, group)
    low, high = parts.min(-1), np.maximum(parts.max(-1), parts.min(-1) + 1e-6)
    scale = torch.from_numpy((high - low) / 15).to(torch.bfloat16)
    zero = torch.from_numpy(low + (high - low) / 15 * 8).to(torch.bfloat16)
    code = np.clip(np.rint((parts - low[..., None]) / scale.float().numpy()[..., None]), 0, 15).astype(np.int64).reshape(w.shape)
    values = (code - 8).astype(np.float32) * np.repeat(scale.float().numpy(), group, 1) + np.repeat(zero.float().numpy(), group, 1)
    return code - 8 if signed else code, scale.T.contiguous(), zero.T.contiguous(), values


def int4(group, factor=False):
    """mslk, which packs it, needs a GPU: its pack_int4 and int4_row_quantize_zp in these words"""
    from torchao.quantization import Int4Tensor

    def make(w):
        pre = torch.from_numpy(np.linspace(.5, 2, w.shape[1]).astype(np.float32)).to(torch.bfloat16) if factor else None
        code, scale, zero, values = int4_line(w, group, True)
        packed = torch.from_numpy((code[:, 0::2] & 15 | code[:, 1::2] << 4).astype(np.uint8).view(np.int8).copy())
        return Int4Tensor(packed, scale, zero, [1, group], torch.Size(w.shape), pre), values * pre.float().numpy() if factor else values
    return make


def int4_tiles(group):
    from torchao.quantization import Int4TilePackedTo4dTensor

    def make(w):
        code, scale, zero, values = int4_line(np.pad(w, ((0, 0), (0, -w.shape[1] % 1024))), group, False)
        both = torch.stack((scale, zero), -1)
        return Int4TilePackedTo4dTensor(tiled(code), both, [1, group], torch.Size(w.shape)), values[:, :w.shape[1]]
    return make


def library(make):
    """A tensor that the library quantizes, and its dequantize() in float32"""
    def made(w):
        t = make(torch.from_numpy(w).to(torch.bfloat16))
        try:
            values = t.dequantize(torch.float32)
        except TypeError:
            t32 = make(torch.from_numpy(w).to(torch.bfloat16))
            t32 = type(t32)(t32.qdata, t32.scale.float(), t32.zero_point, t32.target_dtype, t32.block_size, torch.float32,
                            t32.activation_quantization)
            values = t32.dequantize()
        return t, values.numpy()
    return made


def torchao(make, colons=False):
    """`colons`: names as torchao 0.14 wrote them"""
    from torchao.prototype.safetensors.safetensors_support import flatten_tensor_state_dict
    metadata = {}

    def quantize(name, w):
        t, values = make(w)
        parts, more = flatten_tensor_state_dict({f"{name}.weight": t})
        names = json.loads(metadata.get("tensor_names", "[]")) + json.loads(more.pop("tensor_names"))
        metadata.update(more, tensor_names=json.dumps(names))
        return {k.replace("._weight_", ".weight:") if colons else k: v for k, v in parts.items()}, values
    return quantize, {"quant_method": "torchao", "quant_type": {"default": {"_type": type(make).__name__}},
                      "modules_to_not_convert": ["lm_head"]}, metadata


def float8(granularity):
    from torchao.quantization import Float8Tensor
    return library(lambda w: Float8Tensor.from_hp(w, granularity=granularity))


def int8(granularity, **more):
    from torchao.quantization import Int8Tensor
    return library(lambda w: Int8Tensor.from_hp(w, granularity, **more))


def intx(bits, group, asymmetric=False):
    from torchao.quantization import IntxUnpackedToInt8Tensor, MappingType
    mapping = MappingType.ASYMMETRIC if asymmetric else MappingType.SYMMETRIC
    return library(lambda w: IntxUnpackedToInt8Tensor.from_hp(w, (1, group or w.shape[1]), getattr(torch, f"int{bits}"), mapping_type=mapping))


def mx(kind, swizzled):
    from torchao.prototype.mx_formats.mx_tensor import MXTensor
    return library(lambda w: MXTensor.to_mx(w, kind, 32, is_swizzled_scales=swizzled))


def nvidia(swizzled, whole):
    from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor, per_tensor_amax_to_scale
    return library(lambda w: NVFP4Tensor.to_nvfp4(w, per_tensor_scale=per_tensor_amax_to_scale(w.abs().max()) if whole else None,
                                                  is_swizzled_scales=swizzled))


def compressed(form, **weights):
    """One scheme for all; scales are floats of 32 bits for the values, as they are stored in the file."""
    import compressed_tensors.compressors as compressors
    from compressed_tensors.quantization import QuantizationScheme
    from compressed_tensors.quantization.utils import calculate_qparams
    scheme = QuantizationScheme(targets=["Linear"], weights=weights, format=form)
    args, compressor = scheme.weights, compressors.BaseCompressor.get_value_from_registry(form)

    def quantize(name, w):
        x = torch.from_numpy(w).to(torch.bfloat16)
        parts = x.reshape(len(x), -1, args.group_size or x.shape[1])
        scale, zero = calculate_qparams(parts.amin(-1), parts.amax(-1), args)
        stored = compressor.compress({"weight": x, "weight_scale": scale.to(torch.bfloat16), "weight_zero_point": zero}, scheme)
        again = {k: t.float() if t.dtype == torch.bfloat16 else t for k, t in stored.items()}
        if "scale_dtype" in weights:
            values = E8M0(stored, w.shape) * codes_of(compressor, stored, scheme)
        else:
            values = compressor.decompress(again, scheme)["weight"].float().numpy()
        return {f"{name}.{k}": t for k, t in stored.items()}, values
    return quantize, {"quant_method": "compressed-tensors", "format": form, "ignore": ["lm_head"], "config_groups": {
        "group_0": {"targets": ["Linear"], "format": form, "weights": {k: str(v).removeprefix("torch.") if k == "scale_dtype" else v
                                                                      for k, v in weights.items()}}}}


def E8M0(stored, shape):
    exponent = stored["weight_scale"].to(torch.int32).numpy() - 127
    return np.repeat(np.exp2(exponent).astype(np.float32), 32, 1)


def codes_of(compressor, stored, scheme):
    """What decompress gives for scales of 1"""
    one = stored | {"weight_scale": torch.full_like(stored["weight_scale"], 127)}
    return compressor.decompress(one, scheme)["weight"].float().numpy()


def mlx(bits, group, kind, **rules):
    """`rules`: bits of modules whose names end so"""
    def quantize(name, w):
        import mlx.core as mx
        own = next((b for k, b in rules.items() if name.endswith(k)), bits)
        code, scale, bias = mx.quantize(mx.array(w).astype(getattr(mx, kind)), group_size=group, bits=own)
        scale, bias = scale.astype(mx.float32), bias.astype(mx.float32)
        values = np.array(mx.dequantize(code, scale, bias, group_size=group, bits=own))
        stored = {"weight": torch.from_numpy(np.array(code)), "scales": torch.from_numpy(np.array(scale)).to(getattr(torch, kind)),
                  "biases": torch.from_numpy(np.array(bias)).to(getattr(torch, kind))}
        if own != bits:
            settings[name] = {"group_size": group, "bits": own}
        return {f"{name}.{k}": t for k, t in stored.items()}, values
    settings = {"group_size": group, "bits": bits}
    return quantize, settings


def quark_layer(name, w, spec, pack):
    from quark.torch.export.nn.modules.qparamslinear import QParamsLinear
    from quark.torch.quantization.config.config import QLayerConfig
    from quark.torch.quantization.nn.modules.quantize_linear import QuantLinear
    linear = torch.nn.Linear(w.shape[1], w.shape[0], bias=False)
    linear.weight.data = torch.from_numpy(w)
    config = QLayerConfig(weight=spec.to_quantization_spec())
    layer = QuantLinear.from_float(linear, config, device=torch.device("cpu"))
    layer._weight_quantizer.enable_observer()
    layer._weight_quantizer.disable_fake_quant()
    layer._weight_quantizer(layer.weight)
    layer._weight_quantizer.disable_observer()
    stored = QParamsLinear(layer, "quark", pack)
    tensors = {f"{name}.{k.replace('_quantizer.', '_')}": t.detach().clone() for k, t in stored.state_dict().items()}
    return tensors, stored._get_qweight(stored.weight).detach().float().numpy(), config.to_dict()


def quark(pack, **kinds):
    """A spec of quark's for each projection, with its arguments"""
    settings = {"quant_method": "quark", "exclude": ["lm_head"], "layer_type_quant_config": {}, "kv_cache_quant_config": {}, "version": "0.13",
                "algo_config": [{"name": "rotation", "r1": True, "r2": True, "r3": True, "r4": False, "online_r1_rotation": False}],
                "layer_quant_config": {}, "export": {"pack_method": pack, "weight_format": "real_quantized", "kv_cache_group": []}}

    def quantize(name, w):
        import quark.torch.quantization.config.config as specs
        kind = name.split(".")[-1].removesuffix("_proj")
        spec, more = kinds[kind]
        tensors, values, config = quark_layer(name, w, getattr(specs, spec)(is_dynamic=False, **more), pack)
        if kind == "down":
            settings["global_quant_config"] = config
        else:
            settings["layer_quant_config"][f"*{kind}_proj"] = config
        return tensors, values
    return quantize, settings


GROUPS = {"ch_axis": 1, "group_size": 32, "scale_type": "float"}
TENSOR = {"observer_method": "min_max", "scale_type": "float", "symmetric": True}
ROWS = {"symmetric": False, "scale_type": "float", "round_method": "half_even", "ch_axis": 0}
LIBRARIES = {
    "mlx4": (llama(), mlx(4, 32, "bfloat16", v_proj=8, o_proj=3, k_proj=2, gate_proj=6), ["lm_head", "model.embed_tokens"]),
    "mlx8": (llama(intermediate_size=128), mlx(8, 64, "bfloat16", v_proj=3, o_proj=4), []),
    "mlx3": (llama(intermediate_size=128), mlx(3, 64, "bfloat16", v_proj=2, o_proj=4, embed_tokens=5, lm_head=5), ["lm_head", "model.embed_tokens"]),
    "mlx5": (llama(intermediate_size=128), mlx(5, 64, "float16", v_proj=6), []),
    "quark_groups": (llama(), quark("reorder", q=("Int4PerGroupSpec", GROUPS), k=("Uint4PerGroupSpec", GROUPS), v=("Int8PerGroupSpec", GROUPS),
                                    o=("Uint8PerGroupSpec", GROUPS), gate=("OCP_MXFP4Spec", {"ch_axis": -1}),
                                    up=("OCP_MXFP6E2M3Spec", {"ch_axis": -1}), down=("OCP_MXFP6E3M2Spec", {"ch_axis": -1})), []),
    "quark_rows": (llama(), quark("order", q=("Uint4PerChannelSpec", ROWS), k=("Int4PerTensorSpec", TENSOR | {"round_method": "half_even"}),
                                  v=("Int8PerChannelSpec", ROWS | {"symmetric": True}), o=("FP8E4M3PerTensorSpec", {"observer_method": "min_max"}),
                                  gate=("Uint8PerTensorSpec", TENSOR | {"symmetric": False, "round_method": "half_even"}),
                                  up=("FP8E4M3PerChannelSpec", {"ch_axis": 0}), down=("Uint4PerGroupSpec", GROUPS)), []),
    "ct3_stream": (wide(), compressed("pack-quantized", num_bits=3, group_size=32, strategy="group", symmetric=False, type="int"), []),
    "ct6_stream": (llama(), compressed("pack-quantized", num_bits=6, strategy="channel", symmetric=True, type="int"), []),
    "ct_mxfp8": (llama(), compressed("mxfp8-quantized", num_bits=8, group_size=32, strategy="group", symmetric=True, type="float",
                                     scale_dtype=torch.uint8), []),
    "ct_mxfp6": (llama(), compressed("mxfp6-pack-quantized", num_bits=6, group_size=32, strategy="group", symmetric=True, type="float",
                                     scale_dtype=torch.uint8), []),
    "hqq4": (llama(), hqq(4, 32), []),
    "hqq4_64": (llama(), hqq(4, 64), []),
    "hqq2": (llama(intermediate_size=128), hqq(2, 64), []),
    "hqq3_64": (llama(intermediate_size=128), hqq(3, 64), []),
    "hqq4_axis0": (llama(), hqq(4, 64, axis=0, together=True), []),
    "hqq3": (llama(attention_bias=True), hqq(3, 16), []),
    "hqq2_axis0": (llama(), hqq(2, 16, axis=0), []),
    "hqq1": (llama(), hqq(1, 32, view=True), []),
    "hqq8_one": (llama(), hqq(8, 64, channel_wise=False), []),
    "hqq4_whole": (wide(), hqq(4, 64, round_zero=True, optimize=False), []),
    "ao_float8": (llama(), torchao(float8(PerRow()), colons=True), []),
    "ao_float8_one": (llama(), torchao(float8(PerTensor())), []),
    "ao_int8": (llama(), torchao(int8(PerRow())), []),
    "ao_int8_asym": (llama(), torchao(int8(PerRow(), mapping_type=MappingType.ASYMMETRIC)), []),
    "ao_intx4": (llama(), torchao(intx(4, 32)), []),
    "ao_intx4_asym": (llama(), torchao(intx(4, 32, True)), []),
    "ao_int4": (llama(), torchao(int4(32, True)), []),
    "ao_int4_64": (llama(intermediate_size=128), torchao(int4(64)), []),
    "ao_int4_tiles": (llama(), torchao(int4_tiles(32)), []),
    "ao_mxfp4": (llama(), torchao(mx(torch.float4_e2m1fn_x2, True)), []),
    "ao_mxfp8": (llama(), torchao(mx(torch.float8_e4m3fn, False)), []),
    "ao_nvfp4": (llama(), torchao(nvidia(True, True)), []),
    "ao_nvfp4_plain": (llama(), torchao(nvidia(False, False)), []),
}

for name, (config, method, also) in LIBRARIES.items():
    if not sys.argv[1:] or name in sys.argv[1:]:
        folders.seeded(name, config, method[:2], also, *method[2:])
