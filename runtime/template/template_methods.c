// Methods of strings, lists, dictionaries and loops, as Python's. Those that change a list or a
// dictionary are refused.
#include <string.h>

#include "template_value.h"

#define METHOD(name) \
    static burin_value name(burin_render_state *r, burin_value of, const burin_value *a)

static burin_value text_argument(burin_render_state *r, burin_value v, const char *method) {
    if (v.kind != BURIN_STRING)
        burin_render_fail(r, "%s takes a string, not %s", method, burin_kind_names[v.kind]);
    return v;
}

static bool has_argument(burin_value v) {
    return v.kind != BURIN_UNDEFINED && v.kind != BURIN_NONE;
}

static burin_value like(burin_value of, burin_value made) {
    made.safe = of.safe;
    return made;
}

// -------------------------------------------------------------------------------------------- case
METHOD(string_upper) { return (void)a, burin_change_case(r, of, "upper"); }
METHOD(string_lower) { return (void)a, burin_change_case(r, of, "lower"); }
METHOD(string_title) { return (void)a, burin_change_case(r, of, "title"); }
METHOD(string_capitalize) { return (void)a, burin_change_case(r, of, "capitalize"); }
METHOD(string_strip) { return burin_strip(r, of, a[0], true, true); }
METHOD(string_lstrip) { return burin_strip(r, of, a[0], true, false); }
METHOD(string_rstrip) { return burin_strip(r, of, a[0], false, true); }

// --------------------------------------------------------------------------------------- searching
static bool is_at(burin_value of, size_t at, burin_value part) {
    return at <= of.length && of.length - at >= part.length &&
           !memcmp(of.text + at, part.text, part.length);
}

// The first place of the part from `from` on, or the last one before `from` counted from the end;
// -1: none.
static int64_t place_of(burin_render_state *r, burin_value of, burin_value part, size_t from,
                        bool last) {
    if (from > of.length) return -1;
    if (last) {
        size_t at = of.length + 1;
        bool found = false;
        while (!found && at > from) found = is_at(of, --at, part);
        burin_render_step(r, (of.length - at) / 4 * (1 + part.length / 16));
        return found ? (int64_t)at : -1;
    }
    if (!part.length) return (int64_t)from;
    const char *there = memmem(of.text + from, of.length - from, part.text, part.length);
    burin_render_step(r, ((there ? (size_t)(there - of.text) : of.length) - from) / 16);
    return there ? there - of.text : -1;
}

static bool begins_or_ends(burin_render_state *r, burin_value of, burin_value part, bool ends) {
    if (part.kind == BURIN_TUPLE) {
        for (uint32_t i = 0; i < part.list->n; i++)
            if (begins_or_ends(r, of, part.list->items[i], ends)) return true;
        return false;
    }
    text_argument(r, part, ends ? "endswith" : "startswith");
    burin_render_step(r, part.length / 64);
    return part.length <= of.length && is_at(of, ends ? of.length - part.length : 0, part);
}

// of[start:end], as the methods that search take it.
static burin_value within(burin_render_state *r, burin_value of, const burin_value *bounds) {
    burin_value all[] = {has_argument(bounds[0]) ? bounds[0] : burin_none(),
                         has_argument(bounds[1]) ? bounds[1] : burin_none(), burin_none()};
    return has_argument(bounds[0]) || has_argument(bounds[1]) ? burin_range_of(r, of, all) : of;
}

METHOD(string_startswith) {
    return burin_boolean(begins_or_ends(r, within(r, of, a + 1), a[0], false));
}
METHOD(string_endswith) {
    return burin_boolean(begins_or_ends(r, within(r, of, a + 1), a[0], true));
}

static burin_value find_part(burin_render_state *r, burin_value of, const burin_value *a,
                             bool last) {
    burin_value inside = within(r, of, a + 1);
    int64_t at = place_of(r, inside, text_argument(r, a[0], "find"), 0, last);
    if (at < 0) return burin_integer(-1);
    burin_render_step(r, ((size_t)(inside.text - of.text) + (size_t)at) / 16);
    return burin_integer(
        burin_count_characters(burin_slice(of, 0, (size_t)(inside.text - of.text) + (size_t)at)));
}

static burin_value found_part(burin_render_state *r, burin_value at) {
    if (at.integer < 0) burin_render_fail(r, "index: the string is not in it");
    return at;
}

METHOD(string_find) { return find_part(r, of, a, false); }
METHOD(string_rfind) { return find_part(r, of, a, true); }
METHOD(string_index) { return found_part(r, find_part(r, of, a, false)); }
METHOD(string_rindex) { return found_part(r, find_part(r, of, a, true)); }

METHOD(string_count) {
    burin_value part = text_argument(r, a[0], "count");
    int64_t n = 0, at = 0;
    if (!part.length) return burin_integer(burin_length(r, of) + 1);
    while ((at = place_of(r, of, part, (size_t)at, false)) >= 0) n++, at += part.length;
    return burin_integer(n);
}

// ----------------------------------------------------------------------------- cutting and joining
METHOD(string_replace) {
    burin_value from = text_argument(r, a[0], "replace"), to = text_argument(r, a[1], "replace");
    int64_t left = a[2].kind == BURIN_INTEGER ? a[2].integer : -1, at;
    if (of.safe) from = burin_escape_html(r, from), to = burin_escape_html(r, to);
    size_t begin = burin_text_begin(r), done = 0;
    for (size_t look = 0; left && (at = place_of(r, of, from, look, false)) >= 0; left--) {
        burin_text_add(r, of.text + done, (size_t)at - done);
        burin_text_add(r, to.text, to.length);
        done = (size_t)at + from.length;
        look = from.length
                   ? done
                   : (size_t)at + burin_character_offset(
                                      burin_slice(of, (size_t)at, of.length - (size_t)at), 1);
        if (!from.length && (size_t)at == of.length) break;
    }
    burin_text_add(r, of.text + done, of.length - done);
    return like(of, burin_text_end(r, begin));
}

static void split_at_spaces(burin_render_state *r, burin_value of, burin_value out, int64_t most) {
    of = burin_strip(r, of, burin_none(), true, false);
    burin_render_step(r, of.length / 4);
    while (of.length) {
        const char *at = of.text, *end = at + of.length, *from = at;
        bool rest = most == 0;
        while (at < end && !rest) {
            from = at;
            if (burin_is_blank(burin_character(&at, end))) break;
            from = at;
        }
        burin_value part = rest ? of : burin_slice(of, 0, (size_t)(from - of.text));
        burin_list_add(r, out, part);
        if (rest) break;
        most -= most > 0;
        of = burin_strip(r, burin_slice(of, part.length, of.length - part.length), burin_none(),
                         true, false);
    }
}

METHOD(string_split) {
    burin_value out = burin_list_new(r, BURIN_LIST, 0);
    int64_t most = a[1].kind == BURIN_INTEGER ? a[1].integer : -1, at;
    if (!has_argument(a[0])) return split_at_spaces(r, of, out, most), out;
    burin_value separator = text_argument(r, a[0], "split");
    if (!separator.length) burin_render_fail(r, "split takes a separator that is not empty");
    for (; most && (at = place_of(r, of, separator, 0, false)) >= 0; most--) {
        burin_list_add(r, out, burin_slice(of, 0, (size_t)at));
        of = burin_slice(of, (size_t)at + separator.length,
                         of.length - (size_t)at - separator.length);
    }
    burin_list_add(r, out, of);
    return out;
}

static burin_value backwards(burin_render_state *r, burin_value list) {
    for (uint32_t i = 0, n = list.list->n; i < n / 2; i++) {
        burin_value swap = list.list->items[i];
        list.list->items[i] = list.list->items[n - 1 - i], list.list->items[n - 1 - i] = swap;
    }
    return burin_render_step(r, list.list->n), list;
}

static void split_words_from_right(burin_render_state *r, burin_value of, burin_value out,
                                   int64_t most) {
    for (of = burin_strip(r, of, burin_none(), false, true); of.length; most--) {
        const char *at = of.text, *end = at + of.length, *from = at;
        burin_render_step(r, of.length);
        while (most && at < end)
            if (burin_is_blank(burin_character(&at, end))) from = at;
        size_t begin = (size_t)(from - of.text);
        burin_list_add(r, out, burin_slice(of, begin, of.length - begin));
        of = burin_strip(r, burin_slice(of, 0, begin), burin_none(), false, true);
    }
}

METHOD(string_rsplit) {
    burin_value out = burin_list_new(r, BURIN_LIST, 0);
    int64_t most = a[1].kind == BURIN_INTEGER ? a[1].integer : -1, at;
    if (most < 0) return string_split(r, of, a);
    if (!has_argument(a[0])) return split_words_from_right(r, of, out, most), backwards(r, out);
    burin_value separator = text_argument(r, a[0], "rsplit");
    if (!separator.length) burin_render_fail(r, "split takes a separator that is not empty");
    for (; most > 0 && (at = place_of(r, of, separator, 0, true)) >= 0; most--) {
        burin_list_add(r, out,
                       burin_slice(of, (size_t)at + separator.length,
                                   of.length - (size_t)at - separator.length));
        of = burin_slice(of, 0, (size_t)at);
    }
    burin_list_add(r, out, of);
    return backwards(r, out);
}

static bool ends_line(uint32_t c) {
    return (c >= 10 && c <= 13) || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 ||
           c == 0x2029;
}

METHOD(string_splitlines) {
    burin_value out = burin_list_new(r, BURIN_LIST, 0);
    const char *from = of.text, *end = from + of.length;
    bool keep = burin_truth(a[0]);
    burin_render_step(r, of.length);
    for (const char *at = from; at < end;) {
        const char *before = at;
        uint32_t code = burin_character(&at, end);
        if (!ends_line(code) && at < end) continue;
        if (code == '\r' && at < end && *at == '\n') at++;
        const char *to = keep || !ends_line(code) ? at : before;
        burin_list_add(r, out, burin_slice(of, (size_t)(from - of.text), (size_t)(to - from)));
        from = at;
    }
    return out;
}

METHOD(string_join) {
    const burin_list *list = burin_items(r, a[0]).list;
    burin_render_step(r, list->n);
    size_t begin = burin_text_begin(r);
    for (uint32_t i = 0; i < list->n; i++) {
        burin_value item = text_argument(r, list->items[i], "join");
        if (i) burin_text_add(r, of.text, of.length);
        if (of.safe)
            burin_text_escaped(r, item);
        else
            burin_text_add(r, item.text, item.length);
    }
    return like(of, burin_text_end(r, begin));
}

static burin_value three_parts(burin_render_state *r, burin_value of, burin_value separator,
                               bool last) {
    burin_value out = burin_list_new(r, BURIN_TUPLE, 3), nothing = like(of, BURIN_LITERAL(""));
    if (!text_argument(r, separator, "partition").length)
        burin_render_fail(r, "partition takes a separator that is not empty");
    int64_t at = place_of(r, of, separator, 0, last);
    size_t behind = (size_t)at + separator.length;
    burin_list_add(r, out, at >= 0 ? burin_slice(of, 0, (size_t)at) : last ? nothing : of);
    burin_list_add(r, out, at >= 0 ? separator : nothing);
    burin_list_add(r, out,
                   at >= 0 ? burin_slice(of, behind, of.length - behind)
                   : last  ? of
                           : nothing);
    return out;
}

METHOD(string_partition) { return three_parts(r, of, a[0], false); }
METHOD(string_rpartition) { return three_parts(r, of, a[0], true); }

METHOD(string_removeprefix) {
    bool there = begins_or_ends(r, of, text_argument(r, a[0], "removeprefix"), false);
    return there ? burin_slice(of, a[0].length, of.length - a[0].length) : of;
}

METHOD(string_removesuffix) {
    bool there = begins_or_ends(r, of, text_argument(r, a[0], "removesuffix"), true);
    return there ? burin_slice(of, 0, of.length - a[0].length) : of;
}

static burin_value pad(burin_render_state *r, burin_value of, burin_value width, burin_value fill,
                       size_t at) {
    if (width.kind != BURIN_INTEGER) burin_render_fail(r, "a width is a whole number");
    if (fill.kind != BURIN_STRING) fill = BURIN_LITERAL(" ");
    if (burin_length(r, fill) != 1) burin_render_fail(r, "what fills a width is one character");
    size_t begin;
    int64_t n = burin_width(width, 0) - burin_length(r, of);
    begin = burin_text_begin(r);
    burin_text_add(r, of.text, at);
    for (; n > 0; n--) burin_text_add(r, fill.text, fill.length);
    burin_text_add(r, of.text + at, of.length - at);
    return like(of, burin_text_end(r, begin));
}

METHOD(string_ljust) { return pad(r, of, a[0], a[1], of.length); }
METHOD(string_rjust) { return pad(r, of, a[0], a[1], 0); }
METHOD(string_zfill) {
    return pad(r, of, a[0], BURIN_LITERAL("0"), of.length && strchr("+-", *of.text) ? 1 : 0);
}

// ------------------------------------------------------------------------------------------- table
static bool all_are(burin_render_state *r, burin_value of, bool (*is)(uint32_t)) {
    const char *at = of.text, *end = at + of.length;
    burin_render_step(r, of.length);
    while (at < end)
        if (!is(burin_character(&at, end))) return false;
    return of.length;
}

static bool is_digit(uint32_t c) { return c >= '0' && c <= '9'; }
static bool is_letter_or_digit(uint32_t c) { return is_digit(c) || burin_is_letter(c); }

METHOD(string_isdigit) { return (void)a, burin_boolean(all_are(r, of, is_digit)); }
METHOD(string_isalpha) { return (void)a, burin_boolean(all_are(r, of, burin_is_letter)); }
METHOD(string_isalnum) { return (void)a, burin_boolean(all_are(r, of, is_letter_or_digit)); }
METHOD(string_isspace) { return (void)a, burin_boolean(all_are(r, of, burin_is_blank)); }

METHOD(string_isupper) {
    const burin_arguments none = {0};
    return (void)a, burin_boolean(burin_test(r, BURIN_LITERAL("upper"), of, &none));
}

METHOD(string_islower) {
    const burin_arguments none = {0};
    return (void)a, burin_boolean(burin_test(r, BURIN_LITERAL("lower"), of, &none));
}

static const burin_builtin_row string_methods[] = {
    {"upper", string_upper, ""},
    {"lower", string_lower, ""},
    {"casefold", string_lower, ""},
    {"title", string_title, ""},
    {"capitalize", string_capitalize, ""},
    {"strip", string_strip, "chars="},
    {"lstrip", string_lstrip, "chars="},
    {"rstrip", string_rstrip, "chars="},
    {"startswith", string_startswith, "prefix start= end="},
    {"endswith", string_endswith, "suffix start= end="},
    {"find", string_find, "sub start= end="},
    {"rfind", string_rfind, "sub start= end="},
    {"index", string_index, "sub start= end="},
    {"rindex", string_rindex, "sub start= end="},
    {"count", string_count, "sub"},
    {"replace", string_replace, "old new count="},
    {"split", string_split, "sep= maxsplit="},
    {"rsplit", string_rsplit, "sep= maxsplit="},
    {"splitlines", string_splitlines, "keepends="},
    {"join", string_join, "iterable"},
    {"partition", string_partition, "sep"},
    {"rpartition", string_rpartition, "sep"},
    {"removeprefix", string_removeprefix, "prefix"},
    {"removesuffix", string_removesuffix, "suffix"},
    {"ljust", string_ljust, "width fillchar="},
    {"rjust", string_rjust, "width fillchar="},
    {"zfill", string_zfill, "width"},
    {"format", burin_format_braces, "*"},
    {"isdigit", string_isdigit, ""},
    {"isdecimal", string_isdigit, ""},
    {"isnumeric", string_isdigit, ""},
    {"isalpha", string_isalpha, ""},
    {"isalnum", string_isalnum, ""},
    {"isspace", string_isspace, ""},
    {"isupper", string_isupper, ""},
    {"islower", string_islower, ""},
    {0},
};

// ----------------------------------------------------------------------------- lists, dictionaries
METHOD(refuse_change) {
    (void)a;
    burin_render_fail(r, "templates do not change %s", burin_kind_names[of.kind]);
}

METHOD(list_index) {
    for (uint32_t i = 0; i < of.list->n; i++)
        if (burin_equal(r, of.list->items[i], a[0])) return burin_integer(i);
    burin_render_fail(r, "index: the item is not in the list");
}

METHOD(list_count) {
    int64_t n = 0;
    for (uint32_t i = 0; i < of.list->n; i++) n += burin_equal(r, of.list->items[i], a[0]);
    return burin_integer(n);
}

METHOD(copy_of) { return (void)r, (void)a, of; }

static const burin_builtin_row list_methods[] = {
    {"index", list_index, "value"},  {"count", list_count, "value"}, {"copy", copy_of, ""},
    {"append", refuse_change, "*"},  {"extend", refuse_change, "*"}, {"insert", refuse_change, "*"},
    {"pop", refuse_change, "*"},     {"remove", refuse_change, "*"}, {"clear", refuse_change, "*"},
    {"reverse", refuse_change, "*"}, {"sort", refuse_change, "*"},   {0},
};

METHOD(dict_keys) { return (void)a, burin_items(r, of); }

METHOD(dict_values) {
    (void)a;
    burin_value list = burin_list_new(r, BURIN_LIST, of.dict->n);
    for (uint32_t i = 0; i < of.dict->n; i++) burin_list_add(r, list, of.dict->pairs[i].value);
    return list;
}

METHOD(dict_items) {
    (void)a;
    const burin_arguments none = {0};
    return burin_filter(r, BURIN_LITERAL("items"), of, &none);
}

METHOD(dict_get) {
    const burin_value *there = burin_dict_find(r, of, a[0]);
    return there ? *there : a[1].kind == BURIN_UNDEFINED && !a[1].length ? burin_none() : a[1];
}

static const burin_builtin_row dict_methods[] = {
    {"keys", dict_keys, ""},
    {"values", dict_values, ""},
    {"items", dict_items, ""},
    {"get", dict_get, "key default="},
    {"copy", copy_of, ""},
    {"pop", refuse_change, "*"},
    {"update", refuse_change, "*"},
    {"setdefault", refuse_change, "*"},
    {"clear", refuse_change, "*"},
    {"popitem", refuse_change, "*"},
    {0},
};

// ----------------------------------------------------------------------------------------- objects
METHOD(loop_cycle) {
    if (!a[0].list->n) burin_render_fail(r, "cycle takes what to go through");
    return a[0].list->items[of.loop->index % a[0].list->n];
}

METHOD(loop_changed) {
    burin_loop *l = of.loop;
    burin_value last = {.kind = BURIN_TUPLE, .list = l->changed};
    bool same = l->changed && burin_equal(r, last, a[0]);
    l->changed = a[0].list;
    return burin_boolean(!same);
}

static const burin_builtin_row loop_methods[] = {
    {"cycle", loop_cycle, "*"}, {"changed", loop_changed, "*"}, {0}};

METHOD(cycler_next) {
    (void)r, (void)a;
    burin_object *o = of.object;
    burin_value item = o->items.list->items[o->at];
    o->at = (o->at + 1) % o->items.list->n;
    return item;
}

METHOD(cycler_reset) {
    (void)r, (void)a;
    of.object->at = 0;
    return burin_none();
}

static const burin_builtin_row cycler_methods[] = {
    {"next", cycler_next, ""}, {"reset", cycler_reset, ""}, {0}};

static const burin_builtin_row *method_row(burin_value of, burin_value name) {
    if (of.kind == BURIN_STRING) return burin_find_builtin(string_methods, name);
    if (of.kind == BURIN_LIST || of.kind == BURIN_TUPLE)
        return burin_find_builtin(list_methods, name);
    if (of.kind == BURIN_DICT) return burin_find_builtin(dict_methods, name);
    if (of.kind == BURIN_LOOP) return burin_find_builtin(loop_methods, name);
    if (of.kind == BURIN_OBJECT && of.object->items.kind == BURIN_LIST)
        return burin_find_builtin(cycler_methods, name);
    return NULL;
}

bool burin_has_method(burin_value of, burin_value name) { return method_row(of, name); }

burin_value burin_call_method(burin_render_state *r, const burin_method *m,
                              const burin_arguments *a) {
    return burin_call_builtin(r, method_row(m->of, m->name), m->of, a);
}
