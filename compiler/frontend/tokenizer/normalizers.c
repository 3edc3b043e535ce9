// tokenizer.json's normalizers, one row a type, to the steps of
// runtime/tokenizer/tokenizer_normalize.h with the Unicode tables they need.
#include <stdlib.h>
#include <string.h>

#include "frontend/tokenizer/compile.h"
#include "frontend/tokenizer/unicode.h"
#include "runtime/tokenizer/tokenizer_charsmap.h"

enum { MAX_EXPANSION = 32, DOTTED_I = 0x130 };

typedef struct {
    TokenizerBuilder *b;
    Bytes mappings;  // burin_mapping
} Mapping;

static void map_code(Mapping *m, uint32_t code, const uint32_t *to, uint32_t n) {
    burin_mapping one = {code, (uint32_t)(m->b->expansions.length / 4), n};
    bytes_append(&m->b->expansions, to, n * 4);
    bytes_append(&m->mappings, &one, sizeof one);
}

static int by_code(const void *a, const void *b) {
    uint32_t x = ((const burin_mapping *)a)->code, y = ((const burin_mapping *)b)->code;
    return (x > y) - (x < y);
}

static burin_section mapping_section(Mapping *m) {
    size_t n = m->mappings.length / sizeof(burin_mapping);
    if (n) qsort(m->mappings.data, n, sizeof(burin_mapping), by_code);
    return builder_section(m->b, m->mappings.data, n, sizeof(burin_mapping));
}

static void add_mapping_step(Mapping *m) {
    builder_add_normalizer(
        m->b, (burin_normalizer){.kind = BURIN_NORMALIZE_MAP, .mappings = mapping_section(m)},
        NULL);
}

// ---------------------------------------------------------------------------------- NFC and others
// Hugging Face's normalization is that of Unicode 9, its BERT's categories are those of Unicode 8.
enum { NORMALIZED = 90, CATEGORIES = 80 };

static const UnicodeDecomposition *find_decomposition(uint32_t code) {
    const UnicodeTables *u = unicode_tables();
    size_t low = 0, high = u->n_decompositions;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (u->decompositions[middle].code == code) return &u->decompositions[middle];
        if (u->decompositions[middle].code < code)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static uint32_t expand(uint32_t code, bool compatible, uint32_t *to) {
    const UnicodeDecomposition *d = find_decomposition(code);
    uint32_t n = 0;
    if (!d || (d->compatible && !compatible) || unicode_newer(code, NORMALIZED)) {
        *to = code;
        return 1;
    }
    for (uint32_t i = 0; i < d->count && n < MAX_EXPANSION; i++)
        n += expand(unicode_tables()->parts[d->offset + i], compatible, to + n);
    return n;
}

static burin_section class_section(TokenizerBuilder *b) {
    const UnicodeTables *u = unicode_tables();
    Bytes known = {.arena = b->arena};
    for (size_t i = 0; i < u->n_classes; i++)
        if (!unicode_newer(u->classes[i].code, NORMALIZED))
            bytes_append(&known, &u->classes[i], sizeof *u->classes);
    return builder_section(b, known.data, known.length / sizeof *u->classes, sizeof *u->classes);
}

static void add_decomposition(TokenizerBuilder *b, bool compatible) {
    const UnicodeTables *u = unicode_tables();
    Mapping m = {b, {.arena = b->arena}};
    uint32_t to[MAX_EXPANSION * 2];
    for (size_t i = 0; i < u->n_decompositions; i++) {
        uint32_t code = u->decompositions[i].code, n = expand(code, compatible, to);
        if (n > 1 || *to != code) map_code(&m, code, to, n);
    }
    burin_normalizer n = {.kind = BURIN_NORMALIZE_DECOMPOSE,
                          .mappings = mapping_section(&m),
                          .classes = class_section(b)};
    builder_add_normalizer(b, n, NULL);
}

static bool is_starter(uint32_t code) {
    const UnicodeTables *u = unicode_tables();
    for (size_t i = 0; i < u->n_classes; i++)
        if (u->classes[i].code == code) return false;
    return true;
}

static int by_pair(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    if (x[0] != y[0]) return x[0] < y[0] ? -1 : 1;
    return (x[1] > y[1]) - (x[1] < y[1]);
}

static void add_composition(TokenizerBuilder *b) {
    const UnicodeTables *u = unicode_tables();
    Bytes triples = {.arena = b->arena};
    for (size_t i = 0; i < u->n_decompositions; i++) {
        const UnicodeDecomposition *d = &u->decompositions[i];
        const uint32_t *part = u->parts + d->offset;
        if (d->compatible || d->excluded || d->count != 2 || unicode_newer(d->code, NORMALIZED))
            continue;
        if (!is_starter(d->code) || !is_starter(part[0])) continue;
        bytes_append(&triples, (uint32_t[]){part[0], part[1], d->code}, 12);
    }
    qsort(triples.data, triples.length / 12, 12, by_pair);
    burin_normalizer n = {.kind = BURIN_NORMALIZE_COMPOSE, .classes = class_section(b)};
    n.pairs = builder_section(b, triples.data, triples.length / 12, 12);
    builder_add_normalizer(b, n, NULL);
}

static void normalize_nfd(TokenizerBuilder *b, const json_t *n) {
    (void)n, add_decomposition(b, false);
}
static void normalize_nfkd(TokenizerBuilder *b, const json_t *n) {
    (void)n, add_decomposition(b, true);
}

static void normalize_nfc(TokenizerBuilder *b, const json_t *n) {
    normalize_nfd(b, n);
    add_composition(b);
}

static void normalize_nfkc(TokenizerBuilder *b, const json_t *n) {
    normalize_nfkd(b, n);
    add_composition(b);
}

// ----------------------------------------------------------------------------- case, accents, BERT
static void normalize_lowercase(TokenizerBuilder *b, const json_t *n) {
    (void)n;
    const UnicodeTables *u = unicode_tables();
    Mapping m = {b, {.arena = b->arena}};
    for (size_t i = 0; i < u->n_lower; i++)
        if (u->lower[i].code != DOTTED_I) map_code(&m, u->lower[i].code, &u->lower[i].lower, 1);
    map_code(&m, DOTTED_I, (uint32_t[]){'i', 0x307}, 2);
    add_mapping_step(&m);
}

static void add_set_step(TokenizerBuilder *b, burin_normalize_kind kind, CharSet *s) {
    builder_add_normalizer(b, (burin_normalizer){.kind = (uint16_t)kind, .set = builder_set(b, s)},
                           NULL);
}

// Marks of a category as an earlier Unicode had them; `then`: those that have moved to another
// category since, `not_then` those that have come. Both end with 0.
static void remove_marks(TokenizerBuilder *b, const char *category, unsigned version,
                         const uint32_t *then, const uint32_t *not_then) {
    CharSet s = {{.arena = b->arena}};
    set_add_category(&s, category);
    set_remove_newer(&s, version);
    set_invert(&s);
    for (; *not_then; not_then++) set_add(&s, *not_then, *not_then);
    set_invert(&s);
    for (; *then; then++) set_add(&s, *then, *then);
    add_set_step(b, BURIN_NORMALIZE_REMOVE, &s);
}

static void normalize_accents(TokenizerBuilder *b, const json_t *n) {
    (void)n;
    remove_marks(b, "M", NORMALIZED, (uint32_t[]){0x1cf2, 0x1cf3, 0}, (uint32_t[]){0x111c9, 0});
}

// Control characters go, all white space becomes a space.
static void clean_text(TokenizerBuilder *b) {
    static const uint32_t spaces[] = {'\t',   '\n',   '\v',   '\f',   '\r',   0x85,
                                      0xa0,   0x1680, 0x2000, 0x2001, 0x2002, 0x2003,
                                      0x2004, 0x2005, 0x2006, 0x2007, 0x2008, 0x2009,
                                      0x200a, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000};
    CharSet control = {{.arena = b->arena}};
    Mapping m = {b, {.arena = b->arena}};
    set_add(&control, 0, 8);
    set_add(&control, 0xb, 0xc);
    set_add(&control, 0xe, 0x1f);
    set_add(&control, 0x7f, 0x9f);
    set_add(&control, 0xfffd, 0xfffd);
    set_add_category(&control, "Cf");
    set_add_category(&control, "Co");
    set_remove_newer(&control, CATEGORIES);
    add_set_step(b, BURIN_NORMALIZE_REMOVE, &control);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        map_code(&m, spaces[i], &(uint32_t){' '}, 1);
    add_mapping_step(&m);
}

// SentencePiece's "nmt" rules beyond NFKC: control characters go, white and zero-width characters
// become a space.
static void normalize_nmt(TokenizerBuilder *b, const json_t *n) {
    static const uint32_t control[][2] = {{1, 8},       {0xb, 0xb},   {0xe, 0x1f},
                                          {0x7f, 0x7f}, {0x8f, 0x8f}, {0x9f, 0x9f}};
    static const uint32_t spaces[] = {'\t',   '\n',   '\f',   '\r',   0x1680,
                                      0x200b, 0x200c, 0x200d, 0x200e, 0x200f,
                                      0x2028, 0x2029, 0x2581, 0xfeff, 0xfffd};
    (void)n;
    CharSet s = {{.arena = b->arena}};
    Mapping m = {b, {.arena = b->arena}};
    for (size_t i = 0; i < sizeof control / sizeof *control; i++)
        set_add(&s, control[i][0], control[i][1]);
    add_set_step(b, BURIN_NORMALIZE_REMOVE, &s);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        map_code(&m, spaces[i], &(uint32_t){' '}, 1);
    add_mapping_step(&m);
}

static void set_chinese_apart(TokenizerBuilder *b) {
    static const uint32_t ranges[][2] = {{0x4e00, 0x9fff},   {0x3400, 0x4dbf},   {0x20000, 0x2a6df},
                                         {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f}, {0x2b920, 0x2ceaf},
                                         {0xf900, 0xfaff},   {0x2f800, 0x2fa1f}};
    CharSet s = {{.arena = b->arena}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        set_add(&s, ranges[i][0], ranges[i][1]);
    add_set_step(b, BURIN_NORMALIZE_APART, &s);
}

static void normalize_bert(TokenizerBuilder *b, const json_t *n) {
    bool lower = json_flag(b, n, "lowercase", true);
    if (json_flag(b, n, "clean_text", true)) clean_text(b);
    if (json_flag(b, n, "handle_chinese_chars", true)) set_chinese_apart(b);
    if (json_flag(b, n, "strip_accents", lower)) {
        add_decomposition(b, false);
        remove_marks(b, "Mn", CATEGORIES, (uint32_t[]){0x1734, 0x1171e, 0},
                     (uint32_t[]){0x1885, 0x1886, 0xa9bd, 0x111c9, 0});
    }
    if (lower) normalize_lowercase(b, n);
}

// ------------------------------------------------------------------------ SentencePiece's charsmap
static int base64_digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static Bytes decode_base64(TokenizerBuilder *b, const char *text) {
    Bytes bytes = {.arena = b->arena};
    uint32_t bits = 0;
    int n = 0;
    for (; base64_digit(*text) >= 0; text++) {
        bits = bits << 6 | (uint32_t)base64_digit(*text);
        if ((n += 6) < 8) continue;
        n -= 8;
        bytes_append(&bytes, &(char){(char)(bits >> n)}, 1);
    }
    if (text[strspn(text, "=")]) tokenizer_fatal(b, "\"precompiled_charsmap\" is not base64");
    return bytes;
}

typedef struct CharsmapWalk {
    const Charsmap *map;
    uint32_t *nodes, n_nodes;  // reached ones, by the length of the shortest key that leads there
    uint8_t *reached;          // [n_units] 1: is in nodes
    uint64_t growth;           // bytes of a replacement for a byte of its key, at most
} CharsmapWalk;

// Enters all children of a node whose keys have `length` bytes. Returns false when a value is no
// text.
static bool enter_children(CharsmapWalk *w, uint32_t node, uint32_t length) {
    for (uint32_t byte = 1; byte < 256; byte++) {
        uint32_t child = node, value;
        if (!charsmap_enter(w->map, &child, (uint8_t)byte, &value)) continue;
        if (value != CHARSMAP_NO_VALUE) {
            if (value >= w->map->n_texts) return false;
            size_t text = strnlen(w->map->texts + value, (size_t)length * MAX_GROWTH + 1);
            uint64_t growth = (text + length - 1) / length;
            if (growth > w->growth) w->growth = growth;
        }
        if (!w->reached[child]) w->nodes[w->n_nodes++] = child;
        w->reached[child] = 1;
    }
    return true;
}

// Returns how many times longer than its key a replacement can be; 0: the trie is none.
static uint64_t charsmap_growth(TokenizerBuilder *b, const Charsmap *map) {
    CharsmapWalk w = {.map = map, .growth = 1};
    uint32_t first = 0;
    if (charsmap_root(map) >= map->n_units) return 0;
    w.nodes = ARENA_ARRAY(b->arena, uint32_t, map->n_units);
    w.reached = ARENA_ARRAY(b->arena, uint8_t, map->n_units);
    w.nodes[w.n_nodes++] = charsmap_root(map);
    w.reached[w.nodes[0]] = 1;
    for (uint32_t length = 1; length <= CHARSMAP_MAX_KEY && w.growth <= MAX_GROWTH; length++)
        for (uint32_t last = w.n_nodes; first < last && w.growth <= MAX_GROWTH; first++)
            if (!enter_children(&w, w.nodes[first], length)) return 0;
    return w.growth;
}

static void normalize_precompiled(TokenizerBuilder *b, const json_t *n) {
    Bytes bytes = decode_base64(b, json_text(b, n, "precompiled_charsmap"));
    uint32_t trie = 0;
    if (!bytes.length) return;
    if (bytes.length >= 4) memcpy(&trie, bytes.data, 4);
    if (bytes.length < 4 || trie % 4 || trie > bytes.length - 4 || trie < 4)
        tokenizer_fatal(b, "\"precompiled_charsmap\" is damaged");
    bytes_append(&bytes, "", 1);
    Charsmap c = {.units = (const uint32_t *)(bytes.data + 4),
                  .n_units = trie / 4,
                  .texts = bytes.data + 4 + trie};
    c.n_texts = (uint32_t)(bytes.length - 4 - trie);
    uint64_t growth = charsmap_growth(b, &c);
    if (!growth) tokenizer_fatal(b, "\"precompiled_charsmap\" is damaged");
    CharSet marks = {{.arena = b->arena}}, controls = {{.arena = b->arena}};
    set_add_category(&marks, "M");
    set_add(&marks, 0x200c, 0x200d);
    set_add(&marks, 0xff9e, 0xff9f);
    set_add(&marks, 0x1f3fb, 0x1f3ff);
    static const char *const apart[] = {"Cc", "Cf", "Zl", "Zp"};
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) set_add_category(&controls, apart[i]);
    set_invert(&controls);
    set_add_set(&controls, &marks);
    set_invert(&controls);
    burin_normalizer z = {.kind = BURIN_NORMALIZE_CHARSMAP, .set = builder_set(b, &marks)};
    if (json_flag(b, n, "longest", false)) z.kind = BURIN_NORMALIZE_LONGEST;
    z.b = builder_set(b, &controls);
    z.pattern = builder_section(b, c.units, c.n_units, 4);
    z.text = builder_section(b, c.texts, c.n_texts, 1);
    builder_add_growing(b, z, growth);
}

// ---------------------------------------------------------------------------------------- the rest
static void normalize_prepend(TokenizerBuilder *b, const json_t *n) {
    builder_add_normalizer(b, (burin_normalizer){.kind = BURIN_NORMALIZE_PREPEND},
                           json_text(b, n, "prepend"));
}

static void normalize_replace(TokenizerBuilder *b, const json_t *n) {
    burin_normalizer r = {.kind = BURIN_NORMALIZE_REPLACE,
                          .pattern = read_replaced(b, json_object_get(n, "pattern"))};
    builder_add_normalizer(b, r, json_text(b, n, "content"));
}

static void normalize_strip(TokenizerBuilder *b, const json_t *n) {
    burin_normalizer s = {.kind = BURIN_NORMALIZE_STRIP};
    s.a = json_flag(b, n, "strip_left", true), s.b = json_flag(b, n, "strip_right", true);
    builder_add_normalizer(b, s, NULL);
}

static void normalize_sequence(TokenizerBuilder *b, const json_t *n) {
    const json_t *list = json_object_get(n, "normalizers");
    for (size_t i = 0; i < json_array_size(list); i++) read_normalizer(b, json_array_get(list, i));
}

// Pre-tokenizers see the characters that encode bytes.
static void normalize_byte_level(TokenizerBuilder *b, const json_t *n) {
    (void)n;
    if (b->writes_bytes)
        builder_add_normalizer(b, (burin_normalizer){.kind = BURIN_NORMALIZE_BYTES}, NULL);
    else
        add_byte_level(b);
}

static const StepReader normalizers[] = {{"NFC", normalize_nfc},
                                         {"NFD", normalize_nfd},
                                         {"NFKC", normalize_nfkc},
                                         {"NFKD", normalize_nfkd},
                                         {"Nmt", normalize_nmt},
                                         {"Lowercase", normalize_lowercase},
                                         {"StripAccents", normalize_accents},
                                         {"BertNormalizer", normalize_bert},
                                         {"Precompiled", normalize_precompiled},
                                         {"Prepend", normalize_prepend},
                                         {"Replace", normalize_replace},
                                         {"Strip", normalize_strip},
                                         {"ByteLevel", normalize_byte_level},
                                         {"Sequence", normalize_sequence},
                                         {NULL, NULL}};

void read_normalizer(TokenizerBuilder *b, const json_t *n) {
    if (n && !json_is_null(n)) read_step(b, n, normalizers, "normalizer");
}
