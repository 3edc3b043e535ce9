"""Tiny folders as mlx-lm writes them: its modes beside affine, settings by module, experts. Not needed to build or test burin.

usage: mlx_folders.py [NAME...]   needs what folders.py does, mlx (and mlx-cpu), mlx-lm; writes tests/formats/folders/*

mlx-lm reads a folder of transformers', quantizes and saves it; the expected numbers are those of transformers' model in float32 with the
weights that mlx's dequantize gives.
"""
import copy
import json
import os
import shutil
import sys
import tempfile
import zlib
from pathlib import Path

import mlx.core as mx
import numpy as np
import torch
import transformers
from safetensors.torch import load_file, save_file
from mlx_lm.utils import load_model, quantize_model, save_config, save_model

from folders import OUT, SMALL, ct_mxfp4, llama

MOE = SMALL | {"hidden_size": 64, "intermediate_size": 96, "moe_intermediate_size": 64, "num_experts": 4, "num_experts_per_tok": 2}
EIGHT = {"group_size": 64, "bits": 8}  # as published files of gpt-oss say it: affine


def qwen3_moe():
    return transformers.Qwen3MoeConfig(**MOE, head_dim=16)


def mixtral():
    return transformers.MixtralConfig(**SMALL | {"intermediate_size": 64, "num_local_experts": 4})


def gpt_oss():
    few = {k: v for k, v in SMALL.items() if k not in ("intermediate_size", "num_hidden_layers")}
    return transformers.GptOssConfig(**few, intermediate_size=64, num_local_experts=4, num_experts_per_tok=2, head_dim=16, sliding_window=8,
                                     num_hidden_layers=2, rope_scaling={"rope_type": "default"}, layer_types=["sliding_attention", "full_attention"])


def phimoe():
    return transformers.PhimoeConfig(**SMALL | {"hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 2}, num_local_experts=4, lm_head_bias=True, attention_bias=True)


FOLDERS = {
    "mlx_qwen3_moe": (qwen3_moe(), {"group_size": 32, "bits": 4}, lambda path: {"group_size": 64, "bits": 8} if path.endswith("mlp.gate") else
                      {"group_size": 32, "bits": 6} if path.endswith("switch_mlp.down_proj") else True),
    "mlx_gpt_oss": (gpt_oss(), {"mode": "mxfp4"}, lambda path: True if ".experts." in path else EIGHT),
    "mlx_mixtral": (mixtral(), {"mode": "nvfp4", "global_scale": True}, lambda path: not path.endswith("gate")),
    "mlx_modes": (llama(), {"mode": "mxfp8"}, lambda path: next((s for k, s in {
        "q_proj": {"mode": "mxfp4", "group_size": 32, "bits": 4}, "k_proj": {"mode": "nvfp4", "group_size": 16, "bits": 4}}.items()
        if path.endswith(k)), True)),
    "mlx_phimoe": (phimoe(), None, None),
}


def dequantized(tensors, settings):
    """Of the file's tensors, in float32"""
    values = {}
    for key, t in tensors.items():
        module = key.removesuffix(".weight")
        if key.endswith((".scales", ".biases", ".global_scale")):
            continue
        if f"{module}.scales" not in tensors:
            values[key] = np.array(t.astype(mx.float32))
            continue
        of = settings.get(module, settings)
        mode, group, bits = of.get("mode", "affine"), of["group_size"], of["bits"]
        scales, biases, whole = tensors[f"{module}.scales"], tensors.get(f"{module}.biases"), tensors.get(f"{module}.global_scale")
        if biases is not None:
            scales, biases = scales.astype(mx.float32), biases.astype(mx.float32)
        parts = [mx.dequantize(t[e], scales[e], None if biases is None else biases[e], group, bits, mode, None if whole is None else whole[e],
                               mx.float32) for e in range(len(t))] if t.ndim == 3 else [
            mx.dequantize(t, scales, biases, group, bits, mode, whole, mx.float32)]
        values[key] = np.stack([np.array(p) for p in parts]) if t.ndim == 3 else np.array(parts[0])
    return values


def in_transformers_words(values, kind):
    words = {"gate_proj": "w1", "down_proj": "w2", "up_proj": "w3"} if kind in ("mixtral", "phimoe") else {}
    of = {}
    for key, v in values.items():
        if kind == "gpt_oss" and ".experts." in key:
            stack, part, what = key.rsplit(".", 2)
            name = f"{stack}.{'down_proj' if part == 'down_proj' else 'gate_up_proj'}{'_bias' if what == 'bias' else ''}"
            v = v.swapaxes(1, 2) if what == "weight" else v
            if part == "down_proj":
                of[name] = v
            else:
                both = of.setdefault(name, np.zeros((*v.shape[:-1], 2 * v.shape[-1]), np.float32))
                both[..., part == "up_proj"::2] = v
        elif ".switch_mlp." in key:
            stack, rest = key.split(".switch_mlp.")
            for e, one in enumerate(v):
                part, end = rest.split(".")
                of[f"{stack}.experts.{e}.{words.get(part, part)}.{end}"] = one
        else:
            of[key] = v
    return of


def random_model(config, rng):
    torch.manual_seed(int(rng.integers(1 << 30)))
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").float().eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.copy_((p * 5 if p.ndim > 1 else p + 0.1 * torch.randn(p.shape)).to(torch.bfloat16).float())
    return model


def experts_in_mxfp4(folder):
    """As gpt-oss is published: mlx-lm keeps them"""
    tensors = load_file(f"{folder}/model.safetensors")
    for key in [k for k in tensors if k.endswith("_proj") and ".experts." in k]:
        w = tensors.pop(key).float().numpy().swapaxes(1, 2)
        stored, _ = ct_mxfp4()[0]("", w.reshape(-1, w.shape[-1]))
        tensors[f"{key}_blocks"] = stored[".weight_packed"].reshape(*w.shape[:2], -1, 16)
        tensors[f"{key}_scales"] = stored[".weight_scale"].reshape(*w.shape[:2], -1)
    save_file(tensors, f"{folder}/model.safetensors", {"format": "pt"})
    text = json.load(open(f"{folder}/config.json"))
    json.dump(text | {"quantization_config": {"quant_method": "mxfp4"}}, open(f"{folder}/config.json", "w"))


def converted(source, folder, how, by_module):
    """A folder of transformers' as mlx-lm saves it; its config.json"""
    ours, words = load_model(Path(source), lazy=True)
    if how is not None:
        how = {"group_size": None, "bits": None} | how
        ours, words = quantize_model(ours, words, quant_predicate=lambda path, _: by_module(path), **how)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    save_model(folder, ours)
    save_config(words, f"{folder}/config.json")
    return words


def write(name, config, how, by_module):
    folder, rng = f"{OUT}/{name}", np.random.default_rng(zlib.crc32(name.encode()))
    config._attn_implementation = "eager"
    model = random_model(config, rng)
    with tempfile.TemporaryDirectory() as plain:
        copy.deepcopy(model).to(torch.bfloat16).save_pretrained(plain)
        if config.model_type == "gpt_oss":
            experts_in_mxfp4(plain)
        words = converted(plain, folder, how, by_module)
    os.remove(f"{folder}/model.safetensors.index.json")
    values = dequantized(mx.load(f"{folder}/model.safetensors"), words.get("quantization", {}))
    values = in_transformers_words(values, config.model_type)
    wrong = model.load_state_dict({k: torch.from_numpy(v) for k, v in values.items()}, strict=False)
    assert not wrong.unexpected_keys and all("inv_freq" in k for k in wrong.missing_keys), wrong
    ids = rng.integers(3, 97, 11)
    with torch.no_grad():
        logits = model(torch.from_numpy(ids)[None]).logits[0].numpy()
    shown = next(k for k in values if "experts.2.w2.weight" in k or "experts.2.down_proj.weight" in k or k.endswith("mlp.experts.down_proj"))\
        if "modes" not in name else "model.layers.0.mlp.down_proj.weight"
    matrix = values[shown][3].T if values[shown].ndim == 3 else values[shown]
    text = json.load(open(f"{folder}/config.json"))
    json.dump(text, open(f"{folder}/config.json", "w"), indent=1, sort_keys=True)
    np.save(f"{folder}/input_ids.npy", ids)
    np.save(f"{folder}/logits.npy", logits)
    np.save(f"{folder}/values.npy", np.ascontiguousarray(matrix[:4]))
    shown = shown.replace("mlp.experts.", "mlp.experts.3.") + ".weight" if values[shown].ndim == 3 else shown
    for hf, ours in (("w2", "down_proj"),):
        shown = shown.replace(f".{hf}.", f".{ours}.")
    open(f"{folder}/tensor", "w").write(shown + "\n")


if __name__ == "__main__":
    for name, parts in FOLDERS.items():
        if not sys.argv[1:] or name in sys.argv[1:]:
            write(name, *parts)
