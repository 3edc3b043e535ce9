#include "tool_syntax.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "template/template.h"

// ---------------------------------------------------------------------------------- reading shapes
static bool is_shape_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_of_shape_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '-'; }

// A space between letters, as in <invoke name=, is one.
static bool is_fixed_space(const char *before, const char *at) {
    return *at == ' ' && isalnum((unsigned char)*before) && isalnum((unsigned char)at[1]);
}

burin_shape_piece burin_shape_next(const char **at, size_t *bytes) {
    const char *begin = *at, *end = begin;
    burin_shape_piece piece = BURIN_PIECE_TEXT;
    if (!*begin) return BURIN_PIECE_END;
    if (*begin == BURIN_SHAPE_WORD) {
        piece = BURIN_PIECE_WORD, end++;
    } else if (is_shape_blank(*begin)) {
        piece = BURIN_PIECE_SPACE;
        while (is_shape_blank(*end)) end++;
    } else {
        for (end++; *end && *end != BURIN_SHAPE_WORD; end++)
            if (is_shape_blank(*end) && !is_fixed_space(end - 1, end)) break;
    }
    *at = end, *bytes = (size_t)(end - begin);
    return piece;
}

const char *burin_shape_match(const char *text, const char *from, const char *end) {
    size_t n;
    for (burin_shape_piece piece; (piece = burin_shape_next(&text, &n));) {
        const char *begin = from;
        if (piece == BURIN_PIECE_TEXT) {
            if ((size_t)(end - from) < n || memcmp(from, text - n, n)) return NULL;
            from += n;
        }
        while (piece == BURIN_PIECE_SPACE && from < end && is_shape_blank(*from)) from++;
        while (piece == BURIN_PIECE_WORD && from < end && is_of_shape_word(*from)) from++;
        if (piece == BURIN_PIECE_WORD && from == begin) return NULL;
    }
    return from;
}

// ------------------------------------------------------------------------------------------ probes
static const char probe_user[] = "burinuser", probe_content[] = "burincontent",
                  probe_plain[] = "burinplain", first_id[] = "burinidaa", second_id[] = "burinidab";

// How a template is asked: some want arguments as text, no text beside calls, one call at most, or
// print a name as part of its id.
typedef struct probe {
    bool as_text, silent, one, name_in_id;
} probe;

typedef struct gap {
    char *text;
    size_t n;
} gap;

// Gaps around the made-up names, keys and values, in their order; after the last one.
enum {
    BEFORE,
    NAME_KEY,
    KEY_TEXT,
    TEXT_KEY,
    KEY_NUMBER,
    NUMBER_NAME,
    NAME_KEY_2,
    KEY_TEXT_2,
    TEXT_KEY_2,
    KEY_NUMBER_2,
    GAPS
};

typedef struct seen {
    gap gaps[GAPS + 1], *ends[2];  // ends: after the arguments of each call
    int n, n_ends;                 // n: the last gap
    char *room;                    // for parts of the gaps
    bool json;                     // they are of JSON
} seen;

static const char probe_tools[] =
    "[{\"type\": \"function\", \"function\": {\"name\": \"burinfa\", \"description\": \"-\", "
    "\"parameters\": {\"type\": "
    "\"object\", "
    "\"properties\": {\"burinka\": {\"type\": \"string\", \"description\": \"-\"}, \"burinkb\": "
    "{\"type\": \"integer\", "
    "\"description\": \"-\"}}, \"required\": [\"burinka\"]}}}, {\"type\": \"function\", "
    "\"function\": {\"name\": \"burinfb\", "
    "\"description\": \"-\", \"parameters\": {\"type\": \"object\", \"properties\": {\"burinka\": "
    "{\"type\": \"string\", "
    "\"description\": \"-\"}, \"burinkb\": {\"type\": \"integer\", \"description\": \"-\"}}, "
    "\"required\": [\"burinka\"]}}}]";

static int write_call(char *to, size_t room, const probe *p, int i) {
    const char *arguments = p->as_text
                                ? "\"{\\\"burinka\\\": \\\"burinva\\\", \\\"burinkb\\\": 40}\""
                                : "{\"burinka\": \"burinva\", \"burinkb\": 40}";
    char name[] = "burinfa", id[32];
    name[6] = (char)('a' + i);
    if (p->name_in_id)
        snprintf(id, sizeof id, "functions.%s:%d", name, i);
    else
        snprintf(id, sizeof id, "%s", i ? second_id : first_id);
    return snprintf(to, room,
                    "%s{\"type\": \"function\", \"id\": \"%s\", \"function\": {\"name\": \"%s\", "
                    "\"arguments\": %s}}",
                    i ? ", " : "", id, name, arguments);
}

// The text after the user's in this conversation, terminated; the caller frees it. NULL: the
// template renders none.
static char *behind_user(const void *blob, const char *answer, bool prompts) {
    char json[4096], *found = NULL;
    int n = snprintf(json, sizeof json,
                     "{\"messages\": [{\"role\": \"user\", \"content\": \"%s\"}%s], \"tools\": %s, "
                     "\"add_generation_prompt\": %s}",
                     probe_user, answer, probe_tools, prompts ? "true" : "false");
    burin_rendering r = {.template_blob = blob,
                         .json = json,
                         .json_bytes = (size_t)n,
                         .json_name = "a made-up conversation"};
    if (!((const burin_template *)blob)->bos) r.bos = "";
    if (!((const burin_template *)blob)->eos) r.eos = "";
    r.memory_bytes = BURIN_RENDER_BYTES(r.json_bytes), r.memory = burin_allocate(1, r.memory_bytes);
    if (n > 0 && n < (int)sizeof json && burin_render(&r)) {
        const char *last = NULL;
        for (const char *at = r.text; (at = strstr(at, probe_user)); at++)
            last = at + sizeof probe_user - 1;
        if (last) found = burin_allocate(1, strlen(last) + 1), strcpy(found, last);
    }
    free(r.memory);
    return found;
}

static char *render_calls(const void *blob, const probe *p) {
    char answer[1024], quoted[32];
    snprintf(quoted, sizeof quoted, "\"%s\"", probe_content);
    size_t n = (size_t)snprintf(answer, sizeof answer,
                                ", {\"role\": \"assistant\", \"content\": %s, \"tool_calls\": [",
                                p->silent ? "null" : quoted);
    n += (size_t)write_call(answer + n, sizeof answer - n, p, 0);
    if (!p->one) n += (size_t)write_call(answer + n, sizeof answer - n, p, 1);
    snprintf(answer + n, sizeof answer - n, "]}");
    return behind_user(blob, answer, false);
}

static bool find_gaps(seen *s, char *text, bool one) {
    static const char *const marks[] = {"burinfa", "burinka", "burinva", "burinkb", "40",
                                        "burinfb", "burinka", "burinva", "burinkb", "40"};
    char *at = text;
    s->n = one ? NUMBER_NAME : GAPS;
    for (int i = 0; i < s->n; i++) {
        char *there = strstr(at, marks[i]);
        if (!there) return false;
        s->gaps[i] = (gap){at, (size_t)(there - at)};
        at = there + strlen(marks[i]);
    }
    s->gaps[s->n] = (gap){at, strlen(at)};
    s->ends[0] = &s->gaps[NUMBER_NAME], s->ends[1] = &s->gaps[GAPS], s->n_ends = one ? 1 : 2;
    return true;
}

// --------------------------------------------------------------------------------- parts of a text
static gap skip_in_gap(gap g, size_t n) { return (gap){g.text + n, g.n - n}; }
static gap cut_gap(gap g, size_t n) { return (gap){g.text, g.n - n}; }

static gap trim_gap_left(gap g) {
    while (g.n && is_shape_blank(*g.text)) g = skip_in_gap(g, 1);
    return g;
}

static gap trim_gap_right(gap g) {
    while (g.n && is_shape_blank(g.text[g.n - 1])) g.n--;
    return g;
}

static bool is_inside_character(char c) { return ((unsigned char)c & 0xc0) == 0x80; }

static size_t common_prefix(gap a, gap b) {
    size_t n = 0;
    while (n < a.n && n < b.n && a.text[n] == b.text[n]) n++;
    while (n && n < a.n && is_inside_character(a.text[n])) n--;
    return n;
}

// Where the first call has the number 0 the second has 1: both become a word.
static bool count_up(char *a, char *b) {
    bool counted = *a == '0' && *b == '1';
    if (counted) *a = *b = BURIN_SHAPE_WORD;
    return counted;
}

static size_t common_suffix(gap a, gap b) {
    size_t n = 0;
    while (n < a.n && n < b.n) {
        char *x = a.text + a.n - 1 - n, *y = b.text + b.n - 1 - n;
        if (*x != *y && !count_up(x, y)) break;
        n++;
    }
    while (n && is_inside_character(a.text[a.n - n])) n--;
    return n;
}

static bool starts_tag(char c) { return c == '<' || c == '['; }

// Without what another text begins with, in whole tags.
static gap without_prefix(gap g, const char *other) {
    size_t n = common_prefix(g, (gap){(char *)(uintptr_t)other, strlen(other)});
    if (other[n])
        while (n && !starts_tag(g.text[n])) n--;
    return skip_in_gap(g, n);
}

static gap without_suffix(gap g, const char *other) {
    size_t all = strlen(other), n = common_suffix(g, (gap){(char *)(uintptr_t)other, all});
    while (n && n < all && !starts_tag(g.text[g.n - n])) n--;
    return cut_gap(g, n);
}

static bool find_in_gap(gap *g, const char *text, bool keep_before) {
    char *there = memmem(g->text, g->n, text, strlen(text));
    if (!there) return false;
    *g = keep_before ? (gap){g->text, (size_t)(there - g->text)}
                     : skip_in_gap(*g, (size_t)(there - g->text) + strlen(text));
    return true;
}

// Names of calls that the conversation made up.
static void hide_ids(char *text) {
    static const char *const ids[] = {first_id, second_id};
    for (int i = 0; i < 2; i++)
        for (char *at; (at = strstr(text, ids[i]));) {
            size_t n = strlen(ids[i]);
            *at = BURIN_SHAPE_WORD;
            memmove(at + 1, at + n, strlen(at + n) + 1);
        }
}

// --------------------------------------------------------------------------------------- the shape
// JSON may have spaces where the template has none.
static bool has_loose_space(const seen *s, const char *at, size_t left) {
    return s->json &&
           ((left > 1 && strchr("{[,:", *at) && at[1] == '"') || (left > 1 && at[1] == '}'));
}

static const char *keep_part(seen *s, gap g) {
    char *text = s->room;
    if (s->json && g.n && *g.text == '}') *s->room++ = ' ';
    for (size_t i = 0; i < g.n; i++) {
        *s->room++ = g.text[i];
        if (has_loose_space(s, g.text + i, g.n - i)) *s->room++ = ' ';
    }
    *s->room++ = 0;
    return text;
}

// The text around a message: before its text, and after it.
static bool strip_message(const void *blob, seen *s) {
    char answer[128];
    snprintf(answer, sizeof answer, ", {\"role\": \"assistant\", \"content\": \"%s\"}",
             probe_plain);
    char *message = behind_user(blob, answer, false), *prompt = behind_user(blob, "", true),
         *there = message ? strstr(message, probe_plain) : NULL;
    if (there) {
        gap *before = &s->gaps[BEFORE], *behind = &s->gaps[s->n];
        *there = 0;
        if (!find_in_gap(before, probe_content, false)) {
            gap a = without_prefix(*before, message),
                b = prompt ? without_prefix(*before, prompt) : a;
            *before = a.n < b.n ? a : b;
        }
        while (find_in_gap(before, "</think>", false)) {}
        if (!find_in_gap(behind, probe_content, true))
            *behind = without_suffix(*behind, there + sizeof probe_plain - 1);
        *before = trim_gap_left(*before), *behind = trim_gap_right(*behind);
    }
    free(message), free(prompt);
    return there;
}

static bool is_between_json(gap g) {
    const char *end = burin_shape_match("\" : \"", g.text, g.text + g.n);
    return end == g.text + g.n;
}

// The brace after the arguments. False: it is missing.
static bool skip_brace(gap *g, char brace) {
    gap rest = trim_gap_left(*g);
    if (!rest.n || *rest.text != brace) return false;
    *g = skip_in_gap(rest, 1);
    return true;
}

static bool read_json(seen *s, burin_tool_syntax *shape) {
    gap name_end = trim_gap_right(cut_gap(s->gaps[NAME_KEY], s->gaps[NAME_KEY].n > 0));
    if (!is_between_json(s->gaps[KEY_TEXT]) || !name_end.n || name_end.text[name_end.n - 1] != '{')
        return false;
    for (int i = 0; i < s->n_ends; i++)
        if (!skip_brace(s->ends[i], '}')) return false;
    if (s->n_ends == 2)
        for (size_t i = 0; i < name_end.n && i < s->gaps[NAME_KEY_2].n; i++)
            count_up(name_end.text + i, s->gaps[NAME_KEY_2].text + i);
    shape->kind = BURIN_SHAPE_JSON, s->json = true,
    shape->name_end = keep_part(s, cut_gap(name_end, 1));
    return true;
}

static bool read_python(seen *s, burin_tool_syntax *shape) {
    gap open = s->gaps[NAME_KEY], is = s->gaps[KEY_TEXT];
    if (open.n != 1 || *open.text != '(' || is.n != 2 || memcmp(is.text, "=\"", 2)) return false;
    for (int i = 0; i < s->n_ends; i++)
        if (!skip_brace(s->ends[i], ')')) return false;
    shape->kind = BURIN_SHAPE_PYTHON, shape->name_end = "(";
    return true;
}

// Texts in quotes that are no character of theirs, as <|"|>.
static bool read_braced(seen *s, burin_tool_syntax *shape) {
    gap open = s->gaps[NAME_KEY], is = s->gaps[KEY_TEXT], next = s->gaps[TEXT_KEY],
        number = s->gaps[KEY_NUMBER];
    if (open.n != 1 || *open.text != '{' || is.n < 3 || *is.text != ':' || number.n != 1 ||
        *number.text != ':')
        return false;
    gap quote = skip_in_gap(is, 1);
    if (next.n != is.n || memcmp(next.text, quote.text, quote.n) || next.text[quote.n] != ',')
        return false;
    for (int i = 0; i < s->n_ends; i++)
        if (!skip_brace(s->ends[i], '}')) return false;
    shape->kind = BURIN_SHAPE_BRACED, shape->name_end = "{", shape->key_end = keep_part(s, quote);
    return true;
}

static bool read_tags(seen *s, burin_tool_syntax *shape) {
    gap open = s->gaps[NAME_KEY], next = s->gaps[TEXT_KEY];
    size_t shared = common_suffix(open, next), n = 0;
    while (n < shared && open.text[open.n - 1 - n] != '<') n++;
    if (n++ == shared) return false;
    gap value_end = trim_gap_right(trim_gap_left(cut_gap(next, n)));
    if (!value_end.n || *value_end.text != '<' || !s->gaps[KEY_TEXT].n) return false;
    for (int i = 0; i < s->n_ends; i++) {
        gap rest = trim_gap_left(*s->ends[i]);
        if (rest.n < value_end.n || memcmp(rest.text, value_end.text, value_end.n)) return false;
        *s->ends[i] = skip_in_gap(rest, value_end.n);
    }
    shape->kind = BURIN_SHAPE_TAGGED;
    shape->name_end = keep_part(s, cut_gap(open, n)),
    shape->key = keep_part(s, skip_in_gap(open, open.n - n));
    shape->key_end = keep_part(s, trim_gap_right(s->gaps[KEY_TEXT])),
    shape->other_key_end = keep_part(s, trim_gap_right(s->gaps[KEY_NUMBER]));
    shape->value_end = keep_part(s, value_end);
    return true;
}

static bool read_around(seen *s, burin_tool_syntax *shape) {
    gap before = s->gaps[BEFORE], behind = s->gaps[s->n];
    size_t n = 0, end = 0;
    if (s->n_ends == 2) {
        gap middle = s->gaps[NUMBER_NAME];
        n = common_suffix(before, middle);
        middle = cut_gap(middle, n), end = common_prefix(middle, behind);
        shape->between = keep_part(s, skip_in_gap(middle, end));
    } else {
        end = behind.n;
    }
    shape->begin = keep_part(s, cut_gap(before, n)),
    shape->call = keep_part(s, skip_in_gap(before, before.n - n));
    shape->call_end = keep_part(s, cut_gap(behind, behind.n - end)),
    shape->end = keep_part(s, skip_in_gap(behind, end));
    return before.n > 0;
}

// Returns true if the prompt for an answer ends with the beginning of a call.
static bool begins_in_prompt(const void *blob, const burin_tool_syntax *shape) {
    char *prompt = behind_user(blob, "", true), begin[128];
    int n = snprintf(begin, sizeof begin, "%s%s", shape->begin, shape->call);
    gap end = trim_gap_right((gap){prompt, prompt ? strlen(prompt) : 0});
    bool begun = n > 0 && n < (int)sizeof begin && end.n >= (size_t)n &&
                 !memcmp(end.text + end.n - n, begin, (size_t)n);
    free(prompt);
    return begun;
}

// False: the template shows no calls when it is asked so. A kind of NONE: it shows some in another
// shape.
static bool read_shape(const void *blob, const probe *p, burin_tool_syntax *shape) {
    char *text = render_calls(blob, p);
    if (!text) return false;
    seen s = {.room = burin_allocate(4, strlen(text) + 16)};
    *shape = (burin_tool_syntax){.memory = s.room};
    hide_ids(text);
    bool shown = find_gaps(&s, text, p->one) && strip_message(blob, &s),
         known = shown &&
                 (read_json(&s, shape) || read_python(&s, shape) || read_braced(&s, shape) ||
                  read_tags(&s, shape)) &&
                 read_around(&s, shape);
    free(text);
    if (known)
        shape->prompted = begins_in_prompt(blob, shape);
    else
        burin_tool_syntax_free(shape);
    return shown;
}

bool burin_tool_syntax_find(burin_tool_syntax *shape, const void *blob) {
    for (int i = 0; i < 16; i++)
        if (read_shape(
                blob,
                &(probe){.as_text = i & 1, .silent = i & 2, .one = i & 4, .name_in_id = i & 8},
                shape))
            break;
    return shape->kind != BURIN_SHAPE_NONE;
}

void burin_tool_syntax_free(burin_tool_syntax *shape) {
    free(shape->memory);
    *shape = (burin_tool_syntax){0};
}
