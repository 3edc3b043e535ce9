"""Tiny models in block formats: a LLaMA with a matrix in every one (mixed), one of NVFP4 with factors beside its matrices (nvfp4),
one of Q1_0, one of Q2_0, a GPT-2, whose matrices GGUF has transposed (gpt2). Not needed to build or test burin.

usage: generate.py            needs gguf, numpy, torch, transformers, safetensors, ../shared/data/gguf and ../shared/data/families/gpt2

Each matrix of the LLaMA is taken, as it is stored, from the file of ../shared/data/gguf whose type it shows; the expected logits are those of
transformers' LlamaForCausalLM over the dequantized values, in float32.
"""
import gguf
import numpy as np
import safetensors.numpy
import torch
import transformers

HEADS, KV_HEADS, VOCABULARY = 4, 2, 384
OUT = "tests/formats/mixed"
SOURCES = {
    "token_embd": "q5_k_m", "output": "q6_k",
    "blk.0.attn_q": "q4_k_s", "blk.0.attn_k": "q3_k_m", "blk.0.attn_v": "q5_0", "blk.0.attn_output": "iq4_nl",
    "blk.0.ffn_gate": "q2_k", "blk.0.ffn_up": "q4_0", "blk.0.ffn_down": "iq4_xs",
    "blk.1.attn_q": "tq1_0", "blk.1.attn_k": "tq2_0", "blk.1.attn_v": "q8_0", "blk.1.attn_output": "q5_k_m",
    "blk.1.ffn_gate": "mxfp4", "blk.1.ffn_up": "q5_1", "blk.1.ffn_down": "q4_1",
}
NAMES = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
         "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
         "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}


def hugging_face(name):
    top = {"token_embd.weight": "model.embed_tokens.weight", "output_norm.weight": "model.norm.weight", "output.weight": "lm_head.weight"}
    if name in top:
        return top[name]
    _, layer, part, _ = name.split(".")
    return f"model.layers.{layer}.{NAMES[part]}.weight"


def halves(w, heads):
    """Rows of q and k from GGUF's order (pairs) to Hugging Face's."""
    return w.reshape(heads, w.shape[0] // heads // 2, 2, -1).swapaxes(1, 2).reshape(w.shape)


def tensors_of(name):
    return {t.name: t for t in gguf.GGUFReader(f"../shared/data/gguf/{name}/model.gguf").tensors}


def like(base, path):
    """A writer with the metadata of a file."""
    out = gguf.GGUFWriter(path, "llama")
    for field in base.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        kind, value = field.types[0], field.contents()
        sub = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        out.add_key_value(field.name, value, kind, sub)
    return out


def finish(out):
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


def heads_of(name):
    return HEADS if "attn_q." in name else KV_HEADS if "attn_k." in name else 0


def write():
    base = gguf.GGUFReader("../shared/data/gguf/q8_0/model.gguf")
    out = like(base, f"{OUT}/model.gguf")
    state, types = {}, set()
    files = {name: tensors_of(name) for name in set(SOURCES.values()) | {"q8_0"}}
    for t in base.tensors:
        t = files[SOURCES.get(t.name.removesuffix(".weight"), "q8_0")][t.name]
        types.add(t.tensor_type.name)
        out.add_tensor(t.name, np.array(t.data), raw_dtype=t.tensor_type)
        w = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
        state[hugging_face(t.name)] = torch.from_numpy(halves(w, heads_of(t.name)) if heads_of(t.name) else w)
    finish(out)
    print(len(types), "types:", *sorted(types))
    return state


def nvfp4():
    """Random blocks as converters regroup them: most with a factor beside it, some without; scales that stand for 0, for subnormals."""
    base = gguf.GGUFReader("../shared/data/gguf/q8_0/model.gguf")
    out, state, kind, rng = like(base, "tests/formats/nvfp4/model.gguf"), {}, gguf.GGMLQuantizationType.NVFP4, np.random.default_rng(4)
    for i, t in enumerate(base.tensors):
        w = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
        if w.ndim < 2 or t.name == "token_embd.weight":
            out.add_tensor(t.name, np.array(t.data), raw_dtype=t.tensor_type)
        else:
            factor = np.float32(0.006 * (1 + i / 40) if i % 4 else 1)
            blocks = rng.integers(0, 256, (len(w), w.shape[1] // 64 * 36), np.uint8)
            for scale in range(4):                         # around 1, or 1 / 50
                blocks[:, scale::36] = rng.integers(0x30, 0x40, blocks[:, scale::36].shape) - (0 if i % 4 else 0x2c)
            blocks[3, 0:4] = 0x7f, 0x80, 3, 0x8b           # nothing, twice; a subnormal; a sign, which does not count
            blocks[4, 0:4] = 0xff, 0x22, 0, 0x81
            out.add_tensor(t.name, blocks, raw_dtype=kind)
            w = gguf.quants.dequantize(blocks & without_signs(blocks.shape), kind).astype(np.float32) * factor
            if i % 4:
                out.add_tensor(t.name.replace(".weight", ".scale"), np.array([factor]))
                out.add_tensor(t.name.replace(".weight", ".input_scale"), np.array([1.5], np.float32))
        state[hugging_face(t.name)] = torch.from_numpy(halves(w, heads_of(t.name)) if heads_of(t.name) else w)
    finish(out)
    return state


def sign(values):
    """Blocks of 128 with a bit a value: 18 bytes a block, and the values they stand for."""
    d = np.abs(values).mean(1, keepdims=True).astype(np.float16)
    packed = np.packbits(values > 0, axis=1, bitorder="little")
    return np.concatenate([d.view(np.uint8), packed], 1), np.where(values > 0, 1, -1) * d.astype(np.float32)


def two_bits(values):
    """Blocks of 64 with two bits a value, likewise."""
    d = (np.abs(values).max(1, keepdims=True) / 1.5).astype(np.float16)
    codes = np.clip(np.rint(values / d.astype(np.float32)), -1, 2)
    fours = (codes + 1).astype(np.uint8).reshape(-1, 16, 4)
    packed = fours[..., 0] | fours[..., 1] << 2 | fours[..., 2] << 4 | fours[..., 3] << 6
    return np.concatenate([d.view(np.uint8), packed], 1), d.astype(np.float32) * codes


def of_type(name, kind, block, encode):
    """All matrices but the head in a type that the package gguf does not know."""
    gguf.GGML_QUANT_SIZES[kind] = block, 18
    base = gguf.GGUFReader("../shared/data/gguf/q8_0/model.gguf")
    out, state = like(base, f"tests/formats/{name}/model.gguf"), {}
    for t in base.tensors:
        w = gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
        if w.ndim < 2 or t.name == "output.weight":
            out.add_tensor(t.name, np.array(t.data), raw_dtype=t.tensor_type)
        else:
            blocks, values = encode(w.reshape(-1, block))
            out.add_tensor(t.name, blocks.reshape(len(w), -1), raw_dtype=kind)
            w = values.reshape(w.shape).astype(np.float32)
        state[hugging_face(t.name)] = torch.from_numpy(halves(w, heads_of(t.name)) if heads_of(t.name) else w)
    finish(out)
    return state


def q1_0():
    return of_type("q1_0", 41, 128, sign)


def q2_0():
    return of_type("q2_0", 42, 64, two_bits)


def without_signs(shape):
    """What a block's scales count with."""
    mask = np.full(shape, 0xff, np.uint8)
    for scale in range(4):
        mask[:, scale::36] = 0x7f
    return mask


def gpt2():
    folder, out = "../shared/data/families/gpt2", "tests/formats/gpt2"
    config = transformers.GPT2Config.from_pretrained(folder, attn_implementation="eager")
    model = transformers.GPT2LMHeadModel(config).eval()
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.GPT2, config.n_layer)
    writer = gguf.GGUFWriter(f"{out}/model.gguf", "gpt2")
    for key, value in {"context_length": config.n_positions, "embedding_length": config.n_embd, "block_count": config.n_layer,
                       "feed_forward_length": 4 * config.n_embd, "attention.head_count": config.n_head}.items():
        writer.add_uint32(f"gpt2.{key}", value)
    writer.add_float32("gpt2.attention.layer_norm_epsilon", config.layer_norm_epsilon)
    state = {}
    for name, w in safetensors.numpy.load_file(f"{folder}/model.safetensors").items():
        name = name.removeprefix("transformer.")
        swapped = name.endswith(("c_attn.weight", "c_fc.weight", "c_proj.weight"))
        w = np.ascontiguousarray(w.T if swapped else w).astype(np.float32)
        kind = gguf.GGMLQuantizationType.Q5_0 if w.ndim == 2 and not name.startswith("wpe") else gguf.GGMLQuantizationType.F32
        data = gguf.quants.quantize(w, kind)
        writer.add_tensor(names.get_name(name, (".weight", ".bias")), data, raw_dtype=kind)
        w = gguf.quants.dequantize(data, kind).astype(np.float32)
        state[name] = torch.from_numpy(np.ascontiguousarray(w.T if swapped else w))
    finish(writer)
    model.transformer.load_state_dict(state)
    save(model, out, np.load(f"{folder}/input_ids.npy").reshape(-1))


def save(model, out, ids):
    with torch.no_grad():
        logits = model(torch.from_numpy(ids)[None]).logits[0].numpy()
    np.save(f"{out}/input_ids.npy", ids)
    np.save(f"{out}/logits.npy", logits)


def main():
    config = transformers.LlamaConfig(vocab_size=VOCABULARY, hidden_size=256, intermediate_size=512, num_hidden_layers=2,
                                      num_attention_heads=HEADS, num_key_value_heads=KV_HEADS, rms_norm_eps=1e-5, rope_theta=1e4,
                                      tie_word_embeddings=False, attn_implementation="eager")
    model = transformers.LlamaForCausalLM(config).eval()
    for folder, make in (OUT, write), *((f"tests/formats/{make.__name__}", make) for make in (nvfp4, q1_0, q2_0)):
        model.load_state_dict(make())
        save(model, folder, np.load("../shared/data/gguf/q8_0/input_ids.npy"))
    gpt2()


main()
