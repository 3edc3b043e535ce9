// Sets of code points. A set is a list of pairs until someone needs it sorted; builder_set stores
// it.
#include "frontend/tokenizer/unicode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "frontend/tokenizer/compile.h"

enum { LAST_CODE = 0x10ffff };

const UnicodeTables *unicode_tables(void) {
#include "unicode_tables.h"
#define TABLE(name) name, sizeof name / sizeof *name
    static const UnicodeTables tables = {TABLE(unicode_ranges),  TABLE(unicode_scripts),
                                         TABLE(unicode_ages),    TABLE(unicode_lower),
                                         TABLE(unicode_classes), TABLE(unicode_decompositions),
                                         unicode_parts};
    return &tables;
}

static size_t set_size(const CharSet *s) { return s->pairs.length / 8; }

void set_add(CharSet *s, uint32_t first, uint32_t last) {
    uint32_t pair[2] = {first, last};
    bytes_append(&s->pairs, pair, sizeof pair);
}

void set_add_set(CharSet *s, const CharSet *more) {
    bytes_append(&s->pairs, more->pairs.data, more->pairs.length);
}

static int by_first(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

// Sorted, without overlaps or neighbours.
static void set_normalize(CharSet *s) {
    uint32_t *pairs = (uint32_t *)s->pairs.data;
    size_t n = 0, count = set_size(s);
    if (!count) return;
    qsort(pairs, count, 8, by_first);
    for (size_t i = 1; i < count; i++) {
        if (pairs[2 * i] <= pairs[2 * n + 1] + 1) {
            if (pairs[2 * i + 1] > pairs[2 * n + 1]) pairs[2 * n + 1] = pairs[2 * i + 1];
        } else {
            n++;
            pairs[2 * n] = pairs[2 * i], pairs[2 * n + 1] = pairs[2 * i + 1];
        }
    }
    s->pairs.length = (n + 1) * 8;
}

void set_invert(CharSet *s) {
    CharSet inverse = {{.arena = s->pairs.arena}};
    set_normalize(s);
    const uint32_t *pairs = (const uint32_t *)s->pairs.data;
    uint32_t from = 0;
    for (size_t i = 0; i < set_size(s); i++) {
        if (pairs[2 * i] > from) set_add(&inverse, from, pairs[2 * i] - 1);
        from = pairs[2 * i + 1] + 1;
    }
    if (from <= LAST_CODE) set_add(&inverse, from, LAST_CODE);
    *s = inverse;
}

bool set_add_category(CharSet *s, const char *name) {
    const UnicodeTables *u = unicode_tables();
    size_t length = strlen(name), before = s->pairs.length;
    if (length < 1 || length > 2) return false;
    for (size_t i = 0; i < u->n_ranges; i++)
        if (u->ranges[i].major == name[0] && (length == 1 || u->ranges[i].minor == name[1]))
            set_add(s, u->ranges[i].first, u->ranges[i].last);
    return s->pairs.length > before;
}

// "Han", "Latin"; "Unknown" has all characters without a script.
static bool set_add_script(CharSet *s, const char *name) {
    const UnicodeTables *u = unicode_tables();
    CharSet found = {{.arena = s->pairs.arena}};
    bool unknown = !strcmp(name, "Unknown");
    for (size_t i = 0; i < u->n_scripts; i++)
        if (unknown || !strcasecmp(u->scripts[i].name, name))
            set_add(&found, u->scripts[i].first, u->scripts[i].last);
    if (!set_size(&found)) return false;
    if (unknown) set_invert(&found);
    set_add_set(s, &found);
    return true;
}

bool unicode_newer(uint32_t code, unsigned version) {
    const UnicodeTables *u = unicode_tables();
    for (size_t i = 0; i < u->n_ages; i++)
        if (u->ages[i].version > version && code >= u->ages[i].first && code <= u->ages[i].last)
            return true;
    return false;
}

void set_remove_newer(CharSet *s, unsigned version) {
    const UnicodeTables *u = unicode_tables();
    set_invert(s);
    for (size_t i = 0; i < u->n_ages; i++)
        if (u->ages[i].version > version) set_add(s, u->ages[i].first, u->ages[i].last);
    set_invert(s);
}

// "Age=9.0": characters assigned in Unicode 9.0.
static bool set_add_age(CharSet *s, const char *name) {
    const UnicodeTables *u = unicode_tables();
    unsigned major, minor;
    if (sscanf(name, "Age=%u.%u", &major, &minor) != 2) return false;
    for (size_t i = 0; i < u->n_ages; i++)
        if (u->ages[i].version <= 10 * major + minor) set_add(s, u->ages[i].first, u->ages[i].last);
    return true;
}

bool set_add_property(CharSet *s, const char *name) {
    return set_add_category(s, name) || set_add_age(s, name) || set_add_script(s, name);
}

void set_add_spaces(CharSet *s) {
    set_add(s, 9, 13);
    set_add(s, 0x85, 0x85);
    set_add_category(s, "Z");
}

void set_add_word(CharSet *s) {
    static const char *const categories[] = {"L", "M", "Nd", "Nl", "Pc"};
    for (size_t i = 0; i < sizeof categories / sizeof *categories; i++)
        set_add_category(s, categories[i]);
    set_add(s, 0x24b6, 0x24e9);  // letters in circles and squares are alphabetic symbols
    set_add(s, 0x1f130, 0x1f149);
    set_add(s, 0x1f150, 0x1f169);
    set_add(s, 0x1f170, 0x1f189);
}

void set_add_oniguruma_word(CharSet *s) {
    set_add_word(s);
    set_add(s, 0xb2, 0xb3);
    set_add(s, 0xb9, 0xb9);
    set_add(s, 0xbc, 0xbe);
}

void set_add_punctuation(CharSet *s) {
    set_add_category(s, "P");
    set_remove_newer(s, 80);
    set_add(s, 0x166d, 0x166d);    // a symbol since
    set_add(s, 0x111c9, 0x111c9);  // a mark since
    set_add(s, '!', '/');
    set_add(s, ':', '@');
    set_add(s, '[', '`');
    set_add(s, '{', '~');
}

static bool set_has(const CharSet *s, uint32_t code) {
    const uint32_t *pairs = (const uint32_t *)s->pairs.data;
    for (size_t i = 0; i < set_size(s); i++)
        if (code >= pairs[2 * i] && code <= pairs[2 * i + 1]) return true;
    return false;
}

void set_fold_case(CharSet *s) {
    const UnicodeTables *u = unicode_tables();
    CharSet before = *s;
    for (size_t i = 0; i < u->n_lower; i++) {
        bool upper = set_has(&before, u->lower[i].code),
             lower = set_has(&before, u->lower[i].lower);
        if (upper != lower)
            set_add(s, upper ? u->lower[i].lower : u->lower[i].code,
                    upper ? u->lower[i].lower : u->lower[i].code);
    }
    if (set_has(&before, 's') || set_has(&before, 'S')) set_add(s, 0x17f, 0x17f);  // the long s
}

static burin_set pack_set(TokenizerBuilder *b, const CharSet *s) {
    burin_set packed = {.ranges = {.offset = (uint32_t)b->ranges.length}};
    const uint32_t *pairs = (const uint32_t *)s->pairs.data;
    for (size_t i = 0; i < set_size(s); i++) {
        uint32_t first = pairs[2 * i], last = pairs[2 * i + 1];
        for (uint32_t c = first; c <= last && c < 128; c++) packed.ascii[c / 32] |= 1u << (c % 32);
        if (last < 128) continue;
        uint32_t pair[2] = {first < 128 ? 128 : first, last};
        bytes_append(&b->ranges, pair, sizeof pair);
        packed.ranges.count++;
    }
    return packed;
}

static uint32_t hash_of_set(const TokenizerBuilder *b, const burin_set *s) {
    uint32_t hash =
        burin_text_hash((uint32_t)BURIN_HASH_START, (const uint8_t *)s->ascii, sizeof s->ascii);
    if (!s->ranges.count) return hash;
    return burin_text_hash(hash, (const uint8_t *)b->ranges.data + s->ranges.offset,
                           (size_t)s->ranges.count * 8);
}

static bool same_set(const TokenizerBuilder *b, const burin_set *x, const burin_set *y) {
    if (memcmp(x->ascii, y->ascii, sizeof x->ascii) || x->ranges.count != y->ranges.count)
        return false;
    const char *ranges = b->ranges.data;
    return !x->ranges.count || !memcmp(ranges + x->ranges.offset, ranges + y->ranges.offset,
                                       (size_t)x->ranges.count * 8);
}

uint16_t builder_set(TokenizerBuilder *b, CharSet *s) {
    set_normalize(s);
    burin_set packed = pack_set(b, s);
    const burin_set *sets = (const burin_set *)b->sets.data;
    const uint32_t *hashes = (const uint32_t *)b->set_hashes.data, hash = hash_of_set(b, &packed);
    size_t n = b->sets.length / sizeof *sets;
    for (size_t i = 0; i < n; i++) {
        if (hashes[i] != hash || !same_set(b, &sets[i], &packed)) continue;
        b->ranges.length = packed.ranges.offset;
        return (uint16_t)i;
    }
    if (n >= MAX_SETS)
        tokenizer_fatal(b, "its patterns have more than %d sets of characters", MAX_SETS);
    bytes_append(&b->sets, &packed, sizeof packed);
    bytes_append(&b->set_hashes, &hash, sizeof hash);
    return (uint16_t)n;
}
