// Follows all readings of a text. A reading is a node that reads a byte, and a stack: the nodes to
// return to, of which equal tails are one (stacks are numbers of pairs: a node, and the stack
// below). A set of readings, in order, is a state.
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/budget.h"
#include "base/escape.h"
#include "grammar.h"

// initial capacity, since growing takes time
enum { USUAL_STATES = 1 << 13, USUAL_STEPS = 1 << 19 };
enum { MOST_STATE_BYTES = 256 << 20 };  // of the readings and steps of all states

typedef struct reading {
    int32_t node, stack;
} reading;

typedef struct set_of_readings {
    int32_t first, n;  // in the pool
    bool accepts;
} set_of_readings;

typedef struct seed {
    reading from;
    int32_t state;
} seed;

// Numbers by hash, open addressing; 0 is none.
typedef struct number_table {
    int32_t *slot;
    uint32_t size;  // a power of two, or 0
} number_table;

struct burin_recognizer {
    const burin_grammar *g;
    uint8_t class_of[256];
    int32_t n_classes;
    uint8_t byte_of[256];  // one of each class
    reading *stacks, *pool;
    set_of_readings *states;
    int32_t *steps;  // [state][class]: a state, 0 none, -1 not known yet
    int32_t n_stacks, n_pool, n_states;
    size_t room_stacks, room_pool, room_states, room_steps;
    number_table stack_table, state_table, seen_table, seed_table;
    seed *seeds;  // where steps of one reading lead
    int32_t n_seeds;
    reading *work, *waiting;  // while a step is made: readings to follow, each once; those that
                              // wait for a byte
    int32_t n_work;
    size_t room_work, room_waiting, room_seeds;
    burin_budget budget;
    bool accepts, overflowed;
};

static uint32_t hash_pair(int32_t a, int32_t b) {
    uint64_t h = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

static void *grow(void *array, size_t *room, size_t n, size_t bytes) {
    if (n <= *room) return array;
    size_t wanted = 2 * *room + 256;
    if (wanted < n) wanted = n;
    void *more = burin_allocate(wanted, bytes);
    if (array) memcpy(more, array, *room * bytes);
    free(array);
    *room = wanted;
    return more;
}

// With pages that are there already.
static void *room_for(size_t *room, size_t n, size_t bytes) {
    *room = n;
    return memset(burin_allocate(n, bytes), 0, n * bytes);
}

// Bytes that no node tells apart are a class.
static void find_classes(burin_recognizer *m) {
    bool begins[257] = {[0] = true};
    for (int32_t i = 0; i < m->g->n_nodes; i++) {
        const burin_grammar_node *node = &m->g->nodes[i];
        if (node->op == BURIN_G_BYTE && node->low <= node->high)
            begins[node->low] = begins[node->high + 1] = true;
    }
    for (int byte = 0; byte < 256; byte++) {
        if (begins[byte]) m->byte_of[m->n_classes++] = (uint8_t)byte;
        m->class_of[byte] = (uint8_t)(m->n_classes - 1);
    }
}

// ------------------------------------------------------------------------------------------ stacks
static void rehash_stacks(burin_recognizer *m) {
    number_table *t = &m->stack_table;
    free(t->slot);
    t->size = t->size ? 2 * t->size : 1024;
    t->slot = burin_allocate(t->size, sizeof *t->slot);
    for (int32_t i = 1; i < m->n_stacks; i++) {
        uint32_t at = hash_pair(m->stacks[i].node, m->stacks[i].stack);
        while (t->slot[at & (t->size - 1)]) at++;
        t->slot[at & (t->size - 1)] = i;
    }
}

static int32_t push(burin_recognizer *m, int32_t node, int32_t stack) {
    number_table *t = &m->stack_table;
    // a last call leaves nothing to return to
    if (m->g->nodes[node].op == BURIN_G_RETURN) return stack;
    uint32_t at = hash_pair(node, stack);
    for (; t->slot[at & (t->size - 1)]; at++) {
        const reading *there = &m->stacks[t->slot[at & (t->size - 1)]];
        if (there->node == node && there->stack == stack) return t->slot[at & (t->size - 1)];
    }
    m->stacks = grow(m->stacks, &m->room_stacks, (size_t)m->n_stacks + 1, sizeof *m->stacks);
    m->stacks[m->n_stacks] = (reading){node, stack};
    t->slot[at & (t->size - 1)] = m->n_stacks++;
    if ((uint32_t)m->n_stacks * 2 > t->size) rehash_stacks(m);
    return m->n_stacks - 1;
}

// ---------------------------------------------------------------------------------------- readings
static void clear_work(burin_recognizer *m) {
    number_table *t = &m->seen_table;
    for (int32_t i = 0; i < m->n_work; i++) {  // only the bits that were set
        uint32_t at = hash_pair(m->work[i].node, m->work[i].stack);
        for (uint32_t k = 0; k < t->size && t->slot[(at + k) & (t->size - 1)]; k++)
            t->slot[(at + k) & (t->size - 1)] = 0;
    }
    m->n_work = 0, m->accepts = false;
}

static void rehash_work(burin_recognizer *m) {
    number_table *t = &m->seen_table;
    free(t->slot);
    t->size = t->size ? 2 * t->size : 256;
    t->slot = burin_allocate(t->size, sizeof *t->slot);
    for (int32_t i = 0; i < m->n_work; i++) {
        uint32_t at = hash_pair(m->work[i].node, m->work[i].stack);
        while (t->slot[at & (t->size - 1)]) at++;
        t->slot[at & (t->size - 1)] = i + 1;
    }
}

static void add_work(burin_recognizer *m, int32_t node, int32_t stack) {
    number_table *t = &m->seen_table;
    uint32_t at = hash_pair(node, stack);
    for (; t->slot[at & (t->size - 1)]; at++) {
        const reading *there = &m->work[t->slot[at & (t->size - 1)] - 1];
        if (there->node == node && there->stack == stack) return;
    }
    if (!burin_spend(&m->budget, 1) || m->n_work == 4 * BURIN_GRAMMAR_READINGS) {
        m->overflowed = true;
        return;
    }
    m->work = grow(m->work, &m->room_work, (size_t)m->n_work + 1, sizeof *m->work);
    m->work[m->n_work++] = (reading){node, stack};
    t->slot[at & (t->size - 1)] = m->n_work;
    if ((uint32_t)m->n_work * 2 > t->size) rehash_work(m);
}

// One item of the work list: its successors without a byte.
static void follow(burin_recognizer *m, reading r) {
    const burin_grammar_node *node = &m->g->nodes[r.node];
    switch ((burin_grammar_op)node->op) {
        case BURIN_G_BYTE:
            return;
        case BURIN_G_SPLIT:
            add_work(m, node->next, r.stack);
            add_work(m, node->other, r.stack);
            return;
        case BURIN_G_CALL:
            add_work(m, m->g->entries[node->other], push(m, node->next, r.stack));
            return;
        case BURIN_G_RETURN:
            break;
    }
    if (r.stack)
        add_work(m, m->stacks[r.stack].node, m->stacks[r.stack].stack);
    else
        m->accepts = true;
}

static int by_place(const void *a, const void *b) {
    const reading *x = a, *y = b;
    return x->node != y->node ? (x->node > y->node) - (x->node < y->node)
                              : (x->stack > y->stack) - (x->stack < y->stack);
}

// ------------------------------------------------------------------------------------------ states
static uint32_t hash_readings(const reading *r, int32_t n, bool accepts) {
    uint32_t h = accepts;
    for (int32_t i = 0; i < n; i++) h = (h ^ hash_pair(r[i].node, r[i].stack)) * 0x9e3779b1u;
    return h ^ h >> 15;
}

static void rehash_states(burin_recognizer *m) {
    number_table *t = &m->state_table;
    free(t->slot);
    t->size = t->size ? 2 * t->size : 256;
    t->slot = burin_allocate(t->size, sizeof *t->slot);
    for (int32_t i = 1; i < m->n_states; i++) {
        const set_of_readings *s = &m->states[i];
        uint32_t at = hash_readings(m->pool + s->first, s->n, s->accepts);
        while (t->slot[at & (t->size - 1)]) at++;
        t->slot[at & (t->size - 1)] = i;
    }
}

static int32_t add_state(burin_recognizer *m, const reading *r, int32_t n, uint32_t at) {
    if (!burin_spend_bytes(&m->budget,
                           (size_t)n * sizeof *r + (size_t)m->n_classes * sizeof *m->steps)) {
        m->overflowed = true;
        return 0;
    }
    m->pool = grow(m->pool, &m->room_pool, (size_t)m->n_pool + (size_t)n, sizeof *m->pool);
    m->states = grow(m->states, &m->room_states, (size_t)m->n_states + 1, sizeof *m->states);
    m->steps = grow(m->steps, &m->room_steps, ((size_t)m->n_states + 1) * (size_t)m->n_classes,
                    sizeof *m->steps);
    if (n) memcpy(m->pool + m->n_pool, r, (size_t)n * sizeof *r);
    m->states[m->n_states] = (set_of_readings){m->n_pool, n, m->accepts};
    m->n_pool += n;
    for (int32_t c = 0; c < m->n_classes; c++)
        m->steps[(size_t)m->n_states * (size_t)m->n_classes + (size_t)c] = -1;
    m->state_table.slot[at & (m->state_table.size - 1)] = m->n_states++;
    if ((uint32_t)m->n_states * 2 > m->state_table.size) rehash_states(m);
    return m->n_states - 1;
}

static void sort_readings(reading *r, int32_t n) {
    enum { FEW = 12 };
    if (n > FEW) qsort(r, (size_t)n, sizeof *r, by_place);
    for (int32_t i = 1; i < n && n <= FEW; i++)
        for (int32_t k = i; k > 0 && by_place(&r[k - 1], &r[k]) > 0; k--) {
            reading before = r[k - 1];
            r[k - 1] = r[k], r[k] = before;
        }
}

// The state of the work, once everything is followed: the readings that wait for a byte.
static int32_t state_of_work(burin_recognizer *m) {
    number_table *t = &m->state_table;
    int32_t n = 0, all = 0;
    for (; all < m->n_work; all++) follow(m, m->work[all]);
    reading *waiting = m->waiting =
        grow(m->waiting, &m->room_waiting, (size_t)all, sizeof *waiting);
    for (int32_t i = 0; i < all; i++)
        if (m->g->nodes[m->work[i].node].op == BURIN_G_BYTE) waiting[n++] = m->work[i];
    sort_readings(waiting, n);
    uint32_t at = hash_readings(waiting, n, m->accepts);
    int32_t state = n > BURIN_GRAMMAR_READINGS || m->overflowed || (!n && !m->accepts) ? 0 : -1;
    m->overflowed |= n > BURIN_GRAMMAR_READINGS;
    for (; state < 0 && t->slot[at & (t->size - 1)]; at++) {
        const set_of_readings *s = &m->states[t->slot[at & (t->size - 1)]];
        if (s->n == n && s->accepts == m->accepts &&
            (!n || !memcmp(m->pool + s->first, waiting, (size_t)n * sizeof *waiting)))
            state = t->slot[at & (t->size - 1)];
    }
    if (state < 0) state = add_state(m, waiting, n, at);
    clear_work(m);
    return state;
}

int32_t burin_recognizer_start(burin_recognizer *m) {
    add_work(m, m->g->entries[m->g->root], 0);
    return state_of_work(m);
}

static void rehash_seeds(burin_recognizer *m) {
    number_table *t = &m->seed_table;
    free(t->slot);
    t->size = t->size ? 2 * t->size : 256;
    t->slot = burin_allocate(t->size, sizeof *t->slot);
    for (int32_t i = 0; i < m->n_seeds; i++) {
        uint32_t at = hash_pair(m->seeds[i].from.node, m->seeds[i].from.stack);
        while (t->slot[at & (t->size - 1)]) at++;
        t->slot[at & (t->size - 1)] = i + 1;
    }
}

// The state of work that is one reading, as most is.
static int32_t state_of_seed(burin_recognizer *m) {
    number_table *t = &m->seed_table;
    reading from = *m->work;
    uint32_t at = hash_pair(from.node, from.stack);
    for (; t->slot[at & (t->size - 1)]; at++) {
        const seed *there = &m->seeds[t->slot[at & (t->size - 1)] - 1];
        if (there->from.node != from.node || there->from.stack != from.stack) continue;
        clear_work(m);
        return there->state;
    }
    int32_t state = state_of_work(m);
    m->seeds = grow(m->seeds, &m->room_seeds, (size_t)m->n_seeds + 1, sizeof *m->seeds);
    m->seeds[m->n_seeds++] = (seed){from, state};
    t->slot[at & (t->size - 1)] = m->n_seeds;
    if ((uint32_t)m->n_seeds * 2 > t->size) rehash_seeds(m);
    return state;
}

const int32_t *burin_recognizer_steps(const burin_recognizer *m, const uint8_t **class_of,
                                      int32_t *n_classes) {
    *class_of = m->class_of, *n_classes = m->n_classes;
    return m->steps;
}

// Pays for a look at all readings of a state.
static bool spend_readings(burin_recognizer *m, int32_t n) {
    m->overflowed |= !burin_spend(&m->budget, 1 + (uint64_t)n / 8);
    return !m->overflowed;
}

int32_t burin_recognizer_step(burin_recognizer *m, int32_t state, uint8_t byte) {
    size_t at = (size_t)state * (size_t)m->n_classes + m->class_of[byte];
    if (m->steps[at] >= 0) return m->steps[at];
    const set_of_readings s = m->states[state];
    if (!spend_readings(m, s.n)) return 0;
    for (int32_t i = 0; i < s.n; i++) {
        reading r = m->pool[s.first + i];
        const burin_grammar_node *node = &m->g->nodes[r.node];
        if (byte >= node->low && byte <= node->high) add_work(m, node->next, r.stack);
    }
    int32_t next = !m->n_work ? 0 : m->n_work == 1 ? state_of_seed(m) : state_of_work(m);
    m->steps[at] = next;
    return next;
}

int32_t burin_recognizer_step_parts(burin_recognizer *m, int32_t state, uint8_t parts) {
    const set_of_readings s = m->states[state];
    if (!spend_readings(m, s.n)) return 0;
    for (int32_t i = 0; i < s.n; i++) {
        reading r = m->pool[s.first + i];
        int32_t number = m->g->nodes[r.node].other;
        if (!number) continue;  // inside of a character no other begins
        const burin_grammar_class *c = &m->g->classes[number - 1];
        if ((c->none & parts) == parts) continue;
        if ((c->all & parts) == parts) {
            add_work(m, c->next, r.stack);
            continue;
        }
        clear_work(m);
        return -1;
    }
    return !m->n_work ? 0 : m->n_work == 1 ? state_of_seed(m) : state_of_work(m);
}

int32_t burin_recognizer_join(burin_recognizer *m, int32_t a, int32_t b) {
    const int32_t both[] = {a, b};
    bool accepts = false;
    for (int i = 0; i < 2; i++) {
        const set_of_readings s = m->states[both[i]];
        accepts |= s.accepts;
        for (int32_t k = 0; k < s.n; k++)
            add_work(m, m->pool[s.first + k].node, m->pool[s.first + k].stack);
    }
    m->accepts = accepts;
    return state_of_work(m);
}

bool burin_recognizer_accepts(const burin_recognizer *m, int32_t state) {
    return m->states[state].accepts;
}
bool burin_recognizer_goes_on(const burin_recognizer *m, int32_t state) {
    return m->states[state].n > 0;
}
int burin_recognizer_only_byte(const burin_recognizer *m, int32_t state) {
    const set_of_readings s = m->states[state];
    int byte = -1;
    for (int32_t i = 0; i < s.n; i++) {
        const burin_grammar_node *node = &m->g->nodes[m->pool[s.first + i].node];
        if (node->low != node->high || (byte >= 0 && byte != node->low)) return -1;
        byte = node->low;
    }
    return s.accepts ? -1 : byte;
}

bool burin_recognizer_overflowed(const burin_recognizer *m) { return m->overflowed; }
void burin_recognizer_new_budget(burin_recognizer *m) { m->budget.steps = 0; }

void burin_recognizer_overflow_text(const burin_recognizer *m, char *out, size_t room) {
    const burin_budget *b = &m->budget;
    if (burin_is_spent(b->steps, b->max_steps) || burin_is_spent(b->bytes, b->max_bytes))
        return burin_budget_text(b, out, room);
    burin_format(out, room, "%s reads this text in more than %d ways at once", b->name,
                 BURIN_GRAMMAR_READINGS);
}

burin_recognizer *burin_recognizer_open(const burin_grammar *g) {
    burin_recognizer *m = burin_allocate(1, sizeof *m);
    m->g = g, m->n_stacks = 1, m->n_states = 1;  // 0: the empty stack, the state of no reading
    m->budget = (burin_budget){
        .name = "the grammar", .max_steps = BURIN_GRAMMAR_STEPS, .max_bytes = MOST_STATE_BYTES};
    find_classes(m);
    m->stack_table.size = m->seed_table.size = USUAL_STATES, m->state_table.size = USUAL_STATES / 2;
    rehash_stacks(m);
    rehash_states(m);
    rehash_seeds(m);
    rehash_work(m);
    m->stacks = room_for(&m->room_stacks, 4 * USUAL_STATES, sizeof *m->stacks);
    m->states = room_for(&m->room_states, USUAL_STATES, sizeof *m->states);
    m->pool = room_for(&m->room_pool, 8 * USUAL_STATES, sizeof *m->pool);
    m->steps = room_for(&m->room_steps, USUAL_STEPS, sizeof *m->steps);
    return m;
}

void burin_recognizer_close(burin_recognizer *m) {
    void *all[] = {m->stacks,
                   m->pool,
                   m->states,
                   m->steps,
                   m->work,
                   m->stack_table.slot,
                   m->state_table.slot,
                   m->seen_table.slot,
                   m->seeds,
                   m->waiting,
                   m->seed_table.slot,
                   m};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

// -------------------------------------------------------------------------------------- forgetting
// The stack of another matcher, in this one: its nodes from the top down.
static int32_t take_stack(burin_recognizer *m, const burin_recognizer *from, int32_t stack) {
    int32_t n = 0, own = 0;
    for (int32_t s = stack; s; s = from->stacks[s].stack) n++;
    int32_t *nodes = burin_allocate((size_t)n, sizeof *nodes);
    for (int32_t s = stack, i = 0; s; s = from->stacks[s].stack) nodes[i++] = from->stacks[s].node;
    while (n) own = push(m, nodes[--n], own);
    free(nodes);
    return own;
}

int32_t burin_recognizer_tidy(burin_recognizer *m, int32_t state) {
    enum { MANY_STATES = 1 << 13, MANY_STACKS = 1 << 18, MANY_READINGS = 1 << 20 };
    if (m->n_states < MANY_STATES && m->n_stacks < MANY_STACKS && m->n_pool < MANY_READINGS)
        return state;
    burin_recognizer *fresh = burin_recognizer_open(m->g), old;
    const set_of_readings s = m->states[state];
    for (int32_t i = 0; i < s.n; i++)
        add_work(fresh, m->pool[s.first + i].node,
                 take_stack(fresh, m, m->pool[s.first + i].stack));
    fresh->accepts = s.accepts;
    int32_t own = state_of_work(fresh);
    old = *m, *m = *fresh, *fresh = old;
    burin_recognizer_close(fresh);
    return own;
}
