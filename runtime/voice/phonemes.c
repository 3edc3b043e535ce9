#include "voice/phonemes.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "voice/espeak.h"
#include "voice/sentences.h"

// --------------------------------------------------------------------------------------- phonemes
// Line breaks become spaces; "(en)", a note that a word is of another language, is left out.
static void add_ipa(burin_capture *phonemes, const char *ipa, size_t bytes) {
    bool in_note = false, space = false, begun = false;
    for (size_t i = 0; i < bytes; i++) {
        char c = ipa[i];
        if (c == '(') in_note = true;
        if (!in_note && (c == ' ' || c == '\n' || c == '\r')) space = begun;
        if (!in_note && c != ' ' && c != '\n' && c != '\r') {
            if (space) burin_capture_add(phonemes, " ", 1);
            burin_capture_add(phonemes, &c, 1);
            space = false, begun = true;
        }
        if (c == ')') in_note = false;
    }
}

static const char *add_spoken_clause(const burin_voice *v, const burin_clause *clause,
                                     burin_capture *phonemes) {
    burin_capture ipa = {0};
    const char *why = NULL;
    if (v->source == BURIN_CHARACTERS) {
        burin_capture_add(phonemes, clause->words, clause->bytes);
    } else if (clause->bytes) {
        why = burin_espeak(v->language, clause->words, clause->bytes, &ipa);
        add_ipa(phonemes, ipa.data, ipa.n);
    }
    free(ipa.data);
    return why;
}

const char *burin_add_phonemes(const burin_voice *v, const char *sentence, size_t bytes,
                               burin_capture *phonemes) {
    bool begun = false;
    const char *why = NULL;
    while (bytes && !why) {
        burin_clause clause = burin_next_clause(&sentence, &bytes);
        if (!clause.bytes && !clause.mark) continue;
        if (begun) burin_capture_add(phonemes, " ", 1);
        why = add_spoken_clause(v, &clause, phonemes);
        if (clause.mark) burin_capture_add(phonemes, &clause.mark, 1);
        begun = true;
    }
    return why;
}

// ------------------------------------------------------------------------------------- characters
// Returns the character at `at` of valid UTF-8, and moves `at` to the next one.
static uint32_t next_phoneme(const char *text, size_t bytes, size_t *at) {
    static const unsigned char bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    int n = burin_utf8_length((unsigned char)text[*at]);
    if (n < 1 || (size_t)n > bytes - *at) n = 1;
    uint32_t c = (unsigned char)text[*at] & bits[n];
    for (int i = 1; i < n; i++) c = c << 6 | ((unsigned char)text[*at + (size_t)i] & 0x3f);
    *at += (size_t)n;
    return c;
}

static const burin_phoneme *find_phoneme(const burin_card *card, const burin_voice *v, uint32_t c) {
    const burin_phoneme *list =
        (const burin_phoneme *)(const void *)((const char *)card + v->phonemes_offset);
    uint32_t from = 0, to = v->n_phonemes;
    while (from < to) {
        uint32_t middle = (from + to) / 2;
        if (list[middle].character < c)
            from = middle + 1;
        else
            to = middle;
    }
    return from < v->n_phonemes && list[from].character == c ? &list[from] : NULL;
}

// Small letters of ASCII, Latin-1, Greek and Cyrillic.
static uint32_t lower_letter(uint32_t c) {
    bool by_32 = (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7) ||
                 (c >= 0x391 && c <= 0x3a9) || (c >= 0x410 && c <= 0x42f);
    if (by_32) return c + 32;
    return c >= 0x400 && c <= 0x40f ? c + 80 : c;
}

// -------------------------------------------------------------------------------------------- ids
typedef struct id_list {
    const burin_card *card;
    const burin_voice *voice;
    int64_t *ids, n, most;
} id_list;

// The mark of a letter that voices know as a letter and a mark: *c becomes the letter. 0: a letter
// without one.
static uint32_t split_letter(const id_list *l, uint32_t *c) {
    static const struct {
        uint32_t whole, letter, mark;
    } letters[] = {{0xe7, 'c', 0x327},  {0xe3, 'a', 0x303},  {0xf5, 'o', 0x303},
                   {0x129, 'i', 0x303}, {0x169, 'u', 0x303}, {0x1ebd, 'e', 0x303}};
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].whole == *c && find_phoneme(l->card, l->voice, letters[i].mark)) {
            *c = letters[i].letter;
            return letters[i].mark;
        }
    return 0;
}

static void add_id(id_list *l, int32_t id) {
    if (id < 0) return;
    if (l->n < l->most) l->ids[l->n] = id;
    if (l->n <= l->most) l->n++;
}

static bool add_character(id_list *l, uint32_t c) {
    const burin_phoneme *p = find_phoneme(l->card, l->voice, c);
    if (!p && l->voice->source == BURIN_CHARACTERS)
        p = find_phoneme(l->card, l->voice, lower_letter(c));
    if (!p) return false;
    const int32_t *ids =
        (const int32_t *)(const void *)((const char *)l->card + l->voice->ids_offset);
    for (uint32_t i = 0; i < p->n_ids; i++) add_id(l, ids[p->first_id + i]);
    add_id(l, l->voice->between);
    return true;
}

int64_t burin_phoneme_ids(const burin_card *card, const burin_voice *v, const char *phonemes,
                          size_t bytes, int64_t *ids, int64_t most, burin_capture *unknown) {
    id_list l = {.card = card, .voice = v, .ids = ids, .most = most};
    add_id(&l, v->begin);
    if (v->begin >= 0) add_id(&l, v->between);
    for (size_t at = 0; at < bytes;) {
        size_t from = at;
        uint32_t c = next_phoneme(phonemes, bytes, &at), mark = split_letter(&l, &c);
        bool known = add_character(&l, c);
        if (mark) known &= add_character(&l, mark);
        if (!known) burin_capture_add(unknown, phonemes + from, at - from);
    }
    add_id(&l, v->end);
    return l.n;
}
