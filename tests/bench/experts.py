"""A GGUF of a mixture of experts with random blocks of Q4_0: 8 layers of width 1024, 128 experts of 384, 8 of them chosen.
usage: experts.py FILE        needs gguf and numpy
"""
import sys

import gguf
import numpy as np

LAYERS, WIDTH, HEADS, KV_HEADS, HEAD, EXPERTS, USED, INNER, VOCABULARY = 8, 1024, 16, 4, 64, 128, 8, 384, 4096
rng = np.random.default_rng(1)


def blocks(*shape):
    """Rows of Q4_0: a scale of f16 and 16 bytes of random nibbles for each 32 values."""
    rows, n = int(np.prod(shape[:-1])), shape[-1] // 32
    data = rng.integers(0, 256, (rows, n, 18), np.uint8)
    data[:, :, :2] = np.frombuffer(np.float16(0.003).tobytes(), np.uint8)
    return data.reshape(*shape[:-1], n * 18)


def main(path):
    w = gguf.GGUFWriter(path, "qwen3moe")
    w.add_name("experts-rand"), w.add_block_count(LAYERS), w.add_context_length(4096), w.add_embedding_length(WIDTH)
    w.add_feed_forward_length(INNER), w.add_expert_feed_forward_length(INNER), w.add_expert_count(EXPERTS), w.add_expert_used_count(USED)
    w.add_head_count(HEADS), w.add_head_count_kv(KV_HEADS), w.add_key_length(HEAD), w.add_value_length(HEAD)
    w.add_rope_freq_base(1e6), w.add_layer_norm_rms_eps(1e-6), w.add_vocab_size(VOCABULARY), w.add_file_type(2)
    w.add_tokenizer_model("no_vocab")
    shapes = {"attn_q": (HEADS * HEAD, WIDTH), "attn_k": (KV_HEADS * HEAD, WIDTH), "attn_v": (KV_HEADS * HEAD, WIDTH),
              "attn_output": (WIDTH, HEADS * HEAD), "ffn_gate_exps": (EXPERTS, INNER, WIDTH), "ffn_up_exps": (EXPERTS, INNER, WIDTH),
              "ffn_down_exps": (EXPERTS, WIDTH, INNER)}
    ones = {"attn_norm": WIDTH, "ffn_norm": WIDTH, "attn_q_norm": HEAD, "attn_k_norm": HEAD}
    quantized = {"raw_dtype": gguf.GGMLQuantizationType.Q4_0}
    w.add_tensor("token_embd.weight", blocks(VOCABULARY, WIDTH), **quantized)
    w.add_tensor("output_norm.weight", np.ones(WIDTH, np.float32))
    for i in range(LAYERS):
        for name, shape in shapes.items():
            w.add_tensor(f"blk.{i}.{name}.weight", blocks(*shape), **quantized)
        for name, n in ones.items():
            w.add_tensor(f"blk.{i}.{name}.weight", np.ones(n, np.float32))
        w.add_tensor(f"blk.{i}.ffn_gate_inp.weight", rng.standard_normal((EXPERTS, WIDTH)).astype(np.float32) * 0.1)
    w.write_header_to_file(), w.write_kv_data_to_file(), w.write_tensors_to_file(), w.close()


main(sys.argv[1])
