// Collects a tokenizer's parts and lays them out in one blob (runtime/tokenizer/tokenizer.h).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/tokenizer/compile.h"
#include "runtime/tokenizer/tokenizer_normalize.h"

void bytes_append(Bytes *b, const void *data, size_t n) {
    if (b->length + n > b->capacity) {
        size_t capacity = b->capacity ? b->capacity : 64;
        while (capacity < b->length + n) capacity *= 2;
        char *grown = arena_alloc(b->arena, capacity);
        if (b->length) memcpy(grown, b->data, b->length);
        b->data = grown, b->capacity = capacity;
    }
    if (n) memcpy(b->data + b->length, data, n);
    b->length += n;
}

void tokenizer_fatal(const TokenizerBuilder *b, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vmessage(b->arena, format, args);
    va_end(args);
    diag_fatal(loc_file(b->source), "%-s", text);
}

void builder_spend(TokenizerBuilder *b, size_t bytes) {
    b->spent += bytes;
    if (b->spent > MAX_MADE_BYTES)
        tokenizer_fatal(b, "its normalizers and decoders make more than %d MB of its tokens",
                        MAX_MADE_BYTES >> 20);
}

void builder_init(TokenizerBuilder *b, Arena *arena, const char *path) {
    Source *source = ARENA_NEW(arena, Source);
    source->name = arena_strdup(arena, path);
    *b = (TokenizerBuilder){.arena = arena, .source = source, .affix = ""};
    b->head = (burin_tokenizer){.magic = BURIN_TOKENIZER_MAGIC,
                                .version = BURIN_TOKENIZER_VERSION,
                                .bos = -1,
                                .eos = -1,
                                .unknown = -1,
                                .growth = 1};
    Bytes *all[] = {&b->merges,     &b->sets,        &b->set_hashes,    &b->ranges,
                    &b->expansions, &b->normalizers, &b->pretokenizers, &b->before,
                    &b->after,      &b->pair,        &b->blob,          &b->decoders};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) all[i]->arena = arena;
    for (int i = 0; i < 512; i++) b->byte_ids[i] = -1;
    burin_tokenizer room = {0};
    bytes_append(&b->blob, &room, sizeof room);
}

struct BuilderToken *builder_token(TokenizerBuilder *b, int64_t id, const char *text,
                                   size_t length) {
    if (id < 0 || id >= MAX_TOKENS)
        tokenizer_fatal(b, "token \"%.*s\" has id %lld, expected 0 to %d",
                        (int)(length < 80 ? length : 80), text, (long long)id, MAX_TOKENS - 1);
    if (length > MAX_TOKEN_BYTES)
        tokenizer_fatal(b, "token %lld has %zu bytes, at most %d are read", (long long)id, length,
                        MAX_TOKEN_BYTES);
    if (id >= b->capacity) {
        int32_t capacity = b->capacity ? b->capacity : 1024;
        while (capacity <= id) capacity *= 2;
        struct BuilderToken *grown = ARENA_ARRAY(b->arena, struct BuilderToken, capacity);
        if (b->n_tokens) memcpy(grown, b->tokens, (size_t)b->n_tokens * sizeof *grown);
        b->tokens = grown, b->capacity = capacity;
    }
    if (id >= b->n_tokens) b->n_tokens = (int32_t)id + 1;
    struct BuilderToken *t = &b->tokens[id];
    if (t->kind == BURIN_TOKEN_ABSENT) t->kind = BURIN_TOKEN_NORMAL;
    t->text = length ? text : "", t->length = (uint32_t)length;
    return t;
}

// ------------------------------------------------------------------------------------------- index
struct TokenIndex {
    const TokenizerBuilder *b;
    uint32_t *slots, n_slots;
};

static uint32_t power_of_two(uint32_t at_least) {
    uint32_t n = 8;
    while (n < at_least) n *= 2;
    return n;
}

// `hash`: of the text, not finished
static uint32_t *hashed_slot(const TokenIndex *x, uint32_t hash, const char *text, size_t length) {
    for (uint32_t h = burin_hash_finish(hash);; h++) {
        uint32_t *slot = &x->slots[h & (x->n_slots - 1)];
        const struct BuilderToken *t = &x->b->tokens[*slot ? *slot - 1 : 0];
        bool same = t->length == length && (!length || !memcmp(t->text, text, length));
        if (!*slot || same) return slot;
    }
}

static uint32_t *index_slot(const TokenIndex *x, const char *text, size_t length) {
    return hashed_slot(x,
                       burin_text_hash((uint32_t)BURIN_HASH_START, (const uint8_t *)text, length),
                       text, length);
}

TokenIndex *builder_index(TokenizerBuilder *b) {
    TokenIndex *x = ARENA_NEW(b->arena, TokenIndex);
    x->b = b, x->n_slots = power_of_two((uint32_t)b->n_tokens * 3 / 2 + 1);
    x->slots = ARENA_ARRAY(b->arena, uint32_t, x->n_slots);
    for (int32_t i = 0; i < b->n_tokens; i++) {
        int32_t id = b->is_json
                         ? b->n_tokens - 1 - i
                         : i;  // of equal texts the last one counts there, elsewhere the first
        if (!b->tokens[id].in_model) continue;
        uint32_t *slot = index_slot(x, b->tokens[id].text, b->tokens[id].length);
        if (!*slot) *slot = (uint32_t)id + 1;
    }
    return x;
}

int32_t index_find(const TokenIndex *x, const char *text, size_t length) {
    return x->b->n_tokens ? (int32_t)*index_slot(x, text, length) - 1 : -1;
}

// ------------------------------------------------------------------------------------------ merges
typedef struct {
    double score;
    int32_t id;
} Ranked;

static int by_score(const void *a, const void *b) {
    const Ranked *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool merges_into(const struct BuilderToken *t) {
    return t->in_model && !t->whole && t->kind == BURIN_TOKEN_NORMAL && t->length > 1;
}

static void add_splits(TokenizerBuilder *b, const TokenIndex *x, int32_t id, uint32_t rank) {
    const struct BuilderToken *t = &b->tokens[id];
    uint32_t hash = (uint32_t)BURIN_HASH_START;  // of the left part, which grows
    if (b->merges.length > UINT32_MAX) tokenizer_fatal(b, "the tokenizer takes more than 4 GB");
    for (uint32_t n = 1; n < t->length; n++) {
        hash = burin_text_hash(hash, (const uint8_t *)t->text + n - 1, 1);
        if (!t->in_bytes && ((unsigned char)t->text[n] & 0xc0) == 0x80) continue;
        int32_t left = (int32_t)*hashed_slot(x, hash, t->text, n) - 1;
        int32_t right = left < 0 ? -1 : index_find(x, t->text + n, t->length - n);
        if (right < 0 || b->tokens[left].kind != BURIN_TOKEN_NORMAL ||
            b->tokens[right].kind != BURIN_TOKEN_NORMAL)
            continue;
        burin_merge m = {(uint32_t)left, (uint32_t)right,
                         (uint32_t)index_find(x, t->text, t->length), rank};
        bytes_append(&b->merges, &m, sizeof m);
    }
}

void builder_merges_from_scores(TokenizerBuilder *b) {
    Ranked *order = ARENA_ARRAY(b->arena, Ranked, b->n_tokens + 1);
    const TokenIndex *x = builder_index(b);
    int32_t n = 0;
    uint32_t rank = 0;
    for (int32_t id = 0; id < b->n_tokens; id++)
        if (merges_into(&b->tokens[id])) order[n++] = (Ranked){b->tokens[id].score, id};
    qsort(order, (size_t)n, sizeof *order, by_score);
    for (int32_t i = 0; i < n; i++) {
        if (i && order[i].score != order[i - 1].score) rank++;
        add_splits(b, x, order[i].id, rank);
    }
}

void builder_bytes_from_texts(TokenizerBuilder *b) {
    const TokenIndex *x = builder_index(b);
    char text[8];
    for (int byte = 0; byte < 256; byte++) {
        int32_t id = index_find(x, text, (size_t)snprintf(text, sizeof text, "<0x%02X>", byte));
        if (id < 0) continue;
        b->byte_ids[byte] = b->byte_ids[256 + byte] = id;
        b->tokens[id].kind = BURIN_TOKEN_BYTE;
    }
}

// -------------------------------------------------------------------------------------- byte level
static int byte_of_code(uint32_t code) {
    for (int byte = 0; byte < 256; byte++)
        if (burin_byte_code((uint8_t)byte) == code) return byte;
    return -1;
}

bool bytes_of_characters(Arena *arena, const char *text, size_t length, const char **bytes,
                         size_t *n) {
    const uint8_t *p = (const uint8_t *)text, *end = p + length;
    char *to = arena_alloc(arena, length + 1);
    uint32_t code;
    for (*n = 0; p < end; (*n)++) {
        p += burin_utf8_read(p, end, &code);
        int byte = byte_of_code(code);
        if (byte < 0) return false;
        to[*n] = (char)byte;
    }
    *bytes = to;
    return true;
}

void set_byte_level(TokenizerBuilder *b, const char *suffix) {
    char text[64];
    for (int32_t id = 0; id < b->n_tokens; id++) {
        struct BuilderToken *t = &b->tokens[id];
        size_t n;
        const char *bytes;
        if (!t->in_model) continue;
        if (bytes_of_characters(b->arena, t->text, t->length, &bytes, &n))
            t->text = bytes, t->length = (uint32_t)n, t->in_bytes = true;
        else
            t->in_model = false;
    }
    const TokenIndex *x = builder_index(b);
    for (int byte = 0; byte < 256; byte++) {
        b->byte_ids[byte] = index_find(x, &(char){(char)byte}, 1);
        int n = snprintf(text, sizeof text, "%c%s", byte, suffix);
        b->byte_ids[256 + byte] = index_find(x, text, (size_t)n);
    }
}

// ---------------------------------------------------------------------------------------- the blob
burin_section builder_section(TokenizerBuilder *b, const void *data, size_t count, size_t element) {
    static const char zeros[8];
    bytes_append(&b->blob, zeros, -b->blob.length & 7);
    if (b->blob.length + count * element > UINT32_MAX)
        tokenizer_fatal(b, "the tokenizer takes more than 4 GB");
    burin_section s = {(uint32_t)b->blob.length, (uint32_t)count};
    bytes_append(&b->blob, data, count * element);
    return s;
}

static uint32_t growth_of(const TokenizerBuilder *b, const burin_normalizer *n) {
    const burin_mapping *m = (const burin_mapping *)(b->blob.data + n->mappings.offset);
    const uint32_t *expansions = (const uint32_t *)b->expansions.data;
    uint8_t scratch[4];
    uint32_t growth = n->kind == BURIN_NORMALIZE_APART                      ? 3
                      : n->kind == BURIN_NORMALIZE_BYTES                    ? 2
                      : n->kind == BURIN_NORMALIZE_REPLACE && n->text.count ? n->text.count
                                                                            : 1;
    for (uint32_t i = 0; i < n->mappings.count; i++) {
        uint32_t bytes = 0, from = (uint32_t)burin_utf8_write(scratch, m[i].code);
        for (uint32_t k = 0; k < m[i].count; k++)
            bytes += (uint32_t)burin_utf8_write(scratch, expansions[m[i].offset + k]);
        if (bytes > growth * from) growth = (bytes + from - 1) / from;
    }
    if (n->kind == BURIN_NORMALIZE_DECOMPOSE && growth < 3) growth = 3;  // Hangul
    return growth;
}

void builder_add_growing(TokenizerBuilder *b, burin_normalizer n, uint64_t growth) {
    uint64_t prepended = n.kind == BURIN_NORMALIZE_PREPEND ? n.text.count : 0,
             all = growth * b->head.growth, bytes = b->head.growth_bytes * growth + prepended;
    if (growth > MAX_GROWTH || all > MAX_GROWTH || bytes > MAX_GROWTH_BYTES)
        tokenizer_fatal(b, "its normalizers may make a text more than %d times longer", MAX_GROWTH);
    if (b->normalizers.length / sizeof n >= MAX_NORMALIZERS)
        tokenizer_fatal(b, "it has more than %d normalizers", MAX_NORMALIZERS);
    b->head.growth = (uint32_t)all;
    b->head.growth_bytes = (uint32_t)bytes;
    bytes_append(&b->normalizers, &n, sizeof n);
}

void builder_add_normalizer(TokenizerBuilder *b, burin_normalizer n, const char *text) {
    if (text) n.text = builder_section(b, text, strlen(text), 1);
    builder_add_growing(b, n, growth_of(b, &n));
}

static void pack_texts(TokenizerBuilder *b) {
    uint32_t *offsets = ARENA_ARRAY(b->arena, uint32_t, b->n_tokens + 1);
    uint8_t *kinds = ARENA_ARRAY(b->arena, uint8_t, b->n_tokens + 1);
    Bytes texts = {.arena = b->arena};
    for (int32_t id = 0; id < b->n_tokens; id++) {
        const struct BuilderToken *t = &b->tokens[id];
        offsets[id] = (uint32_t)texts.length;
        kinds[id] = t->kind;
        bytes_append(&texts, t->text, t->length);
        if (texts.length > UINT32_MAX) tokenizer_fatal(b, "the tokenizer takes more than 4 GB");
        if (t->length > b->head.max_token_bytes) b->head.max_token_bytes = t->length;
    }
    offsets[b->n_tokens] = (uint32_t)texts.length;
    b->head.text_offsets = builder_section(b, offsets, (size_t)b->n_tokens + 1, 4);
    b->head.text = builder_section(b, texts.data, texts.length, 1);
    b->head.kinds = builder_section(b, kinds, (size_t)b->n_tokens, 1);
    const TokenIndex *x = builder_index(b);
    b->head.slots = builder_section(b, x->slots, x->n_slots, 4);
}

static void pack_merges(TokenizerBuilder *b) {
    burin_merge *merges = (burin_merge *)b->merges.data;
    uint32_t n = (uint32_t)(b->merges.length / sizeof *merges),
             n_slots = power_of_two(n * 3 / 2 + 1);
    uint32_t *slots = ARENA_ARRAY(b->arena, uint32_t, n_slots);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t h = burin_pair_hash(merges[i].left, merges[i].right);
        for (;; h++) {
            uint32_t *slot = &slots[h & (n_slots - 1)];
            bool same = *slot && merges[*slot - 1].left == merges[i].left &&
                        merges[*slot - 1].right == merges[i].right;
            if (*slot && !same) continue;
            *slot = i + 1;  // of equal pairs the last one counts
            break;
        }
    }
    b->head.merges = builder_section(b, merges, n, sizeof *merges);
    b->head.merge_slots = builder_section(b, slots, n_slots, 4);
}

static const TokenizerBuilder *sorting;

static int by_bytes(const void *x, const void *y) {
    const struct BuilderToken *a = &sorting->tokens[*(const uint32_t *)x],
                              *b = &sorting->tokens[*(const uint32_t *)y];
    int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);
    if (order || a->length != b->length) return order ? order : a->length > b->length ? 1 : -1;
    return (a->order > b->order) - (a->order < b->order);
}

typedef enum { TOKENS_OF_MODEL, TOKENS_ADDED, TOKENS_ADDED_NORMALIZED } TokenGroup;

static burin_section pack_sorted(TokenizerBuilder *b, TokenGroup group) {
    const TokenIndex *x = group == TOKENS_OF_MODEL && b->head.model == BURIN_MODEL_WORDPIECE
                              ? builder_index(b)
                              : NULL;
    uint32_t *ids = ARENA_ARRAY(b->arena, uint32_t, b->n_tokens + 1), n = 0;
    for (int32_t id = 0; id < b->n_tokens; id++) {
        const struct BuilderToken *t = &b->tokens[id];
        bool sorted = b->head.model != BURIN_MODEL_BPE && b->head.model != BURIN_MODEL_WORDLEVEL;
        bool in[] = {t->in_model && !t->whole && sorted, t->added && !t->added_normalized,
                     t->added_normalized};
        if (x && index_find(x, t->text, t->length) != id) continue;  // of equal texts one counts
        if (in[group] && t->length) ids[n++] = (uint32_t)id;
    }
    sorting = b;
    qsort(ids, n, sizeof *ids, by_bytes);
    return builder_section(b, ids, n, sizeof *ids);
}

static void pack_scores(TokenizerBuilder *b) {
    int32_t n = b->head.size + b->n_unnumbered;
    double *scores = ARENA_ARRAY(b->arena, double, n + 1), lowest = 0;
    if (b->head.model != BURIN_MODEL_UNIGRAM) return;
    for (int32_t id = 0; id < n; id++) {
        scores[id] = b->tokens[id].score;
        if ((b->is_json || b->tokens[id].in_model) && scores[id] < lowest) lowest = scores[id];
    }
    scores[n] = lowest - 10;
    b->head.scores = builder_section(b, scores, (size_t)n + 1, sizeof *scores);
}

static void pack_sets(TokenizerBuilder *b) {
    burin_section ranges = builder_section(b, b->ranges.data, b->ranges.length / 4, 4);
    burin_set *sets = (burin_set *)b->sets.data;
    size_t n = b->sets.length / sizeof *sets;
    for (size_t i = 0; i < n; i++) sets[i].ranges.offset += ranges.offset;
    b->head.sets = builder_section(b, sets, n, sizeof *sets);
    b->head.expansions = builder_section(b, b->expansions.data, b->expansions.length / 4, 4);
}

static void pack_steps(TokenizerBuilder *b) {
    const Bytes *n = &b->normalizers, *p = &b->pretokenizers;
    b->head.normalizers =
        builder_section(b, n->data, n->length / sizeof(burin_normalizer), sizeof(burin_normalizer));
    b->head.pretokenizers = builder_section(b, p->data, p->length / sizeof(burin_pretokenizer),
                                            sizeof(burin_pretokenizer));
}

burin_match_memory builder_match_memory(TokenizerBuilder *b, size_t bytes) {
    size_t places = bytes + 1, ways = b->head.match_ways + places * b->head.match_loop_ways;
    return (burin_match_memory){
        .ways = ARENA_ARRAY(b->arena, burin_way, ways + 1),
        .marks = arena_alloc(b->arena, places * b->head.match_mark_bytes + 1),
        .runs = ARENA_ARRAY(b->arena, burin_stops, b->head.match_runs + 1)};
}

// Refuses steps that need far more memory for a short text than those of any file that is meant
// well. They have just been packed.
static void check_memory(TokenizerBuilder *b) {
    enum { SAMPLE = 1 << 10, MAX_BYTES = 1 << 30 };
    b->head.bytes = (uint32_t)b->blob.length;
    memcpy(b->blob.data, &b->head, sizeof b->head);
    if (burin_encode_memory(b->blob.data, SAMPLE) > MAX_BYTES)
        tokenizer_fatal(b,
                        "a text of 1 KB needs more than 1 GB: too many normalizers, pre-tokenizers "
                        "or ways to match a pattern");
}

// Memory for the normalization of any token that is looked for in normalized text.
static NormalizeMemory normalize_memory(TokenizerBuilder *b) {
    size_t longest = 0;
    for (int32_t id = 0; id < b->head.size; id++)
        if (b->tokens[id].added_normalized && b->tokens[id].length > longest)
            longest = b->tokens[id].length;
    size_t room = b->head.growth * longest + b->head.growth_bytes + 16;
    uint8_t *buffer = arena_alloc(b->arena, 2 * room);
    return (NormalizeMemory){{buffer, buffer + room}, builder_match_memory(b, room)};
}

// Runs the steps that were just packed.
static burin_span normalized(TokenizerBuilder *b, const struct BuilderToken *t,
                             const NormalizeMemory *memory) {
    burin_span text = {(const uint8_t *)t->text, (const uint8_t *)t->text + t->length};
    bool moved = false;
    return normalize((const burin_tokenizer *)b->blob.data, text, memory, &moved);
}

// Tokens to be found in normalized text are stored in normalized form, as entries beyond the
// vocabulary. Pieces without a number are there already.
static void pack_aliases(TokenizerBuilder *b) {
    Bytes aliases = {.arena = b->arena};
    for (int32_t i = 0; i < b->n_unnumbered; i++)
        bytes_append(&aliases, &(uint32_t){(uint32_t)b->head.unknown}, 4);
    memcpy(b->blob.data, &b->head, sizeof b->head);
    const NormalizeMemory memory = normalize_memory(b);
    for (int32_t id = 0; id < b->head.size; id++) {
        if (!b->tokens[id].added_normalized) continue;
        burin_span text = normalized(b, &b->tokens[id], &memory);
        size_t n = (size_t)(text.end - text.begin);
        if (n == b->tokens[id].length && !memcmp(text.begin, b->tokens[id].text, n)) continue;
        builder_spend(b, n);
        const char *copy = arena_strndup(b->arena, (const char *)text.begin, n);
        struct BuilderToken *alias = builder_token(b, b->n_tokens, copy, n);
        *alias = (struct BuilderToken){
            .text = alias->text, .length = alias->length, .order = b->tokens[id].order};
        alias->added = alias->added_normalized = true;
        b->tokens[id].added = b->tokens[id].added_normalized = false;
        bytes_append(&aliases, &(uint32_t){(uint32_t)id}, 4);
    }
    b->head.aliases = builder_section(b, aliases.data, aliases.length / 4, 4);
}

// The neighbours that an added token must not have if it is a whole word.
static void pack_words(TokenizerBuilder *b) {
    CharSet words = {{.arena = b->arena}};
    bool wanted = false;
    for (int32_t id = 0; id < b->n_tokens; id++) wanted |= b->tokens[id].kind & BURIN_TOKEN_SINGLE;
    if (!wanted) return;
    set_add_word(&words);
    set_add(&words, 0x200c, 0x200d);
    b->head.words = builder_set(b, &words);
}

Tokenizer *tokenizer_build(TokenizerBuilder *b) {
    burin_tokenizer *h = &b->head;
    if (!b->n_tokens) tokenizer_fatal(b, "the vocabulary is empty");
    h->size = b->n_tokens - b->n_unnumbered;
    pack_words(b);
    pack_sets(b);
    pack_steps(b);
    check_memory(b);
    pack_aliases(b);
    pack_decoded(b);
    pack_texts(b);
    pack_merges(b);
    pack_scores(b);
    h->sorted = pack_sorted(b, TOKENS_OF_MODEL);
    h->added = pack_sorted(b, TOKENS_ADDED);
    h->added_normalized = pack_sorted(b, TOKENS_ADDED_NORMALIZED);
    h->byte_ids = builder_section(b, b->byte_ids, 512, 4);
    h->before = builder_section(b, b->before.data, b->before.length / 4, 4);
    h->after = builder_section(b, b->after.data, b->after.length / 4, 4);
    h->pair = builder_section(b, b->pair.data, b->pair.length / sizeof(burin_pair_item),
                              sizeof(burin_pair_item));
    h->affix = builder_section(b, b->affix, strlen(b->affix), 1);
    builder_section(b, NULL, 0, 1);  // pads to 8
    h->bytes = (uint32_t)b->blob.length;
    if (b->before.length) h->bos = *(int32_t *)b->before.data;
    memcpy(b->blob.data, h, sizeof *h);
    Tokenizer *t = ARENA_NEW(b->arena, Tokenizer);
    *t = (Tokenizer){b->blob.data, b->blob.length, h->size, h->bos, h->eos, b->note};
    return t;
}
