"""Tiny folders as hqq, torchao and amd-quark write them, with the values that these libraries compute from them, in float32. Not needed
to build or test burin.

usage: libraries.py [NAME...]   needs what folders.py does, hqq, torchao, amd-quark; writes tests/formats/folders/*
"""
import sys

import torch

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


LIBRARIES = {
    "hqq4": (llama(), hqq(4, 32), []),
    "hqq4_axis0": (llama(), hqq(4, 64, axis=0, together=True), []),
    "hqq3": (llama(attention_bias=True), hqq(3, 16), []),
    "hqq2_axis0": (llama(), hqq(2, 16, axis=0), []),
    "hqq1": (llama(), hqq(1, 32, view=True), []),
    "hqq8_one": (llama(), hqq(8, 64, channel_wise=False), []),
    "hqq4_whole": (wide(), hqq(4, 64, round_zero=True, optimize=False), []),
}

for name, (config, method, also) in LIBRARIES.items():
    if not sys.argv[1:] or name in sys.argv[1:]:
        folders.seeded(name, config, method, also)
