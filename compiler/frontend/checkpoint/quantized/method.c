// Which method config.json (or a file beside it) names, and those that burin does not read, with
// their reasons.
#include <string.h>

#include "frontend/checkpoint/quantized/quantized.h"

static const QuantizationMethod methods[] = {
    {"gptq", gptq_check, gptq_matrix},
    {"awq", awq_check, awq_matrix},
    {"compressed-tensors", compressed_check, compressed_matrix},
    {"fp8", fp8_check, fp8_matrix},
    {"fbgemm_fp8", fp8_check, fp8_matrix},
    {"mxfp4", mxfp4_check, mxfp4_matrix},
    {"bitsandbytes", bitsandbytes_check, bitsandbytes_matrix},
    {"bitnet", bitnet_check, bitnet_matrix},
    {"modelopt", modelopt_check, modelopt_matrix},
    {"auto-round", auto_round_check, auto_round_matrix},
    {"intel/auto-round", auto_round_check, auto_round_matrix},
    {"hqq", hqq_check, hqq_matrix},
    {"torchao", torchao_check, torchao_matrix},
    {"quark", quark_check, quark_matrix},
    {"mlx", mlx_check, mlx_matrix},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

// What AutoGPTQ and AutoAWQ once wrote beside config.json
static bool find_beside(Quantization *q) {
    static const char *const files[][2] = {{"quantize_config.json", "gptq"},
                                           {"quant_config.json", "awq"},
                                           {"hf_quant_config.json", "modelopt"},
                                           {"quanto_qmap.json", "quanto"}};
    Checkpoint *c = q->checkpoint;
    for (size_t i = 0; i < sizeof files / sizeof *files && !q->config; i++) {
        const Source *source;
        q->config = checkpoint_object(c, files[i][0], &source);
        if (!q->config) continue;
        q->loc = loc_file(source);
        q->method = quantized_string(q, "quant_method", files[i][1]);
    }
    return q->config;
}

// In config.json, or in the part of it that describes the text of a model that also takes images or
// sounds (`part`, or NULL)
static bool find_within(Quantization *q, const char *part) {
    static const char *const keys[] = {"quantization_config", "compression_config", "quantization"};
    const Checkpoint *c = q->checkpoint;
    const json_t *within = part ? json_object_get(c->config, part) : c->config;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *config = json_object_get(within, keys[i]);
        q->loc = checkpoint_config_loc(c, part ? part : keys[i]);
        if (i < 2 && config && !json_is_null(config) && !json_is_object(config))
            diag_fatal(q->loc, "%s must be an object", keys[i]);
        // MLX has only these two fields, and at first named the object "quantization" alone.
        bool mlx = json_is_integer(json_object_get(config, "group_size")) &&
                   json_is_integer(json_object_get(config, "bits"));
        if (!json_object_size(config) || (!mlx && !strcmp(keys[i], "quantization"))) continue;
        q->config = config;
        bool bits =
            json_object_get(config, "load_in_4bit") || json_object_get(config, "load_in_8bit");
        q->method = quantized_string(q, "quant_method", bits ? "bitsandbytes" : mlx ? "mlx" : NULL);
        return true;
    }
    return false;
}

Quantization quantization_of(Checkpoint *c) {
    static const char *const parts[] = {NULL, "text_config", "llm_config", "language_config",
                                        "thinker_config"};
    Quantization q = {.checkpoint = c};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (find_within(&q, parts[i])) return q;
    q.beside = c->config && find_beside(&q);
    return q;
}

// Unsupported methods, with the reason
static const char *reason_against(const char *method) {
    static const char *const reasons[][2] = {
        {"aqlm", "its weights are sums of entries of codebooks"},
        {"vptq", "its weights are entries of codebooks, in an order of their own"},
        {"quip", "its weights are entries of a lattice, behind rotations"},
        {"spqr", "its blocks come with a sparse matrix of outliers"},
        {"higgs", "its weights are points of a grid, behind Hadamard transforms"},
        {"fp_quant", "its weights stand behind Hadamard transforms"},
        {"eetq", "its bytes are in an order that its CUDA kernels want"},
        {"quanto", "its tensors are Python objects, whose layout quanto says"},
        {"exl2", "its matrices mix widths row by row"},
        {"exl3", "its weights are paths through a trellis"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (!strcmp(reasons[i][0], method)) return reasons[i][1];
    return NULL;
}

// Rotations that a model computes before its matrices: without them every number would be wrong.
static void refuse_rotations(const Quantization *q) {
    static const char *const keys[] = {"rotation", "rotation_config", "hadamard_config",
                                       "transform_config"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *v = json_object_get(q->config, keys[i]);
        bool own = !strcmp(q->method, "compressed-tensors") &&
                   !strcmp(keys[i], "transform_config");  // which looks into it
        const char *text = json_is_string(v) ? json_string_value(v)
                           : json_is_true(v) ? "true"
                                             : "that is not empty";
        if (!own &&
            (json_object_size(v) || json_array_size(v) || json_is_true(v) || json_string_length(v)))
            quantized_refuse(q, keys[i], text, "none");
    }
}

const QuantizationMethod *quantization_method(const Quantization *q) {
    const char *known = "", *reason = q->method ? reason_against(q->method) : NULL;
    for (int i = 0; q->method && i < N_METHODS; i++)
        if (!strcmp(methods[i].name, q->method)) {
            refuse_rotations(q);
            return &methods[i];
        }
    if (reason)
        diag_fatal(q->loc,
                   "the weights are quantized by %s, which burin does not read: %s"
                   "\nhint: take the model's float weights (burin quantizes with --quant), or its "
                   "GGUF, GPTQ, AWQ or FP8 files",
                   q->method, reason);
    for (int i = 0; i < N_METHODS; i++)
        known = arena_printf(q->checkpoint->arena, "%s%s%s", known, i ? ", " : "", methods[i].name);
    diag_fatal(q->loc,
               "the weights are quantized by %s, which burin does not read: it reads %-s"
               "\nhint: take the model's float weights; burin quantizes with --quant",
               q->method ? q->method : "a method that it does not name", known);
}
