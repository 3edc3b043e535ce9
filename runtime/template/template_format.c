// Values put into strings: "%s is %d" % (a, b), and "{} is {name}".format(a, name=b).
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "template_value.h"

// One conversion: flags, width, precision and letter, as printf has them.
typedef struct conversion {
    char flags[8], letter;
    int width, precision;  // -1: none
    burin_value key;       // of %(key)s
} conversion;

static int read_digits(const char **at, const char *end) {
    int n = 0;
    for (; *at < end && **at >= '0' && **at <= '9'; (*at)++)
        n = n > 999 ? 1000 : n * 10 + **at - '0';
    return n;
}

static conversion read_conversion(burin_render_state *r, const char **at, const char *end) {
    conversion c = {.width = -1, .precision = -1};
    size_t n = 0;
    if (*at < end && **at == '(') {
        const char *close = memchr(*at, ')', (size_t)(end - *at));
        if (!close) burin_render_fail(r, "a format lacks its )");
        c.key = burin_string_of(*at + 1, (size_t)(close - *at - 1));
        *at = close + 1;
    }
    while (*at < end && **at && strchr("-+ 0#", **at) && n < sizeof c.flags - 1)
        c.flags[n++] = *(*at)++;
    if (*at < end && **at >= '1' && **at <= '9') c.width = read_digits(at, end);
    if (*at < end && **at == '.') (*at)++, c.precision = read_digits(at, end);
    if (*at == end || c.width > 999 || c.precision > 99)
        burin_render_fail(r, "a format that is not understood");
    c.letter = *(*at)++;
    return c;
}

static void add_padded(burin_render_state *r, const conversion *c, burin_value s) {
    if (c->precision >= 0) s.length = (uint32_t)burin_character_offset(s, c->precision);
    burin_render_step(r, s.length / 16);
    int64_t room = c->width - burin_count_characters(s);
    bool left = strchr(c->flags, '-');
    for (int64_t i = 0; !left && i < room; i++) burin_text_char(r, ' ');
    burin_text_add(r, s.text, s.length);
    for (int64_t i = 0; left && i < room; i++) burin_text_char(r, ' ');
}

static void add_number(burin_render_state *r, const conversion *c, burin_value v) {
    char format[32], out[1500];
    bool real = strchr("feEgGF", c->letter);
    int precision = c->precision < 0 && real ? 6 : c->precision;
    burin_render_step(r, 64);
    if (v.kind == BURIN_BIG && strchr("diu", c->letter))
        return add_padded(r, c, burin_string_of(v.text, v.length));
    if (v.kind == BURIN_BIG && !real)
        burin_render_fail(r, "%%%c: the number is too large", c->letter);
    if (!burin_is_number(v))
        burin_render_fail(r, "%%%c takes a number, not %s", c->letter, burin_kind_names[v.kind]);
    snprintf(format, sizeof format, precision < 0 ? "%%%s*%s%c" : "%%%s*.*%s%c", c->flags,
             real ? "" : "ll", c->letter == 'i' || c->letter == 'u' ? 'd' : c->letter);
    long long whole = v.kind == BURIN_FLOAT
                          ? (v.real > -9e18 && v.real < 9e18 ? (long long)v.real : 0)
                          : v.integer;
    int width = c->width < 0 ? 0 : c->width;
    if (real)
        snprintf(out, sizeof out, format, width, precision, burin_number(v));
    else if (precision < 0)
        snprintf(out, sizeof out, format, width, whole);
    else
        snprintf(out, sizeof out, format, width, precision, whole);
    burin_text_add(r, out, strlen(out));
}

typedef struct formatted {
    burin_value values;
    uint32_t used;
} formatted;

static burin_value next_value(burin_render_state *r, formatted *f, const conversion *c) {
    if (c->key.kind == BURIN_STRING) {
        const burin_value *there =
            f->values.kind == BURIN_DICT ? burin_dict_find(r, f->values, c->key) : NULL;
        if (!there) burin_render_fail(r, "a format names what is not there");
        return *there;
    }
    bool tuple = f->values.kind == BURIN_TUPLE;
    if (f->used == (tuple ? f->values.list->n : 1))
        burin_render_fail(r, "a format has more places than values");
    return tuple ? f->values.list->items[f->used++] : (f->used++, f->values);
}

// The texts of values are made before the string is built.
static void format_one(burin_render_state *r, formatted *f, const conversion *c,
                       burin_value *pieces) {
    burin_value v = next_value(r, f, c), text;
    size_t begin;
    if (c->letter == 's') {
        text = burin_string(r, v);
        begin = burin_text_begin(r);
        add_padded(r, c, text);
    } else if (c->letter == 'r' || c->letter == 'a') {
        begin = burin_text_begin(r);
        burin_text_repr(r, v);
        text = burin_text_end(r, begin);
        begin = burin_text_begin(r);
        add_padded(r, c, text);
    } else {
        if (!strchr("diuxXofFeEgG", c->letter))
            burin_render_fail(r, "a format that is not understood");
        begin = burin_text_begin(r);
        add_number(r, c, v);
    }
    burin_list_add(r, *pieces, burin_text_end(r, begin));
}

static burin_value join_pieces(burin_render_state *r, burin_value pieces, bool safe) {
    burin_value text = burin_join_all(r, pieces);
    text.safe = safe;
    return text;
}

burin_value burin_format_values(burin_render_state *r, burin_value format, burin_value values) {
    formatted f = {.values = values};
    burin_value pieces = burin_list_new(r, BURIN_LIST, 0);
    const char *at = format.text, *end = at + format.length;
    while (at < end) {
        const char *percent = memchr(at, '%', (size_t)(end - at)), *to = percent ? percent : end;
        burin_list_add(r, pieces,
                       burin_slice(format, (size_t)(at - format.text), (size_t)(to - at)));
        at = percent ? percent + 1 : end;
        if (!percent) break;
        if (at < end && *at == '%') {
            burin_list_add(r, pieces, BURIN_LITERAL("%"));
            at++;
        } else {
            conversion c = read_conversion(r, &at, end);
            format_one(r, &f, &c, &pieces);
        }
    }
    if (values.kind == BURIN_TUPLE ? f.used < values.list->n : !f.used && values.kind != BURIN_DICT)
        burin_render_fail(r, "a format has fewer places than values");
    return join_pieces(r, pieces, format.safe);
}

// --------------------------------------------------------------------------------------- in braces
// {:*>+#08,.2f}: fill, alignment, sign, other form, zeros, width, digits in groups, precision, type
typedef struct brace_format {
    burin_value fill;
    char align, sign, group, type;  // 0: none
    bool other_form;
    int width, precision;
} brace_format;

static char take_one_of(const char **at, const char *end, const char *these) {
    return *at < end && **at && strchr(these, **at) ? *(*at)++ : 0;
}

static brace_format read_brace_format(burin_render_state *r, burin_value text) {
    const char *at = text.text, *end = at + text.length, *behind = at;
    brace_format f = {.fill = BURIN_LITERAL(" "), .width = -1, .precision = -1};
    if (at < end) burin_character(&behind, end);
    bool filled = behind < end && *behind && strchr("<>^=", *behind);
    if (filled) f.fill = burin_slice(text, 0, (size_t)(behind - at)), at = behind;
    f.align = take_one_of(&at, end, "<>^=");
    f.sign = take_one_of(&at, end, "+- ");
    f.other_form = take_one_of(&at, end, "#");
    if (take_one_of(&at, end, "0") && !filled) {
        f.fill = BURIN_LITERAL("0");
        if (!f.align) f.align = '0';
    }
    if (at < end && *at >= '1' && *at <= '9') f.width = read_digits(&at, end);
    f.group = take_one_of(&at, end, ",_");
    if (at < end && *at == '.')
        at++, f.precision = at < end && *at >= '0' && *at <= '9' ? read_digits(&at, end) : 1000;
    f.type = take_one_of(&at, end, "sdxXofFeEgG%");
    if (at != end || f.width > 999 || f.precision > 99)
        burin_render_fail(r, "format: {:%.*s} is not understood",
                          (int)(text.length < 40 ? text.length : 40), text.text);
    return f;
}

enum { BRACE_DIGITS = 512 };  // the largest double and 99 digits after its point

// A number without its sign.
static void brace_digits(burin_render_state *r, const brace_format *f, burin_value v,
                         char out[BRACE_DIGITS]) {
    char text[64];
    burin_render_step(r, 64);
    const char letters[] = {'%', '.', '*', f->type == '%' ? 'f' : f->type, 0};
    if (v.kind == BURIN_FLOAT || (f->type && strchr("fFeEgG%", f->type))) {
        double real = fabs(burin_number(v)) * (f->type == '%' ? 100 : 1);
        if ((f->type && strchr("sdxXo", f->type)) || f->other_form)
            burin_render_fail(r, "format: this form is not one of real numbers");
        if (!f->type && f->precision >= 0)
            burin_render_fail(r, "format: a precision needs a letter, as {:.2f}");
        if (f->type)
            snprintf(out, BRACE_DIGITS, letters, f->precision < 0 ? 6 : f->precision, real);
        else
            snprintf(out, BRACE_DIGITS, "%s", burin_number_text(burin_real(real), text));
        if (f->type == '%') strcat(out, "%");
        return;
    }
    if (v.kind == BURIN_BIG) {
        if (v.length >= BRACE_DIGITS || (f->type && f->type != 'd') || f->precision >= 0)
            burin_render_fail(r, "format: the number is too large for this form");
        strcpy(out, v.text + (*v.text == '-'));
        return;
    }
    unsigned long long whole =
        v.integer < 0 ? -(unsigned long long)v.integer : (unsigned long long)v.integer;
    if (f->type == 's' || f->precision >= 0)
        burin_render_fail(r, "format: this form is not one of whole numbers");
    snprintf(out, BRACE_DIGITS,
             f->type == 'x'   ? "%llx"
             : f->type == 'X' ? "%llX"
             : f->type == 'o' ? "%llo"
                              : "%llu",
             whole);
}

static void add_fill(burin_render_state *r, burin_value fill, int64_t times) {
    for (; times > 0; times--) burin_text_add(r, fill.text, fill.length);
}

// `prefix` comes before the fill with '='.
static burin_value padded_braces(burin_render_state *r, const brace_format *f, const char *prefix,
                                 burin_value body, char align) {
    int64_t room = f->width - burin_count_characters(body) - (int64_t)strlen(prefix);
    int64_t left = align == '>' ? room : align == '^' && room > 0 ? room / 2 : 0;
    size_t begin = burin_text_begin(r);
    add_fill(r, f->fill, left);
    burin_text_add(r, prefix, strlen(prefix));
    if (align == '=') add_fill(r, f->fill, room);
    burin_text_add(r, body.text, body.length);
    if (align == '<' || align == '^') add_fill(r, f->fill, room - left);
    return burin_text_end(r, begin);
}

static burin_value brace_number(burin_render_state *r, const brace_format *f, burin_value v) {
    char digits[BRACE_DIGITS], grouped[2 * BRACE_DIGITS], prefix[8];
    char align = !f->align ? '>' : f->align == '0' ? '=' : f->align;
    bool minus = v.kind == BURIN_FLOAT ? signbit(v.real) && !isnan(v.real)
                 : v.kind == BURIN_BIG ? *v.text == '-'
                                       : v.integer < 0;
    brace_digits(r, f, v, digits);
    bool based = f->type && strchr("xXo", f->type);
    if (f->group && (based || align == '='))
        burin_render_fail(r, "format: digits in groups behind zeros or in another base");
    snprintf(prefix, sizeof prefix, "%s%s",
             minus            ? "-"
             : f->sign == '+' ? "+"
             : f->sign == ' ' ? " "
                              : "",
             !f->other_form || !based ? ""
             : f->type == 'o'         ? "0o"
             : f->type == 'x'         ? "0x"
                                      : "0X");
    size_t whole = strspn(digits, "0123456789"), n = 0;
    for (size_t i = 0; digits[i]; i++) {
        if (f->group && i && i < whole && (whole - i) % 3 == 0) grouped[n++] = f->group;
        grouped[n++] = digits[i];
    }
    return padded_braces(r, f, prefix, burin_string_of(grouped, n), align);
}

static burin_value brace_text(burin_render_state *r, burin_value v, burin_value format) {
    if (!format.length) return burin_string(r, v);
    const brace_format f = read_brace_format(r, format);
    if (burin_is_number(v)) return brace_number(r, &f, v);
    if (v.kind != BURIN_STRING)
        burin_render_fail(r, "format: %s has no form but {}", burin_kind_names[v.kind]);
    if (f.align == '=' || f.sign || f.group || f.other_form || (f.type && f.type != 's'))
        burin_render_fail(r, "format: this form is not one of strings");
    if (f.precision >= 0) v.length = (uint32_t)burin_character_offset(v, f.precision);
    return padded_braces(r, &f, "", v, !f.align || f.align == '0' ? '<' : f.align);
}

// name.attribute[item]: `at` is after the name.
static burin_value brace_parts(burin_render_state *r, burin_value of, burin_value path) {
    for (size_t at = 0, end; at < path.length; at = end) {
        bool item = path.text[at] == '[';
        const char *close = item ? memchr(path.text + at, ']', path.length - at) : NULL;
        end = ++at;
        while (close ? path.text + end < close
                     : end < path.length && path.text[end] != '.' && path.text[end] != '[')
            end++;
        burin_value part = burin_slice(path, at, end - at);
        const char *digits = part.text;
        int64_t index = read_digits(&digits, part.text + part.length);
        bool number = item && part.length && part.length < 4 && digits == part.text + part.length;
        if (!part.length || (item ? !close : path.text[at - 1] != '.'))
            burin_render_fail(r, "format: a part of a value without its name");
        of = item ? burin_item(r, of, number ? burin_integer(index) : part)
                  : burin_attribute(r, of, part);
        end += item;
    }
    return of;
}

// Between braces: nothing, a number or a name, and parts. `next` counts the braces without a
// number.
static burin_value brace_value(burin_render_state *r, burin_value field, const burin_value *a,
                               uint32_t *next) {
    size_t length = 0;
    while (length < field.length && field.text[length] != '.' && field.text[length] != '[')
        length++;
    burin_value name = burin_slice(field, 0, length),
                path = burin_slice(field, length, field.length - length);
    const char *at = name.text, *end = at + length;
    uint32_t index = length ? (uint32_t)read_digits(&at, end) : (*next)++;
    if (at == end) {
        if (index >= a[0].list->n) burin_render_fail(r, "format has more places than values");
        return brace_parts(r, a[0].list->items[index], path);
    }
    const burin_value *there = burin_dict_find(r, a[1], name);
    if (!there)
        burin_render_fail(r, "format: nothing is given for {%.*s}", (int)name.length, name.text);
    return brace_parts(r, *there, path);
}

static burin_value brace_conversion(burin_render_state *r, burin_value v, char how) {
    if (how == 's') return burin_string(r, v);
    if (how != 'r') burin_render_fail(r, "format: a conversion is !s or !r");
    size_t begin = burin_text_begin(r);
    burin_text_repr(r, v);
    return burin_text_end(r, begin);
}

// field!conversion:format
static burin_value brace_piece(burin_render_state *r, burin_value all, const burin_value *a,
                               uint32_t *next) {
    size_t length = 0;
    while (length < all.length && all.text[length] != '!' && all.text[length] != ':') length++;
    burin_value v = brace_value(r, burin_slice(all, 0, length), a, next);
    if (memchr(all.text, '{', all.length))
        burin_render_fail(r, "format: braces in braces are not of the subset");
    if (length < all.length && all.text[length] == '!') {
        v = brace_conversion(r, v, length + 1 < all.length ? all.text[length + 1] : 0);
        length += 2;
    }
    if (length < all.length && all.text[length] != ':')
        burin_render_fail(r, "format: expected a colon behind a conversion");
    length += length < all.length;
    return brace_text(r, v, burin_slice(all, length, all.length - length));
}

burin_value burin_format_braces(burin_render_state *r, burin_value of, const burin_value *a) {
    burin_value pieces = burin_list_new(r, BURIN_LIST, 0);
    uint32_t next = 0;
    for (size_t at = 0; at < of.length;) {
        char c = of.text[at];
        bool doubled = at + 1 < of.length && of.text[at + 1] == c;
        if ((c != '{' && c != '}') || doubled) {
            burin_list_add(r, pieces, burin_slice(of, at, 1));
            at += c == '{' || c == '}' ? 2 : 1;
            continue;
        }
        const char *close = c == '{' ? memchr(of.text + at, '}', of.length - at) : NULL;
        if (!close) burin_render_fail(r, "format: a brace without the other");
        burin_value field = burin_slice(of, at + 1, (size_t)(close - of.text) - at - 1);
        burin_value piece = brace_piece(r, field, a, &next);
        burin_list_add(r, pieces, of.safe ? burin_escape_html(r, piece) : piece);
        at += field.length + 2;
    }
    return join_pieces(r, pieces, of.safe);
}
