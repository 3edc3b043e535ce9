// Dimensions that a file leaves open although its weights decide them: the channels of an input that a convolution reads.
//
//   pixel_values [batch, num_channels, height, width]     Conv with W [64, 3, 8, 8] in one group: num_channels is 3
#include <string.h>

#include "frontend/onnx/import.h"

static const BurinOnnx__TensorData *initializer(const BurinOnnx__GraphBody *g, const char *name) {
    for (size_t i = 0; i < g->n_initializer; i++)
        if (g->initializer[i]->name && !strcmp(g->initializer[i]->name, name)) return g->initializer[i];
    return NULL;
}

static int64_t groups_of(const BurinOnnx__Operation *n) {
    for (size_t i = 0; i < n->n_attribute; i++)
        if (n->attribute[i]->name && !strcmp(n->attribute[i]->name, "group")) return n->attribute[i]->i;
    return 1;
}

// The channels that a convolution of this input has weights for; 0 when none reads it.
static int64_t channels_read(const BurinOnnx__GraphBody *g, const char *input) {
    for (size_t i = 0; i < g->n_node; i++) {
        const BurinOnnx__Operation *n = g->node[i];
        if (!n->op_type || strcmp(n->op_type, "Conv") || n->n_input < 2 || strcmp(n->input[0], input)) continue;
        const BurinOnnx__TensorData *w = initializer(g, n->input[1]);
        int64_t channels, groups = groups_of(n);
        bool fits = w && w->n_dims > 2 && groups > 0 && !__builtin_mul_overflow(w->dims[1], groups, &channels) && channels > 0;
        if (fits) return channels;
    }
    return 0;
}

static bool is_given(const OnnxOptions *o, const char *name) {
    for (int i = 0; i < o->n_dims; i++)
        if (!strcmp(o->dims[i].name, name)) return true;
    return false;
}

const OnnxOptions *onnx_derive_dims(const OnnxModel *model, const OnnxOptions *options) {
    Arena *arena = model->arena;
    const BurinOnnx__GraphBody *g = model->proto->graph;
    OnnxOptions *own = ARENA_NEW(arena, OnnxOptions);
    OnnxDim *dims = ARENA_ARRAY(arena, OnnxDim, (size_t)options->n_dims + g->n_input + 1);
    *own = *options;
    for (int i = 0; i < options->n_dims; i++) dims[i] = options->dims[i];
    own->dims = dims;
    for (size_t i = 0; i < g->n_input; i++) {
        const BurinOnnx__ValueInfo *info = g->input[i];
        const BurinOnnx__ValueType__TensorOf *t = info->type ? info->type->tensor_type : NULL;
        int64_t channels = info->name && t && t->shape && t->shape->n_dim > 2 ? channels_read(g, info->name) : 0;
        const char *name = channels ? onnx_dim_name(arena, info, 1) : NULL;
        if (name && !is_given(own, name)) dims[own->n_dims++] = (OnnxDim){name, channels, channels};
    }
    return own;
}
