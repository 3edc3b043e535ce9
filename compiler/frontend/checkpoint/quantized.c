// Folders whose weights are quantized by a library: what is stored beside the numbers (scales, zero points, packed words)
// decides what they mean, so they are refused by the name of the method.
#include <string.h>

#include "frontend/checkpoint/reader.h"

// What config.json says of the method; NULL when the weights are as they are.
static const char *method_of(const json_t *quantization) {
    const char *method = json_string_value(json_object_get(quantization, "quant_method"));
    bool four = json_is_true(json_object_get(quantization, "load_in_4bit")),
         eight = json_is_true(json_object_get(quantization, "load_in_8bit"));
    if (!json_object_size(quantization)) return NULL;
    if (four || eight) return four ? "bitsandbytes, 4 bits" : "bitsandbytes, 8 bits";
    if (method && !strcmp(method, "bitsandbytes")) return NULL;
    return method ? method : "a method that it does not name";
}

void checkpoint_refuse_quantized(const Checkpoint *c) {
    static const char *const keys[] = {"quantization_config", "compression_config"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *method = method_of(json_object_get(c->config, keys[i]));
        if (method)
            diag_fatal(checkpoint_config_loc(c, keys[i]),
                       "the weights are quantized (%s): they are not read yet"
                       "\nhint: take the model's float weights; burin quantizes with --quant",
                       method);
    }
}
