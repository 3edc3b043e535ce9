"""Variants of a model's configuration, for newest.py: each field that can change numbers with other values.

`variants` are other parameters of the configuration class: both values of a boolean, other numbers and names, None where a class
has it, lists of layers in other orders, every kind of scaled rotary embedding. `edits` are the saved config.json without a field, or
with null there, as other writers leave them.
"""
import copy
import json

from fields import is_ignored

ACTIVATIONS = ("gelu", "gelu_pytorch_tanh", "relu2", "silu", "quick_gelu")
HALF = [1.0 + 0.1 * i for i in range(64)]
OTHER = dict(head_dim=(24, 8, None), num_key_value_heads=(1, 4, None), sliding_window=(5, None), attention_window_size=(5,),
             num_hidden_layers=(3,), num_experts_per_tok=(1, 3), n_group=(2,), topk_group=(1,), num_attention_heads=(2,),
             first_k_dense_replace=(0, 2), n_shared_experts=(1, 2), num_shared_experts=(1, 2), q_lora_rank=(None, 20), v_head_dim=(12,),
             n_groups=(1,), mamba_n_groups=(1,), time_step_limit=((0.01, 0.2),), interleave_moe_layer_step=(2,), decoder_sparse_step=(2,),
             max_window_layers=(2,), sliding_window_pattern=(2,), full_attention_interval=(2,), moe_layer_interval=(2,),
             decoder_start_token_id=(), topk_method=("greedy", "group_limited_greedy", "noaux_tc"), scoring_func=("softmax", "sigmoid"),
             position_embedding_type=("rope", "nope", "relative_key"), rope_scaling=(), dtype=())
NEVER = ("rope_parameters", "rope_scaling", "transformers_version", "model_type", "vocab_size", "_name_or_path", "pad_token_id", "problem_type",
         "num_labels", "id2label", "label2id", "is_decoder", "add_cross_attention", "tie_encoder_decoder", "attn_implementation",
         "rescale_prenorm_residual")        # which changes weights while they are loaded


def scalings(dims):
    yarn = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16)
    factors = dict(short_factor=HALF[:dims], long_factor=[2 * x for x in HALF[:dims]])
    return {
        "theta": dict(rope_type="default", rope_theta=5e5),
        "half": dict(rope_type="default", partial_rotary_factor=0.5),
        "linear": dict(rope_type="linear", factor=2.0),
        "linear-half": dict(rope_type="linear", factor=2.0, partial_rotary_factor=0.5),
        "dynamic": dict(rope_type="dynamic", factor=2.0),
        "yarn": yarn,
        "yarn-whole": dict(yarn, truncate=False, beta_fast=16, beta_slow=2),
        "yarn-factor": dict(yarn, attention_factor=1.3),
        "yarn-mscale": dict(yarn, mscale=0.7, mscale_all_dim=0.5),
        "yarn-stretch": dict(yarn, mscale_all_dim=1.0, mscale=1.0),
        "yarn-half": dict(yarn, partial_rotary_factor=0.5),
        "llama3": dict(rope_type="llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16),
        "longrope": dict(factors, rope_type="longrope", original_max_position_embeddings=128),
        "longrope-factor": dict(factors, rope_type="longrope", factor=3.0, original_max_position_embeddings=128),
        "proportional": dict(rope_type="proportional", partial_rotary_factor=0.5),
        "proportional-factor": dict(rope_type="proportional", factor=2.0, partial_rotary_factor=0.5),
    }


def rotary(config):
    """Other rope_parameters, whole or of each kind of layers."""
    now = getattr(config, "rope_parameters", None)
    if not isinstance(now, dict):
        return
    try:
        width = getattr(config, "qk_rope_head_dim", None) or getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    except Exception:
        width = 16
    part = now.get("partial_rotary_factor") or 1.0
    for name, values in scalings(max(1, int(width * part) // 2)).items():
        kinds = [k for k, v in now.items() if isinstance(v, dict)]
        if not kinds:
            yield f"rope={name}", {"rope_theta": 1e4} | {k: v for k, v in now.items() if k in ("rope_theta", "partial_rotary_factor")} | values
        for kind in kinds:
            yield f"rope.{kind}={name}", now | {kind: {"rope_theta": 1e4} | now[kind] | values}


def orders(values):
    """Other lists of the same words."""
    words = sorted(set(map(str, values)))
    if len(words) > 1:
        yield values[1:] + values[:1]
        if [words[i % len(words)] for i in range(len(values))] not in (values, values[1:] + values[:1]):
            yield [words[i % len(words)] for i in range(len(values))]
    for word in words:
        yield [word] * len(values)


def others(name, value):
    if name in OTHER:
        return OTHER[name]
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, str):
        return ACTIVATIONS if "act" in name else ()
    if isinstance(value, float):
        return (value * 1.5 + (0.25 if value < 1e-2 and "eps" not in name else 0), None, *((1e-2,) if "eps" in name else ()))
    if value is None:
        return (True, 7, 0.5, 24, 2)
    if isinstance(value, (list, tuple)) and value and all(isinstance(v, str) for v in value):
        return tuple(orders(list(value)))
    return ()


def spell(value):
    text = json.dumps(value, default=str) if not isinstance(value, (list, tuple)) else "-".join(str(v)[:4] for v in value)
    return text.strip('"').replace("/", "_")[:60]


def variants(cls, parameters):
    return variants_of(cls.config_class, parameters)


def variants_of(config_class, parameters):
    config = config_class(**parameters)
    for name, value in config.to_dict().items():
        if is_ignored(name) and name != "tie_word_embeddings" or name in NEVER:
            continue
        for other in others(name, value):
            if other != value:
                yield f"{name}={spell(other)}", dict(parameters, **{name: other})
    for name, other in rotary(config):
        yield name, dict(parameters, rope_parameters=other)


def edits(config):
    for name, value in config.items():
        if name in ("model_type", "architectures", "transformers_version") or is_ignored(name):
            continue
        left = {k: v for k, v in config.items() if k != name}
        yield f"{name}-absent", json.dumps(left)
        if value is not None:
            yield f"{name}-null", json.dumps(dict(left, **{name: None}))
    older = copy.deepcopy(config)
    rope = older.pop("rope_parameters", None)
    if isinstance(rope, dict) and not any(isinstance(v, dict) for v in rope.values()):
        older["rope_theta"] = rope.get("rope_theta", 1e4)
        older["rope_scaling"] = {"type": "linear", "factor": 2.0}
        yield "rope_scaling-older", json.dumps(older)
