#include "tokenizer.h"

#include "tokenizer_models.h"
#include "tokenizer_normalize.h"
#include "tokenizer_text.h"

// --------------------------------------------------------------------------------------------------------- pre-tokenization
typedef struct Cutter {  // one step's walk over one piece
    Encoder *encoder;
    const burin_pretokenizer *step;
    uint32_t next_step;
    bool bytes, pending, pending_match;
    burin_span piece;  // not yet passed on: it may grow
} Cutter;

static void pretokenize(Encoder *, uint32_t step, burin_span, bool bytes);

static void pass_on(Cutter *c) {
    if (c->pending) pretokenize(c->encoder, c->next_step, c->piece, c->bytes);
    c->pending = false;
}

static bool joins(const Cutter *c, bool match) {
    if (!c->pending) return false;
    switch (c->step->behaviour) {
        case BURIN_WITH_PREVIOUS:
            return match && !c->pending_match;
        case BURIN_WITH_NEXT:
            return !match && c->pending_match;
        case BURIN_CONTIGUOUS:
            return match == c->pending_match;
        default:
            return false;
    }
}

static void cut(Cutter *c, burin_span s, bool match) {
    if (s.begin == s.end && !match) return;
    match ^= c->step->invert;
    if (match && c->step->behaviour == BURIN_REMOVED) return;
    if (joins(c, match)) {
        c->piece.end = s.end;
    } else {
        pass_on(c);
        c->piece = s, c->pending = true;
    }
    c->pending_match = match;
}

static void split_step(Cutter *c, burin_span s) {
    const burin_tokenizer *t = c->encoder->t;
    burin_matcher m = {t, burin_at(t, c->step->pattern), s, c->bytes, s.end};
    const uint8_t *from = s.begin;
    for (burin_span found; burin_find(&m, from, &found); from = m.last = found.end) {
        cut(c, (burin_span){from, found.begin}, false);
        cut(c, found, true);
    }
    cut(c, (burin_span){from, s.end}, false);
    pass_on(c);
}

static const uint8_t METASPACE[3] = {0xe2, 0x96, 0x81};

static bool at_metaspace(const uint8_t *p, const uint8_t *end) { return end - p >= 3 && !memcmp(p, METASPACE, 3); }

static void metaspace_step(Cutter *c, burin_span s) {
    Encoder *e = c->encoder;
    uint8_t *out = e->copy;
    bool wanted = c->step->a == 2 || (c->step->a == 1 && s.begin == e->first);
    if (wanted && *s.begin != ' ' && !at_metaspace(s.begin, s.end)) memcpy(out, METASPACE, 3), out += 3;
    for (const uint8_t *p = s.begin; p < s.end; p++) {
        size_t n = *p == ' ' ? 3 : 1;
        memcpy(out, n == 3 ? METASPACE : p, n);
        out += n;
    }
    burin_span piece = {e->copy, e->copy};
    for (; piece.end < out; piece.end++) {
        if (!c->step->b || piece.end == piece.begin || !at_metaspace(piece.end, out)) continue;
        pretokenize(e, c->next_step, piece, c->bytes);
        piece.begin = piece.end;
    }
    pretokenize(e, c->next_step, piece, c->bytes);
}

static void prefix_step(Cutter *c, burin_span s) {
    Encoder *e = c->encoder;
    size_t n = (size_t)(s.end - s.begin);
    if (*s.begin == ' ') {
        pretokenize(e, c->next_step, s, c->bytes);
        return;
    }
    e->copy[0] = ' ';
    memcpy(e->copy + 1, s.begin, n);
    pretokenize(e, c->next_step, (burin_span){e->copy, e->copy + n + 1}, c->bytes);
}

static void pretokenize(Encoder *e, uint32_t step, burin_span s, bool bytes) {
    if (s.begin == s.end) return;
    if (step == e->t->pretokenizers.count) {
        encode_piece(e, s);
        return;
    }
    const burin_pretokenizer *steps = burin_at(e->t, e->t->pretokenizers);
    Cutter c = {.encoder = e, .step = &steps[step], .next_step = step + 1, .bytes = bytes};
    switch (c.step->kind) {
        case BURIN_STEP_SPLIT:
            split_step(&c, s);
            break;
        case BURIN_STEP_METASPACE:
            metaspace_step(&c, s);
            break;
        case BURIN_STEP_PREFIX_SPACE:
            prefix_step(&c, s);
            break;
        default:
            pretokenize(e, step + 1, s, true);
    }
}

// -------------------------------------------------------------------------------------------------------------- added tokens
static uint8_t kind_of(const burin_tokenizer *t, uint32_t id) { return ((const uint8_t *)burin_at(t, t->kinds))[id]; }

// The longest added token that starts at `at`, or ABSENT.
static uint32_t added_here(const burin_tokenizer *t, burin_section list, burin_span s, const uint8_t **end) {
    const uint32_t *ids = burin_at(t, list);
    Prefix p = {0, list.count, 0};
    uint32_t longest = ABSENT, id;
    for (const uint8_t *at = s.begin; at < s.end && narrow(t, ids, &p, *at, &id); at++)
        if (id != ABSENT) longest = id, *end = at + 1;
    return longest == ABSENT || longest < (uint32_t)t->size
               ? longest
               : ((const uint32_t *)burin_at(t, t->aliases))[longest - (uint32_t)t->size];
}

static void encode_between(Encoder *e, burin_span s, bool normalized);

// Is the special token from `begin` to `end` somebody else's text? What was normalized has lost its bytes' marks, and keeps
// those of the whole piece.
static bool is_marked(const Encoder *e, const uint8_t *begin, const uint8_t *end) {
    const uint8_t *text = (const uint8_t *)e->out->text;
    if (!e->out->marks) return false;
    if (begin < text || end > text + e->out->bytes) return e->piece_marked;
    return memchr(e->out->marks + (begin - text), 1, (size_t)(end - begin));
}

// Is an added token from `begin` to `end` beside a character of a word?
static bool inside_word(const burin_tokenizer *t, burin_span s, const uint8_t *begin, const uint8_t *end) {
    const burin_matcher m = {.tokenizer = t, .piece = s};
    uint32_t code;
    if (begin > s.begin && (burin_next(&m, burin_previous(&m, begin), &code), burin_set_has(t, t->words, code))) return true;
    return end < s.end && (burin_next(&m, end, &code), burin_set_has(t, t->words, code));
}

// Emits the added tokens of the list, and hands on the text between them.
static void encode_added(Encoder *e, burin_span s, burin_section list, bool normalized) {
    const uint8_t *from = s.begin, *end = NULL;
    for (const uint8_t *at = s.begin; at < s.end && list.count;) {
        uint32_t id = added_here(e->t, list, (burin_span){at, s.end}, &end);
        if (id == ABSENT) {
            at++;
            continue;
        }
        uint8_t kind = kind_of(e->t, id);
        if (kind & BURIN_TOKEN_SINGLE && inside_word(e->t, s, at, end)) {
            at = end;
            continue;
        }
        if ((kind & BURIN_TOKEN_KIND) == BURIN_TOKEN_SPECIAL && is_marked(e, at, end)) {
            at++;
            continue;
        }
        encode_between(e, without_spaces((burin_span){from, at}, false, kind & BURIN_TOKEN_LSTRIP), normalized);
        emit(e, id);
        at = from = without_spaces((burin_span){end, s.end}, kind & BURIN_TOKEN_RSTRIP, false).begin;
    }
    encode_between(e, (burin_span){from, s.end}, normalized);
}

static void encode_between(Encoder *e, burin_span s, bool normalized) {
    bool first = s.begin == e->first, moved = false;
    if (s.begin == s.end) return;
    if (normalized) {
        pretokenize(e, 0, s, false);
        return;
    }
    e->piece_marked = is_marked(e, s.begin, s.end);
    s = normalize(e->t, s, e->buffer, &moved);
    e->first = first && !moved ? s.begin : NULL;
    encode_added(e, s, e->out->plain ? (burin_section){0, 0} : e->t->added_normalized, true);
}

// ------------------------------------------------------------------------------------------------------------------ encoding
typedef struct Sizes {
    size_t buffer, copy, symbols, heap, steps, total;
} Sizes;

static size_t aligned(size_t n) { return (n + 15) & ~(size_t)15; }

static Sizes sizes_of(const burin_tokenizer *t, size_t text) {
    size_t normalized = t->normalizers.count ? t->growth * text + t->growth_bytes : text, piece = 3 * normalized + 3;
    bool copies = false;
    const burin_pretokenizer *steps = burin_at(t, t->pretokenizers);
    for (uint32_t i = 0; i < t->pretokenizers.count; i++)
        copies |= steps[i].kind == BURIN_STEP_METASPACE || steps[i].kind == BURIN_STEP_PREFIX_SPACE;
    if (!copies) piece = normalized;
    Sizes s = {.symbols = aligned((piece + 1) * sizeof(Symbol))};
    if (t->normalizers.count) s.buffer = aligned(normalized + 1);
    if (copies) s.copy = aligned(piece);
    if (t->model == BURIN_MODEL_BPE) s.heap = aligned((3 * piece + 1) * sizeof(Candidate));
    if (t->model == BURIN_MODEL_UNIGRAM) s.steps = aligned((piece + 1) * sizeof(Step));
    s.total = 2 * s.buffer + s.copy + s.symbols + s.heap + s.steps;
    return s;
}

BURIN_LINKAGE size_t burin_encode_memory(const void *blob, size_t text_bytes) { return sizes_of(blob, text_bytes).total; }

static void emit_all(Encoder *e, burin_section ids) {
    const int32_t *list = burin_at(e->t, ids);
    for (uint32_t i = 0; i < ids.count; i++) emit(e, (uint32_t)list[i]);
}

BURIN_LINKAGE size_t burin_encode(const void *blob, const burin_encoding *out) {
    const burin_tokenizer *t = blob;
    Sizes s = sizes_of(t, out->bytes);
    uint8_t *memory = out->memory;
    burin_span text = {(const uint8_t *)out->text, (const uint8_t *)out->text + out->bytes};
    Encoder e = {.t = t, .out = out, .first = text.begin, .buffer = {memory, memory + s.buffer}};
    e.copy = e.buffer[1] + s.buffer;
    e.symbols = (Symbol *)(e.copy + s.copy);
    e.heap = (Candidate *)((uint8_t *)e.symbols + s.symbols);
    e.steps = (Step *)((uint8_t *)e.heap + s.heap);
    if (out->special) emit_all(&e, t->before);
    encode_added(&e, text, out->plain ? (burin_section){0, 0} : t->added, false);
    if (out->special) emit_all(&e, t->after);
    return e.n;
}

// ------------------------------------------------------------------------------------------------------------------ decoding
BURIN_LINKAGE size_t burin_decode_max(const void *blob) { return ((const burin_tokenizer *)blob)->max_token_bytes * 2u + 1u; }

static bool is_token(const burin_tokenizer *t, int32_t id) {
    return id >= 0 && id < t->size && (kind_of(t, (uint32_t)id) & BURIN_TOKEN_KIND) != BURIN_TOKEN_ABSENT;
}

static bool starts_with(burin_span s, const void *bytes, size_t n) {
    return (size_t)(s.end - s.begin) >= n && !memcmp(s.begin, bytes, n);
}

static uint8_t byte_of(const burin_tokenizer *t, uint32_t id) {
    const int32_t *ids = burin_at(t, t->byte_ids);
    int byte = 0;
    while (byte < 255 && ids[byte] != (int32_t)id) byte++;
    return (uint8_t)byte;
}

// What no space goes before, as transformers cleans up.
static bool is_close(burin_span s) {
    static const char *const starts[] = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (starts_with(s, starts[i], strlen(starts[i]))) return true;
    return false;
}

// WordPiece: a space goes before every token that starts a word, but not before punctuation.
static size_t wordpiece_text(const burin_tokenizer *t, bool started, burin_span s, char *to) {
    size_t n = 0;
    if (started && t->affix.count && starts_with(s, burin_at(t, t->affix), t->affix.count))
        s.begin += t->affix.count;
    else if (started && !((t->flags & BURIN_DECODE_CLEANUP) && is_close(s)))
        to[n++] = ' ';
    memcpy(to + n, s.begin, (size_t)(s.end - s.begin));
    return n + (size_t)(s.end - s.begin);
}

static size_t metaspace_text(burin_span s, bool drop, char *to) {
    size_t n = 0;
    while (s.begin < s.end) {
        bool space = at_metaspace(s.begin, s.end);
        if (!space || !drop) to[n++] = space ? ' ' : (char)*s.begin;
        s.begin += space ? 3 : 1;
    }
    return n;
}

// No decoder: tokens as the vocabulary writes them, with a space between.
static size_t written_text(const burin_tokenizer *t, bool started, burin_span s, char *to) {
    uint8_t *out = (uint8_t *)to;
    if (started) *out++ = ' ';
    for (; s.begin < s.end; s.begin++) {
        if (t->flags & BURIN_BYTE_LEVEL)
            out += burin_utf8_write(out, burin_byte_code(*s.begin));
        else
            *out++ = *s.begin;
    }
    return (size_t)(out - (uint8_t *)to);
}

// The suffix of a word's end is a space where another token follows.
static size_t plain_text(const burin_tokenizer *t, burin_decoder *d, burin_span s, char *to) {
    size_t n = 0, suffix = t->affix.count;
    if (d->space) to[n++] = ' ';
    d->space = t->flags & BURIN_DECODE_SUFFIX && (size_t)(s.end - s.begin) >= suffix &&
               starts_with((burin_span){s.end - suffix, s.end}, burin_at(t, t->affix), suffix);
    if (d->space) s.end -= suffix;
    memcpy(to + n, s.begin, (size_t)(s.end - s.begin));
    return n + (size_t)(s.end - s.begin);
}

BURIN_LINKAGE size_t burin_decode(const void *blob, burin_decoder *d, int32_t id, char *to) {
    const burin_tokenizer *t = blob;
    if (!is_token(t, id) || burin_token_is_special(t, id)) return 0;
    burin_span s = token_span(t, (uint32_t)id);
    size_t n;
    if ((kind_of(t, (uint32_t)id) & BURIN_TOKEN_KIND) == BURIN_TOKEN_BYTE)
        *to = (char)byte_of(t, (uint32_t)id), n = 1;
    else if (t->flags & BURIN_DECODE_WORDPIECE)
        n = wordpiece_text(t, d->started, s, to);
    else if (t->flags & BURIN_DECODE_SPACES)
        n = written_text(t, d->started, s, to);
    else if (t->flags & BURIN_DECODE_METASPACE)
        n = metaspace_text(s, !d->started && t->flags & BURIN_DECODE_FIRST, to);
    else
        n = plain_text(t, d, s, to);
    if (n && (!d->started || t->flags & BURIN_DECODE_STRIP_EACH) && t->flags & BURIN_DECODE_STRIP && *to == ' ')
        memmove(to, to + 1, --n);
    d->started = true;
    return n;
}

BURIN_LINKAGE const char *burin_token_text(const void *blob, int32_t id, size_t *bytes) {
    if (!is_token(blob, id)) return NULL;
    burin_span s = token_span(blob, (uint32_t)id);
    *bytes = (size_t)(s.end - s.begin);
    return (const char *)s.begin;
}

BURIN_LINKAGE bool burin_token_is_special(const void *blob, int32_t id) {
    return is_token(blob, id) && (kind_of(blob, (uint32_t)id) & BURIN_TOKEN_KIND) == BURIN_TOKEN_SPECIAL;
}

BURIN_LINKAGE int32_t burin_token_find(const void *blob, const char *text, size_t bytes) {
    const burin_tokenizer *t = blob;
    burin_span s = {(const uint8_t *)text, (const uint8_t *)text + bytes};
    const burin_section lists[] = {t->added, t->added_normalized};
    for (int i = 0; i < 2; i++) {
        const uint8_t *end = NULL;
        uint32_t id = added_here(t, lists[i], s, &end);
        if (id != ABSENT && end == s.end) return (int32_t)id;
    }
    uint32_t id = find_token(t, s, 0);
    return id == ABSENT ? -1 : (int32_t)id;
}

BURIN_LINKAGE int32_t burin_tokenizer_size(const void *blob) { return ((const burin_tokenizer *)blob)->size; }

BURIN_LINKAGE int32_t burin_tokenizer_bos(const void *blob) {
    const burin_tokenizer *t = blob;
    return t->before.count ? *(const int32_t *)burin_at(t, t->before) : -1;
}

BURIN_LINKAGE size_t burin_utf8_whole(const char *bytes, size_t n) {
    const uint8_t *p = (const uint8_t *)bytes;
    for (size_t back = 1; back <= 3 && back <= n; back++) {
        uint8_t c = p[n - back];
        if (c < 0x80) return n;
        if (c >= 0xc0) {
            size_t length = c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
            return length > back ? n - back : n;
        }
    }
    return n;
}
