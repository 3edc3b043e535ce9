// Pictures of requests. A request is prepared with the sizes of its pictures alone: their rows are
// computed when its prompt is read that far, and never where a slot has read them already. Rows
// that no request needs stay for later ones, up to a limit.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "chat/picture_parts.h"
#include "program/output.h"
#include "server/server.h"
#include "text/modes.h"

static const int64_t most_pixels = 1 << 28;      // of a request
static const size_t most_idle_bytes = 64 << 20;  // of pictures that no request needs

// ---- parts of messages ----
bool burin_part_is_picture(burin_request *q, burin_value part) {
    return burin_body_has_type(q, part, "image_url") ||
           burin_body_has_type(q, part, "input_image") || burin_body_has_type(q, part, "image");
}

static const burin_value *text_member(burin_request *q, burin_value dict, const char *name) {
    const burin_value *v = dict.kind == BURIN_DICT ? burin_body_field(q, dict, name) : NULL;
    return v && v->kind == BURIN_STRING ? v : NULL;
}

// The address in a part of OpenAI's, Anthropic's or a template's form; *base64: it is data alone.
static burin_value address_of(burin_request *q, burin_value part, const char *where, bool *base64) {
    static const char *const names[] = {"image_url", "source", "image", "url", "path"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const burin_value *v = burin_body_field(q, part, names[i]),
                          *inner = v ? text_member(q, *v, "data") : NULL;
        if (v && v->kind == BURIN_STRING) return *v;
        *base64 = inner != NULL;
        if (v && !inner) inner = text_member(q, *v, "url");
        if (inner) return *inner;
    }
    burin_request_fail(q, 400, where,
                       "%s: a picture is an address (url) or data (base64), and this has neither",
                       where);
}

static void add_picture(burin_request *q, uint8_t *file, size_t bytes) {
    if (q->n_pictures == q->most_pictures) {
        burin_shown_picture *more =
            burin_allocate((size_t)(q->most_pictures = 2 * q->most_pictures + 4), sizeof *more);
        if (q->n_pictures) memcpy(more, q->pictures, (size_t)q->n_pictures * sizeof *more);
        free(q->pictures);
        q->pictures = more;
    }
    q->pictures[q->n_pictures++] =
        (burin_shown_picture){.file = file, .bytes = bytes, .number = -1};
}

static burin_sight *sight_of(const burin_request *q, int32_t picture) {
    return &q->server->base->sights.items[q->pictures[picture].number];
}

// Finds how many rows the newest picture has.
static void size_picture(burin_request *q, const char *where) {
    burin_run *run = q->server->base;
    burin_shown_picture *p = &q->pictures[q->n_pictures - 1];
    const char *why = NULL;
    int64_t rows = 0, pixels = 0;
    p->number = run->model->modes->look(run, p->file, p->bytes, &why);
    if (p->number < 0) burin_request_fail(q, 400, where, "%s: a picture: %s", where, why);
    sight_of(q, q->n_pictures - 1)->holders++;
    for (int32_t i = 0; i < q->n_pictures; i++)
        rows += sight_of(q, i)->n, pixels += sight_of(q, i)->pixels;
    if (rows >= run->context) {
        snprintf(q->code, sizeof q->code, "context_length_exceeded");
        burin_request_fail(q, 400, where,
                           "%s: the pictures up to this one have %lld rows, and the context has %d "
                           "tokens",
                           where, (long long)rows, run->context);
    }
    if (pixels > most_pixels)
        burin_request_fail(q, 413, where, "%s: the pictures have more than %lld pixels", where,
                           (long long)most_pixels);
}

burin_value burin_picture_part(burin_request *q, burin_value part, const char *where) {
    bool base64 = false;
    const burin_value address = address_of(q, part, where, &base64);
    char name[BURIN_PICTURE_NAME];
    const char *why;
    size_t bytes;
    uint8_t *file =
        burin_picture_bytes(q->server->base, address.text, address.length, base64, &bytes, &why);
    if (!file) burin_request_fail(q, 400, where, "%s: %s", where, why);
    add_picture(q, file, bytes);
    size_picture(q, where);
    burin_picture_name(sight_of(q, q->n_pictures - 1), name);
    size_t begin = burin_text_begin(&q->r);
    burin_text_add(&q->r, name, strlen(name));
    burin_value made = burin_dict_new(&q->r), text = burin_text_end(&q->r, begin);
    burin_body_set(q, made, "type", burin_body_text("image"));
    burin_body_set(q, made, "picture", text);
    return made;
}

// ---- prompts ----
// Rows of a picture that see each other must be within the first window.
static void check_windows(burin_request *q) {
    const burin_eyes *e = q->server->model->eyes;
    for (int32_t i = e->window; e->sees_all && e->window && i < q->n_prompt; i++)
        if (q->prompt[i] < 0)
            burin_request_fail(q, 400, "messages", "%s", burin_status_text(BURIN_LATE_PICTURE));
}

void burin_pictures_encode(burin_request *q, const burin_encoding *text) {
    const burin_run *run = q->server->base;
    int32_t *numbers = burin_allocate((size_t)q->n_pictures, sizeof *numbers);
    const burin_shown shown = {&run->sights, numbers, q->n_pictures};
    burin_tokens tokens;
    for (int32_t i = 0; i < q->n_pictures; i++) numbers[i] = q->pictures[i].number;
    const char *why = burin_place_pictures(q->server->tokenizer, run->model->eyes, &shown,
                                           text->text, text->marks, text->bytes, false, &tokens);
    free(numbers);
    if (why) burin_request_fail(q, 400, "messages", "%s", why);
    q->prompt = tokens.id, q->n_prompt = tokens.n;
    check_windows(q);
}

// ---- rows ----
static void pass_row(burin_answer *a) {
    if (++a->picture_row < sight_of(a->request, a->picture)->n) return;
    a->picture++, a->picture_row = 0;
}

void burin_pictures_pass(burin_answer *a, int32_t tokens) {
    for (int32_t i = 0; i < tokens; i++)
        if (a->request->prompt[i] < 0) pass_row(a);
}

burin_embedding burin_pictures_next(burin_answer *a) {
    const burin_request *q = a->request;
    burin_run *run = q->server->base;
    const burin_shown_picture *p = &q->pictures[a->picture];
    burin_sight *sight = sight_of(q, a->picture);
    const char *why = NULL;
    if (!sight->rows) run->model->modes->see(run, p->file, p->bytes, &why);
    if (!sight->rows) burin_stop(BURIN_USER_MISTAKE, "a picture: %s", why ? why : "no memory");
    burin_embedding row = burin_sight_embedding(sight, run->model->eyes, a->picture_row);
    pass_row(a);
    return row;
}

bool burin_pictures_divide(const burin_request *q, int32_t at) {
    const burin_eyes *e = q->server->model->eyes;
    return e && e->sees_all && at > 0 && at < q->n_prompt && q->prompt[at - 1] < 0 &&
           q->prompt[at] < 0;
}

// ---- memory ----
static size_t idle_bytes(const burin_sight *s, int32_t width) {
    if (!s->ids || s->holders) return 0;
    return (size_t)s->n * (sizeof *s->ids + (s->rows ? (size_t)width * sizeof *s->rows : 0));
}

static void drop_idle_pictures(burin_server *server) {
    burin_sights *sights = &server->base->sights;
    const int32_t width = server->model->eyes->width;
    for (;;) {
        int32_t oldest = -1;
        size_t bytes = 0;
        for (int32_t i = 0; i < sights->n; i++) {
            size_t own = idle_bytes(&sights->items[i], width);
            bytes += own;
            if (own && (oldest < 0 || sights->items[i].used < sights->items[oldest].used))
                oldest = i;
        }
        if (bytes <= most_idle_bytes) return;
        burin_sights_drop(sights, oldest);
    }
}

void burin_pictures_leave(burin_request *q) {
    for (int32_t i = 0; i < q->n_pictures; i++) {
        free(q->pictures[i].file);
        if (q->pictures[i].number < 0) continue;
        sight_of(q, i)->holders--, sight_of(q, i)->used = ++q->server->count;
    }
    if (q->n_pictures) drop_idle_pictures(q->server);
    free(q->pictures);
}
