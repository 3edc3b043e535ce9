// MLX keeps the matrices of all experts of a layer in one tensor: mlp.switch_mlp.up_proj.weight
// [experts, outputs, inputs], with scales and biases of the same form; in gpt-oss and LLaMA 4
// mlp.experts.up_proj.weight. Here each expert gets its own tensor, as in other files:
//   mlp.switch_mlp.up_proj.scales [4, 96, 2]   ->   mlp.experts.0.up_proj.scales [96, 2] ... mlp.experts.3.up_proj.scales
//
// transformers 5 has one tensor of the gates above the ups, without ".weight", and may save it so:
//   mlp.experts.gate_up_proj [4, 192, 64]      ->   mlp.experts.0.gate_proj.weight [96, 64], mlp.experts.0.up_proj.weight ...
//   mlp.experts.down_proj [4, 64, 96]          ->   mlp.experts.0.down_proj.weight [64, 96] ...
// LLaMA 4, Qwen3-VL and gpt-oss have such tensors with inputs before outputs: their descriptions
// read them as they are.
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

// The part of its name that "experts.E" replaces; *end is after it. NULL for other tensors.
static const char *stack_of(const char *name, const char **end) {
    static const char *const stacks[] = {".switch_mlp.", ".experts."};
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++) {
        const char *at = strstr(name, stacks[i]);
        *end = at ? at + strlen(stacks[i]) : NULL;
        if (at && is_projection(*end)) return at;
    }
    return NULL;
}

static const char *name_of_one(Arena *arena, const char *name, const char *at, const char *end,
                               int64_t e) {
    bool first = !strncmp(end, "fc1.", 4), second = !strncmp(end, "fc2.", 4);
    return arena_printf(arena, "%.*s.experts.%" PRId64 ".%s%s", (int)(at - name), name, e,
                        first    ? "up_proj."
                        : second ? "down_proj."
                                 : "",
                        end + (first || second ? 4 : 0));
}

// More than any model has, and few enough to be listed
enum { MOST_TENSORS = 1 << 20 };

static void check_count(const Checkpoint *c, const StoredTensor *stored, int64_t parts) {
    const Tensor *t = &stored->tensor;
    if (t->dim[0] <= (MOST_TENSORS - c->n_tensors) / parts) return;
    file_fatal(stored->file,
               "tensor \"%s\" is of %" PRId64
               " experts, with which there are more than %d tensors\nhint: is it damaged?",
               t->name, t->dim[0], MOST_TENSORS);
}

// One expert's part of a tensor of all experts, stacked from this many parts.
static Tensor slice_of(const Tensor *t, int64_t e, int64_t part, int64_t parts) {
    Tensor one = *t;
    one.rank--;
    for (int i = 0; i < one.rank; i++) one.dim[i] = t->dim[i + 1];
    one.dim[0] /= parts;
    one.bytes = t->bytes / (uint64_t)(t->dim[0] * parts);
    one.data = (const char *)t->data + (uint64_t)(e * parts + part) * one.bytes;
    return one;
}

static bool split(Checkpoint *c, StoredTensor *stored) {
    const Tensor *t = &stored->tensor;
    const char *end, *at = stack_of(t->name, &end);
    if (!at || t->rank < (text_ends_with(t->name, ".weight") ? 3 : 1)) return false;
    check_count(c, stored, 1);
    for (int64_t e = 0; e < t->dim[0]; e++) {
        Tensor one = slice_of(t, e, 0, 1);
        one.name = name_of_one(c->arena, t->name, at, end, e);
        checkpoint_add(c, stored->file, &one);
    }
    return stored->hidden = true;
}

// ------------------------------------------------------------------------------- without ".weight"
// The names of a layer's expert tensors after "experts.", and their contents.
static const struct {
    const char *end, *parts[2], *kind;
} fused[] = {{"gate_up_proj", {"gate_proj", "up_proj"}, "weight"},
             {"up_proj", {"up_proj"}, "weight"},
             {"down_proj", {"down_proj"}, "weight"},
             {"gate_up_proj_bias", {"gate_proj", "up_proj"}, "bias"},
             {"down_proj_bias", {"down_proj"}, "bias"},
             {"gate_up_proj_scale_inv", {"gate_proj", "up_proj"}, "weight_scale_inv"},
             {"down_proj_scale_inv", {"down_proj"}, "weight_scale_inv"}};

static const Tensor *of_layer(const Checkpoint *c, const char *name, size_t length,
                              const char *end) {
    const StoredTensor *t =
        map_get(&c->by_name, arena_printf(c->arena, "%.*s%s", (int)length, name, end));
    return t ? &t->tensor : NULL;
}

// Returns true if the layer's matrices have outputs before inputs. No two matrices fit both orders.
static bool has_outputs_first(const Checkpoint *c, const char *name, size_t length) {
    const Tensor *both = of_layer(c, name, length, "gate_up_proj"),
                 *up = of_layer(c, name, length, "up_proj"),
                 *down = of_layer(c, name, length, "down_proj"), *first = both ? both : up;
    if (!first || !down || first->rank != 3 || down->rank != 3) return false;
    return first->dim[2] == down->dim[1] && first->dim[1] == (both ? 2 : 1) * down->dim[2];
}

static bool split_fused(Checkpoint *c, StoredTensor *stored) {
    const Tensor *t = &stored->tensor;
    const char *at = strstr(t->name, ".experts."), *end = at ? at + strlen(".experts.") : NULL;
    size_t i = 0, n = sizeof fused / sizeof *fused;
    while (at && i < n && strcmp(end, fused[i].end)) i++;
    if (!at || i == n || !has_outputs_first(c, t->name, (size_t)(end - t->name))) return false;
    int64_t parts = fused[i].parts[1] ? 2 : 1;
    if (t->rank < 2 || t->dim[1] % parts) return false;
    check_count(c, stored, parts);
    for (int64_t e = 0; e < t->dim[0]; e++)
        for (int64_t part = 0; part < parts; part++) {
            Tensor one = slice_of(t, e, part, parts);
            one.name = arena_printf(c->arena, "%.*s%" PRId64 ".%s.%s", (int)(end - t->name),
                                    t->name, e, fused[i].parts[part], fused[i].kind);
            checkpoint_add(c, stored->file, &one);
        }
    return stored->hidden = true;
}

void checkpoint_split_experts(Checkpoint *c) {
    int n = c->n_tensors, some = 0;
    for (int i = 0; i < n; i++) {
        StoredTensor *t = (StoredTensor *)c->tensors[i];  // the tensor is its first member
        some += split(c, t) || split_fused(c, t);
    }
    if (some) checkpoint_list_again(c);
}
