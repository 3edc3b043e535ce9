"""Tiny folders of every model of texts of the installed transformers, as that version writes them, with what it computes, and
what burin makes of them.

    python tests/families/newest.py OUT [--of KIND] [--vary] [--compare build/tools/family] [NAME...]
        OUT/NAME            config.json, model.safetensors, input_ids.npy and logits.npy or last_hidden_state.npy
        OUT/NAME-internal   the same model with the tensors' names that this version has inside (save_original_format=False)
        --of                causal (all causal language models), vision (text parts of models of images and texts), masked, sequence, token, question, pair (its mappings of these names),
                            base (models without a head), described (the models of models.py)
        --vary              OUT/NAME@CHANGE as well: each field of the configuration with other values, absent, null (vary.py)
        --compare           runs this tool over each model's folders, prints a line for each, and removes those that are right

Sizes come from the fields that the configuration classes have: each that is a size is made small (SIZES), lists and layers
follow; what a class wants beside that is in SPECIAL. Weights are those of uniform.py, as in generate.py. Nothing of it is kept in
the repository: a version of next year is one run.
"""
import argparse
import inspect
import json
import pathlib
import re
import shutil
import subprocess
import sys
import warnings

import numpy as np
import torch
import transformers
from safetensors import safe_open
from transformers.models.auto import modeling_auto

from generate import inputs_of, scale_and_offset
from models import MODELS
from uniform import uniform
import vision_text
from vary import edits, variants, variants_of

TOKENS, MOST, NEAR = 24, 20_000_000, 1e-4
SIZES = dict(
    vocab_size=96, hidden_size=64, d_model=64, n_embd=64, dim=64, n_dim=64, intermediate_size=96, ffn_dim=96, n_inner=96, ffn_hidden_size=96,
    num_hidden_layers=4, n_layer=4, n_layers=4, num_layers=4, num_attention_heads=4, n_head=4, n_heads=4, num_heads=4,
    num_key_value_heads=2, head_dim=16, max_position_embeddings=128, n_positions=128, max_seq_len=128, max_sequence_length=128,
    moe_intermediate_size=32, shared_expert_intermediate_size=32, expert_ffn_hidden_size=32, n_routed_experts=4, num_experts=4,
    num_local_experts=4, num_experts_per_tok=2, moe_topk=2, n_group=1, topk_group=1, first_k_dense_replace=1,
    q_lora_rank=24, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=16, v_head_dim=16, qk_head_dim=24,
    sliding_window=7, mamba_n_heads=8, mamba_d_head=16, mamba_d_state=8, mamba_num_heads=8, mamba_head_dim=16, ssm_state_size=8,
    state_size=8, n_groups=2, mamba_n_groups=2, chunk_size=8, mamba_chunk_size=8, time_step_rank=8, mamba_dt_rank=8,
    linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=8, linear_value_head_dim=8, linear_head_dim=8, linear_num_heads=4,
    lru_width=64, attention_window_size=7, expert_num=4, vocab_size_per_layer_input=96, hidden_size_per_layer_input=16,
    global_head_dim=16, laurel_rank=8, altup_num_inputs=2, num_kv_shared_layers=0, index_n_heads=2, index_head_dim=16, index_topk=64,
    attention_dim=64, attention_hidden_size=64, embedding_size=32, type_vocab_size=2, encoder_layers=2, decoder_layers=2,
    encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=96, decoder_ffn_dim=96, d_kv=16, d_ff=96, d_inner=96,
    mlp_hidden_size=96, block_size=16, time_intermediate_size=96, emb_dim=64, word_embed_proj_dim=64, num_decoder_layers=2,
    num_attention_groups=2, moe_num_experts=4, moe_k=2, moe_num_shared_experts=1, num_groups=1, num_zero_experts=0, zero_expert_num=0,
    input_embedding_size=32, output_embedding_size=32, entity_vocab_size=16, entity_emb_size=16, head_size=16, lora_rank=4,
    dense_intermediate_size=96, shared_intermediate_size=48, hidden_dim=96, pooler_hidden_size=64, num_encoder_layers=2,
    layer_window_size=7, local_attention=8, rotary_dim=8)
IDS = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2)
# Fields of the whole configuration of a model of images and texts
AROUND = {"granite_docling": dict(vision_config=dict(out_hidden_size=64, num_hidden_layers=0)),
          "idefics3": dict(vision_config=dict(num_hidden_layers=0)), "aya_vision": dict(vision_config=dict(num_attention_heads=16))}
# Fields that have to go together; None leaves a size out.
SPECIAL = {
    "codegen": dict(rotary_dim=8),
    "gptj": dict(rotary_dim=8),
    "kimi_linear": dict(num_experts_per_token=2, model_max_length=128,
                        layer_types=["linear_attention", "full_attention", "linear_attention", "full_attention"]),
    "lfm3": dict(layer_types=["conv", "conv", "full_attention", "sliding_attention"]),
    "lfm2_moe": dict(layer_types=["conv", "full_attention", "conv", "full_attention"], num_dense_layers=1),
    "dbrx": dict(attn_config=dict(rope_theta=1e4, kv_n_heads=2, clip_qkv=8.0), n_layers=3,
                 ffn_config=dict(hidden_size=64, ffn_hidden_size=32, moe_num_experts=4, moe_top_k=2)),
    "zaya": dict(num_experts_per_tok=1),
    "zamba2": dict(num_hidden_layers=6, layers_block_type=["mamba", "hybrid", "mamba", "hybrid", "hybrid", "mamba"], num_mem_blocks=2,
                   n_mamba_heads=8, mamba_ngroups=2, adapter_rank=4, num_key_value_heads=4),
    "zamba": dict(num_hidden_layers=6),
    "hunyuan_vl_text": dict(head_dim=16), "paddleocr_vl_text": dict(head_dim=16, rope_parameters={
        "rope_type": "default", "rope_theta": 5e5, "mrope_section": [4, 2, 2]}),
    "ernie4_5_vl_moe_text": dict(moe_intermediate_size=[32, 16]),
    "deepseek_v2": dict(num_experts_per_tok=2, n_routed_experts=4, moe_intermediate_size=32),
}
MAPPINGS = dict(vision=("vision", "IMAGE_TEXT_TO_TEXT"), causal=("decoder", "CAUSAL_LM"), masked=("task", "MASKED_LM"), sequence=("task", "SEQUENCE_CLASSIFICATION"),
                token=("task", "TOKEN_CLASSIFICATION"), question=("task", "QUESTION_ANSWERING"), pair=("pair", "SEQ_TO_SEQ_CAUSAL_LM"))
COMPUTED = ("inv_freq", "rope_freqs", "slope_rate", "query_decay", "key_decay", "diagonal_decay")


def small(name, config_class):
    """The fields of a small configuration of the class: those that it has, at the sizes above."""
    names = {n for c in config_class.__mro__ for n in inspect.signature(c.__init__).parameters} | set(config_class().to_dict())
    names |= {n for n in dir(config_class) if n in SIZES}
    aliases = getattr(config_class, "attribute_map", {})
    default = config_class()
    special = SPECIAL.get(name, {})
    chosen = {n: v for n, v in SIZES.items() if n in names and n not in aliases and not isinstance(getattr(config_class, n, None), property)}
    for field in list(chosen):
        try:
            value = getattr(default, field, None)
        except Exception:                           # which differs between layers
            value = 1
        if value is None or isinstance(value, (list, dict, tuple, bool, str)):
            del chosen[field]
    if "qk_rope_head_dim" in chosen:                # which head_dim is, where both are fields
        chosen.pop("head_dim", None)
        if "num_key_value_heads" in chosen:         # latent attention has as many
            chosen["num_key_value_heads"] = SIZES["num_attention_heads"]
    if "mrope_section" in (getattr(default, "ignore_keys_at_rope_validation", None) or ()):
        rotary = getattr(default, "rope_parameters", None) or {}
        pairs = int(SIZES["head_dim"] * rotary.get("partial_rotary_factor", 1)) // 2
        section = [pairs // 2, pairs // 4, pairs - pairs // 2 - pairs // 4]
        chosen["rope_parameters"] = {"rope_type": "default", "rope_theta": 1e4} | rotary | {"mrope_section": section}
    if isinstance(getattr(default, "id2label", None), dict):
        chosen["num_labels"] = 3
    return {n: v for n, v in (chosen | IDS | special).items() if v is not None or n not in SIZES}


def fill(model):
    """Gives every parameter and stored number the values of uniform.py, by its name inside."""
    with torch.no_grad():
        for name, tensor in model.state_dict(keep_vars=True).items():
            t = tensor.data
            if t.device.type == "meta" or not t.is_floating_point() or name.endswith(COMPUTED):
                continue
            scale, offset = scale_and_offset(t, name)
            values = (offset + scale * uniform(name, t.numel())).astype(np.float32).astype(np.float16).astype(np.float32)
            t.copy_(torch.from_numpy(values).reshape(t.shape))
    for module in model.modules():
        if type(module).__name__ == "XIELUActivation":
            module.to(torch.bfloat16)


def exact(model):
    """Sums row by row, which round less than those by chunks."""
    for module in model.modules():
        if hasattr(module, "chunk_gated_delta_rule") and hasattr(module, "recurrent_gated_delta_rule"):
            module.chunk_gated_delta_rule = module.recurrent_gated_delta_rule


def arrays(folder, inputs, outputs):
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value[0].numpy().astype(np.int32) if value.dtype == torch.int64 else value[0].numpy())
    for name in ("logits", "last_hidden_state", "pooler_output", "start_logits", "end_logits", "encoder_last_hidden_state"):
        value = getattr(outputs, name, None)
        if torch.is_tensor(value):
            np.save(folder / f"{name}.npy", value[0].float().numpy())


def same_tensors(a, b):
    with safe_open(a / "model.safetensors", "np") as x, safe_open(b / "model.safetensors", "np") as y:
        return sorted(x.keys()) == sorted(y.keys())


def attention_of(cls):
    """Eager, save for Falcon, whose eager attention adds ALiBi twice."""
    return "sdpa" if cls.__name__.startswith("Falcon") and "H1" not in cls.__name__ and "Mamba" not in cls.__name__ else "eager"


def made(cls, parameters):
    """A model with these parameters, with values."""
    torch.manual_seed(0)
    config = cls.config_class(**parameters)
    config._attn_implementation = attention_of(cls)
    config._experts_implementation = "eager"
    with torch.device("meta"):
        count = sum(p.numel() for p in cls(config).parameters())
    if count > MOST:
        raise ValueError(f"{count} parameters: a field that is a size is missing in SIZES")
    model = cls(config).float().eval()
    fill(model)
    return model


def computed(cls, folder, kind):
    """Inputs and outputs of the folder's model; None if its tensors are not those of its configuration."""
    loaded, info = cls.from_pretrained(folder, dtype=torch.float32, attn_implementation=attention_of(cls), experts_implementation="eager",
                                       output_loading_info=True)
    if info["missing_keys"] or info["unexpected_keys"] or info["mismatched_keys"]:
        return None
    exact(loaded.eval())
    inputs = inputs_of(kind, loaded.config)
    options = {}
    if kind == "decoder":
        vocabulary = loaded.config.vocab_size
        inputs = {"input_ids": torch.tensor([[(5 + 37 * i + 11 * i * i) % (vocabulary - 4) + 4 for i in range(TOKENS)]])}
        options = {"use_cache": False}
    with torch.no_grad():
        return inputs, loaded(**inputs, **options)


def generate(out, name, kind, cls, parameters):
    """Writes the model's folders; returns them and the model."""
    model = made(cls, parameters)
    folders = [out / name, out / f"{name}-internal"]
    for folder, original in zip(folders, (True, False)):
        model.save_pretrained(folder, save_original_format=original)
    if same_tensors(*folders):
        shutil.rmtree(folders.pop())
    result = computed(cls, folders[0], kind)
    if result is None:
        raise ValueError("its own tensors do not fit it")
    for folder in folders:
        arrays(folder, *result)
    return folders


def vary(out, name, kind, cls, parameters):
    """Folders of the model's variants: of other parameters, and of config.json without a field or with null."""
    folders = []
    for change, other in variants(cls, parameters):
        try:
            folders += generate(out, f"{name}@{change}", kind, cls, other)[:1]
        except Exception:                           # not every value is one of this class
            shutil.rmtree(out / f"{name}@{change}", ignore_errors=True)
            shutil.rmtree(out / f"{name}@{change}-internal", ignore_errors=True)
    original = json.loads((out / name / "config.json").read_text())
    for change, text in edits(original):
        folder = out / f"{name}@{change}"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(text)
        (folder / "model.safetensors").unlink(missing_ok=True)
        (folder / "model.safetensors").hardlink_to(out / name / "model.safetensors")
        try:
            result = computed(cls, folder, kind)
        except Exception:
            result = None
        if result is None:
            shutil.rmtree(folder)
            continue
        arrays(folder, *result)
        folders.append(folder)
    return folders


def vision(out, name, cls, varied, tool):
    """Folders of the text part of a model of images and texts."""
    section, text_class = vision_text.section_of(cls.config_class())
    if section is None:
        raise ValueError("its configuration has no object of its text model")
    used = dict(small(text_class.model_type, text_class), model_type=text_class.model_type)
    folders, described = [], [("", used)]
    described += [(f"@{c}", dict(p, model_type=text_class.model_type)) for c, p in variants_of(text_class, used)] if varied else []
    for change, parameters in described:
        folder = out / f"{name}{change}"
        try:
            arrays(folder, *vision_text.write(folder, cls, vision_text.configuration(cls, section, parameters, AROUND.get(name, {})), fill, exact))
            folders.append(folder)
        except Exception:                           # not every value is one of this class
            shutil.rmtree(folder, ignore_errors=True)
            if not change:
                raise
        if not change and not (varied and agrees(tool, folder)):
            return folders
    text = json.loads((folders[0] / "config.json").read_text())
    for change, edited in vision_text.edits_of(text, section, edits):
        folder = out / f"{name}@{change}"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(edited))
        try:
            arrays(folder, *vision_text.reread(folder, cls, folders[0], fill, exact))
            folders.append(folder)
        except Exception:
            shutil.rmtree(folder, ignore_errors=True)
    return folders


def compare(tool, folders):
    """Prints what burin makes of the folders: right, refused with its message, or WRONG. Removes those that are right."""
    for folder in folders:
        done = subprocess.run([tool, folder], capture_output=True, text=True)
        off = re.search(r"off by (\S+)", done.stdout)
        error = float(off.group(1)) if off else float("inf")
        message = next((line for line in done.stderr.splitlines() if "error: " in line), done.stderr[:200])
        if done.returncode == 0:
            print(f"right    {folder.name}")
            shutil.rmtree(folder)
        elif error == float("inf"):
            print(f"refused  {folder.name}: {message.split('error: ')[-1]}")
        else:                                       # a small difference is one of rounding
            print(f"{'near ' if error < NEAR else 'WRONG'}    {folder.name}: off by {error:g}")
    sys.stdout.flush()


def agrees(tool, folder):
    """Whether variants of the folder are worth making."""
    return not tool or subprocess.run([tool, folder], capture_output=True).returncode == 0


def listed(of):
    if of == "described":
        return dict(MODELS)
    described = {}
    for _, class_name, parameters in MODELS.values():
        described.setdefault(class_name, parameters)
    kind, mapping = MAPPINGS.get(of, ("encoder", ""))
    names = getattr(modeling_auto, f"MODEL_FOR_{mapping}_MAPPING_NAMES" if mapping else "MODEL_MAPPING_NAMES")
    table = {}
    for type_, class_name in names.items():
        class_name = class_name if isinstance(class_name, str) else class_name[0]
        if hasattr(transformers, class_name):
            table[type_] = (kind, class_name, None)
    return table


def fallback(class_name):
    """The parameters of a described model with this class or of its family."""
    stem = re.sub(r"(For[A-Z]\w+|LMHeadModel|Model)$", "", class_name)
    near = [p for _, c, p in MODELS.values() if c == class_name] or [p for _, c, p in MODELS.values()
                                                                     if re.sub(r"(For[A-Z]\w+|LMHeadModel|Model)$", "", c) == stem]
    return near[0] if near else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--of", default="causal", choices=[*MAPPINGS, "base", "described"])
    parser.add_argument("--vary", action="store_true")
    parser.add_argument("--compare")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_intermixed_args()
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity(transformers.logging.CRITICAL)
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    for name, (kind, class_name, parameters) in listed(arguments.of).items():
        if arguments.names and name not in arguments.names:
            continue
        cls = getattr(transformers, class_name)
        folders = []
        try:
            if kind == "vision":
                folders = vision(arguments.out, name, cls, arguments.vary, arguments.compare)
                compare(arguments.compare, folders) if arguments.compare else None
                continue
            try:
                used = parameters or small(name, cls.config_class)
                folders = generate(arguments.out, name, kind, cls, used)
            except Exception:
                used = fallback(class_name)
                if parameters is not None or used is None:
                    raise
                folders = generate(arguments.out, name, kind, cls, used)
            if arguments.vary and agrees(arguments.compare, folders[0]):
                folders += vary(arguments.out, name, kind, cls, used)
        except Exception as error:                # the others are still worth making
            print(f"not made {name}: {type(error).__name__}: {str(error)[:300]!r}")
        if arguments.compare:
            compare(arguments.compare, folders)


if __name__ == "__main__":
    main()
