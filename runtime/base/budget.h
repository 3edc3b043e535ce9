// Limits of work for everything that interprets text from outside: templates, grammars, patterns,
// schemas, messages.
//
// Such text decides how long its interpreter runs and how deep it recurses. Each interpreter keeps
// one budget, spends steps on work whose amount the text decides, enters and leaves levels, and
// ends with burin_budget_text as its message once one of the limits is passed:
//
//     burin_budget b = {.name = "rules.gbnf", .max_steps = 1 << 24, .max_depth = 200};
//     if (!burin_spend(&b, n)) { burin_budget_text(&b, message, sizeof message); ... }
//                                                      // "rules.gbnf: this takes more than 16777216 steps"
#ifndef BURIN_BUDGET_H
#define BURIN_BUDGET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct burin_budget {
    const char *name;  // file or text that is interpreted; NULL: the message starts without it
    uint64_t steps, max_steps;    // units of 10 to 100 ns; max_steps 0: not limited
    uint64_t bytes, max_bytes;    // of memory or output; max_bytes 0: not limited
    uint32_t levels, max_levels;  // of nesting; max_levels 0: not limited
} burin_budget;

static inline bool burin_is_spent(uint64_t spent, uint64_t limit) { return limit && spent > limit; }

// Returns false once the steps pass their limit.
static inline bool burin_spend(burin_budget *b, uint64_t steps) {
    b->steps = steps > UINT64_MAX - b->steps ? UINT64_MAX : b->steps + steps;
    return !burin_is_spent(b->steps, b->max_steps);
}

// Returns false once the bytes pass their limit.
static inline bool burin_spend_bytes(burin_budget *b, uint64_t bytes) {
    b->bytes = bytes > UINT64_MAX - b->bytes ? UINT64_MAX : b->bytes + bytes;
    return !burin_is_spent(b->bytes, b->max_bytes);
}

// Goes one level deeper; returns false below the deepest allowed one. burin_leave_level goes back.
static inline bool burin_enter_level(burin_budget *b) {
    return !burin_is_spent(++b->levels, b->max_levels);
}
static inline void burin_leave_level(burin_budget *b) { b->levels--; }

// Writes which limit was passed, as one line.
void burin_budget_text(const burin_budget *, char *out, size_t room);
#endif
