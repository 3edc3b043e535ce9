// GGUF's NVFP4 as format nvfp4's blocks. Values of a block are code * 0.5 u, u one of four unsigned
// e4m3; a tensor NAME.scale beside NAME.weight is a factor of all values, or one for each expert.
// NAME.input_scale is of activations, which stay as they are.
//
//   in the file   u u u u, then of each group of 16 codes eight bytes: code i | code i + 8 << 4         36 bytes
//   presented     0.5 factor as f32, u u u u, then codes two by two: code 2 i | code 2 i + 1 << 4       40 bytes
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "frontend/checkpoint/gguf/gguf.h"
#include "frontend/checkpoint/reader.h"
#include "util/mapping.h"
#include "util/text.h"

enum { STORED = 36, PRESENTED = 40, NOTHING = 0x7f };  // e4m3's NaN, which ggml takes for 0

static const char *name_of_part(Arena *arena, const char *weight, const char *end) {
    if (!text_ends_with(weight, ".weight")) return NULL;
    return arena_printf(arena, "%.*s%s", (int)(strlen(weight) - strlen(".weight")), weight, end);
}

// Beyond these bounds products could round as subnormals do.
static void check_factor(const GgufTensor *t, uint64_t i, float factor) {
    if (factor == 0 || (fabsf(factor) > 0x1p-90f && fabsf(factor) < 0x1p90f)) return;
    file_fatal(t->part->file,
               "tensor \"%s\" has a factor of %g, at %" PRIu64
               ": expected a number of ordinary size\nhint: a damaged file: take another",
               t->name, (double)factor, i);
}

const float *gguf_nvfp4_factors(const Gguf *g, const GgufTensor *weight) {
    const char *name = name_of_part(g->arena, weight->name, ".scale");
    const GgufTensor *t = name ? gguf_tensor(g, name) : NULL;
    uint64_t experts = weight->rank > 2 ? weight->dims[2] : 1, bytes, n = t ? t->dims[0] : 1, end;
    float *factors = NULL;
    if (t && (t->rank != 1 || t->type != GGUF_TENSOR_F32 || (n != 1 && n != experts)))
        file_fatal(t->part->file, "tensor \"%s\" must be %" PRIu64 " numbers in F32: factors of %s",
                   name, experts, weight->name);
    if (__builtin_mul_overflow(experts, sizeof *factors, &bytes) ||
        experts > weight->part->file->size)
        file_fatal(weight->part->file, "tensor \"%s\" has too many elements for any file",
                   weight->name);
    if (t && (__builtin_add_overflow(t->part->data, t->offset, &end) || end > t->part->file->size ||
              n * sizeof *factors > t->part->file->size - end))
        file_fatal(t->part->file,
                   "tensor \"%s\" goes past the file's end\nhint: a truncated download?", name);
    factors = ARENA_ARRAY(g->arena, float, experts);
    for (uint64_t i = 0; i < experts; i++) {
        factors[i] = 1;
        if (t)
            memcpy(&factors[i], t->part->file->data + end + (n > 1 ? i : 0) * sizeof *factors,
                   sizeof *factors);
        if (t) check_factor(t, i, factors[i]);
    }
    return factors;
}

bool gguf_is_nvfp4_part(const Gguf *g, const GgufTensor *t) {
    static const char *const ends[] = {".scale", ".input_scale"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        if (!text_ends_with(t->name, ends[i])) continue;
        size_t length = strlen(t->name) - strlen(ends[i]);
        const GgufTensor *weight =
            gguf_tensor(g, arena_printf(g->arena, "%.*s.weight", (int)length, t->name));
        return weight && weight->type == GGUF_TENSOR_NVFP4;
    }
    return false;
}

static void regroup(const unsigned char *from, float d, unsigned char *to) {
    memcpy(to, &d, sizeof d);
    for (int group = 0; group < 4; group++) {
        unsigned char u = from[group] & 0x7f;
        const unsigned char *codes = from + 4 + 8 * group;
        to[4 + group] = u == NOTHING ? 0 : u;
        for (int i = 0; i < 8; i++) {
            int first = codes[2 * i % 8], second = codes[2 * i % 8 + 1], upper = i < 4 ? 0 : 4;
            to[8 + 8 * group + i] =
                (unsigned char)((first >> upper & 15) | (second >> upper & 15) << 4);
        }
    }
}

uint64_t gguf_nvfp4_stored_bytes(uint64_t presented) { return presented / PRESENTED * STORED; }

void gguf_nvfp4_present(Arena *arena, StoredTensor *stored) {
    Tensor *t = &stored->tensor;
    uint64_t blocks = t->bytes / STORED;
    const unsigned char *from = t->data;
    unsigned char *to = arena_alloc(arena, blocks * PRESENTED);
    for (uint64_t i = 0; i < blocks; i++)
        regroup(from + i * STORED, 0.5f * *stored->factor, to + i * PRESENTED);
    mapping_forget(from, t->bytes);
    t->data = to;
    t->bytes = blocks * PRESENTED;
}
