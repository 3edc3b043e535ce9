// Checks the element types of selected kernels against kernels.def.
#include <string.h>

#include "ir/format.h"
#include "lower/lowering.h"

typedef struct KernelTypes {
    const char *operands, *further, *results;  // words of names with | between them
} KernelTypes;

static const KernelTypes kernel_types[] = {
#define KERNEL(name, operands, further, results) [FAMILY_##name] = {operands, further, results},
#include "lower/kernels.def"
#undef KERNEL
};

// The word of `list` at a place, or the last resort.
static const char *word_at(const char *list, int place, const char *further) {
    for (; place && *list; place--) {
        list += strcspn(list, " ");
        list += strspn(list, " ");
    }
    return *list ? list : further;
}

static bool is_among(const char *word, DType type) {
    const char *name = dtype_name(type);
    size_t length = strlen(name);
    if (!strncmp(word, "any", 3)) return true;
    for (const char *at = word; *at && *at != ' '; at += strcspn(at, "| "), at += *at == '|')
        if ((strcspn(at, "| ") == length && !strncmp(at, name, length)) ||
            (!strncmp(at, "blocks", 6) && dtype_is_block(type)))
            return true;
    return false;
}

bool kernel_takes(KernelFamily family, int operand, DType type) {
    const KernelTypes *t = &kernel_types[family];
    return is_among(word_at(t->operands, operand, t->further), type);
}

static bool kernel_gives(KernelFamily family, int result, DType type) {
    return is_among(word_at(kernel_types[family].results, result, ""), type);
}

static void refuse(const Kernel *k, const char *what, int place, DType type, const char *words) {
    int length = (int)strcspn(words, " ");
    diag_fatal(k->node->loc,
               "%s: its kernel has no code for %s %d of type %s\nnote: %%%s; it is %.*s that the "
               "kernel knows"
               "\nhint: %-s",
               op_info[k->node->op].name, what, place, dtype_name(type), k->node->name, length,
               words,
               dtype_bits(type) == 16 ? "floats of 16 bits become f32 in the pass widen, which "
                                        "--start-from must not leave out"
                                      : "a model of f32 has it");
}

void check_kernel_types(const Program *p) {
    for (int i = 0; i < p->n_kernels; i++) {
        const Kernel *k = p->kernels[i];
        const KernelTypes *t = &kernel_types[k->family];
        for (int j = 0; j < k->n_in; j++)
            if (k->in[j].base != BASE_NONE && !kernel_takes(k->family, j, k->in[j].type.dtype))
                refuse(k, "operand", j, k->in[j].type.dtype, word_at(t->operands, j, t->further));
        for (int j = 0; j < k->n_out; j++)
            if (k->out[j].base != BASE_NONE && !kernel_gives(k->family, j, k->out[j].type.dtype))
                refuse(k, "result", j, k->out[j].type.dtype, word_at(t->results, j, ""));
    }
}
