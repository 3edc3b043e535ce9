"""Makes tests/families/nomic_bert and nomic_bert-experts: Nomic's embeddings, whose code is not in transformers.

    python tests/families/nomic_bert.py        needs what generate.py needs

As transformer.py: double precision, numpy alone. Configurations have the fields that are published.
"""
import math

import numpy as np

from generate import HERE, TOKENS, some_tokens
from transformer import D, HEADS, LAYERS, WIDTH, WORDS, lines, norm, save, softmax, tensors, weight

EXPERTS, CHOSEN = 4, 2
erf = np.vectorize(math.erf)
gelu = lambda x: x / 2 * (1 + erf(x / np.sqrt(2)))
silu = lambda x: x / (1 + np.exp(-x))


def linear(x, name, n, bias):
    y = x @ weight(f"{name}.weight", n, x.shape[-1]).T
    return y + weight(f"{name}.bias", n, scale=0.25) if bias else y


def turned(x, base):
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[1])[:, None] / base ** (np.arange(half) / half)
    a, b, c, s = x[..., :half], x[..., half:], np.cos(angle), np.sin(angle)
    return np.concatenate([a * c - b * s, b * c + a * s], -1)


def attention(x, name, base, bias):
    q, k, v = (y.reshape(len(x), HEADS, D // HEADS).transpose(1, 0, 2) for y in np.split(linear(x, f"{name}.Wqkv", 3 * D, bias), 3, -1))
    p = softmax(turned(q, base) @ turned(k, base).transpose(0, 2, 1) / np.sqrt(D // HEADS))
    return linear((p @ v).transpose(1, 0, 2).reshape(len(x), D), f"{name}.out_proj", D, bias)


def mixture(x, name):
    p = softmax(linear(x, f"{name}.router.layer", EXPERTS, False))
    w1, w2 = (weight(f"{name}.experts.mlp.{part}", EXPERTS * WIDTH, D).reshape(EXPERTS, WIDTH, D) for part in ("w1", "w2"))
    y = np.zeros_like(x)
    for t, e in ((t, e) for t in range(len(x)) for e in np.argsort(-p[t])[:CHOSEN]):
        y[t] += p[t, e] * (gelu(x[t] @ w1[e].T) @ w2[e])
    return y


def states(tokens, config):
    bias = config["qkv_proj_bias"]
    x = weight("embeddings.word_embeddings.weight", WORDS, D, scale=0.7)[tokens]
    x = norm(x + weight("embeddings.token_type_embeddings.weight", config["type_vocab_size"], D, scale=0.7)[0], "emb_ln")
    for i in range(LAYERS):
        layer = f"encoder.layers.{i}"
        x = norm(x + attention(x, f"{layer}.attn", config["rotary_emb_base"], bias), f"{layer}.norm1")
        if config["activation_function"] == "swiglu":
            y = linear(linear(x, f"{layer}.mlp.fc11", WIDTH, bias) * silu(linear(x, f"{layer}.mlp.fc12", WIDTH, bias)), f"{layer}.mlp.fc2", D, bias)
        elif i % 2:
            y = mixture(x, f"{layer}.mlp")
        else:
            y = linear(gelu(linear(x, f"{layer}.mlp.fc1", WIDTH, bias)), f"{layer}.mlp.fc2", D, bias)
        x = norm(x + y, f"{layer}.norm2")
    return x


def make(name, **fields):
    tensors.clear(), lines.clear()
    config = {"architectures": ["NomicBertModel"], "model_type": "nomic_bert", "causal": False, "fused_bias_fc": True, "n_embd": D,
              "n_head": HEADS, "n_inner": WIDTH, "n_layer": LAYERS, "n_positions": 64, "layer_norm_epsilon": 1e-5, "pad_vocab_size_multiple": 64,
              "parallel_block": False, "prenorm": False, "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False,
              "rotary_emb_scale_base": None, "rotary_scaling_factor": None, "use_rms_norm": False, "vocab_size": WORDS} | fields
    config |= {f"{part}_bias": config["qkv_proj_bias"] for part in ("mlp_fc1", "mlp_fc2")}
    tokens = some_tokens(TOKENS, WORDS)[0].numpy()
    save(HERE / name, config, input_ids=tokens.astype(np.int32), last_hidden_state=states(tokens, config).astype(np.float32))


if __name__ == "__main__":
    make("nomic_bert", activation_function="swiglu", qkv_proj_bias=False, rotary_emb_base=1000.0, type_vocab_size=2)
    make("nomic_bert-experts", activation_function="gelu", qkv_proj_bias=True, rotary_emb_base=10000.0, type_vocab_size=1,
         num_experts=EXPERTS, moe_top_k=CHOSEN, moe_every_n_layers=2)
