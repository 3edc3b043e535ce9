// Nodes and strings of a template, and the blob they become (runtime/template/template.h).
#include <stdarg.h>
#include <string.h>

#include "frontend/template/parser.h"
#include "util/hash.h"

void template_fatal(TemplateParser *p, Loc place, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    p->problem = arena_vmessage(p->arena, format, arguments);
    va_end(arguments);
    p->place = place;
    longjmp(p->stop, 1);
}

void words_add(TemplateParser *p, Words *w, uint32_t word) {
    if (w->n == w->capacity) {
        uint32_t capacity = w->capacity ? 2 * w->capacity : 16;
        uint32_t *grown = ARENA_ARRAY(p->arena, uint32_t, capacity);
        if (w->n) memcpy(grown, w->data, w->n * sizeof *grown);
        w->data = grown, w->capacity = capacity;
    }
    w->data[w->n++] = word;
}

// ---- strings, each once ----

static bool is_string(const TemplateParser *p, uint32_t number, const char *text, size_t length) {
    const uint32_t *entry = &p->strings.data[2 * number];
    return entry[1] == length && (!length || !memcmp(p->bytes.data + entry[0], text, length));
}

static uint32_t *string_slot(TemplateParser *p, const char *text, size_t length) {
    for (uint64_t h = hash_bytes(text, length, 0);; h++) {
        uint32_t *slot = &p->index[h & (p->n_index - 1)];
        if (!*slot || is_string(p, *slot - 1, text, length)) return slot;
    }
}

static void grow_index(TemplateParser *p) {
    uint32_t n = p->strings.n / 2;
    if (2 * (n + 1) <= p->n_index) return;
    p->n_index = p->n_index ? 2 * p->n_index : 256;
    p->index = ARENA_ARRAY(p->arena, uint32_t, p->n_index);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *entry = &p->strings.data[2 * i];
        *string_slot(p, p->bytes.data + entry[0], entry[1]) = i + 1;
    }
}

uint32_t string_number(TemplateParser *p, const char *text, size_t length) {
    grow_index(p);
    uint32_t *slot = string_slot(p, text ? text : "", length);
    if (*slot) return *slot - 1;
    uint32_t number = p->strings.n / 2;
    *slot = number + 1;
    words_add(p, &p->strings, (uint32_t)p->bytes.length);
    words_add(p, &p->strings, (uint32_t)length);
    text_append(&p->bytes, text ? text : "", length);
    return number;
}

// ---- nodes ----

// A location in the renderer's format, in the space of a word. `lines`: the offsets of line starts.
static uint32_t place_word(const Words *lines, uint32_t offset) {
    uint32_t low = 0, high = lines->n;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        *(lines->data[middle] <= offset ? &low : &high) = middle;
    }
    uint32_t column = offset - lines->data[low] + 1;
    return (low + 1 < 0xfffff ? low + 1 : 0xfffff) << 12 | (column < 0xfff ? column : 0xfff);
}

// Nodes have offsets in the source so far.
void template_place_nodes(TemplateParser *p) {
    Words lines = {0};
    words_add(p, &lines, 0);
    for (uint32_t i = 0; i < p->source->size; i++)
        if (p->source->text[i] == '\n') words_add(p, &lines, i + 1);
    for (; p->n_placed < p->nodes.n; p->n_placed++) {
        uint32_t *place = &p->words.data[p->nodes.data[p->n_placed] + 1];
        *place = place_word(&lines, *place);
    }
}

uint32_t node_add(TemplateParser *p, uint32_t op, Loc loc, const uint32_t *operands, uint32_t n) {
    uint32_t node = p->words.n;
    words_add(p, &p->words, op);
    words_add(p, &p->words, loc.offset);
    for (uint32_t i = 0; i < n; i++) words_add(p, &p->words, operands[i]);
    words_add(p, &p->nodes, node);
    return node;
}

void template_check_builtin(TemplateParser *p, const Token *name, bool filter) {
    burin_value text = burin_string_of(name->text, name->length);
    bool known = filter ? burin_find_builtin(burin_filter_rows, text) ||
                              burin_find_builtin(burin_list_filter_rows, text)
                        : burin_find_builtin(burin_test_rows, text) != NULL;
    uint32_t number = string_number(p, name->text, name->length);
    for (uint32_t i = 0; i < p->warned.n; i++) known |= p->warned.data[i] == number;
    if (known) return;
    words_add(p, &p->warned, number);
    diag_warning(name->loc, "there is no %s \"%.*s\": a rendering that comes to it fails",
                 filter ? "filter" : "test", (int)name->length, name->text);
}

static uint32_t append(Text *t, const void *data, size_t bytes) {
    static const char zeros[8];
    uint32_t at = (uint32_t)t->length;
    text_append(t, data, bytes);
    text_append(t, zeros, -t->length & 7);
    return at;
}

static uint32_t token_number(TemplateParser *p, const char *text) {
    return text ? string_number(p, text, strlen(text)) + 1 : 0;
}

void template_write(TemplateParser *p, uint32_t root, const TemplateText *t,
                    CompiledTemplate *out) {
    Text blob = {0};
    burin_template head = {
        .magic = BURIN_TEMPLATE_MAGIC, .version = BURIN_TEMPLATE_VERSION, .root = root};
    head.bos = token_number(p, t->bos), head.eos = token_number(p, t->eos);
    Words tokens = {0};
    for (int i = 0; i < t->n_tokens; i++) {
        words_add(p, &tokens, string_number(p, t->tokens[i].name, strlen(t->tokens[i].name)));
        words_add(p, &tokens, string_number(p, t->tokens[i].text, strlen(t->tokens[i].text)));
    }
    append(&blob, &head, sizeof head);
    head.n_tokens = (uint32_t)t->n_tokens;
    head.tokens = append(&blob, tokens.data, tokens.n * sizeof(uint32_t));
    head.n_words = p->words.n, head.n_strings = p->strings.n / 2;
    head.words = append(&blob, p->words.data, p->words.n * sizeof(uint32_t));
    uint32_t bytes = (uint32_t)(blob.length + p->strings.n * sizeof(uint32_t) + 7) & ~7u;
    for (uint32_t i = 0; i < head.n_strings; i++) p->strings.data[2 * i] += bytes;
    head.strings = append(&blob, p->strings.data, p->strings.n * sizeof(uint32_t));
    append(&blob, p->bytes.data, p->bytes.length);
    head.bytes = (uint32_t)blob.length;
    out->blob = arena_alloc(p->arena, blob.length);
    out->bytes = head.bytes;
    memcpy(out->blob, blob.data, blob.length);
    memcpy(out->blob, &head, sizeof head);
    text_free(&blob);
}
