"""Tiny GGUF files as llama.cpp's loader wants them, of architectures that transformers has no tiny model for in models.py, or names
otherwise: what a case of slow-gguf.sh is made of.

    python tests/families/gguf_cases.py FOLDER CASE      FOLDER/model.gguf, and the recorded inputs and outputs; needs gguf
    python tests/families/gguf_cases.py --record [CASE...]      gguf_cases/CASE.npy: what llama.cpp computes; needs llama_cpp, too

Element i of a tensor is OFFSET + SCALE * u(NAME, i), as in uniform.py.
"""
import pathlib
import sys
import tempfile

import gguf
import numpy as np

from uniform import uniform

HERE = pathlib.Path(__file__).parent / "gguf_cases"
WORDS, WIDTH, HEADS, GROUPS, HEAD, INNER, LAYERS, EXPERTS, SMALL = 48, 32, 4, 2, 8, 48, 2, 4, 16
TOKENS = [(5 + 37 * i + i * i * 11) % (WORDS - 4) + 4 for i in range(10)]


def tensor(name, *shape):
    """Matrices keep the size of what they multiply, norms stay around 1, biases around 0."""
    if name.endswith("ssm_a"):                         # states fade
        scale, offset = 0.25, -1
    elif len(shape) > 1:
        scale, offset = 0.7 if name == "token_embd.weight" else 1.6 / shape[-1] ** 0.5, 0
        scale *= 8 if "ssm_conv1d" in name else 1
    else:
        scale, offset = 0.25, 1 if ("norm" in name or "factors" in name) and name.endswith("weight") else 0
    return (offset + scale * uniform(name, int(np.prod(shape))).reshape(shape)).astype(np.float32)


class Case:
    """Metadata and shapes of tensors; layer(i, ...) adds those of LLaMA, without what is named."""

    def __init__(self, architecture, output=True, layers=LAYERS, **metadata):
        self.architecture, self.layers, self.blocks, self.faint = architecture, layers, {}, ()
        self.factors, self.faintness, self.strong = None, 0.02, ()
        self.result, self.labels, self.tokens, self.batch = "logits", 0, TOKENS, len(TOKENS)    # labels: of a text
        self.vocabulary, self.grain = lambda writer: writer.add_string("tokenizer.ggml.model", "none"), 0  # grain: of all numbers
        self.metadata = {"context_length": 64, "embedding_length": WIDTH, "block_count": layers, "feed_forward_length": INNER,
                         "attention.head_count": HEADS, "attention.head_count_kv": GROUPS, "vocab_size": WORDS,
                         "attention.layer_norm_rms_epsilon": 1e-5, "attention.layer_norm_epsilon": 1e-5, "rope.freq_base": 10000.0}
        self.metadata |= {key.replace("__", "."): value for key, value in metadata.items()}
        self.shapes = {"token_embd.weight": (WORDS, WIDTH), "output_norm.weight": (WIDTH,)}
        if output:
            self.shapes["output.weight"] = (WORDS, WIDTH)

    def add(self, **shapes):
        """In each layer: name of a tensor, __ for a dot; its shape."""
        for i in range(self.layers):
            self.add_to(i, **shapes)
        return self

    def add_to(self, i, **shapes):
        self.shapes |= {f"blk.{i}.{name.replace('__', '.')}" + ("" if "__" in name else ".weight"): shape
                        for name, shape in shapes.items()}
        return self

    def llama(self, *without):
        inner, q, kv = self.metadata["feed_forward_length"], HEADS * HEAD, GROUPS * HEAD
        all_of = {"attn_norm": (WIDTH,), "attn_q": (q, WIDTH), "attn_k": (kv, WIDTH), "attn_v": (kv, WIDTH),
                  "attn_output": (WIDTH, q), "ffn_norm": (WIDTH,), "ffn_gate": (inner, WIDTH), "ffn_up": (inner, WIDTH),
                  "ffn_down": (WIDTH, inner)}
        return self.add(**{name: shape for name, shape in all_of.items() if name not in without})

    def experts(self, first=0):
        for i in range(first, self.layers):
            self.add_to(i, ffn_gate_inp=(EXPERTS, WIDTH), ffn_gate_exps=(EXPERTS, SMALL, WIDTH),
                        ffn_up_exps=(EXPERTS, SMALL, WIDTH), ffn_down_exps=(EXPERTS, WIDTH, SMALL))
        return self

    def save(self, path, plain=False):
        """`plain`: weights of blocks as floats, whose products llama.cpp does not round."""
        writer = gguf.GGUFWriter(path, self.architecture)
        self.vocabulary(writer)
        for key, value in self.metadata.items():
            kind = {bool: "bool", int: "uint32", float: "float32", str: "string", list: "array"}[type(value)]
            getattr(writer, f"add_{kind}")(f"{self.architecture}.{key}", value)
        for name, shape in self.shapes.items():
            scale = np.float32(self.faintness if any(part in name for part in self.faint) else 1)
            scale *= np.float32(1000 if name in self.strong else 1)
            values = tensor(name, *shape) * scale
            writer.add_tensor(name, np.round(values / self.grain) * np.float32(self.grain) if self.grain else values)
        if "token_types.weight" in self.shapes:
            rows = self.shapes["token_types.weight"][:-1]
            writer.add_token_type_count(rows[0] if rows else 1)
        if self.factors:
            writer.add_tensor("rope_freqs.weight", np.array(self.factors, np.float32))
        for name, (kind, shape) in self.blocks.items():
            nvfp4 = kind == gguf.GGMLQuantizationType.NVFP4
            values = four_bits(name, shape) if nvfp4 else gguf.quants.quantize(tensor(name, *shape), kind)
            writer.add_tensor(name, gguf.quants.dequantize(values, kind) if plain else values, raw_dtype=None if plain else kind)
            if nvfp4:
                factors = 1 + uniform(name, shape[0] if len(shape) > 2 else 1) / 2
                writer.add_tensor(name.replace(".weight", ".scale"), factors.astype(np.float32))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()


MIXED = dict(expert_count=EXPERTS, expert_used_count=2, expert_feed_forward_length=SMALL)
NORMS_OF_HEADS = dict(attn_q_norm=(HEAD,), attn_k_norm=(HEAD,))
BIASES = dict(attn_q__bias=(HEADS * HEAD,), attn_k__bias=(GROUPS * HEAD,), attn_v__bias=(GROUPS * HEAD,))
AXES = dict(rope__dimension_sections=[2, 1, 1, 0], n_deepstack_layers=0)
HEADED = dict(attention__key_length=HEAD, attention__value_length=HEAD)
JOINED = ((HEADS + 2 * GROUPS) * HEAD, WIDTH)
NO_DENSE = ("ffn_gate", "ffn_up", "ffn_down")
CASES = {
    "qwen2vl": lambda: Case("qwen2vl", **AXES).llama().add(**BIASES),
    "qwen3vl": lambda: Case("qwen3vl", **AXES, **HEADED).llama().add(**NORMS_OF_HEADS),
    "qwen3vlmoe": lambda: Case("qwen3vlmoe", **AXES, **HEADED, **MIXED).llama(*NO_DENSE).experts().add(**NORMS_OF_HEADS),
    "minicpm": lambda: Case("minicpm", embedding_scale=3.0, residual_scale=0.7, logit_scale=2.5,
                            rope__dimension_count=HEAD).llama(),
    "bitnet": lambda: Case("bitnet", output=False).llama().add(attn_sub_norm=(WIDTH,), ffn_sub_norm=(INNER,)),
    "chatglm": lambda: Case("chatglm", rope__dimension_count=HEAD // 2).llama("ffn_gate").add(ffn_up=(2 * INNER, WIDTH), **BIASES),
    "chatglm-joined": lambda: Case("chatglm", rope__dimension_count=HEAD // 2).llama("ffn_gate", "attn_q", "attn_k", "attn_v").add(
        ffn_up=(2 * INNER, WIDTH), attn_qkv=JOINED, attn_qkv__bias=JOINED[:1]),
    "orion": lambda: orion(),
    "ernie4_5-moe": lambda: ernie(2).add_to(1, exp_probs_b__bias=(EXPERTS,)).add_to(2, exp_probs_b__bias=(EXPERTS,)),
    "ernie4_5-moe-plain": lambda: ernie(0),
    "dbrx": lambda: Case("dbrx", attention__clamp_kqv=1.0, attention__layer_norm_epsilon=0.02, **MIXED | {"expert_feed_forward_length": SMALL},
                         feed_forward_length=SMALL).llama(*NO_DENSE, "ffn_norm", "attn_q", "attn_k", "attn_v").experts().add(
                             attn_qkv=JOINED, attn_output_norm=(WIDTH,)),
}


ALL_NORMS = dict(attn_norm__bias=(WIDTH,), ffn_norm__bias=(WIDTH,), attn_output__bias=(WIDTH,), ffn_up__bias=(INNER,),
                 ffn_down__bias=(WIDTH,))
ROUTER_BIAS = dict(exp_probs_b__bias=(EXPERTS,))
SPARSE = dict(leading_dense_block_count=1, expert_shared_count=2, expert_weights_scale=1.5, **MIXED)


CASES |= {
    "codeshell": lambda: with_table_of_gelu(Case("codeshell").llama("ffn_gate", "attn_q", "attn_k", "attn_v").add(
        attn_qkv=JOINED, attn_qkv__bias=JOINED[:1], **ALL_NORMS)),
    "hunyuan_vl": lambda: Case("hunyuan_vl", **AXES, **HEADED).llama().add(**NORMS_OF_HEADS),
    "paddleocr": lambda: Case("paddleocr", **AXES, **HEADED).llama(),
    "baichuan": lambda: Case("baichuan", layers=32).llama(),
    "baichuan-13b": lambda: Case("baichuan", layers=40).llama(),
    "maincoder": lambda: Case("maincoder", **HEADED).llama().add(**NORMS_OF_HEADS),
    "refact": lambda: refact(),
    "deepseek": lambda: shared_experts(Case("deepseek", layers=3, **SPARSE), 2),
    "bailingmoe": lambda: shared_experts(Case("bailingmoe", layers=3, expert_weights_norm=True,
                                              **SPARSE | {"leading_dense_block_count": 0}), 2),
    "bailingmoe2": lambda: bailing_2(expert_gating_func=2),
    "minicpm3": lambda: small_latent(),
    "mistral3": lambda: Case("mistral3", attention__temperature_scale=0.3, rope__scaling__type="yarn", rope__scaling__factor=4.0,
                             rope__scaling__original_context_length=4, rope__scaling__yarn_log_multiplier=1.0,
                             rope__scaling__yarn_beta_fast=32.0, rope__scaling__yarn_beta_slow=1.0, **HEADED).llama(),
    "lfm2moe": lambda: convolutions(),
    "deepseek2-apart": lambda: latent(),
    "gpt-oss-mxfp4": lambda: blocks_of_four_bits(),
    "qwen35": lambda: delta_rule("qwen35"),
    "qwen35moe": lambda: delta_rule("qwen35moe", expert_shared_feed_forward_length=SMALL, **MIXED),
    "minimax-m2": lambda: Case("minimax-m2", feed_forward_length=SMALL, rope__dimension_count=HEAD // 2, expert_gating_func=2, **HEADED, **MIXED).llama(
        *NO_DENSE).experts().add(attn_q_norm=(HEADS * HEAD,), attn_k_norm=(GROUPS * HEAD,), exp_probs_b__bias=(EXPERTS,)),
    "exaone-moe": lambda: shared_experts(Case(
        "exaone-moe", layers=4, expert_weights_norm=True, expert_gating_func=2, expert_shared_feed_forward_length=2 * SMALL,
        attention__sliding_window=4, attention__sliding_window_pattern=[True, True, False, True], **SPARSE, **HEADED), 2).add(
            **NORMS_OF_HEADS).add_to(1, exp_probs_b__bias=(EXPERTS,)).add_to(3, exp_probs_b__bias=(EXPERTS,)).add_to(
                2, exp_probs_b__bias=(EXPERTS,)),
    "nemotron_h": lambda: one_part_each("nemotron_h"),
    "nemotron_h_moe": lambda: one_part_each("nemotron_h_moe", expert_weights_norm=True, expert_weights_scale=2.5,
                                            expert_shared_count=1, expert_shared_feed_forward_length=INNER, **MIXED),
    "nemotron_h_moe-latent": lambda: one_part_each("nemotron_h_moe", latent=24, expert_weights_norm=True, expert_shared_count=1,
                                                   expert_shared_feed_forward_length=INNER, moe_latent_size=24, **MIXED),
    "qwen": lambda: Case("qwen", feed_forward_length=2 * INNER, attention__head_count_kv=HEADS).llama("attn_q", "attn_k", "attn_v", *NO_DENSE).add(
        attn_qkv=(3 * WIDTH, WIDTH), attn_qkv__bias=(3 * WIDTH,), ffn_gate=(INNER, WIDTH), ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER)),
    "gemma4": lambda: two_kinds_of_layers(),
    "gemma4-experts": lambda: two_kinds_of_layers(0, 0, **MIXED),
    "eurobert": lambda: encoder(Case("eurobert", output=False, attention__causal=False).llama()),
    "llama-embed": lambda: encoder(Case("llama-embed", output=False, rope__dimension_count=HEAD, attention__causal=False).llama()),
    "jina-bert-v3": lambda: norms_behind("jina-bert-v3"),
    "jina-bert-v2": lambda: by_distance(False),
    "jina-bert-v2-joined": lambda: by_distance(True),
    "deci": lambda: layers_of_their_own(),
    "llama-nvfp4": lambda: factors_of_experts(),
    "mistral4": lambda: latent("mistral4", expert_gating_func=1, expert_weights_norm=True, attention__temperature_scale=0.3,
                               attention__temperature_length=4, rope__scaling__type="yarn", rope__scaling__factor=4.0,
                               rope__scaling__original_context_length=16, rope__scaling__yarn_log_multiplier=0.1),
    "rwkv6": lambda: rwkv("rwkv6", rescale_every_n_layers=2, layers=3),
    "rwkv6-apart": lambda: rwkv("rwkv6", fused=False),
    "rwkv6qwen2": lambda: rwkv("rwkv6qwen2", attention__head_count_kv=GROUPS, token_shift_count=1),
    "rwkv7": lambda: rwkv("rwkv7"),
    "arwkv7": lambda: rwkv("arwkv7", token_shift_count=1),
    "kimi-linear": lambda: delta_and_latent(),
    "step35": lambda: gates_of_heads(),
    "step35-scaled": lambda: gates_of_heads(1.0, expert_gating_func=1, expert_weights_norm=True),
    "plamo2": lambda: heads_of_mamba(),
    "plamo": lambda: Case("plamo").llama("ffn_norm"),
    "plamo3": lambda: joined(layers=10, attention__sliding_window=4, attention__sliding_window_pattern=3, rope__freq_base_swa=100.0),
    "plamo3-whole": lambda: joined(layers=2),
    "smallthinker": lambda: mixtures_of_relu(attention__sliding_window=4096, expert_gating_func=2),
    "smallthinker-whole": lambda: mixtures_of_relu(expert_gating_func=1),
    "afmoe": lambda: shared_experts(Case("afmoe", layers=5, attention__sliding_window=4, expert_weights_norm=True, expert_gating_func=2,
                                         **SPARSE, **HEADED), 2).add(
        post_attention_norm=(WIDTH,), post_ffw_norm=(WIDTH,), attn_gate=(HEADS * HEAD, WIDTH), **NORMS_OF_HEADS).add_to(
            1, **ROUTER_BIAS).add_to(2, **ROUTER_BIAS).add_to(3, **ROUTER_BIAS).add_to(4, **ROUTER_BIAS),
    "mellum": lambda: Case("mellum", layers=3, attention__sliding_window=4, attention__sliding_window_pattern=[True, False, True],
                           rope__freq_base_swa=100.0, rope__scaling__type="yarn", rope__scaling__factor=4.0,
                           rope__scaling__original_context_length=16, **HEADED, **MIXED).llama(*NO_DENSE).experts().add(**NORMS_OF_HEADS),
    "jais2": lambda: with_bias_of_norm(Case("jais2").llama("ffn_gate").add(**ALL_NORMS, **BIASES)),
    "plm": lambda: plain_latent(),
    "nanbeige": lambda: Case("nanbeige", num_loops=3, skip_loop_final_norm=False, rope__dimension_count=HEAD).llama(),
    "nanbeige-bare": lambda: Case("nanbeige", num_loops=2, skip_loop_final_norm=True, rope__dimension_count=HEAD).llama(),
    "hy_v3": lambda: shared_experts(Case("hy_v3", layers=3, expert_weights_norm=True, expert_gating_func=2,
                                         expert_shared_feed_forward_length=SMALL, **SPARSE, **HEADED), 1).add(**NORMS_OF_HEADS),
    "cohere2moe": lambda: beside_each_other(attention__layer_norm_rms_epsilon=0.0, expert_shared_count=1,
                                            expert_shared_feed_forward_length=SMALL),
    "cohere2moe-rms": lambda: beside_each_other(expert_weights_norm=True, expert_gating_func=1, expert_weights_scale=1.5),
    "minimax-01": lambda: fading_states(),
    "talkie": lambda: shares_of_words(),
    "jina-bert-v2-rank": lambda: by_distance(False, rank=True),
    "modern-bert-labels": lambda: local_encoder(3),
    "modern-bert-silu": lambda: local_encoder(3, hidden_activation="silu", attention__sliding_window_pattern=2),
    "cohere2-pattern": lambda: Case("cohere2", output=False, layers=3, logit_scale=0.3, attention__sliding_window=3,
                                    attention__sliding_window_pattern=[True, False, True]).llama("ffn_norm"),
    "qwen3-waves": lambda: Case("qwen3", rope__scaling__factor=2.0, rope__scaling__attn_factor=1.3, **HEADED).llama().add(**NORMS_OF_HEADS),
    "hunyuan_vl-alpha": lambda: Case("hunyuan_vl", rope__scaling__alpha=50.0, **HEADED).llama().add(**NORMS_OF_HEADS),
    "glm4-sections": lambda: Case("glm4", rope__dimension_count=HEAD // 2, rope__dimension_sections=[1, 1, 0, 0], **HEADED).llama(
        "ffn_gate").add(ffn_up=(2 * INNER, WIDTH), post_attention_norm=(WIDTH,), post_ffw_norm=(WIDTH,)),
    "gemma3-local": lambda: soft_norms(attention__sliding_window=3, attention__sliding_window_pattern=2, rope__freq_base_swa=50.0),
    "modern-bert-first": lambda: local_encoder(3, classifier__pooling_type=2),
    "neo-bert": lambda: both_in_one(),
    "mimo2": lambda: sinks_and_windows(False),
    "mimo2-joined": lambda: sinks_and_windows(True, attention__value_scale=0.6),
    "laguna": lambda: soft_gates(1, rope__dimension_count=HEAD // 2, rope__dimension_count_swa=HEAD, attention__sliding_window=4,
                                 rope__freq_base_swa=100.0, rope__scaling__type="yarn", rope__scaling__factor=4.0,
                                 rope__scaling__original_context_length=16),
    "laguna-whole": lambda: soft_gates(HEAD, expert_weights_norm=True, expert_gating_func=1),
    "deepseek2-ocr": lambda: shared_experts(Case("deepseek2-ocr", layers=3, **{"attention.head_count_kv": HEADS}, **SPARSE, **HEADED), 2, "attn_k", "attn_v").add(
        attn_k=(WIDTH, WIDTH), attn_v=(WIDTH, WIDTH)),
    "maple": lambda: Case("maple", layers=3, attention__sliding_window=4, attention__sliding_window_pattern=[True, False, True],
                          rope__freq_base_swa=100.0, swiglu_clamp_exp=[0.0, 0.1, 0.2], **HEADED, **MIXED).llama(*NO_DENSE).experts().add(
        **NORMS_OF_HEADS),
    "spark2_5": lambda: other_heads(),
    "openelm": lambda: wider_layers(),
    "jais": lambda: gated_alibi(),
    "arctic": lambda: Case("arctic", layers=2, feed_forward_length=SMALL, **MIXED).llama(*NO_DENSE).experts().add(
        ffn_gate=(WIDTH, WIDTH), ffn_up=(WIDTH, WIDTH), ffn_down=(WIDTH, WIDTH), ffn_norm_exps=(WIDTH,)),
    "grok": lambda: capped(),
    "grok-residual": lambda: capped(dense=True, final_logit_softcapping=3.0, attention__output_scale=0.4, logit_scale=0.8,
                                    embedding_scale=2.5, attn_logit_softcapping=2.0, rope__scaling__type="yarn", rope__scaling__factor=4.0,
                                    rope__scaling__original_context_length=16, rope__scaling__yarn_ext_factor=1.0,
                                    rope__scaling__yarn_attn_factor=1.0, rope__scaling__yarn_beta_fast=8.0,
                                    rope__scaling__yarn_beta_slow=1.0),
    "bert-labels": lambda: with_head(3),
    "bert-rank": lambda: with_head(1, cls=False),
    "deepseek2-whole": lambda: latent(expert_gating_func=1, expert_weights_norm=True).add_to(1, exp_probs_b__bias=(EXPERTS,)),
    "deepseek2-sigmoid": lambda: latent(expert_gating_func=2),
    "bailingmoe2-softmax": lambda: bailing_2(expert_gating_func=1),
    "glm4moe-softmax": lambda: shared_experts(Case("glm4moe", layers=3, expert_gating_func=1, rope__dimension_count=HEAD // 2, **SPARSE), 2, "ffn_norm").add(
        post_attention_norm=(WIDTH,)).add_to(1, exp_probs_b__bias=(EXPERTS,)).add_to(2, exp_probs_b__bias=(EXPERTS,)),
    "cogvlm": lambda: whole_heads(Case("cogvlm").llama("attn_q", "attn_k", "attn_v").add(
        attn_qkv=(3 * WIDTH, WIDTH), vis_attn_qkv=(3 * WIDTH, WIDTH), vis_attn_output=(WIDTH, WIDTH), vis_gate=(INNER, WIDTH),
        vis_up=(INNER, WIDTH), vis_down=(WIDTH, INNER))),
    "chameleon": lambda: words_beside_images(),
    "mistral3-experts": lambda: Case("mistral3", feed_forward_length=SMALL, **HEADED, **MIXED).llama(*NO_DENSE).experts(),
    "granite_swa": lambda: sinks_of_granite(attention__rope_pattern=[True, True, False]).add(
        ffn_gate=(INNER, WIDTH), ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER), attn_output__bias=(WIDTH,), ffn_gate__bias=(INNER,),
        ffn_up__bias=(INNER,), ffn_down__bias=(WIDTH,)),
    "granite_swa-experts": lambda: sinks_of_granite(feed_forward_length=SMALL, expert_shared_feed_forward_length=24, **MIXED).experts().add(
        ffn_up_shexp=(48, WIDTH), ffn_down_shexp=(WIDTH, 24)),
    "deepseek32": lambda: indexed(latent("deepseek32", expert_gating_func=2, attention__indexer__top_k=16, expert_weights_norm=True,
                                         attention__indexer__key_length=64, attention__indexer__head_count=2)),
    "glm-dsa": lambda: indexed(latent("glm-dsa", expert_gating_func=0, attention__indexer__top_k=16, expert_weights_norm=True,
                                      attention__indexer__key_length=64, attention__indexer__head_count=2)),
    "bailingmoe3": lambda: ling(),
    "mellum-whole": lambda: Case("mellum", layers=3, attention__sliding_window_pattern=[True, False, True], rope__scaling__type="yarn",
                                 rope__scaling__factor=4.0, rope__scaling__original_context_length=16, **HEADED, **MIXED).llama(
                                     *NO_DENSE).experts().add(**NORMS_OF_HEADS),
    "gemma3-whole": lambda: soft_norms(rope__scaling__factor=2.0, rope__freq_base_swa=50.0),
    "olmo": lambda: bare_norms(attention__layer_norm_epsilon=0.03),
    "hrm_text": lambda: stacks_by_turns(embedding_scale=3.0),
    "muse-glimmer": lambda: glimmer(attention__sliding_window_pattern=[False, True, True, False, True], rope__freq_base_swa=100.0,
                                    rope__dimension_count=HEAD // 2, final_logit_softcapping=2.0),
    "muse-glimmer-plain": lambda: glimmer(),
    "muse-glimmer-bare": lambda: glimmer(final_logit_softcapping=0.0, attention__sliding_window_pattern=2),
    "minimax-m3": lambda: chosen_blocks(expert_weights_norm=True, expert_gating_func=2),
    "minimax-m3-softmax": lambda: chosen_blocks(first=0, expert_gating_func=1, rope__dimension_count=HEAD),
    "hy_v4": lambda: streams(3, 1.7, expert_gating_func=2, expert_weights_norm=True, swiglu_clamp_exp=0.2,
                             attention__indexer__top_k=0).add_to(1, **ROUTER_BIAS),
    "hy_v4-indexed": lambda: indexed(streams(2, 0.6, swiglu_clamp_exp=[0.0, 0.1], attention__indexer__top_k=16, rope__scaling__type="yarn",
                                             rope__scaling__factor=4.0, rope__scaling__original_context_length=16,
                                             attention__indexer__key_length=64, attention__indexer__head_count=2,
                                             attention__indexer__types=[True, True])),
    "dots3note": lambda: two_latents(expert_gating_func=2, expert_weights_norm=True, expert_weights_scale=1.5),
    "deepseek2-blocks": lambda: blocks_across(),
    "bert-blocks": lambda: blocks_of_places(),
    "chatglm-blocks": lambda: in_blocks(CASES["chatglm-joined"](), "attn", "ffn_up", "token_embd", "output."),
    "dots3note-softmax": lambda: two_latents(expert_gating_func=1, attention__head_count=HEADS),
}


def glimmer(**metadata):
    return Case("muse-glimmer", layers=5, attention__sliding_window=3, logit_scale=0.6, **{"rope__dimension_count": HEAD} | metadata,
                **HEADED).llama().add(attn_gate=(HEADS * HEAD, WIDTH), post_attention_norm=(WIDTH,), post_ffw_norm=(WIDTH,),
                                      **NORMS_OF_HEADS)


def chosen_blocks(first=1, **metadata):
    """MiniMax-M3, whose indexers choose blocks: all of them here."""
    case = shared_experts(Case("minimax-m3", layers=3, attention__indexer__top_k=2, attention__indexer__block_size=8,
                               attention__indexer__local_blocks=1, attention__indexer__head_count=GROUPS, attention__indexer__key_length=HEAD,
                               **SPARSE | {"rope__dimension_count": HEAD // 2, "leading_dense_block_count": first} | metadata, **HEADED), 2)
    case.add(**NORMS_OF_HEADS)
    for i in range(first, 3):
        case.add_to(i, **{"indexer__q_proj__weight": (GROUPS * HEAD, WIDTH), "indexer__k_proj__weight": (HEAD, WIDTH),
                          "indexer__q_norm__weight": (HEAD,), "indexer__k_norm__weight": (HEAD,)}, **ROUTER_BIAS)
    return case


def streams(n, magnitude, **metadata):
    """Hunyuan 4: n streams beside each part; gates of all values, sinks."""
    case = latent("hy_v4", hyper_connection__count=n, hyper_connection__epsilon=0.01, hyper_connection__magnitude=magnitude, **metadata)
    for part in ("attn", "ffn"):
        case.add(**{f"hc_{part}_fn": (2 * n, n * WIDTH), f"hc_{part}_base": (2 * n,), f"hc_{part}_scale": (2,)})
    case.add(attn_gate=(HEADS * 12, WIDTH), attn_sinks=(HEADS,))
    case.shapes |= {"output_hc_fn.weight": (n, n * WIDTH), "output_hc_base.weight": (n,), "output_hc_scale.weight": (1,)}
    return case


def in_blocks(case, *names):
    """The tensors whose names have one of these in them, as Q8_0 where their rows are whole blocks"""
    for name in [name for name in case.shapes if any(part in name for part in names) and case.shapes[name][-1] % 32 == 0]:
        case.blocks[name] = (gguf.GGMLQuantizationType.Q8_0, case.shapes.pop(name))
    return case


def blocks_across():
    """Latent attention, whose keys are sums across the blocks of attn_k_b"""
    global HEAD
    HEAD, before = 32, HEAD
    case = in_blocks(latent(expert_gating_func=1), "attn_k_b", "token_embd", "output.weight", "ffn_gate", "ffn_up", "attn_kv_a_mqa", "attn_q_a.")
    HEAD = before
    return case


def blocks_of_places():
    """BERT, whose table of places is in blocks, too: no list of tokens chooses its rows; llama.cpp's tools leave out axes of 1"""
    case = norms_behind("bert")
    for i in range(LAYERS):
        for part in "attn_qkv.weight", "attn_qkv.bias":
            del case.shapes[f"blk.{i}.{part}"]
        for part in "qkv":
            case.add_to(i, **{f"attn_{part}": (WIDTH, WIDTH), f"attn_{part}__bias": (WIDTH,)})
    case.shapes |= {"token_types.weight": (WIDTH,), "position_embd.weight": (64, WIDTH)}
    return in_blocks(case, "position_embd", "token_embd.", "attn", "ffn_up")


def two_latents(**metadata):
    """dots3-note: layers with windows have other ranks and heads."""
    near, turned, short = [True, False, True], 4, 16
    metadata = {"attention__head_count": [2, HEADS, 2]} | metadata
    case = Case("dots3note", layers=3, attention__head_count_kv=1, attention__sliding_window=3, attention__sliding_window_pattern=near,
                rope__freq_base_swa=100.0, rope__dimension_count=turned, attention__q_lora_rank=short, attention__kv_lora_rank=16,
                attention__key_length=16 + turned, attention__value_length=16, attention__key_length_swa=8 + turned,
                attention__value_length_swa=8, attention__kv_lora_rank_swa=8, attention__key_length_mla=HEAD + turned,
                attention__value_length_mla=12, attention__key_length_mla_swa=6 + turned, attention__value_length_mla_swa=10,
                attention__indexer__top_k=16, attention__indexer__key_length=64, attention__indexer__head_count=2,
                attention__indexer__types=[not n for n in near], attention__layer_norm_rms_epsilon=0.03, **SPARSE | metadata)
    shared_experts(case, 2, "attn_q", "attn_k", "attn_v", "attn_output")
    heads = metadata["attention__head_count"]
    for i in range(3):
        n = heads[i] if isinstance(heads, list) else heads
        rank, d, value = (8, 6, 10) if near[i] else (16, HEAD, 12)
        case.add_to(i, attn_q_a=(short, WIDTH), attn_q_a_norm=(short,), attn_q_b=(n * (d + turned), short),
                    attn_kv_a_mqa=(rank + turned, WIDTH), attn_kv_a_norm=(rank,), attn_k_norm=(turned,), attn_k_b=(n, rank, d),
                    attn_v_b=(n, value, rank), attn_gate=(n, WIDTH), attn_output=(WIDTH, n * value), **({} if i == 0 else ROUTER_BIAS))
    whole = indexed(Case("", layers=3)).shapes
    case.shapes |= {name: shape for name, shape in whole.items() if name.startswith("blk.1.indexer")}
    return case


def indexed(case, d=64, heads=2, rank=16):
    """Whose layers see the tokens that an indexer chooses: all of them here."""
    return case.add(**{"indexer__k_norm__weight": (d,), "indexer__k_norm__bias": (d,), "indexer__proj__weight": (heads, WIDTH),
                       "indexer__attn_k__weight": (d, WIDTH), "indexer__attn_q_b__weight": (heads * d, rank)})


def ling():
    """Kimi's layers without short rows for decays and gates; heads of latent attention turn, and have gates."""
    inner = HEADS * HEAD
    case = delta_and_latent("bailingmoe3", kda__gate_lower_bound=-3.0, expert_shared_feed_forward_length=24, expert_weights_norm=True)
    for i in (0, 2):
        case.add_to(i, ssm_f_a=(inner, WIDTH), ssm_g_a=(inner, WIDTH))
        del case.shapes[f"blk.{i}.ssm_f_b.weight"], case.shapes[f"blk.{i}.ssm_g_b.weight"]
    for i in (1, 2):
        case.add_to(i, ffn_gate_shexp=(24, WIDTH), ffn_up_shexp=(24, WIDTH), ffn_down_shexp=(WIDTH, 24))
    return case.add_to(1, attn_gate=(HEADS, WIDTH))


def bare_norms(**metadata):
    case = Case("olmo", **metadata).llama("attn_norm", "ffn_norm")
    del case.shapes["output_norm.weight"]
    return case


def whole_heads(case):
    case.metadata["attention.head_count_kv"] = HEADS
    return case


def words_beside_images():
    """Chameleon; tokens 4 to 8195 are of images. llama.cpp leaves them out in the first row of a batch."""
    words = 8200
    case = whole_heads(Case("chameleon", vocab_size=words, rope__dimension_count=HEAD).llama("attn_k", "attn_v")).add(
        attn_k=(WIDTH, WIDTH), attn_v=(WIDTH, WIDTH), attn_q_norm=(HEADS, HEAD), attn_k_norm=(HEADS, HEAD),
        attn_q_norm__bias=(HEADS, HEAD))
    case.shapes |= {"token_embd.weight": (words, WIDTH), "output.weight": (words, WIDTH)}
    case.tokens, case.batch = [0, 8198, 8197], 1
    return case


def sinks_of_granite(**metadata):
    return Case("granite_swa", layers=3, embedding_scale=3.0, residual_scale=0.7, logit_scale=2.5, attention__scale=0.3,
                attention__sliding_window=4, attention__sliding_window_pattern=[False, True, True], rope__dimension_count=HEAD,
                **metadata).llama(*NO_DENSE).add(attn_sinks=(HEADS,))


def stacks_by_turns(**metadata):
    """HRM: two layers of the lower stack, then two of the higher one; 2 times 2 lower passes and a higher one."""
    case = Case("hrm_text", layers=4, hrm__layers_per_stack=2, hrm__h_cycles=2, hrm__l_cycles=2, rope__dimension_count=HEAD,
                **metadata).llama("attn_norm", "ffn_norm").add(attn_gate=(WIDTH, WIDTH))
    del case.shapes["output_norm.weight"]
    case.metadata["block_count"] = 12
    case.shapes["hrm.z_l_init"] = (WIDTH,)
    return case


def blocks_of_four_bits():
    """gpt-oss as it is published."""
    case = Case("gpt-oss", **MIXED | {"expert_feed_forward_length": 2 * WIDTH}, attention__sliding_window=5,
                rope__scaling__type="yarn", rope__scaling__factor=4.0,
                rope__scaling__original_context_length=16, **HEADED).llama(*NO_DENSE, "ffn_norm").add(
                    post_attention_norm=(WIDTH,), attn_sinks=(HEADS,), attn_output__bias=(WIDTH,), ffn_gate_inp=(EXPERTS, WIDTH),
                    ffn_gate_inp__bias=(EXPERTS,), **BIASES)
    inner = 2 * WIDTH
    for i in range(LAYERS):
        for part, rows, columns in (("gate", inner, WIDTH), ("up", inner, WIDTH), ("down", WIDTH, inner)):
            case.blocks[f"blk.{i}.ffn_{part}_exps.weight"] = (gguf.GGMLQuantizationType.MXFP4, (EXPERTS, rows, columns))
            case.shapes[f"blk.{i}.ffn_{part}_exps.bias"] = (EXPERTS, rows)
    return case


def delta_rule(name, **metadata):
    """Three heads of values for each of two of keys; the second layer is attention, a third guesses ahead."""
    keys, state, values = 2, 8, 6
    case = Case(name, layers=2, ssm__conv_kernel=4, ssm__state_size=state, ssm__group_count=keys, ssm__time_step_rank=values,
                ssm__inner_size=values * state, full_attention_interval=2, attention__layer_norm_rms_epsilon=0.03, rope__dimension_count=HEAD // 2,
                rope__dimension_sections=[1, 1, 0, 0], **HEADED, **metadata)
    case.llama("attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", *(NO_DENSE if metadata else ()))
    case.add(post_attention_norm=(WIDTH,))
    case.add_to(0, attn_qkv=(2 * keys * state + values * state, WIDTH), attn_gate=(values * state, WIDTH),
                ssm_conv1d=(2 * keys * state + values * state, 4), ssm_dt__bias=(values,), ssm_a__=(values,),
                ssm_beta=(values, WIDTH), ssm_alpha=(values, WIDTH), ssm_norm=(state,), ssm_out=(WIDTH, values * state))
    case.shapes["blk.0.ssm_a"] = case.shapes.pop("blk.0.ssm_a.")
    case.add_to(1, attn_q=(2 * HEADS * HEAD, WIDTH), attn_k=(GROUPS * HEAD, WIDTH), attn_v=(GROUPS * HEAD, WIDTH),
                attn_output=(WIDTH, HEADS * HEAD), **NORMS_OF_HEADS)
    if metadata:
        case.experts().add(ffn_gate_inp_shexp=(1, WIDTH), ffn_gate_shexp=(SMALL, WIDTH), ffn_up_shexp=(SMALL, WIDTH),
                           ffn_down_shexp=(WIDTH, SMALL))
    return case


def two_kinds_of_layers(shared=2, own=8, **metadata):
    """Gemma 4: heads of 16 numbers where all is seen, without values of their own; later layers see keys of earlier ones."""
    whole, layers, experts = 2 * HEAD, 4, bool(metadata)
    local = [True, False, True, False]
    case = Case("gemma4", output=False, layers=layers, attention__sliding_window=4, attention__sliding_window_pattern=local,
                attention__shared_kv_layers=shared, embedding_length_per_layer_input=own, attention__key_length=whole,
                attention__value_length=whole, attention__key_length_swa=HEAD, attention__value_length_swa=HEAD,
                attention__head_count_kv=[GROUPS if kind else 1 for kind in local], rope__freq_base_swa=100.0,
                feed_forward_length=[INNER * (2 if i >= layers - shared else 1) for i in range(layers)], final_logit_softcapping=2.0,
                rope__dimension_count=whole, rope__dimension_count_swa=HEAD, **metadata)
    case.add(attn_norm=(WIDTH,), ffn_norm=(WIDTH,), post_attention_norm=(WIDTH,), post_ffw_norm=(WIDTH,), layer_output_scale=(1,))
    for i in range(layers):
        d, n = HEAD if local[i] else whole, INNER * (2 if i >= layers - shared else 1)
        case.add_to(i, attn_q=(HEADS * d, WIDTH), attn_output=(WIDTH, HEADS * d), attn_q_norm=(d,), ffn_gate=(n, WIDTH),
                    ffn_up=(n, WIDTH), ffn_down=(WIDTH, n))
        if i < layers - shared:
            case.add_to(i, attn_k=((GROUPS if local[i] else 1) * d, WIDTH), attn_k_norm=(d,))
        if local[i] and i < layers - shared:
            case.add_to(i, attn_v=(GROUPS * d, WIDTH))
        if own:
            case.add_to(i, inp_gate=(own, WIDTH), proj=(WIDTH, own), post_norm=(WIDTH,))
        if experts:
            case.add_to(i, ffn_gate_inp=(EXPERTS, WIDTH), ffn_gate_inp__scale=(WIDTH,), ffn_down_exps__scale=(EXPERTS,),
                        ffn_gate_up_exps=(EXPERTS, 2 * SMALL, WIDTH), ffn_down_exps=(EXPERTS, WIDTH, SMALL), pre_ffw_norm_2=(WIDTH,),
                        post_ffw_norm_1=(WIDTH,), post_ffw_norm_2=(WIDTH,))
    if own:
        case.shapes |= {"per_layer_token_embd.weight": (WORDS, layers * own), "per_layer_model_proj.weight": (layers * own, WIDTH),
                        "per_layer_proj_norm.weight": (own,)}
    case.factors = [1.0, 1.0] + [1e30] * (whole // 2 - 2)
    case.faint, case.faintness = ("post_ffw_norm.", "post_norm."), 0.0005        # behind GELU
    return case


def encoder(case):
    """Whose tokens all see each other."""
    case.result = "last_hidden_state"
    return case


def norms_behind(name):
    """BERT with a rotary embedding."""
    case = encoder(Case(name, output=False, attention__head_count_kv=HEADS, attention__causal=False))
    del case.shapes["output_norm.weight"]
    case.add(attn_qkv=(3 * WIDTH, WIDTH), attn_qkv__bias=(3 * WIDTH,), attn_output=(WIDTH, WIDTH), attn_output__bias=(WIDTH,),
             attn_output_norm=(WIDTH,), attn_output_norm__bias=(WIDTH,), ffn_up=(INNER, WIDTH), ffn_up__bias=(INNER,),
             ffn_down=(WIDTH, INNER), ffn_down__bias=(WIDTH,), layer_output_norm=(WIDTH,), layer_output_norm__bias=(WIDTH,))
    case.shapes |= {"token_types.weight": (1, WIDTH), "token_embd_norm.weight": (WIDTH,), "token_embd_norm.bias": (WIDTH,)}
    case.faint, case.faintness = ("ffn_down.weight",), 0.001                       # behind GELU
    return case


def with_head(labels, cls=True):
    """BERT's labels of a text: of one matrix, or of two with a tanh between. One label is a rank."""
    case = norms_behind("bert")
    for i in range(LAYERS):
        for part in "attn_qkv.weight", "attn_qkv.bias":
            del case.shapes[f"blk.{i}.{part}"]
    case.add(attn_q=(WIDTH, WIDTH), attn_k=(WIDTH, WIDTH), attn_v=(WIDTH, WIDTH), attn_q__bias=(WIDTH,), attn_k__bias=(WIDTH,),
             attn_v__bias=(WIDTH,))
    case.shapes |= {"token_types.weight": (2, WIDTH), "position_embd.weight": (64, WIDTH)}
    if cls:
        case.shapes |= {"cls.weight": (WIDTH, WIDTH), "cls.bias": (WIDTH,)}
    case.shapes |= {"cls.output.weight": (labels, WIDTH), "cls.output.bias": (labels,)}
    case.metadata["classifier.output_labels"] = ["cold", "warm", "hot"][:labels]
    case.result, case.labels = "logits", labels
    return case


def by_distance(joined, rank=False):
    """Jina's, whose gate is apart, or before what it multiplies (`joined`); then queries and keys have norms."""
    case = norms_behind("jina-bert-v2")
    for i in range(LAYERS):
        for part in "attn_qkv.weight", "attn_qkv.bias", "ffn_up.weight", "ffn_up.bias":
            del case.shapes[f"blk.{i}.{part}"]
    case.add(attn_q=(WIDTH, WIDTH), attn_k=(WIDTH, WIDTH), attn_v=(WIDTH, WIDTH), attn_q__bias=(WIDTH,), attn_k__bias=(WIDTH,),
             attn_v__bias=(WIDTH,))
    case.shapes["token_types.weight"] = (2, WIDTH)
    if rank:
        case.shapes |= {"cls.weight": (1, WIDTH), "cls.bias": (1,)}
        case.result, case.labels = "logits", 1
    if not joined:
        return case.add(ffn_up=(INNER, WIDTH), ffn_gate=(INNER, WIDTH))
    return case.add(ffn_up=(2 * INNER, WIDTH), attn_q_norm=(WIDTH,), attn_q_norm__bias=(WIDTH,), attn_k_norm=(WIDTH,),
                    attn_k_norm__bias=(WIDTH,), attn_norm_2=(WIDTH,), attn_norm_2__bias=(WIDTH,))


def layers_of_their_own():
    """Nemotron's layers as a search left them: without attention, with fewer heads of keys, with a matrix for it, without anything."""
    groups, heads, widths = [GROUPS, 0, 0, 1, 0], [HEADS, 0, 0, HEADS, HEADS], [INNER, 2 * INNER, 0, INNER, INNER]
    case = Case("deci", layers=5, attention__head_count_kv=groups, attention__head_count=heads, feed_forward_length=widths,
                rope__dimension_count=HEAD, **HEADED)
    for i in range(5):
        if heads[i]:
            case.add_to(i, attn_norm=(WIDTH,), attn_output=(WIDTH, WIDTH))
        if groups[i]:
            case.add_to(i, attn_q=(HEADS * HEAD, WIDTH), attn_k=(groups[i] * HEAD, WIDTH), attn_v=(groups[i] * HEAD, WIDTH))
        if widths[i]:
            case.add_to(i, ffn_norm=(WIDTH,), ffn_gate=(widths[i], WIDTH), ffn_up=(widths[i], WIDTH), ffn_down=(WIDTH, widths[i]))
    return case


def one_part_each(name, latent=WIDTH, **metadata):
    """Mamba-2 in two groups, attention, and an MLP or experts."""
    inner, state, heads, groups = 2 * WIDTH, 8, 8, 2
    mixed = inner + 2 * groups * state
    width = SMALL if metadata else INNER
    case = Case(name, layers=3, ssm__conv_kernel=4, ssm__inner_size=inner, ssm__state_size=state, ssm__time_step_rank=heads,
                ssm__group_count=groups, **{"attention.head_count_kv": [0, GROUPS, 0], "feed_forward_length": [0, 0, width]},
                **HEADED, **metadata).add(attn_norm=(WIDTH,))
    case.add_to(0, ssm_in=(inner + mixed + heads, WIDTH), ssm_conv1d=(mixed, 4), ssm_conv1d__bias=(mixed,), ssm_dt__bias=(heads,),
                ssm_norm=(groups, inner // groups), ssm_out=(WIDTH, inner))
    case.shapes |= {"blk.0.ssm_a": (heads, 1), "blk.0.ssm_d": (heads, 1)}
    case.add_to(1, attn_q=(HEADS * HEAD, WIDTH), attn_k=(GROUPS * HEAD, WIDTH), attn_v=(GROUPS * HEAD, WIDTH),
                attn_output=(WIDTH, HEADS * HEAD))
    if not metadata:
        return case.add_to(2, ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER))
    if latent != WIDTH:
        case.add_to(2, ffn_latent_down=(latent, WIDTH), ffn_latent_up=(WIDTH, latent))
    return case.add_to(2, ffn_gate_inp=(EXPERTS, WIDTH), exp_probs_b__bias=(EXPERTS,), ffn_up_exps=(EXPERTS, SMALL, latent),
                       ffn_down_exps=(EXPERTS, latent, SMALL), ffn_up_shexp=(INNER, WIDTH), ffn_down_shexp=(WIDTH, INNER))


def four_bits(name, shape):
    """Blocks of NVFP4, whose four scales are around 1 / 32."""
    blocks = (uniform(name, shape[-1] // 64 * 36 * int(np.prod(shape[:-1]))) * 128 + 128).astype(np.uint8)
    blocks = blocks.reshape(*shape[:-1], -1)
    for scale in range(4):
        blocks[..., scale::36] = 0x10 + blocks[..., scale::36] % 8
    return blocks


def factors_of_experts():
    """Experts whose last matrix is NVFP4, with a factor for each of them, and so an attention's, with one."""
    case = Case("llama", layers=2, **MIXED | {"expert_feed_forward_length": 64, "feed_forward_length": 64},
                attention__key_length=16, attention__value_length=16, rope__dimension_count=16)
    case.llama(*NO_DENSE, "attn_q", "attn_k", "attn_v", "attn_output")
    for i in range(LAYERS):
        case.add_to(i, attn_q=(64, WIDTH), attn_k=(32, WIDTH), attn_v=(32, WIDTH), ffn_gate_inp=(EXPERTS, WIDTH),
                    ffn_gate_exps=(EXPERTS, 64, WIDTH), ffn_up_exps=(EXPERTS, 64, WIDTH))
        case.blocks[f"blk.{i}.attn_output.weight"] = (gguf.GGMLQuantizationType.NVFP4, (WIDTH, 64))
        case.blocks[f"blk.{i}.ffn_down_exps.weight"] = (gguf.GGMLQuantizationType.NVFP4, (EXPERTS, WIDTH, 64))
    return case


def with_table_of_gelu(case):
    """Whose GELU llama.cpp takes from a table of 16 bits."""
    case.shapes["output_norm.bias"] = (WIDTH,)
    case.faint = ("ffn_down",)
    return case


def shared_experts(case, n, *without):
    """Dense first layers, then mixtures with n experts for all tokens."""
    first = case.metadata["leading_dense_block_count"]
    case.llama(*NO_DENSE, *without).experts(first)
    for i in range(first):
        case.add_to(i, ffn_gate=(INNER, WIDTH), ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER))
    for i in range(first, case.layers):
        case.add_to(i, ffn_gate_shexp=(n * SMALL, WIDTH), ffn_up_shexp=(n * SMALL, WIDTH), ffn_down_shexp=(WIDTH, n * SMALL))
    return case


def small_latent():
    turned, rank = 4, 16
    case = Case("minicpm3", output=False, context_length=256, attention__head_count_kv=HEADS, attention__key_length=HEAD + turned,
                attention__kv_lora_rank=rank, attention__q_lora_rank=rank, rope__dimension_count=turned,
                attention__layer_norm_rms_epsilon=0.03)
    case.llama("attn_q", "attn_k", "attn_v").add(
        attn_q_a=(rank, WIDTH), attn_q_a_norm=(rank,), attn_q_b=(HEADS * (HEAD + turned), rank),
        attn_kv_a_mqa=(rank + turned, WIDTH), attn_kv_a_norm=(rank,), attn_kv_b=(HEADS * (HEAD + HEAD), rank))
    case.shapes |= {f"rope_factors_{kind}.weight": (turned // 2,) for kind in ("long", "short")}
    return case


def convolutions():
    """A layer of convolutions before a dense part, then one of attention and one of convolutions before mixtures."""
    case = Case("lfm2moe", output=False, layers=3, shortconv__l_cache=3, leading_dense_block_count=1, expert_gating_func=2,
                attention__head_count_kv=[0, GROUPS, 0], **MIXED)
    case.llama(*NO_DENSE).experts(first=1).add(**NORMS_OF_HEADS)
    case.add_to(0, ffn_gate=(INNER, WIDTH), ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER))
    for i in (0, 2):
        for part in "attn_q", "attn_k", "attn_v", "attn_output", "attn_q_norm", "attn_k_norm":
            del case.shapes[f"blk.{i}.{part}.weight"]
        case.add_to(i, **{"shortconv__conv__weight": (WIDTH, 3), "shortconv__in_proj__weight": (3 * WIDTH, WIDTH),
                          "shortconv__out_proj__weight": (WIDTH, WIDTH)})
    for i in (1, 2):
        case.add_to(i, exp_probs_b__bias=(EXPERTS,))
    case.shapes["token_embd_norm.weight"] = case.shapes.pop("output_norm.weight")
    return case


def bailing_2(**metadata):
    return shared_experts(Case(
        "bailingmoe2", layers=3, expert_weights_norm=True, rope__dimension_count=HEAD // 2,
        expert_shared_feed_forward_length=SMALL, **SPARSE | {"expert_shared_count": 1}, **metadata), 1, "attn_q", "attn_k", "attn_v").add(
            attn_qkv=JOINED, **NORMS_OF_HEADS).add_to(1, exp_probs_b__bias=(EXPERTS,)).add_to(2, exp_probs_b__bias=(EXPERTS,))


def rwkv(name, fused=True, layers=LAYERS, **metadata):
    """RWKV-6, RWKV-7, and what became of Qwen with their recurrences; their ranks are small."""
    six, qwen, mix, rank = "6" in name, name not in ("rwkv6", "rwkv7"), 3, 5
    width, head = (WIDTH, HEAD) if six else (2 * WIDTH, 32)                # llama.cpp's loop for RWKV-7 has steps of 32
    keys = width
    case = Case(name, layers=layers, wkv__head_size=head, embedding_length=width, time_mix_extra_dim=mix, time_decay_extra_dim=rank, **{
        "attention.head_count": 0, "attention.head_count_kv": 0, "attention.decay_lora_rank": rank, "attention.iclr_lora_rank": mix,
        "attention.value_residual_mix_lora_rank": mix, "attention.gate_lora_rank": rank} | {k.replace("__", "."): v for k, v in metadata.items()})
    del case.metadata["rope.freq_base"]
    case.shapes |= {"token_embd.weight": (WORDS, width), "output.weight": (WORDS, width), "output_norm.weight": (width,)}
    if name == "rwkv6qwen2":
        keys = GROUPS * HEAD
        case.add(time_mix_key__bias=(keys,), time_mix_value__bias=(keys,), time_mix_receptance__bias=(width,))
    case.add(attn_norm=(width,), time_mix_key=(keys, width), time_mix_value=(keys, width), time_mix_receptance=(width, width),
             time_mix_output=(width, width))
    if fused:
        case.add(time_mix_lerp_fused=(5 if six else 6, 1, 1, width))
    else:
        case.add(**{f"time_mix_lerp_{part}": (width,) for part in "wkvrg"})
    if six:
        case.add(time_mix_w1=(5 * mix, width), time_mix_w2=(5, width, mix), time_mix_lerp_x=(width,), time_mix_decay=(width,),
                 time_mix_decay_w1=(rank, width), time_mix_decay_w2=(width, rank), time_mix_gate=(width, width))
    else:
        case.add(time_mix_k_k=(width,), time_mix_k_a=(width,), time_mix_r_k=(width,), time_mix_g1=(rank, width),
                 time_mix_g2=(width, rank))
        for part, n in (("w", rank), ("a", mix), ("v", mix)):
            case.add(**{f"time_mix_{part}0": (width,), f"time_mix_{part}1": (n, width), f"time_mix_{part}2": (width, n)})
    if qwen:
        return case.add(ffn_norm=(width,), ffn_gate=(INNER, width), ffn_up=(INNER, width), ffn_down=(width, INNER))
    case.add(attn_norm__bias=(width,), attn_norm_2=(width,), attn_norm_2__bias=(width,), time_mix_ln=(width,), time_mix_ln__bias=(width,),
             channel_mix_lerp_k=(width,), channel_mix_key=(INNER, width), channel_mix_value=(width, INNER))
    case.shapes |= {"output_norm.bias": (width,), "token_embd_norm.weight": (width,), "token_embd_norm.bias": (width,)}
    return case if not six else case.add(time_mix_first=(width // HEAD, HEAD), channel_mix_lerp_r=(width,),
                                         channel_mix_receptance=(width, width))


def delta_and_latent(name="kimi-linear", **metadata):
    """Kimi's layers: two that keep states, in one of them convolutions have axes of 1 in front; one of latent attention."""
    turned, rank, value, inner = 4, 16, 12, HEADS * HEAD
    case = Case(name, layers=3, **metadata, **{"attention.head_count_kv": [0, 1, 0]}, attention__kv_lora_rank=rank,
                attention__key_length=rank + turned, attention__value_length=rank, attention__key_length_mla=HEAD + turned,
                attention__value_length_mla=value, rope__dimension_count=turned, kda__head_dim=HEAD, ssm__conv_kernel=4,
                leading_dense_block_count=1, expert_shared_count=1, expert_weights_scale=1.5, expert_gating_func=2,
                attention__layer_norm_rms_epsilon=0.03, **MIXED)
    case.add(attn_norm=(WIDTH,), ffn_norm=(WIDTH,)).experts(first=1)
    for i, front in ((0, (1,)), (2, ())):
        case.add_to(i, attn_q=(inner, WIDTH), attn_k=(inner, WIDTH), attn_v=(inner, WIDTH), ssm_f_a=(HEAD, WIDTH),
                    ssm_f_b=(inner, HEAD), ssm_g_a=(HEAD, WIDTH), ssm_g_b=(inner, HEAD), ssm_beta=(HEADS, WIDTH), ssm_dt__bias=(inner,),
                    ssm_norm=(HEAD,), attn_output=(WIDTH, inner),
                    **{f"ssm_conv1d_{part}": front + (inner, 1, 4) for part in "qkv"})
        case.shapes[f"blk.{i}.ssm_a"] = front + (1,) * len(front) + (HEADS, 1)
    case.add_to(1, attn_q=(HEADS * (HEAD + turned), WIDTH), attn_kv_a_mqa=(rank + turned, WIDTH), attn_kv_a_norm=(rank,),
                attn_output=(WIDTH, HEADS * value), attn_k_b=(HEADS, rank, HEAD), attn_v_b=(HEADS, value, rank))
    case.add_to(0, ffn_gate=(INNER, WIDTH), ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER))
    for i in (1, 2):
        case.add_to(i, ffn_gate_shexp=(SMALL, WIDTH), ffn_up_shexp=(SMALL, WIDTH), ffn_down_shexp=(WIDTH, SMALL),
                    exp_probs_b__bias=(EXPERTS,))
    return case


def gates_of_heads(factor=0, **metadata):
    """Step's layers with windows have more heads; two layers clip their gates. `factor`: of all frequencies but the first."""
    near, heads, groups = [True, False, True], [6, 4, 6], [3, 2, 3]
    case = Case("step35", layers=3, **{"attention.head_count": heads, "attention.head_count_kv": groups}, attention__sliding_window=4,
                attention__sliding_window_pattern=near, rope__freq_base_swa=100.0, expert_shared_feed_forward_length=SMALL,
                expert_weights_scale=1.5, swiglu_clamp_exp=[0.0, 0.1, 0.0], swiglu_clamp_shexp=[0.2, 0.0, 0.05],
                rope__dimension_count=HEAD, **HEADED, **MIXED, **metadata)
    case.add(attn_norm=(WIDTH,), ffn_norm=(WIDTH,), **NORMS_OF_HEADS).experts(first=1)
    for i in range(3):
        case.add_to(i, attn_q=(heads[i] * HEAD, WIDTH), attn_k=(groups[i] * HEAD, WIDTH), attn_v=(groups[i] * HEAD, WIDTH),
                    attn_output=(WIDTH, heads[i] * HEAD), attn_gate=(heads[i], WIDTH))
    case.add_to(0, ffn_gate=(INNER, WIDTH), ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER))
    for i in (1, 2):
        case.add_to(i, ffn_gate_shexp=(SMALL, WIDTH), ffn_up_shexp=(SMALL, WIDTH), ffn_down_shexp=(WIDTH, SMALL),
                    exp_probs_b__bias=(EXPERTS,))
    case.factors = [1.0, 4.0] + [factor] * (HEAD // 2 - 2) if factor else None
    return case


def heads_of_mamba():
    """PLaMo 2: Mamba with heads, then attention. A step is made of 64 numbers at least."""
    inner, state, heads, steps = 6 * HEAD, 8, 6, 64
    case = Case("plamo2", output=False, layers=3, **{"attention.head_count_kv": [0, GROUPS, 0]},     # llama.cpp loops where the first head_count is 0
               
                ssm__conv_kernel=4, ssm__inner_size=inner, ssm__state_size=state, ssm__time_step_rank=heads, ssm__group_count=0, **HEADED)
    case.add(attn_norm=(WIDTH,), ffn_norm=(WIDTH,), ffn_up=(2 * INNER, WIDTH), ffn_down=(WIDTH, INNER))
    for i in (0, 2):
        case.add_to(i, ssm_in=(2 * inner, WIDTH), ssm_conv1d=(inner, 4), ssm_x=(steps + 2 * state, inner), ssm_dt=(heads, steps),
                    ssm_dt__bias=(heads,), ssm_out=(WIDTH, inner))
        case.shapes |= {f"blk.{i}.ssm_{part}": shape for part, shape in (
            ("a", (heads,)), ("d", (heads,)), ("dt_norm", (steps,)), ("b_norm", (state,)), ("c_norm", (state,)))}
    case.add_to(1, attn_qkv=((HEADS + 2 * GROUPS) * HEAD, WIDTH), attn_q_norm=(HEADS, HEAD), attn_k_norm=(GROUPS, HEAD),
                attn_output=(WIDTH, HEADS * HEAD))
    for i in range(3):
        case.shapes |= {f"blk.{i}.{part}": (WIDTH,) for part in ("post_attention_norm", "post_ffw_norm")}
    return case


def beside_each_other(**metadata):
    """Cohere's mixtures: attention and MLP see the same row, every second layer has a window; there heads turn, and in the first layer."""
    case = Case("cohere2moe", output=False, layers=4, logit_scale=0.3, attention__sliding_window=4, leading_dense_block_count=1,
                attention__sliding_window_pattern=[False, True, False, True], **HEADED, **MIXED | metadata)
    case.llama(*NO_DENSE, "ffn_norm").experts(first=1)
    case.add_to(0, ffn_gate=(INNER, WIDTH), ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER))
    for i in range(1, 4) if "expert_shared_count" in metadata else ():
        case.add_to(i, ffn_gate_shexp=(SMALL, WIDTH), ffn_up_shexp=(SMALL, WIDTH), ffn_down_shexp=(WIDTH, SMALL))
    if metadata.get("attention__layer_norm_rms_epsilon") == 0.0:
        del case.metadata["attention.layer_norm_rms_epsilon"]
    else:
        del case.metadata["attention.layer_norm_epsilon"]
    return case


def fading_states():
    """MiniMax's layers: every other one keeps states, of each head at a rate of its own."""
    n = HEADS * HEAD
    case = Case("minimax-01", layers=3, feed_forward_length=SMALL, full_attention_interval=2, residual_scale=1.7,
                rope__dimension_count=HEAD // 2, attention__layer_norm_rms_epsilon=1e-6, **HEADED, **MIXED).add(
                    attn_norm=(WIDTH,), ffn_norm=(WIDTH,), attn_output=(WIDTH, n)).experts()
    for i in (0, 2):
        case.add_to(i, attn_qkv=(3 * n, WIDTH), attn_gate=(n, WIDTH), attn_norm_2=(n,))
    return case.add_to(1, attn_q=(n, WIDTH), attn_k=(GROUPS * HEAD, WIDTH), attn_v=(GROUPS * HEAD, WIDTH))


def shares_of_words():
    case = Case("talkie", logit_scale=0.7, rope__dimension_count=HEAD).llama("attn_norm", "ffn_norm").add(
        attn_q_norm=(HEADS, 1), layer_output_scale=(1,))
    del case.shapes["output_norm.weight"]
    return case


def local_encoder(labels, **metadata):
    """ModernBERT's labels of a text: of the mean of its rows, or of the first one."""
    case = Case("modern-bert", output=False, layers=3, attention__sliding_window=4, rope__freq_base_swa=100.0, attention__causal=False,
                attention__head_count_kv=HEADS, **metadata)
    case.add(attn_norm=(WIDTH,), attn_qkv=(3 * WIDTH, WIDTH), attn_output=(WIDTH, WIDTH), ffn_norm=(WIDTH,), ffn_up=(2 * INNER, WIDTH),
             ffn_down=(WIDTH, INNER))
    del case.shapes["blk.0.attn_norm.weight"]
    case.shapes |= {"token_embd_norm.weight": (WIDTH,), "cls.weight": (WIDTH, WIDTH), "cls.norm.weight": (WIDTH,),
                    "cls.output.weight": (labels, WIDTH), "cls.output.bias": (labels,)}
    case.metadata["classifier.output_labels"] = ["cold", "warm", "hot"][:labels]
    case.result, case.labels = "logits", labels
    case.faint, case.faintness = ("ffn_down",), 0.001                              # behind GELU
    case.strong = ("cls.weight",)                                                  # whose table ends at 10
    return case


def soft_norms(**metadata):
    """Gemma 3, whose layers with windows turn at a rate of their own."""
    case = Case("gemma3", output=False, layers=3, **HEADED, **metadata).llama().add(
        post_attention_norm=(WIDTH,), post_ffw_norm=(WIDTH,), **NORMS_OF_HEADS)
    case.faint, case.faintness = ("post_ffw_norm",), 0.0005                        # behind GELU
    return case


def both_in_one():
    case = encoder(Case("neo-bert", output=False, attention__head_count_kv=HEADS, attention__causal=False)).add(
        attn_norm=(WIDTH,), attn_qkv=(3 * WIDTH, WIDTH), attn_output=(WIDTH, WIDTH), ffn_norm=(WIDTH,), ffn_up=(2 * INNER, WIDTH),
        ffn_down=(WIDTH, INNER))
    case.shapes["enc.output_norm.weight"] = case.shapes.pop("output_norm.weight")
    return case


def sinks_and_windows(joined, **metadata):
    """MiMo's layers with windows have more heads of keys, and sinks; values are narrower."""
    near, groups, value = [False, True, True], [1, 2, 2], 6
    case = Case("mimo2", layers=3, **{"attention.head_count_kv": groups}, attention__sliding_window=4, expert_weights_scale=1.0,
                attention__sliding_window_pattern=near, rope__freq_base_swa=100.0, rope__dimension_count=HEAD // 2,
                attention__key_length=HEAD, attention__value_length=value, expert_gating_func=2, **MIXED, **metadata)
    case.add(attn_norm=(WIDTH,), ffn_norm=(WIDTH,), attn_output=(WIDTH, HEADS * value)).experts(first=1)
    for i, g in enumerate(groups):
        case.add_to(i, **(dict(attn_qkv=((HEADS + g) * HEAD + g * value, WIDTH)) if joined else
                          dict(attn_q=(HEADS * HEAD, WIDTH), attn_k=(g * HEAD, WIDTH), attn_v=(g * value, WIDTH))))
        if near[i]:
            case.add_to(i, attn_sinks=(HEADS,), exp_probs_b__bias=(EXPERTS,))
    return case.add_to(0, ffn_gate=(INNER, WIDTH), ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER))


def soft_gates(wide, **metadata):
    """Laguna's layers with windows have more heads; a gate is of a head, or of each of its numbers (`wide`)."""
    heads = [4, 6, 6]
    case = shared_experts(Case("laguna", layers=3, **{"attention.head_count": heads} | SPARSE | {
        "expert_shared_count": 1, "expert_shared_feed_forward_length": SMALL, "rope__dimension_count": HEAD} | metadata, **HEADED), 1, "attn_q", "attn_output").add(**NORMS_OF_HEADS)
    for i, n in enumerate(heads):
        case.add_to(i, attn_q=(n * HEAD, WIDTH), attn_output=(WIDTH, n * HEAD), attn_gate=(n * wide, WIDTH))
    return case.add_to(1, **ROUTER_BIAS).add_to(2, **ROUTER_BIAS)


def other_heads():
    """Spark's layers with windows have more heads; GELU is from a table."""
    near, heads, groups = [True, False, True], [6, 4, 6], [3, 2, 3]
    case = Case("spark2_5", layers=3, **{"attention.head_count": heads, "attention.head_count_kv": groups}, attention__sliding_window=4,
                attention__sliding_window_pattern=near, rope__freq_base_swa=100.0, rope__dimension_count=HEAD // 2,
                rope__dimension_count_swa=HEAD, **HEADED).llama("attn_q", "attn_k", "attn_v", "attn_output")
    for i in range(3):
        case.add_to(i, attn_q=(heads[i] * HEAD, WIDTH), attn_k=(groups[i] * HEAD, WIDTH), attn_v=(groups[i] * HEAD, WIDTH),
                    attn_output=(WIDTH, heads[i] * HEAD), attn_gate=(heads[i], WIDTH))
    case.faint, case.faintness = ("ffn_down",), 0.0005
    return case


def joined(layers, **metadata):
    """PLaMo 3: queries, keys and values in one, norms before and behind each part."""
    case = Case("plamo3", output=False, layers=layers, **HEADED, **metadata).llama("attn_q", "attn_k", "attn_v", *NO_DENSE).add(
        attn_qkv=JOINED, ffn_up=(2 * INNER, WIDTH), ffn_down=(WIDTH, INNER), **NORMS_OF_HEADS)
    for i in range(layers):
        case.shapes |= {f"blk.{i}.{part}": (WIDTH,) for part in ("post_attention_norm", "post_ffw_norm")}
    return case


def mixtures_of_relu(**metadata):
    return Case("smallthinker", layers=5, feed_forward_length=SMALL, rope__dimension_count=HEAD, **HEADED, **MIXED, **metadata).llama(
        *NO_DENSE).experts()


def with_bias_of_norm(case):
    case.shapes["output_norm.bias"] = (WIDTH,)
    return case


def plain_latent():
    turned, rank, value = 4, 16, 12
    return Case("plm", output=False, attention__head_count_kv=HEADS, attention__key_length=HEAD + turned, attention__value_length=value,
                attention__kv_lora_rank=rank, rope__dimension_count=turned, attention__layer_norm_rms_epsilon=0.03).llama(
                    "attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate").add(
                        attn_q=(HEADS * (HEAD + turned), WIDTH), attn_kv_a_mqa=(rank + turned, WIDTH), attn_kv_a_norm=(rank,),
                        attn_kv_b=(HEADS * (HEAD + value), rank), attn_output=(WIDTH, HEADS * value))


def wider_layers():
    """OpenELM: heads and widths layer by layer."""
    queries, groups, widths = [2, 4, 6], [1, 2, 3], [16, 24, 40]
    case = Case("openelm", output=False, layers=3, attention__head_count=queries, attention__head_count_kv=groups,
                feed_forward_length=widths, rope__dimension_count=HEAD, **HEADED)
    case.add(attn_norm=(WIDTH,), ffn_norm=(WIDTH,), **NORMS_OF_HEADS)
    for i, width in enumerate(widths):
        case.add_to(i, attn_qkv=((queries[i] + 2 * groups[i]) * HEAD, WIDTH), attn_output=(WIDTH, queries[i] * HEAD),
                    ffn_gate=(width, WIDTH), ffn_up=(width, WIDTH), ffn_down=(WIDTH, width))
    return case


def gated_alibi():
    case = Case("jais", attention__head_count_kv=HEADS, attention__max_alibi_bias=6.0).llama("attn_q", "attn_k", "attn_v").add(
        attn_qkv=(3 * WIDTH, WIDTH), attn_qkv__bias=(3 * WIDTH,), ffn_gate__bias=(INNER,), **ALL_NORMS)
    case.shapes["output_norm.bias"] = (WIDTH,)
    return case


def capped(dense=False, **metadata):
    """Grok, whose router's cap llama.cpp does not compute, and whose GELU it takes from a table."""
    case = Case("grok", router_logit_softcapping=1e6, feed_forward_length=INNER if dense else SMALL, **MIXED, **metadata)
    case.llama(*(() if dense else NO_DENSE)).experts().add(attn_output_norm=(WIDTH,), layer_output_norm=(WIDTH,))
    case.faint, case.faintness = ("layer_output_norm",), 0.0005
    return case


def latent(name="deepseek2", **metadata):
    """Latent attention whose second projection is apart for keys and values, head by head."""
    turned, rank, value = 4, 16, 12
    case = Case(name, attention__head_count_kv=1, attention__key_length=rank + turned, attention__value_length=rank,
                attention__key_length_mla=HEAD + turned, attention__value_length_mla=value, attention__kv_lora_rank=rank,
                attention__q_lora_rank=rank,
                rope__dimension_count=turned, expert_shared_count=1, leading_dense_block_count=1, expert_weights_scale=1.0,
                attention__layer_norm_rms_epsilon=0.03, **{"expert_gating_func": 1} | metadata, **MIXED)
    case.llama(*NO_DENSE, "attn_q", "attn_k", "attn_v", "attn_output").experts(first=1)
    case.add(attn_q_a=(rank, WIDTH), attn_q_a_norm=(rank,), attn_q_b=(HEADS * (HEAD + turned), rank),
             attn_kv_a_mqa=(rank + turned, WIDTH), attn_kv_a_norm=(rank,),
             attn_k_b=(HEADS, rank, HEAD), attn_v_b=(HEADS, value, rank), attn_output=(WIDTH, HEADS * value))
    case.add_to(0, ffn_gate=(INNER, WIDTH), ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER))
    return case.add_to(1, ffn_gate_shexp=(SMALL, WIDTH), ffn_up_shexp=(SMALL, WIDTH), ffn_down_shexp=(WIDTH, SMALL))


def refact():
    case = Case("refact", attention__head_count_kv=1).llama("attn_k", "attn_v")
    return case.add(attn_k=(HEAD, WIDTH), attn_v=(HEAD, WIDTH))


def orion():
    case = Case("orion").llama().add(attn_norm__bias=(WIDTH,), ffn_norm__bias=(WIDTH,))
    case.shapes["output_norm.bias"] = (WIDTH,)
    return case


def ernie(shared):
    case = Case("ernie4_5-moe", output=False, layers=3, expert_shared_count=shared, leading_dense_block_count=1,
                interleave_moe_layer_step=1, expert_shared_feed_forward_length=SMALL * shared, **MIXED)
    case.llama(*NO_DENSE).experts(first=1)
    case.add_to(0, ffn_gate=(INNER, WIDTH), ffn_up=(INNER, WIDTH), ffn_down=(WIDTH, INNER))
    for i in (1, 2) if shared else ():
        case.add_to(i, ffn_gate_shexp=(SMALL * shared, WIDTH), ffn_up_shexp=(SMALL * shared, WIDTH),
                    ffn_down_shexp=(WIDTH, SMALL * shared))
    return case


def main(folder, name):
    folder = pathlib.Path(folder)
    case = CASES[name]()
    case.save(folder / "model.gguf")
    np.save(folder / "input_ids.npy", np.array(case.tokens, np.int32))
    np.save(folder / f"{case.result}.npy", np.load(HERE / f"{name}.npy"))


def record(names):
    import llama_cpp as library
    for name in names or CASES:
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/model.gguf"
            case = CASES[name]()
            case.architecture = {"qwen2vl": "qwen2"}.get(name, case.architecture)     # whose epsilon llama.cpp does not read
            case.save(path, plain=True)
            np.save(HERE / f"{name}.npy", logits(library, path, case))


def logits(library, path, case):
    model = library.llama_model_load_from_file(path.encode(), library.llama_model_default_params())
    options, encodes, n = library.llama_context_default_params(), case.result == "last_hidden_state" or case.labels > 0, len(case.tokens)
    options.n_ctx, options.type_k, options.type_v, options.flash_attn_type, options.swa_full = 256, 0, 0, 0, True
    options.n_threads = options.n_threads_batch = 1
    options.embeddings, options.pooling_type = encodes, 4 if case.labels else 0
    context = library.llama_init_from_model(model, options)
    rows, width = [], case.metadata["embedding_length"]
    words = (case.shapes.get("token_embd.weight") or case.blocks["token_embd.weight"][1])[0]
    for first in range(0, n, case.batch):
        tokens = case.tokens[first:first + case.batch]
        batch = library.llama_batch_init(n, 0, 1)
        batch.n_tokens = len(tokens)
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, first + i, 1, 1
            batch.seq_id[i][0] = 0
        assert (library.llama_encode if encodes else library.llama_decode)(context, batch) == 0
        if case.labels:
            return np.ctypeslib.as_array(library.llama_get_embeddings_seq(context, 0), (case.labels,)).copy()
        row = library.llama_get_embeddings_ith if encodes else library.llama_get_logits_ith
        rows += [np.ctypeslib.as_array(row(context, i), (width if encodes else words,)).copy() for i in range(len(tokens))]
    return np.array(rows)


if __name__ == "__main__":
    record(sys.argv[2:]) if sys.argv[1] == "--record" else main(*sys.argv[1:])
