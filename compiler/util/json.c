// jansson does the reading; it refuses NaN, Infinity and deep nesting.
#include "util/json.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/files.h"

static void release_json(void *what) { json_decref(what); }

json_t *json_own(Arena *arena, json_t *value) {
    if (!value) diag_fatal(NO_LOC, "out of memory (a JSON value)");
    arena_at_free(arena, release_json, value);
    return value;
}

json_t *json_beside(const char *folder, const char *name) {
    uint64_t size;
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX) return NULL;
    int fd = open_regular(path, &size);
    json_t *value = fd < 0 ? NULL : json_loadfd(fd, 0, NULL);
    // "model_max_length": 1000000000000000019884624838656 is no integer of jansson's
    if (fd >= 0 && !value && !lseek(fd, 0, SEEK_SET)) value = json_loadfd(fd, JSON_DECODE_INT_AS_REAL, NULL);
    if (fd >= 0) close(fd);
    return value;
}

// jansson reports where a token ends; the caret belongs under its start.
static uint32_t token_start(const char *text, size_t end) {
    size_t at = end;
    if (at > 1 && text[at - 1] == '"') {
        for (at--; at > 0 && text[at - 1] != '"' && text[at - 1] != '\n';) at--;
        return (uint32_t)(at ? at - 1 : 0);
    }
    while (at > 0 && (isalnum((unsigned char)text[at - 1]) || strchr("+-.", text[at - 1]))) at--;
    return (uint32_t)(at == end && at ? at - 1 : at);
}

static const char *hint_for(const json_error_t *error, const char *text, uint32_t start) {
    static const char *const not_json[] = {"NaN", "nan", "-Infinity", "inf", "-inf", "None", "True", "False"};
    for (size_t i = 0; i < sizeof not_json / sizeof *not_json; i++)
        if (!strncmp(text + start, not_json[i], strlen(not_json[i]))) return "\nhint: JSON knows numbers, true, false and null";
    return json_error_code(error) == json_error_premature_end_of_input ? "\nhint: the file ends early: a truncated download?"
                                                                       : "";
}

// Python writes an infinite limit as Infinity (time_step_limit of Mamba-2): here it is a number beyond all that f32 has.
static const char *with_finite_limits(Arena *arena, const char *text, size_t size) {
    static const char word[] = "Infinity", number[] = "1e308   ";
    const size_t n = sizeof word - 1;
    if (!memmem(text, size, word, n)) return text;
    char *copy = arena_strndup(arena, text, size);
    bool quoted = false;
    for (size_t i = 0; i < size; i++) {
        if (copy[i] == '\\' && quoted)
            i++;
        else if (copy[i] == '"')
            quoted = !quoted;
        else if (!quoted && i + n <= size && i && copy[i - 1] != '-' && !memcmp(copy + i, word, n))
            memcpy(copy + i, number, n);
    }
    return copy;
}

const json_t *json_read(Arena *arena, const Source *source, const char *text, size_t size) {
    json_error_t error;
    text = with_finite_limits(arena, text, size);
    json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    if (value) return json_own(arena, value);
    size_t end = error.position < 0 ? 0 : (size_t)error.position < size ? (size_t)error.position : size;
    uint32_t start = token_start(text, end);
    if (source->text)
        diag_fatal((Loc){.source = source, .offset = start, .length = (uint32_t)end - start}, "not valid JSON: %s%-s",
                   error.text, hint_for(&error, text, start));
    diag_fatal(loc_file(source), "the header is not valid JSON: byte %u of it: %s", start, error.text);
}
