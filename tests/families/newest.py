"""Makes tiny folders of every causal language model (and, of --encoders, every encoder of texts) of the installed transformers,
as that version writes them, with what it computes: for build/tools/family, which compares.

    python tests/families/newest.py OUT [--encoders] [--described] [NAME...]
        OUT/NAME            config.json, model.safetensors, input_ids.npy and logits.npy or last_hidden_state.npy
        OUT/NAME-internal   the same model with the tensors' names that this version has inside (save_original_format=False)
        --described         of the models in models.py instead, with their parameters
    build/tools/family OUT/*

Sizes come from the fields that the configuration classes have: each that is a size is made small (SIZES), lists and layers
follow. Weights are those of uniform.py, as in generate.py. A line `NAME: why not` says what could not be made. Nothing of it is
kept in the repository: a version of next year is one run.
"""
import argparse
import inspect
import json
import pathlib
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

TOKENS, MOST = 24, 20_000_000
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
    num_attention_groups=2, moe_num_experts=4, moe_k=2, moe_num_shared_experts=1, num_groups=1, num_zero_experts=0, zero_expert_num=0)
IDS = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2)


def small(config_class):
    """The fields of a small configuration of the class: those that it has, at the sizes above."""
    names = {n for c in config_class.__mro__ for n in inspect.signature(c.__init__).parameters} | set(config_class().to_dict())
    names |= {n for n in dir(config_class) if n in SIZES}
    aliases = getattr(config_class, "attribute_map", {})
    chosen = {n: v for n, v in SIZES.items() if n in names and n not in aliases}
    default = config_class()
    for name in list(chosen):
        value = getattr(default, name, None)
        if value is None or isinstance(value, (list, dict, tuple, bool, str)):
            del chosen[name]
    if "qk_rope_head_dim" in chosen:                # which head_dim is, where both are fields
        chosen.pop("head_dim", None)
        if "num_key_value_heads" in chosen:         # latent attention has as many
            chosen["num_key_value_heads"] = SIZES["num_attention_heads"]
    return chosen | {n: v for n, v in IDS.items()}


def fill(model):
    """Gives every parameter and stored number the values of uniform.py, by its name inside."""
    with torch.no_grad():
        for name, tensor in model.state_dict(keep_vars=True).items():
            t = tensor.data
            if not t.is_floating_point() or name.endswith(("inv_freq", "rope_freqs", "slope_rate", "query_decay", "key_decay", "diagonal_decay")):
                continue
            scale, offset = scale_and_offset(t, name)
            values = (offset + scale * uniform(name, t.numel())).astype(np.float32).astype(np.float16).astype(np.float32)
            t.copy_(torch.from_numpy(values).reshape(t.shape))
    for module in model.modules():
        if type(module).__name__ == "XIELUActivation":
            module.to(torch.bfloat16)


def write(folder, model, kind, original):
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder, save_original_format=original)


def arrays(folder, inputs, outputs):
    for name, value in inputs.items():
        np.save(folder / f"{name}.npy", value[0].numpy().astype(np.int32) if value.dtype == torch.int64 else value[0].numpy())
    for name in ("logits", "last_hidden_state", "pooler_output", "start_logits", "end_logits"):
        value = getattr(outputs, name, None)
        if torch.is_tensor(value):
            np.save(folder / f"{name}.npy", value[0].float().numpy())


def same_tensors(a, b):
    with safe_open(a / "model.safetensors", "np") as x, safe_open(b / "model.safetensors", "np") as y:
        return sorted(x.keys()) == sorted(y.keys())


def generate(out, name, kind, class_name, parameters):
    torch.manual_seed(0)
    cls = getattr(transformers, class_name)
    config = cls.config_class(**parameters)
    config._attn_implementation = "eager"
    config._experts_implementation = "eager"
    with torch.device("meta"):
        count = sum(p.numel() for p in cls(config).parameters())
    if count > MOST:
        raise ValueError(f"{count} parameters: a field that is a size is missing in SIZES")
    model = cls(config).float().eval()
    fill(model)
    write(out / name, model, kind, True)
    loaded = cls.from_pretrained(out / name, dtype=torch.float32, attn_implementation="eager").eval()
    inputs = inputs_of(kind, loaded.config)
    if kind == "decoder":
        vocabulary = loaded.config.vocab_size
        inputs = {"input_ids": torch.tensor([[(5 + 37 * i + 11 * i * i) % (vocabulary - 4) + 4 for i in range(TOKENS)]])}
    with torch.no_grad():
        outputs = loaded(**inputs)
    arrays(out / name, inputs, outputs)
    write(out / f"{name}-internal", model, kind, False)
    if same_tensors(out / name, out / f"{name}-internal"):
        for path in (out / f"{name}-internal").iterdir():
            path.unlink()
        (out / f"{name}-internal").rmdir()
    else:
        arrays(out / f"{name}-internal", inputs, outputs)


def listed(arguments):
    if arguments.described:
        return dict(MODELS)
    names = modeling_auto.MODEL_MAPPING_NAMES if arguments.encoders else modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    table = {}
    for type_, class_name in names.items():
        class_name = class_name if isinstance(class_name, str) else class_name[0]
        cls = getattr(transformers, class_name, None)
        if cls is not None:
            table[type_] = ("encoder" if arguments.encoders else "decoder", class_name, None)
    return table


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--encoders", action="store_true")
    parser.add_argument("--described", action="store_true")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    torch.set_num_threads(1)
    for name, (kind, class_name, parameters) in listed(arguments).items():
        if arguments.names and name not in arguments.names:
            continue
        try:
            if parameters is None:
                parameters = small(getattr(transformers, class_name).config_class)
            generate(arguments.out, name, kind, class_name, parameters)
        except Exception as error:                # the others are still worth making
            print(f"{name}: {type(error).__name__}: {str(error)[:300]!r}", file=sys.stderr)


if __name__ == "__main__":
    main()
