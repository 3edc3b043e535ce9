// Pictures that a model with eyes has seen in this run: their rows, which take the place of tokens.
#ifndef BURIN_SIGHTS_H
#define BURIN_SIGHTS_H
#include <stdbool.h>
#include <stddef.h>

#include "engine/picture.h"
#include "engine/program.h"
#include "program/ids.h"

// One picture. Each of its rows has an id below -1 of its own, made from the picture's bytes: in
// the tokens of a slot these ids tell pictures apart.
typedef struct burin_sight {
    uint64_t hash;           // of the file's bytes
    int32_t lines, columns;  // of its tiles, of free sizes its rows; 0: it is not cut
    int32_t n;               // rows
    int32_t *ids;            // [n]
    float *rows;             // [n][width]; NULL: of an earlier run, which left them in a session
    char *text;              // of the prompt: the rows as burin_eyes.row, and the text around them
    int64_t pixels;          // of the file's picture
    int32_t holders;         // requests of a server that show it now
    uint64_t used;           // the server's count of answers when one has read it last
} burin_sight;

typedef struct burin_sights {
    burin_sight *items;
    int32_t n, capacity;
} burin_sights;

void burin_sights_close(burin_sights *);
// Adds a picture of this hash and number of rows; its ids are set. The caller sets text and rows.
burin_sight *burin_sights_add(burin_sights *, uint64_t hash, int32_t rows);
// Frees a picture; its number is of a later one then.
void burin_sights_drop(burin_sights *, int32_t number);
// The number of the picture of this hash, or -1.
int32_t burin_sights_find(const burin_sights *, uint64_t hash);
// The name of a picture in messages: its hash, lines and columns; room for BURIN_PICTURE_NAME
// bytes.
enum { BURIN_PICTURE_NAME = 48 };
void burin_picture_name(const burin_sight *, char *name);

// Finds the vectors of ids one after the other; a run of rows of one picture is found at once.
typedef struct burin_sight_place {
    int32_t sight, row;
} burin_sight_place;
// A row of a picture that has them.
burin_embedding burin_sight_embedding(const burin_sight *, const burin_eyes *, int32_t row);
// False: no picture of this run has the row.
bool burin_sight_row(const burin_sights *, const burin_eyes *, int32_t id, burin_sight_place *,
                     burin_embedding *);

// A prompt with pictures.
typedef struct burin_shown {
    const burin_sights *sights;
    const int32_t *pictures;  // [n] numbers of the sights, in the order of their marks
    int32_t n;
} burin_shown;

// The marks of pictures in a prompt; marks [bytes] 1: the byte is text that the model was given;
// NULL: all are the template's.
int32_t burin_count_marks(const burin_eyes *, const char *text, const uint8_t *marks, size_t bytes);
// The tokens of a prompt whose marks are pictures, of which the last ones may be missing from
// `text`. NULL, or why it cannot be.
const char *burin_place_pictures(const void *tokenizer, const burin_eyes *, const burin_shown *,
                                 const char *text, const uint8_t *marks, size_t bytes, bool special,
                                 burin_tokens *);
#endif
