// A pickle is a program for a machine with a stack, which may call any function of Python. This
// machine knows the instructions of a dict of tensors, and makes values of its data. No call is
// made: these names have values of their own, and any other is refused:
//   torch._utils._rebuild_tensor_v2(storage, offset, size, stride, ...)   a tensor
//   torch._utils._rebuild_parameter(tensor, ...)                          the tensor
//   collections.OrderedDict()                                             a dict
#include <inttypes.h>
#include <string.h>

#include "frontend/checkpoint/pytorch.h"

typedef struct Machine {
    Arena *arena;
    const MappedFile *file;
    const unsigned char *begin, *at, *end;
    PickleValue **stack, **memo;
    int n_stack, stack_room, n_memo, memo_room;
} Machine;

_Noreturn static void refuse(const Machine *m, const char *why) {
    file_fatal(
        m->file,
        "byte %" PRIu64
        " of its pickle %s: only dicts of tensors are read, and nothing is executed"
        "\nhint: take the model's .safetensors, or convert it with safetensors.torch.save_file",
        (uint64_t)(m->at - m->begin), why);
}

static const unsigned char *take(Machine *m, uint64_t n) {
    if (n > (uint64_t)(m->end - m->at)) refuse(m, "asks for bytes beyond its end");
    m->at += n;
    return m->at - n;
}

static uint64_t take_number(Machine *m, int bytes) {
    const unsigned char *p = take(m, (uint64_t)bytes);
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | p[i];
    return value;
}

// ---------------------------------------------------------------------------------- stack and memo
static void append(Arena *arena, PickleValue ***list, int *n, int *room, PickleValue *v) {
    if (*n == *room) {
        int more = *room ? 2 * *room : 8;
        PickleValue **grown = ARENA_ARRAY(arena, PickleValue *, more);
        if (*n) memcpy(grown, *list, (size_t)*n * sizeof **list);
        *list = grown, *room = more;
    }
    (*list)[(*n)++] = v;
}

static void push(Machine *m, PickleValue *v) {
    append(m->arena, &m->stack, &m->n_stack, &m->stack_room, v);
}

static PickleValue *new_value(Machine *m, PickleKind kind) {
    PickleValue *v = ARENA_NEW(m->arena, PickleValue);
    v->kind = kind;
    return v;
}

static void push_number(Machine *m, int64_t number) {
    PickleValue *v = new_value(m, PICKLE_INT);
    v->number = number;
    push(m, v);
}

static PickleValue *pop(Machine *m) {
    if (!m->n_stack || m->stack[m->n_stack - 1]->kind == PICKLE_MARK)
        refuse(m, "takes a value that is not there");
    return m->stack[--m->n_stack];
}

static PickleValue *top(Machine *m) {
    PickleValue *v = pop(m);
    push(m, v);
    return v;
}

// The place of the last mark; what is above it is taken by the caller.
static int find_mark(Machine *m) {
    int at = m->n_stack - 1;
    while (at >= 0 && m->stack[at]->kind != PICKLE_MARK) at--;
    if (at < 0) refuse(m, "takes values that are not there");
    return at;
}

// pickle counts its notes from 0 on.
static void remember(Machine *m, uint64_t index) {
    PickleValue *v = top(m);
    if (index < (uint64_t)m->n_memo)
        m->memo[index] = v;
    else if (index == (uint64_t)m->n_memo)
        append(m->arena, &m->memo, &m->n_memo, &m->memo_room, v);
    else
        refuse(m, "makes notes out of turn");
}

static void recall(Machine *m, uint64_t index) {
    if (index >= (uint64_t)m->n_memo) refuse(m, "looks for a note that it never made");
    push(m, m->memo[index]);
}

// ------------------------------------------------------------------------------------------ values
static void push_text(Machine *m, uint64_t bytes) {
    PickleValue *v = new_value(m, PICKLE_TEXT);
    const char *text = (const char *)take(m, bytes);
    if (memchr(text, 0, bytes)) refuse(m, "has a text with a zero byte");
    v->text = arena_strndup(m->arena, text, bytes);
    push(m, v);
}

static const char *take_line(Machine *m) {
    const unsigned char *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    if (!end) refuse(m, "has a function's name without a line end");
    const char *line = arena_strndup(m->arena, (const char *)m->at, (size_t)(end - m->at));
    m->at = end + 1;
    return line;
}

static void push_name(Machine *m, const char *module, const char *name) {
    PickleValue *v = new_value(m, PICKLE_NAME);
    v->text = arena_printf(m->arena, "%s.%s", module, name);
    push(m, v);
}

static void push_tuple(Machine *m, int first, bool is_list) {
    PickleValue *v = new_value(m, PICKLE_TUPLE);
    v->is_list = is_list;
    for (int i = first; i < m->n_stack; i++)
        append(m->arena, &v->items, &v->n_items, &v->room, m->stack[i]);
    m->n_stack = first;
    push(m, v);
}

static void push_marked(Machine *m) {
    int mark = find_mark(m);
    PickleValue *v = new_value(m, PICKLE_TUPLE);
    for (int i = mark + 1; i < m->n_stack; i++)
        append(m->arena, &v->items, &v->n_items, &v->room, m->stack[i]);
    m->n_stack = mark;
    push(m, v);
}

static void push_short_tuple(Machine *m, int n) {
    if (m->n_stack < n) refuse(m, "takes values that are not there");
    for (int i = 1; i <= n; i++)
        if (m->stack[m->n_stack - i]->kind == PICKLE_MARK)
            refuse(m, "takes values that are not there");
    push_tuple(m, m->n_stack - n, false);
}

// Long integers: of at most 8 bytes.
static void push_long(Machine *m, uint64_t bytes) {
    if (bytes > 8) refuse(m, "has a number of more than 64 bits");
    const unsigned char *p = take(m, bytes);
    uint64_t value = bytes && p[bytes - 1] >> 7 ? UINT64_MAX : 0;
    for (uint64_t i = bytes; i-- > 0;) value = value << 8 | p[i];
    push_number(m, (int64_t)value);
}

static void add_items(Machine *m, int mark) {
    if (mark < 1 || m->stack[mark - 1]->kind != PICKLE_DICT || (m->n_stack - mark - 1) % 2)
        refuse(m, "adds items to a value that is not a dict");
    PickleValue *dict = m->stack[mark - 1];
    for (int i = mark + 1; i < m->n_stack; i++)
        append(m->arena, &dict->items, &dict->n_items, &dict->room, m->stack[i]);
    m->n_stack = mark;
}

static void add_item(Machine *m) {
    PickleValue *value = pop(m), *key = pop(m), *dict = top(m);
    if (dict->kind != PICKLE_DICT) refuse(m, "adds items to a value that is not a dict");
    append(m->arena, &dict->items, &dict->n_items, &dict->room, key);
    append(m->arena, &dict->items, &dict->n_items, &dict->room, value);
}

static void add_elements(Machine *m, int mark) {
    if (mark < 1 || m->stack[mark - 1]->kind != PICKLE_TUPLE || !m->stack[mark - 1]->is_list)
        refuse(m, "appends to a value that is not a list");
    PickleValue *list = m->stack[mark - 1];
    for (int i = mark + 1; i < m->n_stack; i++)
        append(m->arena, &list->items, &list->n_items, &list->room, m->stack[i]);
    m->n_stack = mark;
}

static void add_element(Machine *m) {
    PickleValue *value = pop(m), *list = top(m);
    if (list->kind != PICKLE_TUPLE || !list->is_list)
        refuse(m, "appends to a value that is not a list");
    append(m->arena, &list->items, &list->n_items, &list->room, value);
}

// ("storage", torch.FloatStorage, "0", "cpu", 1024)
static void push_storage(Machine *m) {
    PickleValue *id = pop(m);
    bool fits = id->kind == PICKLE_TUPLE && id->n_items == 5 && id->items[0]->kind == PICKLE_TEXT &&
                !strcmp(id->items[0]->text, "storage") && id->items[1]->kind == PICKLE_NAME &&
                id->items[2]->kind == PICKLE_TEXT && id->items[4]->kind == PICKLE_INT;
    if (!fits) refuse(m, "names something other than a tensor's storage");
    PickleValue *v = new_value(m, PICKLE_STORAGE);
    v->text = id->items[2]->text, v->number = id->items[4]->number;
    append(m->arena, &v->items, &v->n_items, &v->room, id->items[1]);
    push(m, v);
}

static bool is_tensor(const PickleValue *a) {
    return a->n_items >= 4 && a->items[0]->kind == PICKLE_STORAGE &&
           a->items[1]->kind == PICKLE_INT && a->items[2]->kind == PICKLE_TUPLE &&
           a->items[3]->kind == PICKLE_TUPLE;
}

static void call(Machine *m) {
    PickleValue *arguments = pop(m), *name = pop(m);
    if (name->kind != PICKLE_NAME || arguments->kind != PICKLE_TUPLE)
        refuse(m, "calls a value that is not a function's name");
    if (!strcmp(name->text, "torch._utils._rebuild_tensor_v2") && is_tensor(arguments)) {
        arguments->kind = PICKLE_TENSOR;
        push(m, arguments);
    } else if (!strcmp(name->text, "torch._utils._rebuild_parameter") && arguments->n_items &&
               arguments->items[0]->kind == PICKLE_TENSOR) {
        push(m, arguments->items[0]);
    } else if (!strcmp(name->text, "collections.OrderedDict") && !arguments->n_items) {
        push(m, new_value(m, PICKLE_DICT));
    } else {
        refuse(m, arena_printf(m->arena, "calls %s", name->text));
    }
}

// A dict's own state ("_metadata" of PyTorch's) has no numbers of the model.
static void set_state(Machine *m) {
    pop(m);
    if (top(m)->kind != PICKLE_DICT) refuse(m, "sets the state of an object");
}

static void push_global(Machine *m) {
    const char *module = take_line(m), *name = take_line(m);
    push_name(m, module, name);
}

static void push_stack_global(Machine *m) {
    PickleValue *name = pop(m), *module = pop(m);
    if (name->kind != PICKLE_TEXT || module->kind != PICKLE_TEXT)
        refuse(m, "builds a function's name from a value that is not a text");
    push_name(m, module->text, name->text);
}

// ------------------------------------------------------------------------------------ instructions
static void skip(Machine *m, uint64_t operand) { (void)m, (void)operand; }
static void push_unsigned(Machine *m, uint64_t n) { push_number(m, (int64_t)n); }
static void push_int32(Machine *m, uint64_t n) { push_number(m, (int32_t)n); }

// Floats are settings of an optimizer: their values are never read.
static void push_float(Machine *m, uint64_t bits) {
    (void)bits;
    push(m, new_value(m, PICKLE_FLOAT));
}

static void push_true(Machine *m) { push_number(m, 1); }
static void push_false(Machine *m) { push_number(m, 0); }
static void push_none(Machine *m) { push(m, new_value(m, PICKLE_NONE)); }
static void push_mark(Machine *m) { push(m, new_value(m, PICKLE_MARK)); }
static void push_dict(Machine *m) { push(m, new_value(m, PICKLE_DICT)); }
static void push_empty_list(Machine *m) { push_tuple(m, m->n_stack, true); }
static void push_empty_tuple(Machine *m) { push_tuple(m, m->n_stack, false); }
static void push_single(Machine *m) { push_short_tuple(m, 1); }
static void push_pair(Machine *m) { push_short_tuple(m, 2); }
static void push_triple(Machine *m) { push_short_tuple(m, 3); }
static void remember_next(Machine *m) { remember(m, (uint64_t)m->n_memo); }
static void add_marked_items(Machine *m) { add_items(m, find_mark(m)); }
static void add_marked_elements(Machine *m) { add_elements(m, find_mark(m)); }

// One instruction of the pickle protocol, as Python's pickletools names them.
typedef struct Instruction {
    unsigned char code;
    unsigned char operand_bytes;                // of the number after the code; 0: none
    void (*read)(Machine *, uint64_t operand);  // NULL: it has no operand
    void (*run)(Machine *);                     // NULL: it has one
} Instruction;

enum { STOP = '.' };

static const Instruction instructions[] = {
    {0x80, 1, .read = skip},            // PROTO
    {0x95, 8, .read = skip},            // FRAME
    {'q', 1, .read = remember},         // BINPUT
    {'r', 4, .read = remember},         // LONG_BINPUT
    {0x94, .run = remember_next},       // MEMOIZE
    {'h', 1, .read = recall},           // BINGET
    {'j', 4, .read = recall},           // LONG_BINGET
    {'X', 4, .read = push_text},        // BINUNICODE
    {0x8c, 1, .read = push_text},       // SHORT_BINUNICODE
    {0x8d, 8, .read = push_text},       // BINUNICODE8
    {'T', 4, .read = push_text},        // BINSTRING
    {'U', 1, .read = push_text},        // SHORT_BINSTRING
    {'J', 4, .read = push_int32},       // BININT
    {'K', 1, .read = push_unsigned},    // BININT1
    {'M', 2, .read = push_unsigned},    // BININT2
    {0x8a, 1, .read = push_long},       // LONG1
    {'G', 8, .read = push_float},       // BINFLOAT
    {0x88, .run = push_true},           // NEWTRUE
    {0x89, .run = push_false},          // NEWFALSE
    {'N', .run = push_none},            // NONE
    {'(', .run = push_mark},            // MARK
    {'}', .run = push_dict},            // EMPTY_DICT
    {']', .run = push_empty_list},      // EMPTY_LIST
    {')', .run = push_empty_tuple},     // EMPTY_TUPLE
    {'t', .run = push_marked},          // TUPLE
    {0x85, .run = push_single},         // TUPLE1
    {0x86, .run = push_pair},           // TUPLE2
    {0x87, .run = push_triple},         // TUPLE3
    {'c', .run = push_global},          // GLOBAL
    {0x93, .run = push_stack_global},   // STACK_GLOBAL
    {'Q', .run = push_storage},         // BINPERSID
    {'R', .run = call},                 // REDUCE
    {'b', .run = set_state},            // BUILD
    {'s', .run = add_item},             // SETITEM
    {'u', .run = add_marked_items},     // SETITEMS
    {'a', .run = add_element},          // APPEND
    {'e', .run = add_marked_elements},  // APPENDS
};

static const Instruction *find_instruction(unsigned char code) {
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        if (instructions[i].code == code) return &instructions[i];
    return NULL;
}

// Runs one instruction. Returns false at STOP.
static bool run_step(Machine *m) {
    unsigned char code = *take(m, 1);
    if (code == STOP) return false;
    const Instruction *i = find_instruction(code);
    if (!i) refuse(m, arena_printf(m->arena, "has the instruction 0x%02x", code));
    if (i->read)
        i->read(m, take_number(m, i->operand_bytes));
    else
        i->run(m);
    return true;
}

PickleValue *pickle_read(Arena *arena, const MappedFile *file, const unsigned char *data,
                         uint64_t size) {
    Machine m = {.arena = arena, .file = file, .begin = data, .at = data, .end = data + size};
    while (run_step(&m)) {}
    if (m.n_stack != 1) refuse(&m, "ends with something left over");
    return pop(&m);
}
