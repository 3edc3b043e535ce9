// Products by experts: an index selects each row's matrices, one matrix after the other.
//
// An entry is a row and one of its slots. Entries are put in the order of their experts once for
// all products that read the index (expert_order); then the rows of one expert are a matrix like
// any other, whose panels follow those of the previous expert. A sum is the one chain of matmul.h,
// independent of other rows of the expert. With one row each entry is a product of its own, and
// threads divide the panels of all entries: unselected experts are never touched.
#ifndef BURIN_EXPERTS_H
#define BURIN_EXPERTS_H
#include "matmul.h"

typedef struct experts_args {
    int count, slots;      // literals: experts; entries of a row
    size_t bytes;          // literal: panels of one expert
    int entries;           // of all rows
    const int32_t *index;  // [entries]
    const int32_t *order;  // [entries]: entries, those of one expert together
} experts_args;

INLINE int expert_kept(int index, int count) {
    return index < 0 ? 0 : index < count ? index : count - 1;
}

// order = entries by their expert, those of one expert in ascending order. place: [count + 1] zeros
INLINE void expert_order(int count, int entries, const int32_t *index, int32_t *place,
                         int32_t *order) {
    for (int i = 0; i < entries; i++) place[expert_kept(index[i], count) + 1]++;
    for (int e = 0; e < count; e++) place[e + 1] += place[e];
    for (int i = 0; i < entries; i++) order[place[expert_kept(index[i], count)]++] = i;
}

// Units of work: panels; of one row, the panels of all its entries
INLINE int expert_units(int panels, int entries, int slots) {
    return entries == slots && !SHARED_BY_PANELS ? panels * slots : panels;
}

INLINE int expert_share(int unit, int start, int panels) {
    unit -= start;
    return unit < 0 ? 0 : unit < panels ? unit : panels;
}

INLINE void expert_matmul(void (*product)(const matmul_args *m, matmul_sink sink), matmul_args m,
                          const experts_args *e, matmul_sink sink) {
    const unsigned char *w = m.w;
    const int first = m.first, last = m.last;
    const bool alone = e->entries == e->slots && !SHARED_BY_PANELS;
    for (int at = 0, end; at < e->entries; at = end) {
        int expert = expert_kept(e->index[e->order[at]], e->count);
        for (end = at + 1; !alone && end < e->entries &&
                           expert_kept(e->index[e->order[end]], e->count) == expert;)
            end++;
        m.first = alone ? expert_share(first, at * m.panels, m.panels) : first;
        m.last = alone ? expert_share(last, at * m.panels, m.panels) : last;
        if (m.first >= m.last) continue;
        m.rows = end - at, m.entry = sink.entry = e->order + at;
        m.w = w + (size_t)expert * e->bytes;
        product(&m, sink);
    }
}

#define EXPERTS(name)                                                                             \
    INLINE void expert_matmul_##name(matmul_args m, const experts_args *e, matmul_epilogue store, \
                                     const void *context) {                                       \
        expert_matmul(product_##name, m, e, (matmul_sink){.plain = store, .context = context});   \
    }                                                                                             \
    INLINE void expert_matmul_##name##_glu(matmul_args m, const experts_args *e,                  \
                                           glu_epilogue store, const void *context) {             \
        expert_matmul(product_##name, m, e, (matmul_sink){.glu = store, .context = context});     \
    }
EXPERTS(f32)
EXPERTS(f16)
EXPERTS(bf16)
#define FORMAT(name, ...) EXPERTS(name) EXPERTS(name##_floats)
#include "format_rows.h"
#undef FORMAT
#undef EXPERTS
#endif
