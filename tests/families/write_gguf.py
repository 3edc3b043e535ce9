"""Writes GGUF files of models of tests/families, as llama.cpp's converters do, for tests/families/slow-gguf.sh.

    python tests/families/write_gguf.py FOLDER OUT.gguf ARCHITECTURE [apart]      needs gguf and safetensors

`apart`: a tensor for each expert, as until April 2024; of qwen3next the projections of queries and of gates
"""
import json
import math
import pathlib
import re
import statistics
import sys

import gguf
import numpy as np
from safetensors.numpy import load_file


def pairs(w, heads):
    """Rows of a head from halves (i, i + d/2) to neighbours (2i, 2i + 1)."""
    return w.reshape(heads, 2, w.shape[0] // heads // 2, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def apart(w, heads, groups):
    """Rows of each group's queries, key and value to all queries, all keys, all values."""
    n, d = heads // groups, w.shape[0] // (heads + 2 * groups)
    w = w.reshape(groups, n + 2, d, *w.shape[1:])
    return np.concatenate([w[:, :n].reshape(heads * d, *w.shape[3:]), w[:, n].reshape(groups * d, *w.shape[3:]),
                           w[:, n + 1].reshape(groups * d, *w.shape[3:])])


CHANGES = {"llama": "rotary", "granite": "rotary", "smollm3": "rotary", "granitemoe": "rotary", "internlm2": "rotary", "xverse": "rotary", "arcee": "rotary", "olmo": "rotary", "gemma": "norms",
           "gemma2": "norms", "gemma3": "norms", "gemma-embedding": "norms", "nemotron": "norms", "gpt2": "matrices", "bloom": "groups", "gptneox": "groups",
           "falcon": "groups", "granitehybrid": "rotary", "qwen3next": "norms"}
METADATA = {
    "context_length": ["max_position_embeddings", "n_positions", "max_seq_len", "relative_attention_max_distance"], "embedding_length": ["hidden_size", "n_embd", "d_model"],
    "block_count": ["num_hidden_layers", "n_layer", "n_layers", "num_layers"], "decoder_block_count": ["num_decoder_layers"],
    "attention.relative_buckets_count": ["relative_attention_num_buckets"], "rope.freq_base_swa": ["local_rope_theta"], "feed_forward_length": ["intermediate_size", "n_inner", "d_ff"],
    "attention.head_count": ["num_attention_heads", "n_head", "n_heads", "num_heads"],
    "attention.head_count_kv": ["num_key_value_heads", "num_kv_heads"], "attention.layer_norm_rms_epsilon": ["rms_norm_eps", "layer_norm_epsilon", "norm_eps"],
    "shortconv.l_cache": ["conv_L_cache"], "interleave_moe_layer_step": ["interleave_moe_layer_step"],
    "attention.layer_norm_epsilon": ["layer_norm_epsilon", "layer_norm_eps", "norm_epsilon", "norm_eps"],
    "moe_every_n_layers": ["moe_every_n_layers"], "rope.freq_base": ["rope_theta", "rotary_emb_base", "global_rope_theta"], "attention.key_length": ["head_dim", "d_kv"],
    "attention.sliding_window": ["sliding_window", "local_attention"], "attn_logit_softcapping": ["attn_logit_softcapping"],
    "final_logit_softcapping": ["final_logit_softcapping"], "logit_scale": ["logit_scale", "logits_scaling"],
    "expert_count": ["num_experts", "n_routed_experts", "num_local_experts"], "expert_used_count": ["num_experts_per_tok", "moe_topk", "moe_top_k"],
    "expert_shared_feed_forward_length": ["shared_expert_intermediate_size", "shared_intermediate_size"],
    "expert_shared_count": ["n_shared_experts"], "leading_dense_block_count": ["first_k_dense_replace"],
    "expert_weights_scale": ["routed_scaling_factor"], "expert_weights_norm": ["norm_topk_prob"], "expert_group_count": ["n_group"],
    "expert_group_used_count": ["topk_group"], "attention.q_lora_rank": ["q_lora_rank"], "attention.kv_lora_rank": ["kv_lora_rank"],
    "attention.value_length": ["v_head_dim"], "rope.dimension_count": ["qk_rope_head_dim"],
    "expert_feed_forward_length": ["moe_intermediate_size"], "attention.scale": ["attention_multiplier"], "embedding_scale": ["embedding_multiplier"],
    "embedding_length_per_layer_input": ["hidden_size_per_layer_input"], "attention.shared_kv_layers": ["num_kv_shared_layers"],
    "altup.active_idx": ["altup_active_idx"], "altup.num_inputs": ["altup_num_inputs"],
    "ssm.conv_kernel": ["mamba_d_conv", "conv_kernel"], "ssm.state_size": ["mamba_d_state", "state_size"],
    "ssm.group_count": ["mamba_n_groups", "n_groups"], "ssm.inner_size": ["mamba_d_ssm"],
    "residual_scale": ["residual_multiplier"], "use_parallel_residual": ["use_parallel_residual"], "attention.clamp_kqv": ["clip_qkv"],
}


def slopes(writer, tensors):
    """Apertus' numbers of each layer's activation, which are metadata; returns the other tensors."""
    for part in ("alpha_n", "alpha_p", "beta", "eps"):
        found = [float(tensors.pop(hf).item()) for hf in sorted(tensors) if hf.endswith(".act_fn." + part)]
        if found:
            writer.add_array("xielu." + part, found)
    return tensors


def adjusted(config):
    """The width of LFM2's MLP, and heads of keys layer by layer."""
    width = int(config["block_ffn_dim_multiplier"] * (2 * config["intermediate_size"] // 3))
    unit, heads = config["block_multiple_of"], config["num_key_value_heads"]
    return {**config, "intermediate_size": -(-width // unit) * unit,
            "num_key_value_heads": [heads if kind == "full_attention" else 0 for kind in config["layer_types"]]}


def of_recurrence(writer, name, config):
    """What converters compute of a Mamba's sizes; heads of keys layer by layer in hybrids."""
    inner = config.get("mamba_d_ssm") or int(config.get("mamba_expand", config.get("expand")) * config["hidden_size"])
    rank = config.get("mamba_dt_rank") or config.get("time_step_rank")
    rank = (config["hidden_size"] + 15) // 16 if rank == "auto" else rank
    writer.add_uint32(f"{name}.ssm.time_step_rank", config.get("mamba_n_heads") or config.get("num_heads") or rank)
    if name == "mamba" and config["model_type"] == "falcon_mamba":
        writer.add_bool("mamba.ssm.dt_b_c_rms", True)
    if name == "granitehybrid":
        writer.add_bool("granitehybrid.rope.scaling.finetuned", config["position_embedding_type"] == "rope")
    kinds = config.get("layer_types") or config.get("layers_block_type")
    if name == "jamba":
        kinds = ["attention" if i % config["attn_layer_period"] == config["attn_layer_offset"] else "mamba" for i in range(config["num_hidden_layers"])]
    heads = config.get("num_key_value_heads")
    return {**config, "mamba_d_ssm": inner, "num_key_value_heads": [heads * (kind == "attention") for kind in kinds] if kinds else heads}


def of_delta_rule(writer, config):
    """Qwen3-Next's sizes, in Mamba's words"""
    values = config["linear_num_value_heads"]
    for key, value in (("conv_kernel", config["linear_conv_kernel_dim"]), ("state_size", config["linear_key_head_dim"]),
                       ("group_count", config["linear_num_key_heads"]), ("time_step_rank", values),
                       ("inner_size", values * config["linear_value_head_dim"])):
        writer.add_uint32(f"qwen3next.ssm.{key}", value)


def queries_and_gates_apart(tensors, config):
    """The projections of the delta rule as converters of 2026 write them: all queries, keys and values in one, all gates in another."""
    result, groups = {}, config["linear_num_key_heads"]
    K, V = config["linear_key_head_dim"], config["linear_num_value_heads"] // groups * config["linear_value_head_dim"]
    for hf, w in tensors.items():
        if "in_proj_qkvz" not in hf:
            result[hf] = w
            continue
        parts = np.split(w.reshape(groups, 2 * K + 2 * V, -1), [K, 2 * K, 2 * K + V], axis=1)
        q, k, v, z = (part.reshape(-1, w.shape[1]) for part in parts)
        result[hf.replace("linear_attn.in_proj_qkvz", "self_attn.qkv_proj")] = np.concatenate([q, k, v])
        result[hf.replace("linear_attn.in_proj_qkvz", "attn_gate")] = z
    return result


def metadata(writer, name, config):
    if name == "qwen3next":
        of_delta_rule(writer, config)
    if "mamba_d_conv" in config or "conv_kernel" in config:
        config = of_recurrence(writer, name, config)
    if "intermediate_size_mlp" in config:
        config = {**config, "moe_intermediate_size": config["intermediate_size"], "intermediate_size": config["intermediate_size_mlp"]}
    if "conv_L_cache" in config:
        config = adjusted(config)
    if "activation_sparsity_pattern" in config:
        config = {**config, "intermediate_size": config["intermediate_size"][0]}
        normal = statistics.NormalDist()
        writer.add_activation_sparsity_scale([normal.inv_cdf(p) if p else -math.inf for p in config["activation_sparsity_pattern"]])
    if name in ("gemma3n", "exaone4", "olmo2") and "layer_types" in config:
        writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config["layer_types"]])
    if "qk_nope_head_dim" in config:
        config = {**config, "head_dim": config["qk_nope_head_dim"] + config["qk_rope_head_dim"]}
    for key, fields in METADATA.items():
        value = next((config[f] for f in fields if config.get(f) is not None), None)
        add = writer.add_array if isinstance(value, list) else writer.add_bool if isinstance(value, bool) else writer.add_float32 if isinstance(value, float) else writer.add_uint32
        if value is not None and (name, key) != ("falcon-h1", "embedding_scale"):      # which is in the tensors
            add(f"{name}.{key}", value)
    if name == "grovemoe":                                    # what the converter fixes
        writer.add_uint32("grovemoe.expert_chunk_feed_forward_length", 128)
        writer.add_uint32("grovemoe.experts_per_group", 2)
        writer.add_float32("grovemoe.expert_group_scale", 0.05)
    part = config.get("partial_rotary_factor") or config.get("rotary_pct")
    if part:
        head = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
        writer.add_uint32(f"{name}.rope.dimension_count", int(head * part))


def llama3_factors(config, scaling, pairs):
    """What LLaMA 3 divides each frequency by."""
    low, high, context = scaling["low_freq_factor"], scaling["high_freq_factor"], scaling["original_max_position_embeddings"]
    turns = context * (config["rope_theta"] ** (-np.arange(pairs) / pairs)) / (2 * np.pi)
    mix = np.clip((turns - low) / (high - low), 0, 1)
    return 1 / ((1 - mix) / scaling["factor"] + mix)


def rotary_scaling(writer, name, config):
    scaling = config.get("rope_scaling") or {}
    kind = scaling.get("rope_type") or scaling.get("type")
    head = config.get("head_dim") or (config["hidden_size"] // config["num_attention_heads"] if kind else 0)
    context = scaling.get("original_max_position_embeddings") or config.get("original_max_position_embeddings")
    if kind in ("linear", "yarn"):
        writer.add_string(f"{name}.rope.scaling.type", kind)
        writer.add_float32(f"{name}.rope.scaling.factor", scaling["factor"])
    if scaling.get("mscale_all_dim"):
        writer.add_float32(f"{name}.rope.scaling.yarn_log_multiplier", 0.1 * scaling["mscale_all_dim"])
    if kind in ("yarn", "longrope") and context:
        writer.add_uint32(f"{name}.rope.scaling.original_context_length", context)
    if kind == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(config, scaling, head // 2).astype(np.float32))
    if kind == "longrope":
        long = config["max_position_embeddings"]
        stretch = scaling.get("factor") or long / (context or long)
        attention = (1 + np.log(stretch) / np.log(context or long)) ** 0.5 if stretch > 1 else 1.0
        writer.add_float32(f"{name}.rope.scaling.attn_factor", attention)
        writer.add_tensor("rope_factors_short.weight", np.array(scaling["short_factor"], np.float32))
        writer.add_tensor("rope_factors_long.weight", np.array(scaling["long_factor"], np.float32))


def changed(name, hf, w, config):
    heads = config.get("num_attention_heads") or config.get("n_head")
    kind = CHANGES.get(name)
    if kind == "rotary" and (".q_proj." in hf or ".k_proj." in hf):
        return pairs(w, heads if ".q_proj." in hf else config.get("num_key_value_heads", heads))
    if kind == "norms" and hf.endswith("norm.weight") and "linear_attn" not in hf:
        return w + 1
    if kind == "matrices" and hf.endswith(("c_attn.weight", "c_fc.weight", "c_proj.weight")):
        return w.T
    if hf.endswith(("conv.conv.weight", "conv1d.weight")):
        return w[:, 0]
    if hf.endswith(("A_log", ".D")):
        w = -np.exp(w) if hf.endswith("A_log") else w
        return w[:, None] if w.ndim == 1 and name in ("mamba2", "granitehybrid", "falcon-h1") else w
    if name in ("mamba2", "granitehybrid", "falcon-h1") and hf.endswith(("mixer.norm.weight", "mamba.norm.weight")):
        return w.reshape(config.get("n_groups") or config["mamba_n_groups"], -1)
    if kind == "groups" and "query_key_value" in hf:
        return apart(w, heads, config.get("num_kv_heads", heads))
    return w


def gate_and_up(tensors, experts):
    """Apart, where they are one matrix: of gpt-oss in turns, of Granite one behind the other; Nomic's experts one below the other."""
    result = {}
    for hf, w in tensors.items():
        if ".experts.mlp.w" in hf:
            w = w.reshape(experts, -1, w.shape[-1])
            result[hf + ".weight"] = w.swapaxes(1, 2) if hf.endswith("w2") else w
            continue
        if "feed_forward.experts.gate_up_proj" in hf:
            for part, half in zip(("gate_proj", "up_proj"), np.split(w, 2, axis=-1)):
                result[hf.replace("gate_up_proj", part + ".weight")] = half.swapaxes(1, 2)
        elif ".experts.gate_up_proj" in hf:
            for i, part in enumerate(("gate_proj", "up_proj")):
                end = ".bias" if hf.endswith("_bias") else ".weight"
                result[hf.split("gate_up_proj")[0] + part + end] = np.swapaxes(w[..., i::2], 1, -1)
        elif ".experts.down_proj" in hf and w.ndim < 4 and not hf.endswith(".weight"):
            result[hf.split("down_proj")[0] + "down_proj" + (".bias" if hf.endswith("_bias") else ".weight")] = np.swapaxes(w, 1, -1)
        elif "input_linear.weight" in hf:
            base = "block_sparse_moe.experts" if w.ndim == 3 else "shared_mlp"
            for part, half in zip(("gate_proj", "up_proj"), np.split(w, 2, axis=-2)):
                result[hf.split("block_sparse_moe" if w.ndim == 3 else "shared_mlp")[0] + f"{base}.{part}.weight"] = half
        else:
            result[hf] = w
    return result


# Names that the package has no pair for
NAMES = {"block_sparse_moe.experts.gate_proj": "ffn_gate_exps", "block_sparse_moe.experts.up_proj": "ffn_up_exps",
         "shared_mlp.gate_proj": "ffn_gate_shexp", "shared_mlp.up_proj": "ffn_up_shexp", "shared_mlp.output_linear": "ffn_down_shexp",
         "linear_attn.in_proj_qkvz": "ssm_in", "attn_gate": "attn_gate", "self_attn.qkv_proj": "attn_qkv",
         "self_attn.sinks": "attn_sinks.weight", "altup.correct_output_scale": "altup_correct_scale"}


def folded(tensors, config):
    """Falcon-H1's factors, which its converter multiplies with."""
    inner, shared = config["mamba_d_ssm"], config["mamba_n_groups"] * config["mamba_d_state"]
    widths = (inner, inner, shared, shared, config["mamba_n_heads"])
    by_row = np.repeat(np.array(config["ssm_multipliers"], np.float32), widths)[:, None] * config["ssm_in_multiplier"]
    seen = config["attention_in_multiplier"]
    factors = {"embed_tokens": config["embedding_multiplier"], "lm_head": config["lm_head_multiplier"], "q_proj": seen, "v_proj": seen,
               "k_proj": seen * config["key_multiplier"], "o_proj": config["attention_out_multiplier"], "mamba.in_proj": by_row,
               "mamba.out_proj": config["ssm_out_multiplier"], "gate_proj": config["mlp_multipliers"][0],
               "down_proj": config["mlp_multipliers"][1]}
    return {hf: w.astype(np.float32) * next((f for part, f in factors.items() if part in hf), 1) for hf, w in tensors.items()}


def renamed(names, hf):
    hf = hf.replace(".dt_bias", ".dt_proj.bias")
    hf = hf.replace("experts.0.", "experts.").replace("e_score_correction_bias", "e_score_correction.bias")
    for part, gguf_name in NAMES.items():
        if part in hf:
            return "blk." + re.search(r"layers\.(\d+)\.", hf)[1] + "." + gguf_name + ("" if part.endswith("sinks") else ".weight")
    dense = re.fullmatch(r"model\.layers\.(\d+)\.mlp\.(gate|up|down)_proj\.weight", hf)     # of a family of mixtures
    found = (names.get_name(name, (".weight", ".bias")) for name in (hf, hf.removeprefix("transformer."), "model." + hf))
    return next(filter(None, found), dense and f"blk.{dense[1]}.ffn_{dense[2]}.weight")


def stacked(tensors):
    """The matrices of a layer's experts, and those of Gemma 3n's states, as one tensor, by the name of the first."""
    found, which = {}, r"(\.experts|\.chunk_experts|\.altup_projections|\.altup_unembed_projections)\.(\d+)\."
    for hf, w in tensors.items():
        found.setdefault(re.sub(which, r"\1.0.", hf), {})[hf] = w
    number = lambda hf: int(re.search(which, hf)[2])
    found = {hf: np.stack([of[n] for n in sorted(of, key=number)]) if re.search(which, hf) else of[hf] for hf, of in found.items()}
    return {re.sub(r"(\.altup_\w+)\.0\.", r"\1.", hf): w for hf, w in found.items()}


def main(folder, out, name, how=None):
    folder = pathlib.Path(folder)
    config = json.loads((folder / "config.json").read_text())
    tensors = gate_and_up(stacked(load_file(folder / "model.safetensors")), config.get("num_experts"))
    if name == "qwen3next" and how == "apart":
        tensors, how = queries_and_gates_apart(tensors, config), None
    if name == "falcon-h1":
        tensors = folded(tensors, config)
    arch = next(a for a, n in gguf.constants.MODEL_ARCH_NAMES.items() if n == name)
    names = gguf.get_tensor_name_map(arch, config.get("num_hidden_layers") or config.get("n_layer") or config.get("n_layers") or config.get("num_layers"))
    writer = gguf.GGUFWriter(out, name)
    rotary_scaling(writer, name, config)
    if name == "glm4moe":  # a layer that guesses further ahead: the last one's weights again
        writer.add_uint32("glm4moe.nextn_predict_layers", 1)
        config = {**config, "num_hidden_layers": config["num_hidden_layers"] + 1}
        names = gguf.get_tensor_name_map(arch, config["num_hidden_layers"])
        last, width = config["num_hidden_layers"] - 2, config["hidden_size"]
        tensors |= {hf.replace(f"layers.{last}.", f"layers.{last + 1}."): w for hf, w in tensors.items() if f"layers.{last}." in hf}
        ones = np.ones(width, np.float32)
        for part, w in {"eh_proj": np.eye(width, 2 * width, dtype=np.float32), "enorm": ones, "hnorm": ones, "shared_head_norm": ones}.items():
            writer.add_tensor(f"blk.{last + 1}.nextn.{part}.weight", w)
    metadata(writer, name, config)
    for hf, w in slopes(writer, tensors).items():
        if "pooler" in hf:                        # which converters leave out
            continue
        w = np.ascontiguousarray(changed(name, hf, w.astype(np.float32), config))
        new = renamed(names, hf)
        assert new, f"GGUF has no name for {hf}"
        small = w.ndim < 2 or "ssm_" in new and "proj" not in hf or name == "falcon-h1"      # factors are no f16
        w = w if small else w.astype(np.float16)
        if how == "apart" and "_exps." in new:
            for i, one in enumerate(w):
                writer.add_tensor(new.replace("_exps.", f".{i}."), np.ascontiguousarray(one))
        else:
            writer.add_tensor(new, w)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
