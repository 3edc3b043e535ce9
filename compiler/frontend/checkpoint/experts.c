// MLX keeps the matrices of all experts of a layer in one tensor: mlp.switch_mlp.up_proj.weight [experts, outputs, inputs], its
// scales and biases likewise; of gpt-oss and LLaMA 4 mlp.experts.up_proj.weight. Here each expert has its own, as in other
// files:
//   mlp.switch_mlp.up_proj.scales [4, 96, 2]   ->   mlp.experts.0.up_proj.scales [96, 2] ... mlp.experts.3.up_proj.scales
#include <inttypes.h>
#include <string.h>

#include "frontend/checkpoint/reader.h"
#include "util/text.h"

// Is it "up_proj.weight" or its kin? fc1 and fc2 are of experts without a gate.
static bool is_projection(const char *rest) {
    static const char *const names[] = {"gate_proj.", "up_proj.", "down_proj.", "fc1.", "fc2."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strncmp(rest, names[i], strlen(names[i]))) return true;
    return false;
}

// The part of its name that "experts.E" stands for; *end is behind it. NULL of other tensors.
static const char *stack_of(const char *name, const char **end) {
    static const char *const stacks[] = {".switch_mlp.", ".experts."};
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        const char *at = strstr(name, stacks[i]);
        *end = at ? at + strlen(stacks[i]) : NULL;
        if (at && is_projection(*end)) return at;
    }
    return NULL;
}

static const char *name_of_one(Arena *arena, const char *name, const char *at, const char *end, int64_t e) {
    bool first = !strncmp(end, "fc1.", 4), second = !strncmp(end, "fc2.", 4);
    return arena_printf(arena, "%.*s.experts.%" PRId64 ".%s%s", (int)(at - name), name, e,
                        first    ? "up_proj."
                        : second ? "down_proj."
                                 : "",
                        end + (first || second ? 4 : 0));
}

// More than any model has, and few enough to be listed
enum { MOST_TENSORS = 1 << 20 };

static bool split(Checkpoint *c, StoredTensor *stored) {
    const Tensor *t = &stored->tensor;
    const char *end, *at = stack_of(t->name, &end);
    if (!at || t->rank < (text_ends_with(t->name, ".weight") ? 3 : 1)) return false;
    if (t->dim[0] > MOST_TENSORS - c->n_tensors)
        file_fatal(stored->file,
                   "tensor \"%s\" is of %" PRId64 " experts, with which there are more than %d tensors\nhint: is it damaged?",
                   t->name, t->dim[0], MOST_TENSORS);
    Tensor one = *t;
    one.rank--;
    for (int i = 0; i < one.rank; i++) one.dim[i] = t->dim[i + 1];
    one.bytes = t->bytes / (uint64_t)t->dim[0];
    for (int64_t e = 0; e < t->dim[0]; e++) {
        one.name = name_of_one(c->arena, t->name, at, end, e);
        one.data = (const char *)t->data + (uint64_t)e * one.bytes;
        checkpoint_add(c, stored->file, &one);
    }
    return stored->hidden = true;
}

void checkpoint_split_experts(Checkpoint *c) {
    int n = c->n_tensors, some = 0;
    for (int i = 0; i < n; i++) some += split(c, (StoredTensor *)c->tensors[i]);  // the tensor is its first member
    if (some) checkpoint_list_again(c);
}
