// Folders that a library quantized, with one mistake each: a weight [8, 32] of module m, unless its
// shapes are the mistake.
#ifndef BURIN_BROKEN_QUANTIZED_H
#define BURIN_BROKEN_QUANTIZED_H
#include "broken.h"

// "NAME DTYPE DIMENSIONS... [=BYTE, or =inf]; ...": tensors of zeros, or of that byte (in
// hexadecimal), or of infinite F32.
// ='TEXT' is the data itself. "%NAME TEXT;": metadata, with ' for ".
typedef struct QuantizedCase {
    const char *name, *config, *tensors;
} QuantizedCase;

#define GPTQ   "'quant_method':'gptq','bits':4,'group_size':16"
#define WORDS  "m.qweight I32 4 8;"
#define SCALES "m.scales F16 2 8 =11;"
#define ZEROS  "m.qzeros I32 2 1;"
#define ORDER  "m.g_idx I32 32;"
#define AWQ    "'quant_method':'awq','bits':4,'group_size':16"
#define CT(format, weights)                                 \
    "'quant_method':'compressed-tensors','format':'" format \
    "','config_groups':{'a':{'weights':{" weights "}}}"
#define PACKED    CT("pack-quantized", "'num_bits':4,'type':'int','group_size':16")
#define SHAPE     "m.weight_shape I64 2 ='\10\0\0\0\0\0\0\0\40\0\0\0\0\0\0\0';"
#define CT_WORDS  "m.weight_packed I32 8 4;"
#define CT_SCALES "m.weight_scale F16 8 2 =11;"
#define TWO_GROUPS                                                                          \
    "'quant_method':'compressed-tensors','format':'pack-quantized','config_groups':{'a':{'" \
    "weights':{'num_bits':4,'type':'int'"                                                   \
    ","                                                                                     \
    "'group_size':16}},'b':{'weights':{'num_bits':8,'type':'int','group_size':8}}}"
#define NVFP4     CT("nvfp4-pack-quantized", "'num_bits':4,'type':'float','group_size':16")
#define FP4_WORDS "m.weight_packed U8 8 16;"
#define BITNET    "'quant_method':'bitnet'"
#define TERNARY   "m.weight U8 2 32;"
#define QUARK(d, s)                                                                         \
    "'quant_method':'quark','global_quant_config':{'weight':{'dtype':'" d "','qscheme':'" s \
    "','group_size':16}}"
#define AWQ_OF_NVIDIA "'quant_method':'modelopt','quant_algo':'W4A16_AWQ'"
#define STACK(t)      "x.experts.up_proj " t ";"
#define MLX           "'group_size':16,'bits':4"
#define MLX_WORDS     "m.weight U32 8 4;"
#define BYTES         CT("int-quantized", "'num_bits':8,'type':'int'")
#define FP8           "'quant_method':'fp8','weight_block_size':[4,16]"
#define F8            "m.weight F8_E4M3 8 32;"
#define MXFP4         "'quant_method':'mxfp4'"
#define BNB           "'quant_method':'bitsandbytes','load_in_4bit':true"
#define NF4           "m.weight U8 128 1; m.weight.quant_map F32 16;"
#define STATE(t)      "m.weight.quant_state.bitsandbytes__nf4 U8 @ ='" t "';"
#define GOOD \
    STATE("{\"blocksize\":64,\"shape\":[8,32],\"nested_blocksize\":256,\"nested_offset\":0}")
#define ABSMAX      "m.weight.absmax F32 4 =11;"
#define HQQ         "'quant_method':'hqq'"
#define HQQ_SHAPE   "m.shape I64 2 ='\10\0\0\0\0\0\0\0\40\0\0\0\0\0\0\0';"
#define HQQ_CODES   "m.W_q U8 8 16; m.packing U8 @ ='4bit_u8';"
#define HQQ_SCALE   "m.scale F16 16 1 =11;"
#define HQQ_ZERO    "m.zero F16 16 1 =11;"
#define AO          "'quant_method':'torchao'"
#define AO_IS(t, d) "%tensor_names ['m.weight']; %m.weight {'_type':'" t "','_data':{" d "}};"
#define AO_FLOAT8   AO_IS("Float8Tensor", "'block_size':[1,32]") "m._weight_qdata F8_E4M3 8 32;"
#define AO_INT8     AO_IS("Int8Tensor", "'block_size':[1,32]") "m._weight_qdata I8 8 32;"
#define AO_GROUPS   "'block_size':[1,16],'shape':[8,32]"
#define AO_INT4 \
    AO_IS("Int4Tensor", AO_GROUPS) "m._weight_qdata I8 8 16; m._weight_zero_point BF16 2 8;"
#define AO_TILES(d) AO_IS("Int4TilePackedTo4dTensor", d) "m._weight_qdata I32 1 1 32 4;"
#define AO_MXFP4                                                                                 \
    AO_IS("MXTensor",                                                                            \
          "'block_size':32,'elem_dtype':{'_type':'torch.dtype','_data':'float4_e2m1fn_x2'},'is_" \
          "swizzled_scales':true")

static const QuantizedCase quantized[] = {
    {"quantized-method", "'quant_method':'mine','bits':4.5", WORDS},
    {"quantized-codebooks", "'quant_method':'aqlm','nbits_per_codebook':16", "m.codes I16 1 4 1;"},
    {"quantized-objects", "'quant_method':'torchao','quant_type':'int8_weight_only'",
     "m.weight I8 8 32;"},
    {"quantized-no-method", "'bits':4", WORDS},
    {"quantized-method-type", "'quant_method':4", WORDS},
    {"quantized-unnamed", "", WORDS ZEROS SCALES},
    {"quantized-of-another", GPTQ, "m.weight F16 8 32;"},
    {"gptq-bits", "'quant_method':'gptq','bits':5", WORDS ZEROS SCALES},
    {"gptq-no-bits", "'quant_method':'gptq'", WORDS ZEROS SCALES},
    {"gptq-bits-type", "'quant_method':'gptq','bits':'4'", WORDS ZEROS SCALES},
    {"gptq-format", GPTQ ",'checkpoint_format':'marlin'", WORDS ZEROS SCALES},
    {"gptq-marlin", GPTQ ",'is_marlin_format':true", WORDS ZEROS SCALES},
    {"gptq-words-of-16", GPTQ ",'pack_dtype':'int16'", WORDS ZEROS SCALES},
    {"gptq-rotation", GPTQ ",'rotation':'hadamard'", WORDS ZEROS SCALES},
    {"gptq-codes-type", GPTQ, "m.qweight F16 4 8;" ZEROS SCALES},
    {"gptq-codes-rank", GPTQ, "m.qweight I32 4 8 1;" ZEROS SCALES},
    {"gptq-codes-short", GPTQ, "m.qweight I32 3 8;" ZEROS SCALES ORDER},
    {"gptq-no-scales", GPTQ, WORDS ZEROS},
    {"gptq-scales-type", GPTQ, WORDS ZEROS "m.scales I32 2 8;"},
    {"gptq-scales-groups", GPTQ, WORDS ZEROS "m.scales F16 3 8;"},
    {"gptq-scales-outputs", GPTQ, WORDS ZEROS "m.scales F16 2 9;"},
    {"gptq-scales-nan", GPTQ, WORDS ZEROS "m.scales F16 2 8 =ff;"},
    {"gptq-scales-infinite", GPTQ, WORDS ZEROS "m.scales F32 2 8 =inf;"},
    {"gptq-no-zeros", GPTQ, WORDS SCALES},
    {"gptq-zeros-type", GPTQ, WORDS SCALES "m.qzeros F16 2 1;"},
    {"gptq-zeros-shape", GPTQ, WORDS SCALES "m.qzeros I32 2 2;"},
    {"gptq-no-order", GPTQ ",'desc_act':true", WORDS ZEROS SCALES},
    {"gptq-order-range", GPTQ, WORDS ZEROS SCALES "m.g_idx I32 32 =01;"},
    {"gptq-order-negative", GPTQ, WORDS ZEROS SCALES "m.g_idx I32 32 =ff;"},
    {"gptq-order-rank", GPTQ, WORDS ZEROS SCALES "m.g_idx I32 1 32;"},
    {"gptq-order-type", GPTQ, WORDS ZEROS SCALES "m.g_idx I64 32;"},
    {"gptq-weight-beside", GPTQ, WORDS ZEROS SCALES ORDER "m.weight F16 8 32;"},
    {"texts-two-heads", GPTQ "},'text_config':{'model_type':'llama'",
     "language_model.lm_head.weight F16 8 32; lm_head.weight F16 8 32;"},
    {"awq-bits", "'quant_method':'awq','bits':3", WORDS},
    {"awq-version", AWQ ",'version':'marlin'", WORDS},
    {"awq-fast-codes", AWQ ",'version':'gemv_fast'", WORDS},
    {"awq-fast-columns", AWQ ",'version':'gemv_fast'", "m.qweight I16 2 32;"},
    {"awq-fast-no-zeros", AWQ ",'checkpoint_format':'gemv_fast'",
     "m.qweight I16 2 64; m.scales F16 8 8 =11;"},
    {"awq-fast-zeros", AWQ ",'version':'llm-awq'",
     "m.qweight I16 2 64; m.scales F16 8 8 =11; m.scaled_zeros F16 7 8;"},
    {"awq-gemv-scales", AWQ ",'version':'gemv'",
     "m.qweight I32 8 4; m.scales F16 8 2; m.qzeros I32 8 1;"},
    {"awq-gemv-zeros", AWQ ",'version':'gemv'",
     "m.qweight I32 8 4; m.scales F16 8 8; m.qzeros I32 8 2;"},
    {"awq-codes-type", AWQ, "m.qweight I64 32 1;"},
    {"awq-scales-shape", AWQ, "m.qweight I32 32 1; m.scales F16 2 7; m.qzeros I32 2 1;"},
    {"awq-no-zeros", AWQ, "m.qweight I32 32 1; m.scales F16 2 8;"},
    {"awq-zeros-shape", AWQ, "m.qweight I32 32 1; m.scales F16 2 8; m.qzeros I32 1 1;"},
    {"ct-format", CT("marlin-24", "'num_bits':4,'type':'int'"), CT_WORDS},
    {"ct-format-of-group",
     "'quant_method':'compressed-tensors','format':'mixed-precision','config_groups':{'a':{'format'"
     ":'marlin-24',"
     "'weights':{'num_bits':4,'type':'float'}}}",
     CT_WORDS},
    {"ct-sparse", PACKED ",'sparsity_config':{'format':'sparse-24-bitmask'}", CT_WORDS},
    {"ct-transform",
     PACKED ",'transform_config':{'config_groups':{'a':{'apply':[{'location':'input'}]}}}",
     CT_WORDS},
    {"ct-stream-small", CT("pack-quantized", "'num_bits':3,'type':'int'"),
     "m.weight_shape I64 2 ='\10\0\0\0\0\0\0\0\20\0\0\0\0\0\0\0'; m.weight_packed I32 8 2;"},
    {"ct-mxfp6-codes", CT("mxfp6-pack-quantized", "'num_bits':6,'type':'float','group_size':32"),
     "m.weight_packed U8 8 25; m.weight_scale U8 8 1;"},
    {"ct-bits", CT("pack-quantized", "'num_bits':16,'type':'int'"), CT_WORDS},
    {"ct-float-bits", CT("float-quantized", "'num_bits':5,'type':'float'"), CT_WORDS},
    {"ct-groups-of-none", TWO_GROUPS, SHAPE CT_WORDS "m.weight_scale F16 8 3;"},
    {"ct-nvfp4-no-whole", NVFP4, FP4_WORDS "m.weight_scale F8_E4M3 8 2 =11;"},
    {"ct-nvfp4-whole-shape", NVFP4,
     FP4_WORDS "m.weight_scale F8_E4M3 8 2 =11; m.weight_global_scale F32 2 =11;"},
    {"ct-nvfp4-scale-nan", NVFP4,
     FP4_WORDS "m.weight_scale F8_E4M3 8 2 =7f; m.weight_global_scale F32 1 =11;"},
    {"ct-nvfp4-scale-shape", NVFP4,
     FP4_WORDS "m.weight_scale F8_E4M3 8 1 =11; m.weight_global_scale F32 1 =11;"},
    {"ct-nvfp4-whole-zero", NVFP4,
     FP4_WORDS "m.weight_scale F8_E4M3 8 2 =11; m.weight_global_scale F32 1;"},
    {"ct-mxfp4-scale-nan", NVFP4, FP4_WORDS "m.weight_scale U8 8 1 =ff;"},
    {"modelopt-algorithm", "'quant_method':'modelopt','quant_algo':'NVFP4_SVD'", F8},
    {"modelopt-algorithm-of-layer",
     "'quant_method':'modelopt','quant_algo':'MIXED_PRECISION','quantized_layers':{'m':{'quant_"
     "algo':'NVFP4_SVD'}}",
     F8},
    {"modelopt-blocks", "'quant_method':'modelopt','quant_algo':'FP8_PB_WO'",
     F8 "m.weight_scale F32 2 1 2 1 =11;"},
    {"modelopt-awq-rows", AWQ_OF_NVIDIA, "m.weight U8 4 32; m.weight_scale F32 4 2 =11;"},
    {"modelopt-awq-groups", AWQ_OF_NVIDIA, "m.weight U8 4 32; m.weight_scale F32 8 5 =11;"},
    {"modelopt-awq-before", AWQ_OF_NVIDIA,
     "m.weight U8 4 32; m.weight_scale F32 8 2 =11; m.pre_quant_scale F32 31;"},
    {"modelopt-awq-infinite", AWQ_OF_NVIDIA,
     "m.weight U8 4 32; m.weight_scale F32 8 2 =11; m.pre_quant_scale F32 32 =inf;"},
    {"modelopt-stack-no-scale", AWQ_OF_NVIDIA, STACK("U8 2 16 8")},
    {"modelopt-stack-scale", AWQ_OF_NVIDIA,
     STACK("U8 2 16 8") "x.experts.up_proj_weight_scale F8_E4M3 2 8 2 =11;"},
    {"modelopt-stack-no-whole", AWQ_OF_NVIDIA,
     STACK("U8 2 16 8") "x.experts.up_proj_weight_scale F8_E4M3 2 2 8 =11;"},
    {"modelopt-stack-nan", AWQ_OF_NVIDIA,
     STACK("F8_E4M3 2 32 8") "x.experts.up_proj_weight_scale F32 1 =inf;"},
    {"fbgemm-stack-scale", "'quant_method':'fbgemm_fp8'",
     STACK("F8_E4M3 2 32 8") "x.experts.up_proj_scale F32 2 32 1 =11;"},
    {"modelopt-no-scale", "'quant_method':'modelopt','quant_algo':'FP8'", F8},
    {"modelopt-no-whole", "'quant_method':'modelopt','quant_algo':'NVFP4'",
     "m.weight U8 8 16; m.weight_scale F8_E4M3 8 2 =11;"},
    {"auto-round-format",
     "'quant_method':'auto-round','packing_format':'auto_round:llm_compressor','bits':4", WORDS},
    {"auto-round-type", "'quant_method':'auto-round','data_type':'mx_fp','bits':4", WORDS},
    {"auto-round-hadamard",
     "'quant_method':'auto-round','bits':4,'hadamard_config':{'block_size':32}", WORDS},
    {"mlx-mode", MLX ",'mode':'mxfp2'", MLX_WORDS},
    {"mlx-mode-of-module", MLX ",'m':{'group_size':16,'bits':4,'mode':'mxfp2'}", MLX_WORDS},
    {"mlx-scales-of-bytes", MLX, MLX_WORDS "m.scales U8 8 3 =11;"},
    {"mlx-scales-of-rows", MLX, MLX_WORDS "m.scales U8 7 2 =11;"},
    {"mlx-mxfp4-nan", MLX ",'mode':'mxfp4'", MLX_WORDS "m.scales U8 8 1 =ff;"},
    {"mlx-mxfp8-nan", MLX ",'mode':'mxfp8'", "m.weight U32 8 8 =7f; m.scales U8 8 1 =11;"},
    {"mlx-mxfp8-shape", MLX ",'mode':'mxfp8'", "m.weight U32 8 8; m.scales U8 4 1 =11;"},
    {"mlx-nvfp4-nan", MLX ",'mode':'nvfp4'", MLX_WORDS "m.scales U8 8 2 =7f;"},
    {"mlx-nvfp4-whole", MLX ",'mode':'nvfp4'",
     MLX_WORDS "m.scales U8 8 2 =11; m.global_scale F32 1 =inf;"},
    {"mlx-nvfp4-wholes", MLX ",'mode':'nvfp4'",
     MLX_WORDS "m.scales U8 8 2 =11; m.global_scale F32 2;"},
    {"mlx-bits", "'group_size':16,'bits':16", MLX_WORDS "m.scales F16 8 2;"},
    {"mlx-group", "'group_size':0,'bits':4", MLX_WORDS "m.scales F16 8 2;"},
    {"mlx-stack", MLX,
     "x.switch_mlp.up_proj.weight U32 2 8 4; x.switch_mlp.up_proj.scales F16 1 8 2 =11;"
     "x.switch_mlp.up_proj.biases F16 2 8 2;"},
    {"mlx-stack-many", MLX, "x.switch_mlp.up_proj.weight U8 1048577 1 1;"},
    {"mlx-stack-and-one", MLX,
     "x.switch_mlp.up_proj.weight U32 2 8 4; x.experts.1.up_proj.weight U32 8 4;"},
    {"mlx-no-biases", MLX, MLX_WORDS "m.scales F16 8 2 =11;"},
    {"mlx-scales-shape", MLX, MLX_WORDS "m.scales F16 8 1 =11; m.biases F16 8 2 =11;"},
    {"mlx-experts", MLX, "m.weight U32 2 8 4;"},
    {"quark-no-settings", "'quant_method':'quark'", F8},
    {"quark-weight-format", "'quant_method':'quark','export':{'weight_format':'fake_quantized'}",
     F8},
    {"quark-rotation",
     "'quant_method':'quark','algo_config':[{'name':'rotation','r1':true,'r4':true}]", F8},
    {"quark-online",
     "'quant_method':'quark','algo_config':[{'name':'rotation','r4':false,'online_r1_rotation':"
     "true}]",
     F8},
    {"quark-dtype", QUARK("mx", "per_group"), "m.weight U8 8 17;"},
    {"quark-type-of-tensor", QUARK("int4", "per_group"), "m.weight U8 8 16;"},
    {"quark-scheme", QUARK("fp8_e4m3", "per_token"), F8},
    {"quark-axis", QUARK("fp8_e4m3", "per_channel','ch_axis':1,'x':'"), F8},
    {"quark-scale-format", QUARK("fp8_e4m3", "per_group','scale_format':'e5m3"), F8},
    {"quark-zero-type", QUARK("uint4", "per_group','zero_point_type':'float32"),
     "m.weight I32 32 1; m.weight_scale F32 2 8 =11;"},
    {"quark-zeros-shape", QUARK("uint4", "per_group"),
     "m.weight I32 32 1; m.weight_scale F32 2 8 =11; m.weight_zero_point I32 2 2;"},
    {"quark-scale-shape", QUARK("int8", "per_group"),
     "m.weight I8 32 8; m.weight_scale F32 3 8 =11;"},
    {"quark-no-scale", QUARK("fp4", "per_group"), "m.weight U8 8 16;"},
    {"bitnet-class", BITNET ",'linear_class':'other'", TERNARY},
    {"bitnet-mode", BITNET ",'quantization_mode':'never'", TERNARY},
    {"bitnet-norm", BITNET ",'use_rms_norm':true", TERNARY},
    {"bitnet-no-scale", BITNET, TERNARY},
    {"bitnet-scale-shape", BITNET, TERNARY "m.weight_scale F32 2 =11;"},
    {"bitnet-scale-zero", BITNET, TERNARY "m.weight_scale F32 1;"},
    {"bitnet-online-nan", BITNET ",'quantization_mode':'online'", "m.weight F32 8 32 =ff;"},
    {"bitnet-rank", BITNET, "m.weight U8 2 32 1; m.weight_scale F32 1 =11;"},
    {"ct-no-shape", PACKED, CT_WORDS CT_SCALES},
    {"ct-shape-zero", PACKED, "m.weight_shape I64 2;" CT_WORDS CT_SCALES},
    {"ct-shape-negative", PACKED, "m.weight_shape I64 2 =ff;" CT_WORDS CT_SCALES},
    {"ct-shape-rank", PACKED, "m.weight_shape I64 3;" CT_WORDS CT_SCALES},
    {"ct-words-type", PACKED, SHAPE "m.weight_packed U8 8 16;" CT_SCALES},
    {"ct-words-short", PACKED, SHAPE "m.weight_packed I32 7 4;" CT_SCALES},
    {"ct-no-scales", PACKED, SHAPE CT_WORDS},
    {"ct-scales-shape", PACKED, SHAPE CT_WORDS "m.weight_scale F16 7 2;"},
    {"ct-scales-nan", PACKED, SHAPE CT_WORDS "m.weight_scale BF16 8 2 =ff;"},
    {"ct-zeros-shape", PACKED, SHAPE CT_WORDS CT_SCALES "m.weight_zero_point I32 2 2;"},
    {"ct-zeros-type", PACKED, SHAPE CT_WORDS CT_SCALES "m.weight_zero_point F16 8 2;"},
    {"ct-no-zeros",
     CT("pack-quantized", "'num_bits':4,'type':'int','group_size':16,'symmetric':false"),
     SHAPE CT_WORDS CT_SCALES},
    {"ct-order-range", PACKED, SHAPE CT_WORDS CT_SCALES "m.weight_g_idx I32 32 =07;"},
    {"ct-bytes-rank", BYTES, "m.weight I8 8 4 8 1; m.weight_scale BF16 8 1;"},
    {"ct-bytes-no-scale", BYTES, "m.weight I8 8 32;"},
    {"ct-bytes-zeros", BYTES,
     "m.weight I8 8 32; m.weight_scale BF16 8 1; m.weight_zero_point I8 8 2;"},
    {"fp8-format", "'quant_method':'fp8','fmt':'e3m4'", F8},
    {"fp8-block-size", "'quant_method':'fp8','weight_block_size':[128]", F8},
    {"fp8-block-huge",
     "'quant_method':'fp8','weight_block_size':[9223372036854775807,9223372036854775807]",
     F8 "m.weight_scale_inv F32 2 3;"},
    {"gptq-group-huge", "'quant_method':'gptq','bits':4,'group_size':9223372036854775807",
     WORDS ZEROS SCALES},
    {"fp8-no-scale", FP8, F8},
    {"fp8-scale-shape", FP8, F8 "m.weight_scale_inv F32 2 3;"},
    {"fp8-scale-nan", FP8, F8 "m.weight_scale F32 1 =ff;"},
    {"fp8-stack-blocks", FP8, STACK("F8_E4M3 2 32 8") "x.experts.up_proj_scale_inv F32 2 2 3 =11;"},
    {"fp8-experts-blocks", FP8, "m.weight F8_E4M3 2 7 32; m.weight_scale_inv F32 2 2 2 =11;"},
    {"fp8-code-nan", FP8, "m.weight F8_E4M3 8 32 =7f; m.weight_scale F32 1 =11;"},
    {"mxfp4-blocks-shape", MXFP4, "m_blocks U8 2 8 1 15; m_scales U8 2 8 1;"},
    {"mxfp4-no-scales", MXFP4, "m_blocks U8 2 8 1 16;"},
    {"mxfp4-scales-shape", MXFP4, "m_blocks U8 2 8 1 16; m_scales U8 2 8 2;"},
    {"mxfp4-scale-nan", MXFP4, "m_blocks U8 2 8 1 16; m_scales U8 2 8 1 =ff;"},
    {"mxfp4-scale-huge", MXFP4, "m_blocks U8 2 8 1 16 =77; m_scales U8 2 8 1 =fe;"},
    {"bnb-no-state", BNB, NF4 ABSMAX},
    {"bnb-state-text", BNB, NF4 ABSMAX STATE("{\"blocksize\" 64}")},
    {"bnb-state-list", BNB, NF4 ABSMAX STATE("[64]")},
    {"bnb-no-block", BNB, NF4 ABSMAX STATE("{\"shape\":[8,32]}")},
    {"bnb-block-zero", BNB, NF4 ABSMAX STATE("{\"blocksize\":0,\"shape\":[8,32]}")},
    {"bnb-shape", BNB, NF4 ABSMAX STATE("{\"blocksize\":64,\"shape\":[8,33]}")},
    {"bnb-no-shape", BNB, NF4 ABSMAX STATE("{\"blocksize\":64}")},
    {"bnb-no-absmax", BNB, NF4 GOOD},
    {"bnb-absmax-shape", BNB, NF4 "m.weight.absmax F32 5;" GOOD},
    {"bnb-absmax-nan", BNB, NF4 "m.weight.absmax F32 4 =ff;" GOOD},
    {"bnb-map-shape", BNB, "m.weight U8 128 1; m.weight.quant_map F32 15;" ABSMAX GOOD},
    {"bnb-no-nested", BNB, NF4 "m.weight.absmax U8 4;" GOOD},
    {"bnb-no-offset", BNB,
     NF4
     "m.weight.absmax U8 4;" STATE("{\"blocksize\":64,\"shape\":[8,32],\"nested_blocksize\":256}")},
    {"bnb-int8-tiled", BNB, "m.weight I8 8 32; m.weight_format U8 1 =02; m.SCB F32 8;"},
    {"bnb-int8-no-scale", BNB, "m.weight I8 8 32;"},
    {"bnb-int8-scale-shape", BNB, "m.weight I8 8 32; m.SCB F32 7;"},
    {"hqq-no-packing", HQQ, "m.W_q U8 8 16;" HQQ_SHAPE HQQ_SCALE HQQ_ZERO},
    {"hqq-packing", HQQ, "m.W_q U8 8 16; m.packing U8 @ ='4bit_32';" HQQ_SHAPE HQQ_SCALE HQQ_ZERO},
    {"hqq-no-shape", HQQ, HQQ_CODES HQQ_SCALE HQQ_ZERO},
    {"hqq-shape-zero", HQQ, HQQ_CODES "m.shape I64 2;" HQQ_SCALE HQQ_ZERO},
    {"hqq-codes-bytes", HQQ,
     "m.W_q U8 7 16; m.packing U8 @ ='4bit_u8';" HQQ_SHAPE HQQ_SCALE HQQ_ZERO},
    {"hqq-codes-type", HQQ,
     "m.W_q F16 8 8; m.packing U8 @ ='4bit_u8';" HQQ_SHAPE HQQ_SCALE HQQ_ZERO},
    {"hqq-codes-words", HQQ,
     "m.W_q U8 2 64; m.packing U8 @ ='3bit_32';" HQQ_SHAPE HQQ_SCALE HQQ_ZERO},
    {"hqq-no-scale", HQQ, HQQ_CODES HQQ_SHAPE HQQ_ZERO},
    {"hqq-scale-count", HQQ, HQQ_CODES HQQ_SHAPE "m.scale F16 15 1 =11;" HQQ_ZERO},
    {"hqq-scale-axis", HQQ, HQQ_CODES HQQ_SHAPE "m.scale F16 1 15 =11; m.axis I32 ;" HQQ_ZERO},
    {"hqq-axis", HQQ, HQQ_CODES HQQ_SHAPE HQQ_SCALE HQQ_ZERO "m.axis I32 1 =02;"},
    {"hqq-scale-nan", HQQ, HQQ_CODES HQQ_SHAPE "m.scale F16 16 1 =ff;" HQQ_ZERO},
    {"hqq-no-zero", HQQ, HQQ_CODES HQQ_SHAPE HQQ_SCALE},
    {"hqq-zero-count", HQQ, HQQ_CODES HQQ_SHAPE HQQ_SCALE "m.zero F16 1 =11;"},
    {"hqq-zero-nan", HQQ, HQQ_CODES HQQ_SHAPE HQQ_SCALE "m.zero F16 16 1 =ff;"},
    {"hqq-both-count", HQQ, HQQ_CODES HQQ_SHAPE "m.zero_scale F16 2 15 1 =11;"},
    {"ao-no-names", AO, "m._weight_qdata I8 8 32; m._weight_scale F32 8 1 =11;"},
    {"ao-no-entry", AO,
     "%tensor_names ['m.weight']; m._weight_qdata I8 8 32; m._weight_scale F32 8 1 =11;"},
    {"ao-entry-text", AO,
     "%tensor_names ['m.weight']; %m.weight {'_type'; m._weight_qdata I8 8 32;"},
    {"ao-type", AO, AO_IS("Int4PreshuffledTensor", AO_GROUPS) "m._weight_qdata I8 8 16;"},
    {"ao-no-type", AO, "%tensor_names ['m.weight']; %m.weight {}; m._weight_qdata I8 8 16;"},
    {"ao-float8-codes", AO,
     AO_IS("Float8Tensor", "'block_size':[1,32]") "m._weight_qdata I8 8 32;"},
    {"ao-float8-no-scale", AO, AO_FLOAT8},
    {"ao-float8-scale-shape", AO, AO_FLOAT8 "m._weight_scale F32 7 1 =11;"},
    {"ao-int8-codes", AO,
     AO_IS("Int8Tensor",
           "'block_size':[1,32]") "m._weight_qdata U8 8 32; m._weight_scale F32 8 1;"},
    {"ao-int8-zeros", AO, AO_INT8 "m._weight_scale F32 8 1 =11; m._weight_zero_point I8 8 2 =01;"},
    {"ao-int8-factor", AO,
     AO_INT8 "m._weight_scale F32 8 1 =11; m._weight_act_pre_scale F32 31 =11;"},
    {"ao-colons-no-scale", AO, AO_IS("Int8Tensor", "") "m.weight:qdata I8 8 32;"},
    {"ao-int4-scale", AO, AO_INT4 "m._weight_scale BF16 8 2 =11;"},
    {"ao-int4-zeros", AO,
     AO_IS("Int4Tensor", AO_GROUPS) "m._weight_qdata I8 8 16; m._weight_scale BF16 2 8; "
                                    "m._weight_zero_point BF16 1 8;"},
    {"ao-int4-block", AO,
     AO_IS("Int4Tensor", "'block_size':[2,16]") "m._weight_qdata I8 8 16; m._weight_scale BF16 2 "
                                                "8; m._weight_zero_point BF16 2 8;"},
    {"ao-int4-factor", AO,
     AO_INT4 "m._weight_scale BF16 2 8 =11; m._weight_act_pre_scale BF16 31 =11;"},
    {"ao-tiles-shape", AO,
     AO_TILES("'block_size':[1,16],'shape':[8,256]") "m._weight_scale_and_zero BF16 2 8 2 =11;"},
    {"ao-tiles-no-shape", AO,
     AO_TILES("'block_size':[1,16]") "m._weight_scale_and_zero BF16 2 8 2 =11;"},
    {"ao-tiles-codes", AO, AO_IS("Int4TilePackedTo4dTensor", AO_GROUPS) "m._weight_qdata I32 8 4;"},
    {"ao-tiles-type", AO,
     AO_IS("Int4TilePackedTo4dTensor", AO_GROUPS) "m._weight_qdata I64 1 1 32 2;"},
    {"ao-tiles-scale", AO, AO_TILES(AO_GROUPS) "m._weight_scale_and_zero BF16 1 8 2 =11;"},
    {"ao-tiles-scale-rank", AO, AO_TILES(AO_GROUPS) "m._weight_scale_and_zero BF16 2 8 =11;"},
    {"ao-mxfp4-tiles", AO, AO_MXFP4 "m._weight_qdata U8 8 16; m._weight_scale U8 8 1;"},
    {"ao-mx-elements", AO,
     AO_IS("MXTensor", "'block_size':32,'elem_dtype':'fp6_e2m3'") "m._weight_qdata U8 8 32; "
                                                                  "m._weight_scale U8 8 1;"},
    {"ao-mx-codes", AO,
     AO_IS("MXTensor", "'block_size':32") "m._weight_qdata I8 8 32; m._weight_scale U8 8 1;"},
    {"ao-mx-no-block", AO,
     AO_IS("NVFP4Tensor", "") "m._weight_qdata U8 8 16; m._weight_scale F8_E4M3 8 2;"},
    {"ao-nvfp4-whole", AO,
     AO_IS("NVFP4Tensor", "'block_size':16") "m._weight_qdata U8 8 16; m._weight_scale F8_E4M3 8 "
                                             "2; m._weight_per_tensor_scale F32 2 =11;"},
    {"hqq-quantized-scale", HQQ, HQQ_CODES HQQ_SHAPE HQQ_SCALE HQQ_ZERO "m.quant_scale U8 =01;"},
};

static size_t size_of_dtype(const char *dtype) {
    const char *digits = dtype + strcspn(dtype, "0123456789");
    return strtoul(digits, NULL, 10) / 8;
}

// The data of one tensor from "=..." on: n elements
static const char *add_data(Text *data, const char *at, size_t n, size_t size) {
    uint32_t infinite = 0x7f800000, byte = 0;
    if (!strncmp(at, "=inf", 4)) {
        for (size_t i = 0; i < n; i++) text_append(data, (char *)&infinite, sizeof infinite);
        return at + 4;
    }
    if (*at == '=') byte = (uint32_t)strtoul(at + 1, (char **)&at, 16);
    for (size_t i = 0; i < n * size; i++) text_append(data, (char *)&byte, 1);
    return at;
}

// "='...'": the bytes themselves. SHAPE's have zeros in them, which end no string here.
static const char *add_text(Text *data, const char *at, size_t n) {
    text_append(data, at + 2, n);
    return at + 3 + n;
}

static const char *add_tensor(Text *header, Text *data, const char *at) {
    char name[80], dtype[16], dims[64] = "";
    int used = 0;
    size_t n = 1, begin = data->length;
    if (sscanf(at, " %79s %15s%n", name, dtype, &used) != 2) return NULL;
    at = skip_blanks(at + used);
    if (*at == '@') {  // as long as its text
        at = skip_blanks(at + 1);
        n = (size_t)(strstr(at, "';") - at) - 2;
        snprintf(dims, sizeof dims, "%zu", n);
        at = add_text(data, at, n);
    } else {
        for (; *at >= '0' && *at <= '9'; at = skip_blanks(at)) {
            size_t dim = strtoul(at, (char **)&at, 10);
            n *= dim;
            snprintf(dims + strlen(dims), sizeof dims - strlen(dims), "%s%zu", *dims ? "," : "",
                     dim);
        }
        at = at[0] == '=' && at[1] == '\'' ? add_text(data, at, n * size_of_dtype(dtype))
                                           : add_data(data, at, n, size_of_dtype(dtype));
    }
    text_add(header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%zu,%zu]}",
             header->length ? "," : "{", name, dtype, dims, begin, data->length);
    return *at == ';' ? at + 1 : NULL;
}

static const char *add_metadata(Text *metadata, const char *at) {
    const char *text = strchr(at, ' ') + 1, *end = strchr(text, ';');
    text_add(metadata, "%s\"%.*s\":\"", metadata->length ? "," : "\"__metadata__\":{",
             (int)(text - 1 - at), at);
    for (; text < end; text++)
        text_append(metadata, *text == '\'' ? "\\\"" : text, *text == '\'' ? 2 : 1);
    text_append(metadata, "\"", 1);
    return end + 1;
}

static void open_quantized(const char *config, const char *tensors) {
    Text header = {0}, data = {0}, metadata = {0};
    for (const char *at = tensors; at && *skip_blanks(at);) {
        at = skip_blanks(at);
        at = *at == '%' ? add_metadata(&metadata, at + 1) : add_tensor(&header, &data, at);
    }
    if (metadata.length) text_add(&header, ",%.*s}", (int)metadata.length, metadata.data);
    text_add(&header, "}");
    while (header.length % 8) text_append(&header, " ", 1);
    u64(header.length);
    text_append(&out, header.data, header.length);
    text_append(&out, data.data, data.length);
    write_out("model.safetensors");
    json("{'model_type':'llama','quantization_config':{");
    json(config);
    json("}}");
    write_out("config.json");
    text_free(&header);
    text_free(&data);
    text_free(&metadata);
    open_checkpoint(".");
}
#endif
