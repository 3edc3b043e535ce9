// The JSON is copied value by value; an object that turns out to be a picture's part is replaced.
// Text that is no JSON is copied as it is: the reader of the messages has the better words for it.
#include "chat/picture_parts.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "program/input.h"
#include "text/modes.h"

static char picture_reason[320];

typedef struct json_span {
    const char *text;  // of a string, without its quotes; NULL: none
    size_t bytes;
} json_span;

// Fields of an object that may be a picture's part.
typedef struct picture_part {
    json_span type, source, picture;
    bool is_base64;  // the source, without "data:"
} picture_part;

typedef struct picture_reader {
    burin_pictures *out;
    burin_run *run;
    const char *at, *end, *why;
    size_t room;
    bool is_cut;  // the JSON ends inside of a list or an object
} picture_reader;

enum { MOST_JSON_DEPTH = 128 };

static void put_json(picture_reader *r, const char *text, size_t n) {
    burin_pictures *p = r->out;
    if (p->bytes + n + 1 > r->room) {
        char *more = burin_allocate(1, r->room = 2 * r->room + n + 64);
        if (p->bytes) memcpy(more, p->json, p->bytes);
        free(p->json);
        p->json = more;
    }
    memcpy(p->json + p->bytes, text, n);
    p->bytes += n;
    p->json[p->bytes] = 0;
}

// ------------------------------------------------------------------------------------------ base64
static int base64_digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *there = c ? strchr(digits, c) : NULL;
    return there ? (int)(there - digits) : c == '-' ? 62 : c == '_' ? 63 : -1;
}

// Bytes of base64 in a JSON string, where a slash may be escaped; NULL: it is something else.
static uint8_t *decode_base64(const char *text, size_t n, size_t *bytes) {
    uint8_t *out = burin_allocate(1, n / 4 * 3 + 4);
    uint32_t bits = 0;
    int held = 0;
    *bytes = 0;
    while (n && text[n - 1] == '=') n--;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '\\' && i + 1 < n && text[i + 1] == '/') continue;
        int digit = base64_digit(text[i]);
        if (digit < 0) {
            free(out);
            return NULL;
        }
        bits = bits << 6 | (uint32_t)digit, held += 6;
        if (held >= 8) out[(*bytes)++] = (uint8_t)(bits >> (held -= 8));
    }
    return out;
}

// ---------------------------------------------------------------------------------------- pictures
static bool span_starts(json_span s, const char *with) {
    size_t n = strlen(with);
    return s.bytes >= n && !memcmp(s.text, with, n);
}

static uint8_t *refuse_picture(picture_reader *r, const char *format, const char *name) {
    burin_format(picture_reason, sizeof picture_reason, format, name);
    r->why = picture_reason;
    return NULL;
}

// A file below the folder of --media-path, links resolved.
static uint8_t *read_media(picture_reader *r, json_span name, size_t *bytes) {
    char path[PATH_MAX], file[PATH_MAX], folder[PATH_MAX];
    const char *root = r->run->command->media_path, *why;
    if (span_starts(name, "file://")) name.text += 7, name.bytes -= 7;
    if (memchr(name.text, '\\', name.bytes) || memchr(name.text, 0, name.bytes) ||
        strlen(root) + name.bytes + 2 > sizeof path)
        return refuse_picture(r, "a picture's name is not one of a file below --media-path%s", "");
    size_t n = strlen(root);
    bool absolute = name.bytes && *name.text == '/';
    if (!absolute) memcpy(path, root, n), path[n++] = '/';
    if (absolute) n = 0;
    memcpy(path + n, name.text, name.bytes);
    path[n + name.bytes] = 0;
    if (!realpath(root, folder) || !realpath(path, file))
        return refuse_picture(r, "%s: there is no such picture below --media-path", path);
    n = strlen(folder);
    if (strncmp(file, folder, n) || (file[n] != '/' && n > 1))
        return refuse_picture(r, "%s: not below --media-path", path);
    int opened = burin_open_small_file(file, BURIN_MOST_PICTURE, &why);
    if (opened < 0) return refuse_picture(r, "a picture below --media-path: %s", why);
    return (uint8_t *)burin_read_open_file(opened, file, bytes);
}

static uint8_t *bytes_of_source(picture_reader *r, json_span source, bool plain, size_t *bytes) {
    bool is_data = span_starts(source, "data:");
    const char *comma = is_data ? memchr(source.text, ',', source.bytes) : NULL;
    if (is_data && (!comma || comma - source.text < 7 || memcmp(comma - 7, ";base64", 7)))
        return refuse_picture(r, "a picture's data URI is not data:image/...;base64,...%s", "");
    if (span_starts(source, "http:") || span_starts(source, "https:"))
        return refuse_picture(r,
                              "a picture's address is of the network, which is not read: give it "
                              "as data:image/...;base64,...%s",
                              "");
    if (!is_data && !plain && !r->run->command->media_path)
        return refuse_picture(r,
                              "a picture is not data:image/...;base64,...%s, and files are read "
                              "below --media-path DIR alone",
                              "");
    if (!is_data && !plain) return read_media(r, source, bytes);
    if (comma) source.bytes -= (size_t)(comma + 1 - source.text), source.text = comma + 1;
    uint8_t *file = decode_base64(source.text, source.bytes, bytes);
    return file ? file : refuse_picture(r, "a picture's data is not base64%s", "");
}

uint8_t *burin_picture_bytes(burin_run *run, const char *source, size_t n, bool base64,
                             size_t *bytes, const char **why) {
    picture_reader r = {.run = run};
    uint8_t *file = bytes_of_source(&r, (json_span){source, n}, base64, bytes);
    *why = r.why;
    return file;
}

static int32_t see_source(picture_reader *r, json_span source, bool plain) {
    size_t bytes;
    const char *why = NULL;
    uint8_t *file = bytes_of_source(r, source, plain, &bytes);
    int32_t number = file ? r->run->model->modes->see(r->run, file, bytes, &why) : -1;
    free(file);
    if (why) refuse_picture(r, "a picture: %s", why);
    return number;
}

// A picture of this run, or of an earlier one that a session has.
static int32_t find_seen(picture_reader *r, json_span name) {
    char text[BURIN_PICTURE_NAME] = {0};
    unsigned long long hash;
    int lines, columns, number = -1;
    memcpy(text, name.text, name.bytes < sizeof text ? name.bytes : sizeof text - 1);
    if (sscanf(text, "%16llx-%9dx%9d", &hash, &lines, &columns) == 3)
        number = r->run->model->modes->recall(r->run, hash, lines, columns);
    if (number < 0) refuse_picture(r, "there is no picture %s: give it again", text);
    return number;
}

static void add_picture(burin_pictures *p, int32_t number) {
    if (p->n == p->capacity) {
        int32_t *more = burin_allocate((size_t)(p->capacity = 2 * p->capacity + 8), sizeof *more);
        if (p->n) memcpy(more, p->number, (size_t)p->n * sizeof *more);
        free(p->number);
        p->number = more;
    }
    p->number[p->n++] = number;
}

static bool spells(json_span s, const char *word) {
    return s.text && s.bytes == strlen(word) && !memcmp(s.text, word, s.bytes);
}

// Replaces the object whose copy began at `begin` in the output, when there were `pictures`
// pictures; pictures inside of it are dropped.
static void replace_picture(picture_reader *r, const picture_part *part, size_t begin,
                            int32_t pictures) {
    bool linked = spells(part->type, "image_url") || spells(part->type, "input_image");
    if (!linked && !spells(part->type, "image")) return;
    if (!part->source.text && !part->picture.text) {
        if (linked) refuse_picture(r, "a part of type %s has no address", "image_url");
        return;
    }
    int32_t number = part->picture.text ? find_seen(r, part->picture)
                                        : see_source(r, part->source, part->is_base64);
    if (number < 0) return;
    char name[BURIN_PICTURE_NAME], text[BURIN_PICTURE_NAME + 40];
    burin_picture_name(&r->run->sights.items[number], name);
    burin_format(text, sizeof text, "{\"type\": \"image\", \"picture\": \"%s\"}", name);
    r->out->bytes = begin, r->out->n = pictures;
    put_json(r, text, strlen(text));
    add_picture(r->out, number);
}

// -------------------------------------------------------------------------------------------- JSON
static void copy_blanks(picture_reader *r) {
    const char *from = r->at;
    while (r->at < r->end && strchr(" \t\r\n,:", *r->at)) r->at++;
    put_json(r, from, (size_t)(r->at - from));
}

static json_span copy_string(picture_reader *r) {
    const char *from = r->at++;
    while (r->at < r->end && *r->at != '"') r->at += *r->at == '\\' && r->at + 1 < r->end ? 2 : 1;
    json_span s = {from + 1, (size_t)(r->at - from - 1)};
    if (r->at < r->end) r->at++;
    put_json(r, from, (size_t)(r->at - from));
    return s;
}

static picture_part copy_value(picture_reader *r, json_span *string, int depth);

static bool list_ends(picture_reader *r, char bracket) {
    copy_blanks(r);
    r->is_cut |= r->at >= r->end;
    if (r->why || r->is_cut) return true;
    if (*r->at != bracket) return false;
    put_json(r, r->at++, 1);
    return true;
}

static void note_field(picture_part *part, json_span key, json_span value,
                       const picture_part *inner) {
    static const char *const sources[] = {"url", "data", "image", "image_url", "path"};
    if (spells(key, "type")) part->type = value;
    if (spells(key, "picture")) part->picture = value;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (spells(key, sources[i]) && value.text)
            part->source = value, part->is_base64 = spells(key, "data");
    if ((spells(key, "image_url") || spells(key, "source")) && inner->source.text)
        part->source = inner->source, part->is_base64 = inner->is_base64;
}

static picture_part copy_object(picture_reader *r, int depth) {
    size_t begin = r->out->bytes;
    int32_t pictures = r->out->n;
    picture_part part = {0};
    put_json(r, r->at++, 1);
    while (!list_ends(r, '}')) {
        json_span key = {0}, value = {0};
        copy_value(r, &key, depth + 1);
        copy_blanks(r);
        picture_part inner = copy_value(r, &value, depth + 1);
        note_field(&part, key, value, &inner);
    }
    if (!r->why && !r->is_cut) replace_picture(r, &part, begin, pictures);
    return part;
}

static picture_part copy_value(picture_reader *r, json_span *string, int depth) {
    picture_part none = {0};
    json_span ignored;
    if (r->why || r->at >= r->end) return none;
    if (depth > MOST_JSON_DEPTH) {
        refuse_picture(r, "the messages are nested too deeply%s", "");
    } else if (*r->at == '"') {
        *string = copy_string(r);
    } else if (*r->at == '{') {
        return copy_object(r, depth);
    } else if (*r->at == '[') {
        put_json(r, r->at++, 1);
        while (!list_ends(r, ']')) copy_value(r, &ignored, depth + 1);
    } else {
        put_json(r, r->at++, 1);
        while (r->at < r->end && !strchr(" \t\r\n,:]}[{\"", *r->at)) put_json(r, r->at++, 1);
    }
    return none;
}

const char *burin_pictures_read(burin_pictures *p, burin_run *run, const char *json, size_t bytes) {
    *p = (burin_pictures){0};
    picture_reader r = {.out = p, .run = run, .at = json, .end = json + bytes};
    put_json(&r, "", 0);
    json_span ignored;
    while (r.at < r.end && !r.why) {
        copy_blanks(&r);
        copy_value(&r, &ignored, 0);
    }
    return r.why;
}

void burin_pictures_close(burin_pictures *p) {
    free(p->number);
    free(p->json);
    *p = (burin_pictures){0};
}
