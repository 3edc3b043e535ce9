// --dim and --max: "batch=1,seq=128" as dimensions of an ONNX model, fixed or bounded.
#include "driver/dims.h"

#include <stdlib.h>
#include <string.h>

#include "driver/options.h"

enum { MOST_DIMS = 64 };

static void read_list(OnnxOptions *out, Arena *arena, const char *option, const char *list, bool fixed) {
    OnnxDim *dims = (OnnxDim *)out->dims;
    for (const char *p = list; p && *p;) {
        size_t length = strcspn(p, ","), name = strcspn(p, "=,");
        char *end;
        const char *number = p + name + 1;
        long long value = name < length ? strtoll(number, &end, 10) : 0;
        if (!name || name >= length || end != p + length || value < 1 || value > INT32_MAX)
            usage_error("--%s=%s: expected NAME=N with N of 1 or more\n  hint: --%s=sequence_length=128,batch_size=1", option,
                        list, option);
        if (out->n_dims == MOST_DIMS) usage_error("--%s names more than %d dimensions", option, MOST_DIMS);
        dims[out->n_dims++] = (OnnxDim){arena_strndup(arena, p, name), fixed ? value : 1, value};
        p += length + (p[length] == ',');
    }
}

OnnxOptions onnx_options(Arena *arena, const Options *o) {
    OnnxOptions out = {.dims = ARENA_ARRAY(arena, OnnxDim, MOST_DIMS)};
    read_list(&out, arena, "dim", o->dim, true);
    read_list(&out, arena, "max", o->max, false);
    return out;
}
