"""What generate.py makes: name -> (kind, class of transformers, parameters of its configuration). Kinds say inputs and outputs."""

TEXT = dict(vocab_size=96, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96,
            max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2)
PLAIN = {k: v for k, v in TEXT.items() if k != "intermediate_size"}
GROUPED = dict(TEXT, num_key_value_heads=2)
ENCODER = dict(TEXT, type_vocab_size=2)
VISION = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, image_size=16, patch_size=4)
PAIR = dict(vocab_size=96, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
            encoder_ffn_dim=96, decoder_ffn_dim=80, max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
            decoder_start_token_id=2)
T5 = dict(vocab_size=96, d_model=64, d_kv=16, d_ff=96, num_layers=2, num_heads=4, pad_token_id=0, eos_token_id=1,
          decoder_start_token_id=0)
SWIN = dict(num_channels=3, embed_dim=16, depths=[2, 2], num_heads=[2, 4])
LATENT = dict(GROUPED, num_key_value_heads=4, q_lora_rank=24, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=16, v_head_dim=12,
              moe_intermediate_size=32, num_experts_per_tok=2, n_routed_experts=8, n_shared_experts=1, first_k_dense_replace=1)
SHARED_EXPERTS = dict(n_routed_experts=4, n_shared_experts=1, moe_intermediate_size=32, first_k_dense_replace=1, num_experts_per_tok=2)
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
GPT = dict(vocab_size=96, n_embd=64, n_layer=2, n_head=4, n_positions=64, bos_token_id=1, eos_token_id=2)


def causal(prefix, base=GROUPED, **more):
    return ("decoder", prefix + "ForCausalLM", dict(base, **more))


def text(prefix, base=ENCODER, **more):
    return ("encoder", prefix + "Model", dict(base, **more))


def image(prefix, leave_out=(), **more):
    return ("image", prefix + "Model", dict({k: v for k, v in VISION.items() if k not in leave_out}, **more))


def pair(prefix, base=PAIR, **more):
    return ("pair", prefix + "ForConditionalGeneration", dict(base, **more))


DECODERS = {
    "olmo": causal("Olmo", clip_qkv=0.9),
    "olmo2": causal("Olmo2"),
    "olmo3": causal("Olmo3", num_hidden_layers=4, sliding_window=5),
    "stablelm": causal("StableLm", use_qkv_bias=True),
    "granite": causal("Granite", embedding_multiplier=3.0, logits_scaling=4.0, residual_multiplier=0.5, attention_multiplier=0.1),
    "phi": causal("Phi"),
    "phi-norms": causal("Phi", qk_layernorm=True, partial_rotary_factor=0.25),
    "starcoder2": causal("Starcoder2"),
    "starcoder2-window": causal("Starcoder2", sliding_window=5, use_bias=False),
    "gptj": causal("GPTJ", GPT, rotary_dim=8),
    "codegen": causal("CodeGen", GPT, rotary_dim=8),
    "gpt_neo": causal("GPTNeo", dict(vocab_size=96, hidden_size=64, num_layers=2, num_heads=4, window_size=5, bos_token_id=1,
                                     max_position_embeddings=64, attention_types=[[["global", "local"], 1]], eos_token_id=2)),
    "opt": causal("OPT", PLAIN, ffn_dim=96, word_embed_proj_dim=64),
    "opt-350m": causal("OPT", PLAIN, ffn_dim=96, word_embed_proj_dim=32, do_layer_norm_before=False, activation_function="gelu"),
    "cohere": causal("Cohere"),
    "cohere-norms": causal("Cohere", use_qk_norm=True, logit_scale=0.25),
    "cohere2": causal("Cohere2", sliding_window=5, num_hidden_layers=4),
    "gpt_bigcode": causal("GPTBigCode", GPT),
    "gpt_bigcode-heads": causal("GPTBigCode", GPT, multi_query=False, activation_function="relu"),
    "gemma3_text": ("decoder", "Gemma3ForCausalLM", dict(GROUPED, head_dim=16, sliding_window=5, num_hidden_layers=6)),
    "gemma3n": causal("Gemma3n", head_dim=16, sliding_window=5, num_hidden_layers=5, num_kv_shared_layers=2,
                      layer_types=["sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"],
                      vocab_size_per_layer_input=96, hidden_size_per_layer_input=16, laurel_rank=8, intermediate_size=96,
                      activation_sparsity_pattern=[0.9, 0.0, 0.5, 0.0, 0.0]),
    "glm": causal("Glm", head_dim=16, attention_bias=True),
    "glm4": causal("Glm4", head_dim=16),
    "nemotron": causal("Nemotron"),
    "helium": causal("Helium", head_dim=16),
    "smollm3": causal("SmolLM3", num_hidden_layers=4),
    "exaone4-layers": causal("Exaone4", num_hidden_layers=3, sliding_window=5,
                             layer_types=["full_attention", "sliding_attention", "full_attention"]),
    "exaone4": causal("Exaone4", num_hidden_layers=4, sliding_window=5, sliding_window_pattern=4),
    "ernie4_5": causal("Ernie4_5", head_dim=16),
    "persimmon": causal("Persimmon", TEXT),
    "biogpt": causal("BioGpt", TEXT),
    "xglm": causal("XGLM", dict(vocab_size=96, d_model=64, num_layers=2, attention_heads=4, ffn_dim=96, pad_token_id=1,
                                max_position_embeddings=64, bos_token_id=0, eos_token_id=2)),
    "arcee": causal("Arcee"),
    "seed_oss": causal("SeedOss", head_dim=16),
    "gpt_neox_japanese": causal("GPTNeoXJapanese", PLAIN),
    "ministral": causal("Ministral", sliding_window=5, head_dim=16),
    "hunyuan_v1_dense": causal("HunYuanDenseV1", head_dim=16),
    "apertus": causal("Apertus"),
    "diffllama": causal("DiffLlama", num_hidden_layers=3),
    "mixtral": causal("Mixtral", num_local_experts=4),
    "qwen2_moe": causal("Qwen2Moe", num_experts=6, num_experts_per_tok=2, moe_intermediate_size=32,
                        shared_expert_intermediate_size=48, num_hidden_layers=3, mlp_only_layers=[1]),
    "qwen2_moe-all": causal("Qwen2Moe", num_experts=6, num_experts_per_tok=2, moe_intermediate_size=32,
                            shared_expert_intermediate_size=48),
    "qwen3_moe": causal("Qwen3Moe", num_experts=6, num_experts_per_tok=3, moe_intermediate_size=32, norm_topk_prob=True, head_dim=24),
    "olmoe": causal("Olmoe", num_experts=6, num_experts_per_tok=2, clip_qkv=1.5),
    "granitemoe": causal("GraniteMoe", num_local_experts=4, residual_multiplier=0.5),
    "granitemoeshared": causal("GraniteMoeShared", num_local_experts=4, shared_intermediate_size=48),
    "gpt_oss": causal("GptOss", head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=5, rope_scaling=YARN),
    "gpt_oss-whole": causal("GptOss", head_dim=16, num_local_experts=4, num_experts_per_tok=2, sliding_window=5,
                            rope_scaling=dict(YARN, truncate=False)),
    "deepseek_v2": causal("DeepseekV2", LATENT),
    "deepseek_v2-groups": causal("DeepseekV2", LATENT, q_lora_rank=None, topk_method="group_limited_greedy", n_group=4, topk_group=2,
                                 routed_scaling_factor=2.5),
    "deepseek_v3": causal("DeepseekV3", LATENT, n_group=4, topk_group=2),
    "deepseek_v3-yarn": causal("DeepseekV3", LATENT, q_lora_rank=None, n_group=1, topk_group=1, norm_topk_prob=False,
                               rope_scaling=dict(YARN, mscale=1.0, mscale_all_dim=0.7)),
    "deepseek_v3-stretch": causal("DeepseekV3", LATENT, n_group=4, topk_group=2, rope_scaling=dict(YARN, mscale=0.7, mscale_all_dim=0.7)),
    "glm4_moe": causal("Glm4Moe", head_dim=16, use_qk_norm=True, **SHARED_EXPERTS),
    "dots1": causal("Dots1", head_dim=16, sliding_window=5, max_window_layers=1, **SHARED_EXPERTS),
    "dots1-full": causal("Dots1", head_dim=16, sliding_window=None, layer_types=["full_attention"] * 2, **SHARED_EXPERTS),
    "ernie4_5_moe": causal("Ernie4_5_Moe", moe_num_experts=4, moe_k=2, moe_intermediate_size=32, num_hidden_layers=3),
    "hunyuan_v1_moe": causal("HunYuanMoEV1", head_dim=16, num_experts=4, moe_topk=[1, 2]),
    "hunyuan_v1_moe-even": causal("HunYuanMoEV1", head_dim=16, num_experts=4, moe_topk=2),
    "flex_olmo": causal("FlexOlmo", num_experts=4, num_experts_per_tok=2),
    "phimoe": causal("Phimoe", num_local_experts=4, sliding_window=5, lm_head_bias=True),
    "dbrx": causal("Dbrx", dict(d_model=64, n_heads=4, n_layers=2, max_seq_len=64, vocab_size=96),
                   ffn_config=dict(ffn_hidden_size=48, moe_num_experts=4, moe_top_k=2),
                   attn_config=dict(kv_n_heads=2, clip_qkv=1.0)),
    "mamba": ("decoder", "MambaForCausalLM", dict(vocab_size=96, hidden_size=48, num_hidden_layers=2, state_size=8)),
    "falcon_mamba": ("decoder", "FalconMambaForCausalLM", dict(vocab_size=96, hidden_size=48, num_hidden_layers=2, state_size=8)),
    "mamba2": ("decoder", "Mamba2ForCausalLM", dict(vocab_size=96, hidden_size=48, num_hidden_layers=2, state_size=8, num_heads=6,
                                                     head_dim=16, n_groups=2, chunk_size=4)),
    "lfm2": causal("Lfm2", num_hidden_layers=4, full_attn_idxs=[1, 3], block_multiple_of=16),
    "llama4": ("decoder", "Llama4ForCausalLM", dict(GROUPED, head_dim=16, intermediate_size=32, intermediate_size_mlp=96, num_hidden_layers=4,
               num_local_experts=4, interleave_moe_layer_step=2, attention_chunk_size=5, floor_scale=4)),
    "llama4-even": ("decoder", "Llama4ForCausalLM", dict(GROUPED, head_dim=16, intermediate_size=32, intermediate_size_mlp=96, num_hidden_layers=4,
               num_local_experts=4, interleave_moe_layer_step=2)),
    "llama4-layers": ("decoder", "Llama4ForCausalLM", dict(GROUPED, head_dim=16, intermediate_size=32, intermediate_size_mlp=96,
                      num_local_experts=4, num_experts_per_tok=2, use_qk_norm=False, attn_temperature_tuning=False, moe_layers=[0],
                      no_rope_layers=[0, 1])),
    "bitnet": causal("BitNet"),
    "vaultgemma": causal("VaultGemma", head_dim=16, sliding_window=5),
    "granitemoehybrid": causal("GraniteMoeHybrid", num_local_experts=0, shared_intermediate_size=48, mamba_n_heads=4, mamba_d_head=32,
                               layer_types=["attention"] * 2),
    "openai-gpt": ("decoder", "OpenAIGPTLMHeadModel", dict(GPT)),
    "ctrl": ("decoder", "CTRLLMHeadModel", dict(GPT, dff=96)),
    "modernbert-decoder": causal("ModernBertDecoder", TEXT, local_attention=8, num_hidden_layers=4),
    "gpt2-custom": ("decoder", "GPT2LMHeadModel", dict(GPT, n_inner=80, activation_function="relu", tie_word_embeddings=False,
                                                       scale_attn_by_inverse_layer_idx=True)),
}

ENCODERS = {
    "albert": text("Albert", embedding_size=32, num_hidden_groups=1, inner_group_num=1),
    "electra": text("Electra", embedding_size=32),
    "mpnet": text("MPNet", TEXT),
    "xlm-roberta": text("XLMRoberta"),
    "camembert": text("Camembert"),
    "deberta-v2": text("DebertaV2", relative_attention=True, position_buckets=8, pos_att_type=["c2p", "p2c"], share_att_key=True,
                       norm_rel_ebd="layer_norm", position_biased_input=False, type_vocab_size=0),
    "deberta-v2-apart": text("DebertaV2", relative_attention=True, max_relative_positions=6, pos_att_type=["p2c"]),
    "xlm-roberta-xl": text("XLMRobertaXL"),
    "esm": text("Esm", TEXT, position_embedding_type="rotary", token_dropout=True, mask_token_id=35, emb_layer_norm_before=True,
                pad_token_id=1),
    "splinter": text("Splinter"),
    "dpr-question": ("encoder", "DPRQuestionEncoder", dict(ENCODER)),
    "dpr-context": ("encoder", "DPRContextEncoder", dict(ENCODER, projection_dim=24)),
    "big_bird": text("BigBird"),
    "xlm": text("XLM", dict(vocab_size=96, emb_dim=64, n_layers=2, n_heads=4, max_position_embeddings=64)),
    "flaubert": text("Flaubert", dict(vocab_size=96, emb_dim=64, n_layers=2, n_heads=4, max_position_embeddings=64, pre_norm=True)),
    "squeezebert": text("SqueezeBert", embedding_size=64),
    "siglip-text": text("SiglipText", TEXT),
    "roberta-padding": text("Roberta", pad_token_id=35),   # a token of the text
    "modernbert": text("ModernBert", TEXT, local_attention=8, num_hidden_layers=4),
    "ernie": text("Ernie"),
    "data2vec-text": text("Data2VecText"),
    "rembert": text("RemBert", input_embedding_size=32),
    "roformer": text("RoFormer"),
    "megatron-bert": text("MegatronBert"),
    "roberta-prelayernorm": text("RobertaPreLayerNorm"),
    "clip-text": text("CLIPText", TEXT),
    "t5-encoder": ("encoder", "T5EncoderModel", T5),
    "visual-bert": text("VisualBert", visual_embedding_dim=32),
    "luke": text("Luke", entity_vocab_size=20, entity_emb_size=32),
    "longformer": text("Longformer", attention_window=4),
    "xlnet": text("XLNet", dict(vocab_size=96, d_model=64, n_layer=2, n_head=4, d_inner=96)),
    "bert-relative": text("Bert", position_embedding_type="relative_key"),
    "electra-relative": text("Electra", embedding_size=32, position_embedding_type="relative_key"),
    "roberta-relative": text("Roberta", position_embedding_type="relative_key_query"),
    "fnet": text("FNet", {k: v for k, v in ENCODER.items() if k != "num_attention_heads"}),
    "ibert": text("IBert"),
    "xmod": text("Xmod", languages=["en_XX", "de_DE"], default_language="de_DE"),
    "xmod-pre": text("Xmod", default_language="en_XX", pre_norm=True, adapter_layer_norm=True, ln_before_adapter=False),
    "mobilebert": text("MobileBert", embedding_size=32, intra_bottleneck_size=32),
    "gemma3-embedding": ("encoder", "Gemma3TextModel", dict(GROUPED, head_dim=16, query_pre_attn_scalar=16, sliding_window=8, num_hidden_layers=6,
                                                            use_bidirectional_attention=True)),
    "bert-generation": ("encoder", "BertGenerationEncoder", dict(TEXT)),
}

def task(prefix, name, base=ENCODER, **more):
    return ("task", f"{prefix}For{name}", dict(base, **more))


DISTIL = dict(vocab_size=96, dim=64, n_layers=2, n_heads=4, hidden_dim=96, max_position_embeddings=64)
THREE = {"id2label": {0: "no", 1: "maybe", 2: "yes"}}
TASKS = {
    "bert-masked": task("Bert", "MaskedLM"),
    "bert-sequence": task("Bert", "SequenceClassification", **THREE),
    "bert-token": task("Bert", "TokenClassification", **THREE),
    "bert-answer": task("Bert", "QuestionAnswering"),
    "roberta-masked": task("Roberta", "MaskedLM"),
    "roberta-sequence": task("Roberta", "SequenceClassification"),
    "xlm-roberta-token": task("XLMRoberta", "TokenClassification", **THREE),
    "distilbert-masked": task("DistilBert", "MaskedLM", DISTIL),
    "distilbert-sequence": task("DistilBert", "SequenceClassification", DISTIL),
    "distilbert-answer": task("DistilBert", "QuestionAnswering", DISTIL),
    "deberta-v2-masked": task("DebertaV2", "MaskedLM"),
    "deberta-v2-sequence": task("DebertaV2", "SequenceClassification", relative_attention=True, pos_att_type="c2p|p2c", **THREE),
    "electra-masked": task("Electra", "MaskedLM", embedding_size=32),
    "electra-discriminator": task("Electra", "PreTraining", embedding_size=32),
    "electra-sequence": task("Electra", "SequenceClassification", embedding_size=32, **THREE),
    "albert-masked": task("Albert", "MaskedLM", embedding_size=32),
    "albert-sequence": task("Albert", "SequenceClassification", embedding_size=32),
    "mpnet-masked": task("MPNet", "MaskedLM", TEXT),
    "modernbert-masked": task("ModernBert", "MaskedLM", TEXT, local_attention=8),
    "modernbert-sequence": task("ModernBert", "SequenceClassification", TEXT, classifier_pooling="mean"),
    "modernbert-token": task("ModernBert", "TokenClassification", TEXT, **THREE),
    "longformer-masked": task("Longformer", "MaskedLM", attention_window=[4, 6]),
    "xlnet-words": ("task", "XLNetLMHeadModel", dict(vocab_size=96, d_model=64, n_layer=2, n_head=4, d_inner=96, ff_activation="relu")),
    "rembert-masked": task("RemBert", "MaskedLM", input_embedding_size=32, output_embedding_size=48),
    "squeezebert-sequence": task("SqueezeBert", "SequenceClassification", embedding_size=64, **THREE),
    "roformer-sequence": task("RoFormer", "SequenceClassification"),
    "megatron-bert-masked": task("MegatronBert", "MaskedLM"),
    "mobilebert-sequence": task("MobileBert", "SequenceClassification", embedding_size=64, use_bottleneck=False, trigram_input=False,
                                normalization_type="layer_norm", num_feedforward_networks=2),
    "fnet-masked": task("FNet", "MaskedLM", {k: v for k, v in ENCODER.items() if k != "num_attention_heads"}),
    "data2vec-vision-classes": ("image", "Data2VecVisionForImageClassification", dict(VISION, use_absolute_position_embeddings=True)),
    "yolos-boxes": ("image", "YolosForObjectDetection", dict(VISION, num_detection_tokens=3, image_size=[16, 12])),
    "vit-classes": ("image", "ViTForImageClassification", dict(VISION, **THREE)),
    "deit-classes": ("image", "DeiTForImageClassificationWithTeacher", dict(VISION)),
    "dinov2-classes": ("image", "Dinov2ForImageClassification", dict(
        {k: v for k, v in VISION.items() if k != "intermediate_size"}, mlp_ratio=2)),
}

TOWERS = {
    "siglip": ("towers", "SiglipModel", dict(text_config=dict(TEXT), vision_config=dict(VISION))),
}

IMAGES = {
    "deit": image("DeiT"),
    "dinov2": image("Dinov2", ["intermediate_size"], mlp_ratio=2),
    "siglip-vision": image("SiglipVision"),
    "dinov2-registers": image("Dinov2WithRegisters", ["intermediate_size"], mlp_ratio=2),
    "beit": image("Beit", use_relative_position_bias=True),
    "vit-msn": image("ViTMSN"),
    "swin": ("image", "SwinModel", dict(SWIN, image_size=24, patch_size=2, window_size=3, qkv_bias=False)),
    "swin-classes": ("image", "SwinForImageClassification", dict(SWIN, image_size=16, patch_size=2, window_size=4, **THREE)),
    "dinov3": image("DINOv3ViT", num_register_tokens=2),
    "dinov3-gated": image("DINOv3ViT", use_gated_mlp=True, hidden_act="silu", key_bias=True, query_bias=False),
    "ijepa": image("IJepa"),
    "clip-vision": image("CLIPVision"),
}

PAIRS = {
    "mbart": pair("MBart"),
    "pegasus": pair("Pegasus"),
    "m2m_100": pair("M2M100"),
    "blenderbot": pair("Blenderbot"),
    "blenderbot-small": pair("BlenderbotSmall"),
    "mt5": pair("MT5", T5),
    "longt5": pair("LongT5", T5, local_radius=4),
    "switch_transformers": pair("SwitchTransformers", T5, num_experts=3, num_sparse_encoder_layers=1, num_sparse_decoder_layers=1,
                                num_decoder_layers=2),
    "led": pair("LED", max_encoder_position_embeddings=64, max_decoder_position_embeddings=64, attention_window=4),
    "mvp": pair("Mvp"),
    "umt5": pair("UMT5", T5),
    "plbart": pair("PLBart"),
    "nllb": pair("M2M100", scale_embedding=True, activation_function="gelu"),
    "bart-scaled": pair("Bart", scale_embedding=True, activation_function="relu"),
}

# The configuration of families that others write differently: activations, heads, ties, windows, positions.
LONGROPE = {"type": "longrope", "short_factor": [1 + 0.1 * i for i in range(8)], "long_factor": [2.0 + i for i in range(8)]}
VARIANTS = {
    "llama-tied": causal("Llama", tie_word_embeddings=True, hidden_act="gelu", mlp_bias=True, attention_bias=True, head_dim=24),
    "llama-relu2": causal("Llama", hidden_act="relu2", num_key_value_heads=1),
    "llama-dynamic": causal("Llama", rope_scaling={"rope_type": "dynamic", "factor": 2.0}),
    "phimoe-longrope": causal("Phimoe", num_local_experts=4, original_max_position_embeddings=32,
                              rope_scaling={"rope_type": "longrope", "type": "longrope", "short_factor": [1.0 + i / 20 for i in range(8)],
                                            "long_factor": [1.0 + i / 4 for i in range(8)], "short_mscale": 1.2, "long_mscale": 1.3,
                                            "original_max_position_embeddings": 32}),
    "deberta-v2-plain": text("DebertaV2", relative_attention=False, pos_att_type=["c2p"], norm_rel_ebd="layer_norm", type_vocab_size=0),
    "nemotron-scaled": causal("Nemotron", rope_scaling=YARN),
    "llama-model": text("Llama", GROUPED),
    "llama-sequence": ("task", "LlamaForSequenceClassification", dict(GROUPED, num_labels=3)),
    "gpt2-token": ("task", "GPT2ForTokenClassification", dict(GPT, num_labels=3)),
    "qwen2-answer": ("task", "Qwen2ForQuestionAnswering", dict(GROUPED)),
    "bart-model": ("pair", "BartModel", dict(PAIR)),
    "bart-sequence": ("task", "BartForSequenceClassification", dict(PAIR, num_labels=3)),
    "bart-answer": ("task", "BartForQuestionAnswering", dict(PAIR)),
    "mbart-sequence": ("task", "MBartForSequenceClassification", dict(PAIR, num_labels=3)),
    "t5-token": ("task", "T5ForTokenClassification", dict(T5, num_labels=4)),
    "t5-sequence": ("task", "T5ForSequenceClassification", dict(T5, num_labels=4)),
    "t5-model": ("pair", "T5Model", dict(T5)),
    "llama-quick": causal("Llama", hidden_act="quick_gelu", rope_theta=5e5),
    "mistral-dim": causal("Mistral", head_dim=24, sliding_window=4),
    "qwen2-window": causal("Qwen2", use_sliding_window=True, sliding_window=4, max_window_layers=1),
    "qwen3-window": causal("Qwen3", use_sliding_window=True, sliding_window=4, max_window_layers=1, head_dim=16,
                           attention_bias=True),
    "qwen2-yarn": causal("Qwen2", rope_scaling=YARN),
    "ernie4_5-yarn": causal("Ernie4_5", head_dim=16, rope_scaling=YARN, use_bias=True, tie_word_embeddings=False),
    "ctrl-epsilon": ("decoder", "CTRLLMHeadModel", dict(GPT, dff=96, layer_norm_epsilon=1e-3)),
    "gemma2-bias": causal("Gemma2", head_dim=16, attention_bias=True, sliding_window=4, attn_logit_softcapping=None),
    "gemma-gelu": causal("Gemma", head_dim=16, hidden_activation="gelu"),
    "phi3-partial": causal("Phi3", partial_rotary_factor=0.5, sliding_window=4),
    "phi3-longrope": causal("Phi3", rope_scaling=LONGROPE, original_max_position_embeddings=32),
    "gpt_neox-serial": causal("GPTNeoX", TEXT, use_parallel_residual=False, attention_bias=False, hidden_act="gelu_new"),
    "bloom-post": causal("Bloom", dict(vocab_size=96, hidden_size=96, n_layer=2, n_head=6),
                         apply_residual_connection_post_layernorm=True),
    "falcon-new": causal("Falcon", PLAIN, new_decoder_architecture=True, num_kv_heads=2, bias=True),
    "falcon-alibi": causal("Falcon", PLAIN, alibi=True, multi_query=False, parallel_attn=False, bias=True),
    "bert-relu": text("Bert", hidden_act="relu"),
    "beit-shared": image("Beit", use_relative_position_bias=True, use_shared_relative_position_bias=True, use_mean_pooling=False),
    "deit-wide": image("DeiT", image_size=[10, 13], pooler_act="gelu_10", pooler_output_size=24),
    "gemma3-cap": ("decoder", "Gemma3ForCausalLM", dict(GROUPED, head_dim=16, sliding_window=5, attn_logit_softcapping=2.0)),
    "gemma2-scaled": causal("Gemma2", head_dim=24, query_pre_attn_scalar=24, sliding_window=5),
    "gemma3-scaled": ("decoder", "Gemma3ForCausalLM", dict(GROUPED, head_dim=24, query_pre_attn_scalar=24, sliding_window=5,
                                                           num_hidden_layers=6, final_logit_softcapping=3.0)),
    "gpt_neox-odd": causal("GPTNeoX", TEXT, num_attention_heads=8, rotary_pct=0.4, hidden_act="mish"),
    "marian-apart": ("pair", "MarianMTModel", dict(PAIR, share_encoder_decoder_embeddings=False, decoder_vocab_size=96)),
    "mpt-ratio": causal("Mpt", dict(vocab_size=96, d_model=64, n_layers=2, n_heads=4, max_seq_len=64, expansion_ratio=2),
                        attn_config={"alibi": True, "alibi_bias_max": 16, "softmax_scale": 0.2, "clip_qkv": 0.5}),
    "llama-longrope": causal("Llama", rope_scaling=dict(LONGROPE, factor=4.0)),
    "smollm3-layers": causal("SmolLM3", sliding_window=4, layer_types=["sliding_attention", "full_attention"]),
    "t5-gelu": pair("T5", T5, feed_forward_proj="gelu"),
    "vit-nobias": image("ViT", qkv_bias=False, hidden_act="gelu_new"),
}

MODELS = {**DECODERS, **ENCODERS, **TASKS, **TOWERS, **IMAGES, **PAIRS, **VARIANTS}
