"""Makes tests/families/transformer: the Transformer of 2017 as its paper describes it, for transformers has no such model.

    python tests/families/transformer.py        needs what generate.py needs

Double precision, numpy alone; weights by generate.py's formula. The folder has what its neighbours have.
"""
import json

import numpy as np

from generate import HERE, TOKENS, some_tokens, uniform

D, HEADS, WIDTH, LAYERS, WORDS = 32, 4, 48, 2, 96
tensors, lines = {}, []


def weight(name, *shape, scale=None, offset=0.0):
    if name not in tensors:
        scale = scale or round(1.6 / shape[-1] ** 0.5, 4)
        lines.append(f"{name} {scale:g} {offset:g} {' '.join(map(str, shape))}\n")
        values = offset + scale * uniform(name, int(np.prod(shape)))
        tensors[name] = values.astype(np.float32).astype(np.float16).astype(np.float64).reshape(shape)
    return tensors[name]


def linear(x, name, n):
    return x @ weight(f"{name}.weight", n, x.shape[-1]).T + weight(f"{name}.bias", n, scale=0.25)


def norm(x, name):
    y = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return y * weight(f"{name}.weight", D, scale=0.25, offset=1.0) + weight(f"{name}.bias", D, scale=0.25)


def softmax(x):
    p = np.exp(x - x.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True)


def attention(x, memory, name, causal):
    def heads(y):
        return y.reshape(len(y), HEADS, D // HEADS).transpose(1, 0, 2)
    q, k, v = (heads(linear(y, f"{name}.{part}_proj", D)) for y, part in ((x, "q"), (memory, "k"), (memory, "v")))
    scores = q @ k.transpose(0, 2, 1) / np.sqrt(D // HEADS)
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[1:], bool)), scores, -np.inf)
    return linear((softmax(scores) @ v).transpose(1, 0, 2).reshape(len(x), D), f"{name}.out_proj", D)


def side(tokens, name, memory=None):
    position, j = np.arange(len(tokens))[:, None], np.arange(D // 2)
    angle = position / 10000 ** (2 * j / D)
    positions = np.stack([np.sin(angle), np.cos(angle)], -1).reshape(len(tokens), D)
    x = weight("model.shared.weight", WORDS, D, scale=0.7)[tokens] * np.sqrt(D) + positions
    for i in range(LAYERS):
        layer = f"model.{name}.layers.{i}"
        x = norm(x + attention(x, x, f"{layer}.self_attn", memory is not None), f"{layer}.self_attn_layer_norm")
        if memory is not None:
            x = norm(x + attention(x, memory, f"{layer}.encoder_attn", False), f"{layer}.encoder_attn_layer_norm")
        x = norm(x + linear(np.maximum(linear(x, f"{layer}.fc1", WIDTH), 0), f"{layer}.fc2", D), f"{layer}.final_layer_norm")
    return x


def save(folder, config, **arrays):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (folder / "tensors").write_text("".join(sorted(lines)))
    for name, value in arrays.items():
        np.save(folder / f"{name}.npy", value)


def main():
    folder = HERE / "transformer"
    source, words = some_tokens(TOKENS, WORDS)[0].numpy(), some_tokens(9, WORDS, first=3)[0].numpy()
    memory = side(source, "encoder")
    logits = side(words, "decoder", memory) @ weight("model.shared.weight").T
    config = {"model_type": "transformer", "is_encoder_decoder": True, "vocab_size": WORDS, "d_model": D,
              "max_position_embeddings": 64, "decoder_start_token_id": 0, "eos_token_id": 2}
    for name in ("encoder", "decoder"):
        config |= {f"{name}_layers": LAYERS, f"{name}_attention_heads": HEADS, f"{name}_ffn_dim": WIDTH}
    save(folder, config, input_ids=source.astype(np.int32), decoder_input_ids=words.astype(np.int32),
         encoder_last_hidden_state=memory.astype(np.float32), logits=logits.astype(np.float32))


if __name__ == "__main__":
    main()
