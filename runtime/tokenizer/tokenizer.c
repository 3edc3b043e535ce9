#include "tokenizer.h"

#include "tokenizer_characters.h"
#include "tokenizer_models.h"
#include "tokenizer_normalize.h"
#include "tokenizer_sizes.h"

// -------------------------------------------------------------------------------- pre-tokenization
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
    burin_match_memory memory = c->encoder->normalizing.match;
    memory.runs += (size_t)c->next_step * t->match_runs;  // later steps search between two matches
    burin_matcher m = burin_matcher_of(t, c->step->pattern, s, memory);
    const uint8_t *from = s.begin;
    m.bytes = c->bytes, m.last = s.end;
    for (burin_span found; burin_find(&m, from, &found); from = m.last = found.end) {
        cut(c, (burin_span){from, found.begin}, false);
        cut(c, found, true);
    }
    cut(c, (burin_span){from, s.end}, false);
    pass_on(c);
}

static bool starts_with(burin_span s, const void *bytes, size_t n) {
    return (size_t)(s.end - s.begin) >= n && !memcmp(s.begin, bytes, n);
}

// Passes on a part of the copy of the text at `from`; copies of later steps follow.
static void pass_copy(Cutter *c, const uint8_t *from, burin_span piece, uint8_t *behind) {
    Encoder *e = c->encoder;
    uint8_t *copy = e->copy;
    const uint8_t *first = e->first;
    e->copy = behind;
    if (from == first && piece.begin == copy) e->first = copy;
    pretokenize(e, c->next_step, piece, c->bytes);
    e->copy = copy, e->first = first;
}

static void metaspace_step(Cutter *c, burin_span s) {
    Encoder *e = c->encoder;
    uint8_t *out = e->copy, sign[4];
    size_t n = (size_t)burin_utf8_write(sign, c->step->code);
    bool wanted = c->step->a == 2 || (c->step->a == 1 && s.begin == e->first);
    if (wanted && *s.begin != ' ' && !starts_with(s, sign, n)) memcpy(out, sign, n), out += n;
    for (const uint8_t *p = s.begin; p < s.end; p++) {
        memcpy(out, *p == ' ' ? sign : p, *p == ' ' ? n : 1);
        out += *p == ' ' ? n : 1;
    }
    burin_span piece = {e->copy, e->copy};
    for (; piece.end < out; piece.end++) {
        if (!c->step->b || piece.end == piece.begin ||
            !starts_with((burin_span){piece.end, out}, sign, n))
            continue;
        pass_copy(c, s.begin, piece, out);
        piece.begin = piece.end;
    }
    pass_copy(c, s.begin, piece, out);
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
    pass_copy(c, s.begin, (burin_span){e->copy, e->copy + n + 1}, e->copy + n + 1);
}

static void write_bytes_step(Cutter *c, burin_span s) {
    uint8_t *out = c->encoder->copy;
    for (const uint8_t *p = s.begin; p < s.end; p++)
        out += burin_utf8_write(out, burin_byte_code(*p));
    pass_copy(c, s.begin, (burin_span){c->encoder->copy, out}, out);
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
        case BURIN_STEP_WRITE_BYTES:
            write_bytes_step(&c, s);
            break;
        default:
            pretokenize(e, step + 1, s, true);
    }
}

// ------------------------------------------------------------------------------------ added tokens
static uint8_t kind_of(const burin_tokenizer *t, uint32_t id) {
    return ((const uint8_t *)burin_at(t, t->kinds))[id];
}

// The longest added token that starts at `at`, or ABSENT.
static uint32_t added_here(const burin_tokenizer *t, burin_section list, burin_span s,
                           const uint8_t **end) {
    const uint32_t *ids = burin_at(t, list);
    Prefix p = {0, list.count, 0};
    uint32_t longest = ABSENT, id;
    for (const uint8_t *at = s.begin; at < s.end && narrow(t, ids, &p, *at, &id); at++)
        if (id != ABSENT) longest = id, *end = at + 1;
    return longest == ABSENT ? ABSENT : token_of(t, longest);
}

static void encode_between(Encoder *e, burin_span s, bool normalized);

// Returns true if the special token from `begin` to `end` comes from a message. Normalized text has
// lost its bytes' marks, and keeps those of the whole piece.
static bool is_marked(const Encoder *e, const uint8_t *begin, const uint8_t *end) {
    const uint8_t *text = (const uint8_t *)e->out->text;
    if (!e->out->marks) return false;
    if (begin < text || end > text + e->out->bytes) return e->piece_marked;
    return memchr(e->out->marks + (begin - text), 1, (size_t)(end - begin));
}

// Returns true if an added token from `begin` to `end` touches a character of a word.
static bool inside_word(const burin_tokenizer *t, burin_span s, const uint8_t *begin,
                        const uint8_t *end) {
    const burin_matcher m = {.tokenizer = t, .piece = s};
    uint32_t code;
    if (begin > s.begin &&
        (burin_next(&m, burin_previous(&m, begin), &code), burin_set_has(t, t->words, code)))
        return true;
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
        bool split =
            e->t->flags & BURIN_SPLITS_SPECIAL && (kind & BURIN_TOKEN_KIND) == BURIN_TOKEN_SPECIAL;
        if (split || (kind & BURIN_TOKEN_SINGLE && inside_word(e->t, s, at, end))) {
            at = end;
            continue;
        }
        if ((kind & BURIN_TOKEN_KIND) == BURIN_TOKEN_SPECIAL && is_marked(e, at, end)) {
            at++;
            continue;
        }
        if (from < at)
            encode_between(e,
                           without_spaces((burin_span){from, at}, false, kind & BURIN_TOKEN_LSTRIP),
                           normalized);
        const uint8_t *stop =
            without_spaces((burin_span){end, s.end}, kind & BURIN_TOKEN_RSTRIP, false).begin;
        if (from < stop || !(kind & BURIN_TOKEN_LSTRIP))
            emit(e, id);  // else the token before has taken its spaces
        from = stop, at = end;
    }
    encode_between(e, (burin_span){from, s.end}, normalized);
}

// Emits a code at the start of a text, and returns the rest.
static burin_span behind_code(Encoder *e, burin_span s) {
    if (!starts_with(s, ">>", 2)) return s;
    for (const uint8_t *end = s.begin + 4; end <= s.end; end++) {
        if (end[-2] != '<' || end[-1] != '<') continue;
        uint32_t id = find_visible(e, (burin_span){s.begin, end});
        emit(e, id == ABSENT ? (uint32_t)e->t->unknown : token_of(e->t, id));
        return (burin_span){end, s.end};
    }
    return s;
}

static void encode_between(Encoder *e, burin_span s, bool normalized) {
    if (!normalized && e->t->flags & BURIN_LEADING_CODE) s = behind_code(e, s);
    bool first = s.begin == e->first, moved = false;
    if (s.begin == s.end) return;
    if (normalized) {
        pretokenize(e, 0, s, false);
        return;
    }
    e->piece_marked = is_marked(e, s.begin, s.end);
    s = normalize(e->t, s, &e->normalizing, &moved);
    e->first = first && !moved ? s.begin : NULL;
    encode_added(e, s, e->out->plain ? (burin_section){0, 0} : e->t->added_normalized, true);
}

// ---------------------------------------------------------------------------------------- encoding
BURIN_LINKAGE size_t burin_encode_memory(const void *blob, size_t text_bytes) {
    return sizes_of(blob, text_bytes).total;
}

static void emit_all(Encoder *e, burin_section ids) {
    const int32_t *list = burin_at(e->t, ids);
    for (uint32_t i = 0; i < ids.count; i++) emit(e, (uint32_t)list[i]);
}

// Cuts the ids after the first `begin` so that `around` more fit, if all of them are there.
static void truncate_ids(Encoder *e, size_t begin, size_t around) {
    const burin_tokenizer *t = e->t;
    size_t most = t->most_ids > around ? t->most_ids - around : 0, n = e->n - begin;
    if (!(t->flags & BURIN_TRUNCATES) || !e->out->special || e->out->whole || n <= most ||
        e->n > e->out->capacity)
        return;
    if (t->flags & BURIN_TRUNCATES_LEFT)
        memmove(e->out->ids + begin, e->out->ids + e->n - most, most * sizeof *e->out->ids);
    e->n = begin + most;
}

static void pad_ids(Encoder *e) {
    const burin_tokenizer *t = e->t;
    size_t n = e->n, wanted = t->pad_to ? t->pad_to : n;
    if (!(t->flags & BURIN_PADS)) return;
    if (t->pad_multiple)
        wanted = (wanted + t->pad_multiple - 1) / t->pad_multiple * t->pad_multiple;
    if (n >= wanted) return;
    while (e->n < wanted) emit(e, (uint32_t)t->pad_id);
    if (!(t->flags & BURIN_PADS_LEFT) || wanted > e->out->capacity) return;
    memmove(e->out->ids + (wanted - n), e->out->ids, n * sizeof *e->out->ids);
    for (size_t i = 0; i < wanted - n; i++) e->out->ids[i] = t->pad_id;
}

BURIN_LINKAGE size_t burin_encode(const void *blob, const burin_encoding *out) {
    const burin_tokenizer *t = blob;
    Sizes s = sizes_of(t, out->bytes);
    uint8_t *memory = out->memory;
    burin_span text = {(const uint8_t *)out->text, (const uint8_t *)out->text + out->bytes};
    Encoder e = {
        .t = t, .out = out, .first = text.begin, .normalizing.buffer = {memory, memory + s.buffer}};
    e.copy = memory + 2 * s.buffer;
    e.symbols = (Symbol *)(e.copy + s.copy);
    e.heap = (Candidate *)((uint8_t *)e.symbols + s.symbols);
    e.steps = (Step *)((uint8_t *)e.heap + s.heap);
    e.normalizing.match.ways = (burin_way *)((uint8_t *)e.steps + s.steps);
    e.normalizing.match.marks = (uint8_t *)e.normalizing.match.ways + s.ways;
    e.normalizing.match.runs = (burin_stops *)(e.normalizing.match.marks + s.marks);
    memset(e.normalizing.match.marks, 0, s.marks);
    if (out->special) emit_all(&e, t->before);
    size_t begin = e.n;
    encode_added(&e, text, out->plain ? (burin_section){0, 0} : t->added, false);
    truncate_ids(&e, begin, out->special ? t->before.count + t->after.count : 0);
    if (out->special) emit_all(&e, t->after);
    if (out->pad) pad_ids(&e);
    return e.n;
}

// ---------------------------------------------------------------------------------------- decoding
BURIN_LINKAGE size_t burin_decode_max(const void *blob) {
    const burin_tokenizer *t = blob;
    return (size_t)t->max_decoded_bytes + 1 + (size_t)t->strip_stop * t->strip.count;
}

static bool is_token(const burin_tokenizer *t, int32_t id) {
    return id >= 0 && id < t->size &&
           (kind_of(t, (uint32_t)id) & BURIN_TOKEN_KIND) != BURIN_TOKEN_ABSENT;
}

static burin_span decoded_span(const burin_tokenizer *t, uint32_t id, bool first) {
    const burin_decoded *d = (const burin_decoded *)burin_at(t, t->decoded) + id;
    if (!t->decoded.count) return token_span(t, id);
    const uint8_t *text =
        (const uint8_t *)burin_at(t, t->decoded_text) + (first ? d->first_offset : d->offset);
    return (burin_span){text, text + (first ? d->first_length : d->length)};
}

static uint8_t byte_of_digit(uint8_t c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

// "<0x41>"
static uint8_t byte_of(const burin_tokenizer *t, uint32_t id) {
    const uint8_t *text = token_span(t, id).begin;
    return (uint8_t)(byte_of_digit(text[3]) << 4 | byte_of_digit(text[4]));
}

// Writes the text without the characters to strip at the start; those that may be at the end wait
// for later text.
static size_t write_stripped(const burin_tokenizer *t, burin_decoder *d, burin_span s,
                             uint8_t *to) {
    const uint8_t *strip = burin_at(t, t->strip), *begin = to;
    size_t n = t->strip.count;
    while (s.begin < s.end) {
        bool here = (size_t)(s.end - s.begin) >= n && !memcmp(s.begin, strip, n);
        if (here && d->taken < t->strip_start) {
            d->taken++, s.begin += n;
            continue;
        }
        d->taken = UINT8_MAX;
        if (here && d->held < t->strip_stop) {
            d->held++, s.begin += n;
            continue;
        }
        for (; !here && d->held; d->held--, to += n) memcpy(to, strip, n);
        for (size_t i = here ? n : 1; i; i--) *to++ = *s.begin++;
    }
    return (size_t)(to - begin);
}

BURIN_LINKAGE size_t burin_decode(const void *blob, burin_decoder *d, int32_t id, char *to) {
    const burin_tokenizer *t = blob;
    if (!is_token(t, id) || burin_token_is_special(t, id)) return 0;
    uint8_t kind = kind_of(t, (uint32_t)id), byte, *out = (uint8_t *)to;
    burin_span s = decoded_span(t, (uint32_t)id, !d->started);
    bool is_byte = (kind & BURIN_TOKEN_KIND) == BURIN_TOKEN_BYTE;
    if (is_byte && d->byte && t->flags & BURIN_DECODE_GROUPS)
        byte = byte_of(t, (uint32_t)id), s = (burin_span){&byte, &byte + 1};
    if (d->space) *out++ = ' ';
    d->space = kind & BURIN_TOKEN_ENDS_WORD;
    d->byte = is_byte, d->started = true;
    if (t->strip.count) return (size_t)(out - (uint8_t *)to) + write_stripped(t, d, s, out);
    memcpy(out, s.begin, (size_t)(s.end - s.begin));
    return (size_t)(out - (uint8_t *)to) + (size_t)(s.end - s.begin);
}

BURIN_LINKAGE const char *burin_token_text(const void *blob, int32_t id, size_t *bytes) {
    if (!is_token(blob, id)) return NULL;
    burin_span s = token_span(blob, (uint32_t)id);
    *bytes = (size_t)(s.end - s.begin);
    return (const char *)s.begin;
}

BURIN_LINKAGE bool burin_token_is_special(const void *blob, int32_t id) {
    return is_token(blob, id) &&
           (kind_of(blob, (uint32_t)id) & BURIN_TOKEN_KIND) == BURIN_TOKEN_SPECIAL;
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
    uint32_t id = find_token(t, s);
    return id == ABSENT || id >= (uint32_t)t->size ? -1 : (int32_t)id;
}

BURIN_LINKAGE int32_t burin_tokenizer_size(const void *blob) {
    return ((const burin_tokenizer *)blob)->size;
}

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
