// jansson does the reading; it refuses deep nesting.
#include "util/json.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/files.h"

static void release_json(void *what) { json_decref(what); }

json_t *json_own(Arena *arena, json_t *value) {
    if (!value) diag_fatal(NO_LOC, "out of memory (a JSON value)");
    arena_at_free(arena, release_json, value);
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
    static const char *const not_json[] = {"nan", "inf", "-inf", "None", "True", "False"};
    for (size_t i = 0; i < sizeof not_json / sizeof *not_json; i++)
        if (!strncmp(text + start, not_json[i], strlen(not_json[i])))
            return "\nhint: JSON knows numbers, true, false and null";
    return json_error_code(error) == json_error_premature_end_of_input
               ? "\nhint: the file ends early: a truncated download?"
               : "";
}

// Python writes an infinite limit as Infinity (time_step_limit of Mamba-2): here it is a number
// beyond all that f32 has. Its NaN becomes a string of one byte, and then "NaN": whoever wants a
// number there refuses it, and no field that is not read matters.
static const char not_a_number[] = "\177";

static char *with_finite_limits(const char *text, size_t size) {
    static const char *const words[][2] = {{"Infinity", "1e308   "}, {"NaN", "\"\177\""}};
    if (!memmem(text, size, words[0][0], strlen(words[0][0])) &&
        !memmem(text, size, words[1][0], strlen(words[1][0])))
        return NULL;
    char *copy = malloc(size + 1);
    bool quoted = false;
    if (!copy) diag_fatal(NO_LOC, "out of memory (a JSON file)");
    memcpy(copy, text, size);
    copy[size] = 0;
    for (size_t i = 0; i < size; i++) {
        if (copy[i] == '\\' && quoted)
            i++;
        else if (copy[i] == '"')
            quoted = !quoted;
        for (size_t w = 0; !quoted && w < 2; w++) {
            size_t n = strlen(words[w][0]);
            if (i + n > size || memcmp(copy + i, words[w][0], n)) continue;
            memcpy(copy + i, words[w][1], n);
            i += n - 1;
        }
    }
    return copy;
}

// transformers 5 writes what JSON cannot as {"__float__": "Infinity"}.
static json_t *number_of_tag(const json_t *value) {
    const char *name = json_string_value(json_object_get(value, "__float__")),
               *text = json_string_value(value);
    if (text && !strcmp(text, not_a_number)) return json_string("NaN");
    if (!name || json_object_size(value) != 1) return NULL;
    if (!strcmp(name, "Infinity")) return json_real(1e308);
    if (!strcmp(name, "-Infinity")) return json_real(-1e308);
    return json_string(name);
}

// jansson bounds how deep the value is.
static void replace_tags(json_t *value) {
    const char *key;
    json_t *item, *number;
    size_t i;
    json_object_foreach(value, key, item) {
        number = number_of_tag(item);
        if (number)
            json_object_set_new(value, key, number);
        else
            replace_tags(item);
    }
    json_array_foreach(value, i, item) {
        number = number_of_tag(item);
        if (number)
            json_array_set_new(value, i, number);
        else
            replace_tags(item);
    }
}

// What Python's json writes and reads beyond JSON is understood.
static json_t *load(const char *text, size_t size, size_t flags, json_error_t *error) {
    char *finite = with_finite_limits(text, size);
    json_t *value = json_loadb(finite ? finite : text, size, flags, error);
    if (value && (finite || memmem(text, size, "\"__float__\"", 11))) replace_tags(value);
    free(finite);
    return value;
}

json_t *json_beside(const char *folder, const char *name) {
    uint64_t size;
    char path[PATH_MAX];
    json_error_t error;
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX) return NULL;
    int fd = open_regular(path, &size);
    void *text = fd < 0 || !size ? NULL : mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0) close(fd);
    if (!text || text == MAP_FAILED) return NULL;
    json_t *value = load(text, size, 0, &error);
    // "model_max_length": 1000000000000000019884624838656 is no integer of jansson's
    if (!value) value = load(text, size, JSON_DECODE_INT_AS_REAL, &error);
    munmap(text, size);
    return value;
}

const json_t *json_read(Arena *arena, const Source *source, const char *text, size_t size) {
    json_error_t error;
    json_t *value = load(text, size, JSON_REJECT_DUPLICATES, &error);
    if (value) return json_own(arena, value);
    if (size > 12 && !memcmp(text, "version http", 12))
        diag_fatal(loc_file(source),
                   "this is a pointer of Git LFS, not the file itself\nhint: git lfs install && "
                   "git lfs pull, in its folder");
    size_t end = error.position < 0              ? 0
                 : (size_t)error.position < size ? (size_t)error.position
                                                 : size;
    uint32_t start = token_start(text, end);
    if (source->text)
        diag_fatal((Loc){.source = source, .offset = start, .length = (uint32_t)end - start},
                   "not valid JSON: %s%-s", error.text, hint_for(&error, text, start));
    diag_fatal(loc_file(source), "the header is not valid JSON: byte %u of it: %s", start,
               error.text);
}
