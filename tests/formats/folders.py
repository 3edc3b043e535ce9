"""Tiny folders quantized in the ways that ../shared/data/hfquant does not show: other bits, groups, shapes, families. Not needed to
build or test burin.

usage: folders.py [NAME...]   needs numpy, torch, transformers, safetensors; writes tests/formats/folders/*

Each quantizer rounds a matrix [out, in] to integers, packs them as the library does, and returns the float32 values that they stand for.
The expected logits are those of transformers' model in float32 with these values as weights; values.npy are those of one matrix.
"""
import json
import os
import sys
import zlib

import numpy as np
import torch
import transformers
from safetensors.torch import save_file

OUT = "tests/formats/folders"
rng = np.random.default_rng(14)
HALF, BF16 = torch.float16, torch.bfloat16


def rounded(x, kind):
    return torch.from_numpy(np.ascontiguousarray(x, np.float32)).to(kind)


def stream(q, bits):
    """Fields along the last axis into words, low first, across words where they do not fit."""
    b = (q[..., None].astype(np.int64) >> np.arange(bits)) & 1
    b = b.reshape(*q.shape[:-1], -1)
    b = np.concatenate([b, np.zeros((*b.shape[:-1], -b.shape[-1] % 32), np.int64)], -1).reshape(*q.shape[:-1], -1, 32)
    return torch.from_numpy((b << np.arange(32)).sum(-1).astype(np.uint32).view(np.int32).copy())


def aligned(q, bits):
    """Fields along the last axis, 32 // bits of them in a word."""
    per = 32 // bits
    q = np.concatenate([q, np.zeros((*q.shape[:-1], -q.shape[-1] % per), q.dtype)], -1)
    q = q.reshape(*q.shape[:-1], -1, per).astype(np.uint64)
    return torch.from_numpy((q << (np.arange(per, dtype=np.uint64) * np.uint64(bits))).sum(-1).astype(np.uint32).view(np.int32).copy())


def by_groups(w, g_idx, top, kind, least_zero=0, sym=False):
    """Scale and zero point [groups, out] of each group, codes [out, in] of 0 to top, values."""
    groups = g_idx.max() + 1
    scale, zero, q = np.zeros((groups, len(w)), np.float32), np.zeros((groups, len(w)), np.int64), np.zeros(w.shape, np.int64)
    for g in range(groups):
        x = w[:, g_idx == g]
        low, high = np.minimum(x.min(1), 0), np.maximum(x.max(1), 0)
        if sym:
            high = np.maximum(high, -low)
            low = -high
        scale[g] = rounded((high - low) / top, kind).float().numpy()
        zero[g] = (top + 1) // 2 if sym else np.clip(np.rint(-low / scale[g]), least_zero, top)
        q[:, g_idx == g] = np.clip(np.rint(x / scale[g][:, None]) + zero[g][:, None], 0, top)
    return scale, zero, q, scale[g_idx].T * (q - zero[g_idx].T).astype(np.float32)


def gptq(bits, group, order=False, v2=False, sym=False, g_idx=True, kind=HALF):
    def quantize(name, w):
        out, n = w.shape
        size = n if group < 1 else group
        idx = np.arange(n) // size
        if order:
            idx = np.random.default_rng(n).permutation(idx)
        scale, zero, q, values = by_groups(w, idx, 2 ** bits - 1, kind, 0, sym)
        stored = zero if v2 else (zero - 1) % 2 ** bits
        tensors = {"qweight": stream(q, bits).T.contiguous(), "qzeros": stream(stored, bits), "scales": rounded(scale, kind)}
        if g_idx:
            tensors["g_idx"] = torch.from_numpy(idx.astype(np.int32))
        return {f"{name}.{k}": t for k, t in tensors.items()}, values
    return quantize, {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": order, "sym": sym,
                      "checkpoint_format": "gptq_v2" if v2 else "gptq"}


def awq(group):
    def quantize(name, w):
        scale, zero, q, values = by_groups(w, np.arange(w.shape[1]) // group, 15, HALF)
        place = [0, 2, 4, 6, 1, 3, 5, 7]
        pack = lambda a: aligned(a.reshape(len(a), -1, 8)[:, :, place].reshape(a.shape), 4)
        return {f"{name}.qweight": pack(q.T), f"{name}.qzeros": pack(zero), f"{name}.scales": rounded(scale, HALF)}, values
    return quantize, {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemm", "zero_point": True}


def compressed(bits, group, sym, kind=BF16, packed=True, one=False):
    half = 1 << (bits - 1)

    def quantize(name, w):
        n = w.shape[1]
        flat = w.reshape(1, -1) if one else w
        size = flat.shape[1] if one else group or n
        scale, zero, q, values = by_groups(flat, np.arange(flat.shape[1]) // size, 2 ** bits - 1, kind, 0, sym)
        q, values = q.reshape(w.shape), values.reshape(w.shape)
        tensors = {"weight_scale": rounded(scale.T, kind).reshape(-1) if one else rounded(scale.T, kind)}
        if packed:
            tensors |= {"weight_packed": aligned(q, bits), "weight_shape": torch.tensor(w.shape)}
        else:
            tensors["weight"] = torch.from_numpy((q - half).astype(np.int8))
        if not sym and packed:
            tensors["weight_zero_point"] = aligned(zero, bits).T.contiguous()
        elif not sym:
            tensors["weight_zero_point"] = torch.from_numpy((zero - half).T.astype(np.int8).copy()).reshape(tensors["weight_scale"].shape)
        return {f"{name}.{k}": t for k, t in tensors.items()}, values
    weights = {"num_bits": bits, "type": "int", "symmetric": sym, "group_size": group or None,
               "strategy": "tensor" if one else "group" if group else "channel"}
    return quantize, {"quant_method": "compressed-tensors", "format": "pack-quantized" if packed else "int-quantized", "ignore": ["lm_head"],
                      "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}


def fp8(rows, columns):
    def quantize(name, w):
        down, across = -(-w.shape[0] // rows), -(-w.shape[1] // columns)
        grid = np.zeros((down, across), np.float32)
        for i in range(down):
            for j in range(across):
                grid[i, j] = np.abs(w[i * rows:(i + 1) * rows, j * columns:(j + 1) * columns]).max() / 448
        scale = np.repeat(np.repeat(grid, rows, 0), columns, 1)[:w.shape[0], :w.shape[1]]
        code = torch.from_numpy(w / scale).to(torch.float8_e4m3fn)
        return {f"{name}.weight": code, f"{name}.weight_scale_inv": torch.from_numpy(grid)}, code.float().numpy() * scale
    return quantize, {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [rows, columns]}


def fbgemm():
    def quantize(name, w):
        scale = (np.abs(w).max(1, keepdims=True) / 448).astype(np.float32)
        code = torch.from_numpy(w / scale).to(torch.float8_e4m3fn)
        return {f"{name}.weight": code, f"{name}.weight_scale": torch.from_numpy(scale),
                f"{name}.input_scale_ub": torch.tensor(1200.0)}, code.float().numpy() * scale
    return quantize, {"quant_method": "fbgemm_fp8", "activation_scale_ub": 1200.0}


def four_bits(kind, block, nested=False):
    maps = {"nf4": [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
                    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
                    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0],
            "fp4": [0.0, 0.005208333333, 0.66666667, 1.0, 0.33333333, 0.5, 0.16666667, 0.25,
                    -0.0, -0.005208333333, -0.66666667, -1.0, -0.33333333, -0.5, -0.16666667, -0.25]}
    table = np.array(maps[kind], np.float32)

    def quantize(name, w):
        flat = np.pad(w.reshape(-1), (0, -w.size % block)).reshape(-1, block)
        absmax = np.abs(flat).max(1).astype(np.float32)
        state = {"quant_type": kind, "blocksize": block, "dtype": "float16", "shape": list(w.shape)}
        extra = {}
        if nested:
            offset = float(absmax.mean(dtype=np.float32))
            levels = np.sort(rng.uniform(-1, 1, 256)).astype(np.float32)
            top = np.abs(np.pad(absmax - np.float32(offset), (0, -len(absmax) % 256)).reshape(-1, 256)).max(1).astype(np.float32)
            code = np.abs((absmax - np.float32(offset))[:, None] / np.repeat(top, 256)[:len(absmax), None] - levels).argmin(1)
            absmax = levels[code] * np.repeat(top, 256)[:len(absmax)] + np.float32(offset)
            state |= {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": offset}
            extra = {"nested_absmax": torch.from_numpy(top), "nested_quant_map": torch.from_numpy(levels)}
        code = np.abs(flat[..., None] / absmax[:, None, None] - table).argmin(-1)
        values = (table[code] * absmax[:, None]).reshape(-1)[:w.size].reshape(w.shape)
        code = code.reshape(-1)[:w.size].reshape(-1, 2)
        text = torch.tensor(list(json.dumps(state).encode()), dtype=torch.uint8)
        stored = torch.from_numpy(code_of_absmax(nested, absmax, extra, state))
        tensors = {"absmax": stored, "quant_map": torch.from_numpy(table), f"quant_state.bitsandbytes__{kind}": text} | extra
        return {f"{name}.weight": torch.from_numpy((code[:, 0] << 4 | code[:, 1]).astype(np.uint8)[:, None])} | \
            {f"{name}.weight.{k}": t for k, t in tensors.items()}, values
    return quantize, {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": kind}


def code_of_absmax(nested, absmax, extra, state):
    if not nested:
        return absmax
    top = np.repeat(extra["nested_absmax"].numpy(), 256)[:len(absmax), None]
    levels = extra["nested_quant_map"].numpy() * top + np.float32(state["nested_offset"])
    return (levels == absmax[:, None]).argmax(1).astype(np.uint8)


def awq_gemv(group):
    def quantize(name, w):
        scale, zero, q, values = by_groups(w, np.arange(w.shape[1]) // group, 15, HALF)
        words = -(-len(scale) // 8) * {32: 4, 64: 2}.get(group, 1)  # more than groups: AutoAWQ's calculate_zeros_width
        pad = lambda a: np.pad(a.T, ((0, 0), (0, words * 8 - len(scale))))
        return {f"{name}.qweight": aligned(q, 4), f"{name}.qzeros": aligned(pad(zero), 4), f"{name}.scales": rounded(pad(scale), HALF)}, values
    return quantize, {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemv", "zero_point": True,
                      "modules_to_not_convert": None}


def awq_fast(group):
    """gemv_fast: words of 16 bits, tiles of 4 outputs and 64 inputs; zero points times scales, in f16"""
    def quantize(name, w):
        out, n = w.shape
        scale, zero, q, _ = by_groups(w, np.arange(n) // group, 15, HALF)
        scaled = rounded(-(scale * zero.astype(np.float32)), HALF)
        words = np.zeros((out // 4, n), np.uint16)
        for row in range(out):
            for k in range(n):
                part, a, b, c = k % 64 // 32, k % 32 // 8, k % 8 // 2, k % 2
                at = row % 4 * 64 + part * 32 + b * 8 + c * 4 + a
                words[row // 4, k // 64 * 64 + at // 4] |= q[row, k] << at % 4 * 4
        lines = -(-len(scale) // 8) * {32: 4, 64: 2}.get(group, 1) * 8
        pad = lambda a: torch.nn.functional.pad(a, (0, 0, 0, lines - len(scale)))
        repeat = lambda a: np.repeat(a, group, 0).T
        return {f"{name}.qweight": torch.from_numpy(words.view(np.int16)), f"{name}.scales": pad(rounded(scale, HALF)),
                f"{name}.scaled_zeros": pad(scaled)}, q.astype(np.float32) * repeat(scale) + repeat(scaled.float().numpy())
    return quantize, {"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemv_fast", "zero_point": True}


E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, -0.0, -.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def fp4_codes(scaled):
    code = np.abs(scaled[..., None] - E2M1).argmin(-1)
    return code, torch.from_numpy((code[..., 0::2] | code[..., 1::2] << 4).astype(np.uint8))


def nvfp4(modelopt):
    def quantize(name, w):
        groups = w.reshape(len(w), -1, 16)
        most = np.abs(groups).max(-1)
        whole = np.float32(6 * 448) / most.max() if not modelopt else most.max() / np.float32(6 * 448)
        small = torch.from_numpy(most / 6 / whole if modelopt else most / 6 * whole).to(torch.float8_e4m3fn)
        scale = small.float().numpy() * whole if modelopt else small.float().numpy() / whole
        code, packed = fp4_codes((groups / np.maximum(scale, 1e-9)[..., None]).reshape(w.shape))
        values = E2M1[code] * np.repeat(scale, 16, 1)
        one = torch.tensor(whole) if modelopt else torch.tensor([whole])
        words, own = ("weight", "weight_scale_2") if modelopt else ("weight_packed", "weight_global_scale")
        return {f"{name}.{words}": packed, f"{name}.weight_scale": small, f"{name}.{own}": one,
                f"{name}.{'input_scale' if modelopt else 'input_global_scale'}": torch.tensor([1.5])}, values
    if modelopt:
        return quantize, {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"], "producer": {"name": "modelopt"}}
    four = {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16, "symmetric": True, "dynamic": False}
    return quantize, {"quant_method": "compressed-tensors", "format": "nvfp4-pack-quantized", "ignore": ["lm_head"],
                      "kv_cache_scheme": {"num_bits": 8, "type": "float"},
                      "config_groups": {"group_0": {"targets": ["Linear"], "weights": four, "input_activations": four | {"dynamic": "local"}}}}


def ct_mxfp4():
    def quantize(name, w):
        exponent = np.floor(np.log2(np.abs(w.reshape(len(w), -1, 32)).max(-1))) - 2
        scale = np.repeat(np.exp2(exponent).astype(np.float32), 32, 1)
        code, packed = fp4_codes(w / scale)
        return {f"{name}.weight_packed": packed, f"{name}.weight_scale": torch.from_numpy((exponent + 127).astype(np.uint8))}, E2M1[code] * scale
    weights = {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32, "symmetric": True}
    return quantize, {"quant_method": "compressed-tensors", "format": "mxfp4-pack-quantized", "ignore": ["re:.*lm_head"],
                      "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}


def ct_fp8_blocks(rows, columns):
    blocks, _ = fp8(rows, columns)

    def quantize(name, w):
        tensors, values = blocks(name, w)
        return {k.removesuffix("_inv"): t for k, t in tensors.items()}, values
    weights = {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [rows, columns], "symmetric": True}
    return quantize, {"quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head", "re:.*gate$"],
                      "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}}


def ct_mixed():
    """Blocks of FP8 in attention, groups of 4 bits in the MLP, its last product of 8 bits by rows."""
    parts = {"re:.*self_attn.*": ct_fp8_blocks(48, 32), "re:.*(gate|up)_proj": compressed(4, 32, False),
             "re:.*down_proj": compressed(8, 0, True)}

    def quantize(name, w):
        of = "self_attn" if "self_attn" in name else "down_proj" if "down_proj" in name else "up"
        return next(q for key, (q, _) in parts.items() if of in key)(name, w)
    groups = {f"group_{i}": {"targets": [k], "format": s["format"], "weights": s["config_groups"]["group_0"]["weights"]}
              for i, (k, (_, s)) in enumerate(parts.items())}
    return quantize, {"quant_method": "compressed-tensors", "format": "mixed-precision", "ignore": ["lm_head"], "config_groups": groups}


def ct_order():
    """actorder: weight_g_idx, the group of each input"""
    plain, settings = compressed(4, 32, True)

    def quantize(name, w):
        order = np.random.default_rng(w.shape[1]).permutation(w.shape[1])
        place = np.argsort(order, kind="stable")
        idx = place // 32
        scale, zero, q, values = by_groups(w, idx, 15, BF16, 0, True)
        return {f"{name}.weight_packed": aligned(q, 4), f"{name}.weight_shape": torch.tensor(w.shape),
                f"{name}.weight_scale": rounded(scale.T, BF16), f"{name}.weight_g_idx": torch.from_numpy(idx.astype(np.int32))}, values
    return quantize, settings


def by_module(settings, **parts):
    """A quantizer for each kind of module"""
    def quantize(name, w):
        return parts[name.split(".")[-1].removesuffix("_proj")][0](name, w)
    return quantize, settings


def gptq_all():
    """Groups of 32, 64 and 128 of 2 and 3 bits"""
    few = {f"{m}": (bits, group) for m, (bits, group) in zip(
        ("q", "k", "v", "o", "gate", "up", "down"), ((2, 32), (2, 64), (2, 128), (3, 32), (3, 64), (3, 128), (4, 64)))}
    return by_module(gptq(4, 64)[1] | {"dynamic": {f"+:.*{m}_proj": {"bits": b, "group_size": g} for m, (b, g) in few.items()}},
                     **{m: gptq(b, g, g_idx=False) for m, (b, g) in few.items()})


def ct_all():
    """Scales beyond f16: of 2, 4 and 8 bits"""
    few = {"q": (2, 32), "k": (2, 128), "v": (4, 32), "o": (4, 128), "gate": (8, 32), "up": (8, 128), "down": (3, 64)}
    parts = {m: compressed(b, g, m in "kgate", torch.float32) for m, (b, g) in few.items()}
    groups = {f"group_{m}": {"targets": [f"re:.*{m}_proj"], "weights": s["config_groups"]["group_0"]["weights"]} for m, (_, s) in parts.items()}
    return by_module(parts["q"][1] | {"config_groups": groups}, **parts)


def gptq_dynamic():
    """GPTQModel's rules for modules, without g_idx: groups that do not divide the columns; one module stays as it is."""
    few, many = gptq(4, 64, g_idx=False, sym=True), gptq(8, 128, g_idx=False, v2=False)

    def quantize(name, w):
        if name.endswith("k_proj"):
            values = rounded(w, HALF)
            return {f"{name}.weight": values}, values.float().numpy()
        return (many if "down_proj" in name else few)[0](name, w)
    return quantize, few[1] | {"dynamic": {"-:.*k_proj": {}, "+:.*down_proj": {"bits": 8, "group_size": 128}}}


def modelopt_mixed():
    """Blocks of FP8 in q and k, int8 in v and o, MXFP8 in gate and up, NVFP4 in down"""
    four = nvfp4(True)[0]

    def quantize(name, w):
        out, n = w.shape
        if "down" in name:
            return four(name, w)
        if "self_attn" not in name:
            exponent = np.floor(np.log2(np.abs(w.reshape(out, -1, 32)).max(-1))) - 8
            scale = np.repeat(np.exp2(exponent).astype(np.float32), 32, 1)
            stored = torch.from_numpy((exponent + 127).astype(np.uint8))
        elif name[-6] in "vo":
            most = (np.abs(w).max(1) / 127).astype(np.float32)
            code = np.rint(w / most[:, None]).astype(np.int8)
            return {f"{name}.weight": torch.from_numpy(code), f"{name}.weight_scale": torch.from_numpy(most)}, code * most[:, None]
        else:
            tensors, values = fp8(128, 128)[0](name, w)
            grid = tensors.pop(f"{name}.weight_scale_inv")
            return tensors | {f"{name}.weight_scale": grid[:, None, :, None]}, values
        code = torch.from_numpy(w / scale).to(torch.float8_e4m3fn)
        return {f"{name}.weight": code, f"{name}.weight_scale": stored}, code.float().numpy() * scale
    kinds = {"self_attn.q_proj": "FP8_PB_WO", "self_attn.k_proj": "FP8_PB_WO", "self_attn.v_proj": "W8A16", "self_attn.o_proj": "W8A16",
             "mlp.gate_proj": "MXFP8", "mlp.up_proj": "MXFP8", "mlp.down_proj": "W4A16_NVFP4"}
    return quantize, {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers":
                      {f"model.layers.0.{k}": {"quant_algo": v} for k, v in kinds.items()}}


def modelopt_awq():
    """pre_quant_scale before integers of 4 bits (q, k, v: one for all; gate, up: W4A8), NVFP4 (o) and int8 (down)"""
    four = nvfp4(True)[0]

    def quantize(name, w):
        out, n = w.shape
        pre = rounded(np.exp(np.random.default_rng(n + ("self_attn" in name) + ("down" in name)).standard_normal(n) * .5), BF16)
        if "o_proj" in name:
            tensors, values = four(name, w)
        elif "down" in name:
            most = (np.abs(w).max(1) / 127).astype(np.float32)
            code = np.rint(w / most[:, None]).astype(np.int8)
            tensors = {f"{name}.weight": torch.from_numpy(code), f"{name}.weight_scale": torch.from_numpy(most)}
            values = code * most[:, None]
        else:
            parts = w.reshape(out, -1, 32)
            scale = rounded(np.abs(parts).max(-1) / 7, BF16).float().numpy()
            code = np.clip(np.rint(parts / scale[..., None]), -8, 7).astype(np.int64).reshape(w.shape)
            packed = (code[0::2] & 15 | (code[1::2] & 15) << 4).astype(np.uint8)
            tensors = {f"{name}.weight": torch.from_numpy(packed), f"{name}.weight_scale": torch.from_numpy(scale)}
            if "mlp" in name:
                tensors[f"{name}.weight_scale_2"] = torch.tensor(np.abs(w).max() / 448)
            values = code.astype(np.float32) * np.repeat(scale, 32, 1)
        return tensors | {f"{name}.pre_quant_scale": pre}, values * pre.float().numpy()
    kinds = {"self_attn.q_proj": "W4A16_AWQ", "self_attn.k_proj": "W4A16_AWQ", "self_attn.v_proj": "W4A16_AWQ", "self_attn.o_proj": "NVFP4_AWQ",
             "mlp.gate_proj": "W4A8_AWQ", "mlp.up_proj": "W4A8_AWQ", "mlp.down_proj": "W8A8_SQ_PER_CHANNEL"}
    return quantize, {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers":
                      {f"model.layers.0.{k}": {"quant_algo": v} for k, v in kinds.items()}}


def fp8_stack(name, w):
    """Experts [experts, inputs, outputs]: a scale for each output, in two shapes"""
    scale = (np.abs(w).max(1, keepdims=True) / 448).astype(np.float32)
    code = torch.from_numpy(w / scale).to(torch.float8_e4m3fn)
    stored = scale if "gate_up" in name else scale.swapaxes(1, 2)
    return {name: code, f"{name}_scale": torch.from_numpy(np.ascontiguousarray(stored))}, code.float().numpy() * scale


def modelopt_stack(name, w):
    """NVFP4 along inputs, or FP8 with one scale"""
    if "down" in name:
        scale = np.float32(np.abs(w).max() / 448)
        code = torch.from_numpy(w / scale).to(torch.float8_e4m3fn)
        return {name: code, f"{name}_weight_scale": torch.tensor(scale), f"{name}_input_scale": torch.tensor(.02)}, code.float().numpy() * scale
    n, inputs, outputs = w.shape
    stored, values = nvfp4(True)[0]("", w.swapaxes(1, 2).reshape(n * outputs, inputs))
    back = lambda a: a.reshape(n, outputs, -1).swapaxes(1, 2)
    return {name: back(stored[".weight"]), f"{name}_weight_scale": back(stored[".weight_scale"]),
            f"{name}_weight_scale_2": stored[".weight_scale_2"], f"{name}_input_scale": torch.tensor(.02)}, back(values)


def bitnet(multiplies=False, online=False):
    def quantize(name, w):
        w = rounded(w, HALF).float().numpy() if online else w
        scale = np.float32(1) / np.float32(np.abs(w).mean(dtype=np.float64))
        code = np.clip(np.rint(w * scale), -1, 1).astype(np.float32)
        if online:
            return {f"{name}.weight": torch.from_numpy(w).half()}, code * (np.float32(1) / scale)
        stored = rounded(1 / scale if multiplies else scale, BF16)
        value = stored.float().numpy() if multiplies else np.float32(1) / stored.float().numpy()
        n = len(w) // 4
        packed = sum((code[i * n:(i + 1) * n].astype(int) + 1) << 2 * i for i in range(4))
        return {f"{name}.weight": torch.from_numpy(packed.astype(np.uint8)), f"{name}.weight_scale": stored.reshape(1)}, code * value
    return quantize, {"quant_method": "bitnet", "linear_class": "autobitlinear" if multiplies or online else "bitlinear",
                      "quantization_mode": "online" if online else "offline", "modules_to_not_convert": None}


def auto_round():
    """GPTQ's layout without g_idx; some modules have other bits and groups."""
    many, few = gptq(8, 32, g_idx=False), gptq(4, 64, g_idx=False, sym=True)

    def quantize(name, w):
        return (many if "down_proj" in name else few)[0](name, w)
    return quantize, {"quant_method": "auto-round", "packing_format": "auto_round:auto_gptq", "bits": 4, "group_size": 64, "sym": True,
                      "data_type": "int", "iters": 0, "extra_config": {"model.layers.0.mlp.down_proj": {"bits": 8, "group_size": 32}}}


def stored_as(kind, method):
    """bnb_4bit_quant_storage: the bytes as elements of another type"""
    def quantize(name, w):
        tensors, values = method[0](name, w)
        code = f"{name}.weight"
        return tensors | {code: tensors[code].reshape(-1).view(kind)[:, None]}, values
    return quantize, method[1] | {"bnb_4bit_quant_storage": "bfloat16", "llm_int8_skip_modules": ["lm_head"]}


def fp8_static():
    def quantize(name, w):
        scale = np.float32(np.abs(w).max() / 448)
        code = torch.from_numpy(w / scale).to(torch.float8_e4m3fn)
        return {f"{name}.weight": code, f"{name}.weight_scale": torch.tensor(scale), f"{name}.input_scale": torch.tensor(0.02)}, code.float().numpy() * scale
    return quantize, {"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}


def eight_bits():
    def quantize(name, w):
        most = np.abs(w).max(1).astype(np.float32)
        code = np.rint(w / most[:, None] * 127).astype(np.int8)
        values = code.astype(np.float32) * most[:, None] * np.float32(7.874015718698502e-3)
        return {f"{name}.weight": torch.from_numpy(code), f"{name}.SCB": torch.from_numpy(most),
                f"{name}.weight_format": torch.tensor(0, dtype=torch.uint8)}, values
    return quantize, {"quant_method": "bitsandbytes", "load_in_8bit": True}


SMALL = {"vocab_size": 97, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 64, "tie_word_embeddings": False, "pad_token_id": 0}


def llama(**more):
    return transformers.LlamaConfig(**SMALL | more)


def wide(intermediate=128):
    return llama(hidden_size=128, intermediate_size=intermediate)


def gpt2():
    return transformers.GPT2Config(vocab_size=97, n_embd=64, n_layer=1, n_head=4, n_positions=128, bos_token_id=1, eos_token_id=2)


def mixtral():
    return transformers.MixtralConfig(**SMALL | {"intermediate_size": 64, "num_local_experts": 4})


def llama4():
    return transformers.Llama4TextConfig(**SMALL | {"intermediate_size": 64}, intermediate_size_mlp=64, num_local_experts=4, head_dim=16,
                                         interleave_moe_layer_step=1)


MODELS = {
    "gptq8_g32": (llama(), gptq(8, 32, v2=True), ["lm_head"]),
    "gptq3_qwen2": (transformers.Qwen2Config(**SMALL | {"tie_word_embeddings": True}), gptq(3, -1), []),
    "gptq2_phi3": (transformers.Phi3Config(**SMALL), gptq(2, 64, order=True, kind=BF16), []),
    "gptq4_gpt2": (gpt2(), gptq(4, 32, order=True, sym=True), []),
    "gptq4_cut": (llama(intermediate_size=160), gptq(4, 64), []),
    "awq_mixtral": (mixtral(), awq(32), []),
    "ct4_channel": (llama(), compressed(4, 0, True), []),
    "ct8_asym_groups": (llama(), compressed(8, 32, False, HALF), []),
    "ct3_groups": (llama(), compressed(3, 32, False, torch.float32), []),
    "ct8_one": (llama(), compressed(8, 0, False, torch.float32, packed=False, one=True), []),
    "fp8_blocks": (llama(hidden_size=80, head_dim=20), fp8(32, 48), []),
    "fbgemm": (llama(), fbgemm(), []),
    "awq_128": (wide(), awq(128), []),
    "ct8_asym_128": (wide(), compressed(8, 128, False, HALF), []),
    "ct8_rows": (wide(), compressed(8, 0, True, packed=False), []),
    "fp8_128": (wide(320), fp8(128, 128), []),
    "bnb_int8": (wide(), eight_bits(), []),
    "bnb_nf4": (llama(), four_bits("nf4", 64), []),
    "bnb_fp4": (llama(), four_bits("fp4", 64), []),
    "bnb_nf4_across": (llama(hidden_size=80, head_dim=20), four_bits("nf4", 64, nested=True), []),
}
# Each from a seed of its own
MORE = {
    "awq_gemv": (llama(), awq_gemv(32), []),
    "ct_nvfp4": (llama(), nvfp4(False), []),
    "ct_mxfp4": (llama(), ct_mxfp4(), []),
    "ct_fp8_blocks": (llama(hidden_size=80, head_dim=20), ct_fp8_blocks(32, 48), []),
    "ct_mixed": (llama(), ct_mixed(), []),
    "ct_order": (llama(), ct_order(), []),
    "modelopt_nvfp4": (llama(), nvfp4(True), []),
    "modelopt_fp8": (llama(), fp8_static(), []),
    "modelopt_awq": (llama(), modelopt_awq(), []),
    "modelopt_llama4": (llama4(), nvfp4(True) + (modelopt_stack,), []),
    "fbgemm_llama4": (llama4(), fbgemm() + (fp8_stack,), []),
    "bitnet": (llama(), bitnet(), []),
    "bitnet_multiplies": (transformers.BitNetConfig(**SMALL), bitnet(True), []),
    "bitnet_online": (llama(), bitnet(online=True), []),
    "awq_fast": (llama(intermediate_size=128), awq_fast(32), []),
    "gptq_dynamic": (llama(intermediate_size=160), gptq_dynamic(), []),
    "gptq_all": (llama(hidden_size=128, intermediate_size=128), gptq_all(), []),
    "ct_all": (llama(hidden_size=128, intermediate_size=128), ct_all(), []),
    "modelopt_mixed": (llama(hidden_size=160, num_attention_heads=5, num_key_value_heads=5), modelopt_mixed(), []),
    "auto_round": (llama(intermediate_size=128), auto_round(), []),
    "bnb_gpt2": (gpt2(), stored_as(BF16, four_bits("nf4", 64, nested=True)), []),
    "bnb_int8_gpt2": (gpt2(), eight_bits(), []),
    "gptq3_head": (llama(), gptq(3, 32, order=True, sym=True, kind=HALF), ["lm_head"]),
}


def write(name, config, method, also, metadata={}):
    folder, (quantize, settings, *stack) = f"{OUT}/{name}", method
    config._attn_implementation = "eager"
    torch.manual_seed(len(name))
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    linear = {n for n, m in model.named_modules() if isinstance(m, (torch.nn.Linear, transformers.pytorch_utils.Conv1D))
              and not n.endswith((".gate", "lm_head"))} | set(also)
    tensors, shown, part = {}, None, "gate_proj" if "nvfp4" in name else "down_proj"  # whose rows are blocks
    for key, p in model.state_dict().items():
        if key == "lm_head.weight" and config.tie_word_embeddings:
            continue
        module = key.removesuffix(".weight")
        if stack and ".experts." in key:
            stored, values = stack[0](key, p.numpy() * 5)
            tensors |= stored
            p.copy_(torch.from_numpy(np.ascontiguousarray(values)))
            shown = f"{key} 3", values[3].T
            continue
        if module not in linear:
            p.copy_(rounded(p + 0.1 * torch.randn(p.shape) * (p.ndim == 1), HALF).float())
            tensors[key] = p.half()
            continue
        swapped = isinstance(model.get_submodule(module), transformers.pytorch_utils.Conv1D)
        w = (p.T if swapped else p).numpy() * np.exp(0.3 * rng.standard_normal((1, 1))) * 5 + 0.02 * rng.standard_normal((1, 1))
        stored, values = quantize(module, np.ascontiguousarray(w, np.float32))
        tensors |= stored
        if name == "gptq8_g32":  # as AutoGPTQ writes it
            tensors[f"{module}.bias"] = torch.zeros(len(w), dtype=HALF)
        values = values.T if swapped else values
        p.copy_(torch.from_numpy(np.ascontiguousarray(values)))
        if not stack and (shown is None or part in module or ".mlp.c_proj" in module):
            shown = key, values
    ids = rng.integers(3, 97, 11)
    with torch.no_grad():
        logits = model(torch.from_numpy(ids)[None]).logits[0].numpy()
    os.makedirs(folder, exist_ok=True)
    save_file({k: t.contiguous().clone() for k, t in tensors.items()}, f"{folder}/model.safetensors",
              {"format": "pt"} | metadata)
    text = config.to_diff_dict() | {"architectures": [type(model).__name__], "quantization_config": settings}
    text |= {"model_type": config.model_type, "vocab_size": 97, "tie_word_embeddings": config.tie_word_embeddings}
    json.dump(text, open(f"{folder}/config.json", "w"), indent=1, sort_keys=True)
    np.save(f"{folder}/input_ids.npy", ids)
    np.save(f"{folder}/logits.npy", logits)
    np.save(f"{folder}/values.npy", np.ascontiguousarray(shown[1][:4]))
    open(f"{folder}/tensor", "w").write(shown[0] + "\n")


def seeded(name, config, method, also, metadata={}):
    global rng
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    write(name, config, method, also, metadata)


def main(asked):
    for name, (config, method, also) in MODELS.items():
        if not asked:
            write(name, config, method, also)
    for name, (config, method, also) in MORE.items():
        if not asked or name in asked:
            seeded(name, config, method, also)


if __name__ == "__main__":
    main(sys.argv[1:])
