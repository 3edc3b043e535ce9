#include "text/sights.h"

#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "text/prompt.h"

void burin_sights_drop(burin_sights *s, int32_t number) {
    burin_sight *sight = &s->items[number];
    free(sight->ids);
    free(sight->rows);
    free(sight->text);
    *sight = (burin_sight){0};
}

void burin_sights_close(burin_sights *s) {
    for (int32_t i = 0; i < s->n; i++) burin_sights_drop(s, i);
    free(s->items);
    *s = (burin_sights){0};
}

// An id for a row: 30 bits of a mix of the picture's hash and the row's number.
static int32_t id_of_row(uint64_t hash, int32_t row) {
    uint64_t x = hash + (uint64_t)(row + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return -2 - (int32_t)(x >> 34);
}

// The place of a dropped picture, or one more.
static burin_sight *free_place(burin_sights *s) {
    for (int32_t i = 0; i < s->n; i++)
        if (!s->items[i].ids) return &s->items[i];
    if (s->n == s->capacity) {
        burin_sight *more =
            burin_allocate((size_t)(s->capacity = 2 * s->capacity + 4), sizeof *more);
        if (s->n) memcpy(more, s->items, (size_t)s->n * sizeof *more);
        free(s->items);
        s->items = more;
    }
    return &s->items[s->n++];
}

burin_sight *burin_sights_add(burin_sights *s, uint64_t hash, int32_t rows) {
    burin_sight *sight = free_place(s);
    *sight = (burin_sight){.hash = hash, .n = rows};
    sight->ids = burin_allocate((size_t)rows, sizeof *sight->ids);
    for (int32_t i = 0; i < rows; i++) sight->ids[i] = id_of_row(hash, i);
    return sight;
}

int32_t burin_sights_find(const burin_sights *s, uint64_t hash) {
    for (int32_t i = 0; i < s->n; i++)
        if (s->items[i].hash == hash && s->items[i].ids) return i;
    return -1;
}

void burin_picture_name(const burin_sight *s, char *name) {
    burin_format(name, BURIN_PICTURE_NAME, "%016llx-%dx%d", (unsigned long long)s->hash, s->lines,
                 s->columns);
}

static bool holds_id(const burin_sights *s, const burin_sight_place *p, int32_t id) {
    return p->sight < s->n && p->row < s->items[p->sight].n && s->items[p->sight].rows &&
           s->items[p->sight].ids[p->row] == id;
}

burin_embedding burin_sight_embedding(const burin_sight *s, const burin_eyes *e, int32_t row) {
    bool grid = e->cut == BURIN_CUT_FREE;
    return (burin_embedding){.vector = s->rows + (size_t)row * (size_t)e->width,
                             .row = row,
                             .lines = grid ? s->lines : 0,
                             .columns = grid ? s->columns : 0};
}

bool burin_sight_row(const burin_sights *s, const burin_eyes *e, int32_t id, burin_sight_place *p,
                     burin_embedding *row) {
    p->row++;
    if (!holds_id(s, p, id)) {
        bool found = false;
        for (p->sight = 0; p->sight < s->n && !found; p->sight += !found)
            for (p->row = 0; p->row < s->items[p->sight].n && !found; p->row += !found)
                found = holds_id(s, p, id);
        if (!found) return false;
    }
    *row = burin_sight_embedding(&s->items[p->sight], e, p->row);
    return true;
}

// ----------------------------------------------------------------------------------------- placing
static bool is_mark(const burin_eyes *e, const char *text, const uint8_t *marks, size_t left) {
    size_t n = strlen(e->mark);
    return left >= n && !memcmp(text, e->mark, n) && !(marks && *marks);
}

int32_t burin_count_marks(const burin_eyes *e, const char *text, const uint8_t *marks,
                          size_t bytes) {
    int32_t n = 0;
    for (size_t i = 0; i < bytes; i++)
        n += is_mark(e, text + i, marks ? marks + i : NULL, bytes - i);
    return n;
}

typedef struct placed_text {
    char *text;
    uint8_t *marks;
    size_t bytes;
} placed_text;

static void add_placed(placed_text *t, const char *text, const uint8_t *marks, size_t n) {
    memcpy(t->text + t->bytes, text, n);
    if (marks)
        memcpy(t->marks + t->bytes, marks, n);
    else
        memset(t->marks + t->bytes, 0, n);
    t->bytes += n;
}

// The prompt with the text of each picture in place of its mark. Returns the number of marks.
static int32_t write_placed(placed_text *t, const burin_eyes *e, const burin_shown *shown,
                            const char *text, const uint8_t *marks, size_t bytes) {
    int32_t n = 0;
    for (size_t i = 0; i < bytes;) {
        const uint8_t *mark = marks ? marks + i : NULL;
        if (!is_mark(e, text + i, mark, bytes - i)) {
            add_placed(t, text + i, mark, 1);
            i++;
            continue;
        }
        if (n < shown->n) {
            const char *by = shown->sights->items[shown->pictures[n]].text;
            add_placed(t, by, NULL, strlen(by));
        }
        n++, i += strlen(e->mark);
    }
    return n;
}

// Puts the ids of the rows in place of the row tokens; false: their numbers differ.
static bool put_rows(const burin_eyes *e, const burin_shown *shown, int32_t pictures,
                     burin_tokens *tokens) {
    int32_t picture = 0, row = 0;
    for (int32_t i = 0; i < tokens->n; i++) {
        if (tokens->id[i] != e->token) continue;
        if (picture == pictures) return false;
        const burin_sight *sight = &shown->sights->items[shown->pictures[picture]];
        tokens->id[i] = sight->ids[row++];
        if (row == sight->n) picture++, row = 0;
    }
    return picture == pictures;
}

const char *burin_place_pictures(const void *tokenizer, const burin_eyes *e,
                                 const burin_shown *shown, const char *text, const uint8_t *marks,
                                 size_t bytes, bool special, burin_tokens *tokens) {
    size_t room = bytes + 1;
    for (int32_t i = 0; i < shown->n; i++)
        room += strlen(shown->sights->items[shown->pictures[i]].text);
    placed_text t = {.text = burin_allocate(1, room), .marks = burin_allocate(1, room)};
    int32_t n = write_placed(&t, e, shown, text, marks, bytes);
    const char *why = n > shown->n ? "the prompt shows more pictures than were given" : NULL;
    *tokens = (burin_tokens){0};
    if (!why) {
        *tokens = burin_encode_text(tokenizer, &(burin_encoding){.text = t.text,
                                                                 .marks = t.marks,
                                                                 .bytes = t.bytes,
                                                                 .special = special,
                                                                 .whole = true});
        if (!put_rows(e, shown, n, tokens)) {
            why = "the tokens of the prompt do not have the rows of its pictures";
            free(tokens->id);
            *tokens = (burin_tokens){0};
        }
    }
    free(t.text);
    free(t.marks);
    return why;
}
