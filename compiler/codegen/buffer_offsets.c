// Buffer offsets when sizes are only known at run time: each buffer starts after those that precede
// it in the plan for the largest sizes.
//
//   static size_t buffer_offsets(const int64_t *symbols, size_t *offset) {
//       size_t end[3], total = 0;
//       offset[0] = 0;
//       end[0] = offset[0] + (size_t)(symbols[0] * 256 * 4 + 63) / 64 * 64;
//       offset[1] = 0;
//       if (end[0] > offset[1]) offset[1] = end[0];
//       ...
//       return total;
//   }
#include <string.h>

#include "codegen/emit.h"

// Returns true if buffer j precedes buffer i with no buffer between them.
static bool directly_before(const Buffer *const *list, int n, const Buffer *before,
                            const Buffer *b) {
    uint64_t end = before->arena_offset + before->row_bytes;
    if (before == b || end > b->arena_offset) return false;
    for (int i = 0; i < n; i++)
        if (list[i] != before && list[i] != b && list[i]->row_bytes &&
            end <= list[i]->arena_offset &&
            list[i]->arena_offset + list[i]->row_bytes <= b->arena_offset)
            return false;
    return true;
}

// (size_t)symbols[0] * 256 * 4: what a buffer holds in a run
void c_bytes(Text *t, const Program *p, const Buffer *b,
             void (*write_dim)(Text *, const Program *, const Dim *)) {
    int bits = dtype_bits(b->dtype);
    bool is_packed = bits > 0 && bits < 8;
    text_add(t, is_packed ? "((size_t)" : "(size_t)"), write_dim(t, p, b->units);
    if (is_packed)
        text_add(t, " * %d + 7) / 8", bits);
    else
        text_add(t, " * %d", (int)dtype_bytes(b->dtype, 1));
}

static void write_buffer_offset(Text *t, const Program *p, const Buffer *const *list, int n,
                                int i) {
    text_add(t, "    offset[%d] = 0;\n", i);
    for (int j = 0; j < i; j++)
        if (directly_before(list, n, list[j], list[i]))
            text_add(t, "    if (end[%d] > offset[%d]) offset[%d] = end[%d];\n", j, i, i, j);
    text_add(t, "    end[%d] = offset[%d] + (", i, i), c_bytes(t, p, list[i], c_dim_at_most);
    text_add(t, " + %d) / 64 * 64;  ", 63 + (p->guarded ? GUARD_BYTES : 0));
    size_t comment = c_comment(t);
    text_add(t, "%s", list[i]->name), c_comment_end(t, comment);
    text_add(t, "    if (end[%d] > total) total = end[%d];\n", i, i);
}

void write_buffer_offsets(Text *t, const Program *p) {
    const Buffer **list = ARENA_ARRAY(p->arena, const Buffer *, p->n_buffers + 1);
    int n = scratch_in_order(p, list);
    text_add(t, "// Offsets of this run's buffers in the scratch memory; returns its bytes.\n");
    text_add(t, "static size_t %sbuffer_offsets(const int64_t *symbols, size_t *offset) {\n",
             p->prefix);
    Text lines = {0};
    for (int i = 0; i < n; i++) write_buffer_offset(&lines, p, list, n, i);
    if (n) text_add(t, "    size_t end[%d], total = 0;\n", n);
    if (!n || !strstr(lines.data, "symbols[")) text_add(t, "    (void)symbols;\n");
    text_add(t, n ? "%s    return total;\n}\n\n" : "%s    (void)offset;\n    return 0;\n}\n\n",
             n ? lines.data : "");
    text_free(&lines);
}

void c_buffer_offset(Text *t, const Program *p, const Buffer *b) {
    const Buffer **list = ARENA_ARRAY(p->arena, const Buffer *, p->n_buffers + 1);
    int n = scratch_in_order(p, list), i = 0;
    while (i < n && list[i] != b) i++;
    text_add(t, "offset[%d]", i);
}
