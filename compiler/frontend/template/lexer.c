// Tokens of a template. The rules for white space are those of Jinja with trim_blocks and
// lstrip_blocks: a newline after a tag is removed, blanks before a tag that begins a line are
// removed, `-` removes all white space on its side, `+` none.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/template/parser.h"

typedef struct {
    TemplateParser *p;
    const char *text;
    size_t size, at;
    bool line_starts;  // the text before `at` ended a line
} Lexer;

enum { MOST_NESTED = 500 };

static Loc loc_of(const Lexer *l, size_t from, size_t length) {
    return (Loc){.source = l->p->source, .offset = (uint32_t)from, .length = (uint32_t)length};
}

static Token *add_token(Lexer *l, TokenKind kind, size_t from, size_t length) {
    TemplateParser *p = l->p;
    if (p->n_tokens == p->capacity) {
        int capacity = p->capacity ? 2 * p->capacity : 256;
        Token *grown = ARENA_ARRAY(p->arena, Token, capacity);
        if (p->n_tokens) memcpy(grown, p->tokens, (size_t)p->n_tokens * sizeof *grown);
        p->tokens = grown, p->capacity = capacity;
    }
    Token *t = &p->tokens[p->n_tokens++];
    *t = (Token){
        .kind = kind, .loc = loc_of(l, from, length), .text = l->text + from, .length = length};
    return t;
}

static bool starts(const Lexer *l, size_t at, const char *with) {
    size_t n = strlen(with);
    return at + n <= l->size && !memcmp(l->text + at, with, n);
}

static size_t find(const Lexer *l, size_t from, const char *what) {
    const char *there =
        from < l->size ? memmem(l->text + from, l->size - from, what, strlen(what)) : NULL;
    return there ? (size_t)(there - l->text) : l->size;
}

static bool is_space(char c) { return isspace((unsigned char)c); }

static void skip_spaces(Lexer *l) {
    while (l->at < l->size && is_space(l->text[l->at])) l->at++;
}

// ----------------------------------------------------------------------------- between expressions
// Text up to a tag or comment at `end`, whose sign follows its two characters.
static void add_text(Lexer *l, size_t from, size_t end) {
    size_t to = end;
    char sign = end + 2 < l->size ? l->text[end + 2] : 0;
    if (end < l->size && sign == '-') {
        while (to > from && is_space(l->text[to - 1])) to--;
    } else if (end < l->size && sign != '+' && l->text[end + 1] != '{') {
        while (to > from && is_space(l->text[to - 1]) && l->text[to - 1] != '\n') to--;
        bool alone = to > from ? l->text[to - 1] == '\n' : l->line_starts;
        if (!alone) to = end;
    }
    if (to > from) add_token(l, TOKEN_TEXT, from, to - from);
}

static size_t next_tag(const Lexer *l, size_t from) {
    for (; from + 1 < l->size; from++)
        if (l->text[from] == '{' && strchr("{%#", l->text[from + 1]) && l->text[from + 1])
            return from;
    return l->size;
}

// The position after the end of a tag or comment, whose `sign` comes before it.
static void after_tag(Lexer *l, char sign, bool newline_goes) {
    l->line_starts = false;
    if (sign == '-') {
        size_t before = l->at;
        skip_spaces(l);
        l->line_starts = l->at > before && l->text[l->at - 1] == '\n';
    } else if (newline_goes && sign != '+' && starts(l, l->at, "\n")) {
        l->at++;
        l->line_starts = true;
    }
}

static void skip_comment(Lexer *l, size_t from) {
    size_t content =
        from + 2 + (from + 2 < l->size && strchr("-+", l->text[from + 2]) && l->text[from + 2]);
    size_t end = find(l, content, "#}");
    if (end == l->size)
        template_fatal(l->p, loc_of(l, from, 2), "the comment has no end: expected #}");
    char sign = end > content ? l->text[end - 1] : 0;
    l->at = end + 2;
    after_tag(l, sign, true);
}

// The position after `{% word %}` with any signs and blanks, or 0. *sign: the character before its
// %}.
static size_t behind_word_tag(const Lexer *l, size_t at, const char *word, char *sign) {
    size_t n = strlen(word);
    at += 2;
    if (at < l->size && (l->text[at] == '-' || l->text[at] == '+')) at++;
    while (at < l->size && is_space(l->text[at])) at++;
    if (!starts(l, at, word)) return 0;
    for (at += n; at < l->size && is_space(l->text[at]);) at++;
    *sign = at < l->size && (l->text[at] == '-' || l->text[at] == '+') ? l->text[at] : 0;
    at += *sign != 0;
    return starts(l, at, "%}") ? at + 2 : 0;
}

// {% raw %} ... {% endraw %}: literal text.
static bool take_raw(Lexer *l, size_t tag) {
    char sign;
    size_t content = behind_word_tag(l, tag, "raw", &sign), end = content, behind = 0;
    if (!content) return false;
    l->at = content;
    after_tag(l, sign, false);
    content = l->at;
    for (; !behind && (end = find(l, end, "{%")) < l->size; end++)
        behind = behind_word_tag(l, end, "endraw", &sign);
    if (!behind)
        template_fatal(l->p, loc_of(l, tag, 2), "the raw block has no end, a tag \"endraw\"");
    add_text(l, content, end - 1);
    l->at = behind;
    after_tag(l, sign, true);
    return true;
}

// ---------------------------------------------------------------------------------- in expressions
static void append_code(Text *t, uint32_t code) {
    char out[4];
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)((n == 1 ? 0 : n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0) | code);
    text_append(t, out, n);
}

// \xhh, \uhhhh, \Uhhhhhhhh: returns the position after the digits.
static size_t read_code(Lexer *l, size_t at, int digits, Text *out) {
    char text[16] = "";
    size_t n = 0;
    for (; n < (size_t)digits && at + n < l->size && isxdigit((unsigned char)l->text[at + n]); n++)
        text[n] = l->text[at + n];
    uint32_t code = (uint32_t)strtoul(text, NULL, 16);
    if (n < (size_t)digits || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        template_fatal(l->p, loc_of(l, at - 2, n + 2),
                       "the escape is no character: expected %d hexadecimal digits", digits);
    append_code(out, code);
    return at + n;
}

static size_t read_escape(Lexer *l, size_t at, Text *out) {
    static const char names[] = "\\'\"abfnrtv", codes[] = "\\'\"\a\b\f\n\r\t\v";
    char c = l->text[at];
    const char *known = c ? strchr(names, c) : NULL;
    uint32_t code = 0;
    if (known) return text_append(out, &codes[known - names], 1), at + 1;
    if (c == '\n') return at + 1;
    if (c == 'x' || c == 'u' || c == 'U')
        return read_code(l, at + 1, c == 'x' ? 2 : c == 'u' ? 4 : 8, out);
    if (c == 'N')
        template_fatal(l->p, loc_of(l, at - 1, 2),
                       "names of characters (\\N) are not of the subset");
    if (c < '0' || c > '7') return text_append(out, l->text + at - 1, 2), at + 1;
    for (int n = 0; n < 3 && at < l->size && l->text[at] >= '0' && l->text[at] <= '7'; n++)
        code = code * 8 + (uint32_t)(l->text[at++] - '0');
    append_code(out, code);
    return at;
}

static void read_string(Lexer *l) {
    Text *out = &l->p->scratch;
    size_t from = l->at, at = from + 1;
    char quote = l->text[from];
    out->length = 0;
    while (at < l->size && l->text[at] != quote) {
        if (l->text[at] == '\\' && at + 1 < l->size)
            at = read_escape(l, at + 1, out);
        else
            text_append(out, l->text + at++, 1);
    }
    if (at >= l->size) template_fatal(l->p, loc_of(l, from, 1), "the string has no end");
    Token *t = add_token(l, TOKEN_STRING, from, at + 1 - from);
    t->text = arena_strndup(l->p->arena, out->length ? out->data : "", out->length),
    t->length = out->length;
    l->at = at + 1;
}

static size_t skip_digits(const Lexer *l, size_t at) {
    while (at < l->size && (isdigit((unsigned char)l->text[at]) ||
                            (l->text[at] == '_' && isdigit((unsigned char)l->text[at + 1]))))
        at++;
    return at;
}

// The end of a fraction and an exponent after the digits that end at `at`, or `at`.
static size_t skip_fraction(const Lexer *l, size_t at) {
    size_t end = at;
    if (starts(l, end, ".") && end + 1 < l->size && isdigit((unsigned char)l->text[end + 1]))
        end = skip_digits(l, end + 1);
    if (end < l->size && (l->text[end] | 32) == 'e') {
        size_t digits = end + 1;
        if (digits < l->size && strchr("+-", l->text[digits])) digits++;
        if (digits < l->size && isdigit((unsigned char)l->text[digits]))
            end = skip_digits(l, digits);
    }
    return end;
}

static void read_number(Lexer *l) {
    char digits[64], *rest;
    size_t from = l->at, end = skip_digits(l, from), n = 0;
    bool based = l->text[from] == '0' && end == from + 1 && end < l->size &&
                 strchr("xXoObB", l->text[end]) && l->text[end];
    int base = 10;
    if (based) {
        base = (l->text[end] | 32) == 'x' ? 16 : (l->text[end] | 32) == 'o' ? 8 : 2;
        for (end++, from += 2;
             end < l->size && (isxdigit((unsigned char)l->text[end]) || l->text[end] == '_');)
            end++;
    }
    size_t whole = end;
    bool index = from && l->text[from - 1] == '.';  // of "x.0.1"
    if (!based && !index) end = skip_fraction(l, end);
    for (size_t i = from; i < end; i++)
        if (l->text[i] != '_' && n < sizeof digits - 1) digits[n++] = l->text[i];
    digits[n] = 0;
    if (end - from >= sizeof digits)
        template_fatal(l->p, loc_of(l, from, end - from), "the number is too long");
    Token *t = add_token(l, end > whole ? TOKEN_FLOAT : TOKEN_INTEGER, from, end - from);
    t->real = strtod(digits, NULL);
    unsigned long long value = strtoull(digits, &rest, base);
    if (t->kind == TOKEN_INTEGER && (*rest || !n || value > INT64_MAX || n > 62))
        template_fatal(l->p, t->loc, "the number is too large");
    t->integer = (int64_t)value;
    l->at = end;
}

static bool is_name_character(char c) {
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void read_operator(Lexer *l) {
    static const char *const operators[] = {"//", "**", "==", "!=", "<=", ">=", "+", "-", "*",
                                            "/",  "%",  "~",  "<",  ">",  "=",  "(", ")", "[",
                                            "]",  "{",  "}",  ",",  ":",  ".",  "|", ";"};
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (!starts(l, l->at, operators[i])) continue;
        size_t n = strlen(operators[i]);
        add_token(l, TOKEN_OPERATOR, l->at, n);
        l->at += n;
        return;
    }
    template_fatal(l->p, loc_of(l, l->at, 1), "this character is not expected in a tag");
}

// One token of an expression.
static void read_token(Lexer *l) {
    char c = l->text[l->at];
    size_t from = l->at;
    if (c == '\'' || c == '"') {
        read_string(l);
    } else if (isdigit((unsigned char)c)) {
        read_number(l);
    } else if (is_name_character(c)) {
        while (l->at < l->size && is_name_character(l->text[l->at])) l->at++;
        add_token(l, TOKEN_NAME, from, l->at - from);
    } else {
        read_operator(l);
    }
}

static void count_brackets(Lexer *l, int *open) {
    const Token *t = &l->p->tokens[l->p->n_tokens - 1];
    if (t->kind != TOKEN_OPERATOR || t->length != 1) return;
    *open += strchr("([{", *t->text) ? 1 : strchr(")]}", *t->text) ? -1 : 0;
    if (*open < 0) template_fatal(l->p, t->loc, "this bracket closes none");
    if (*open > MOST_NESTED) template_fatal(l->p, t->loc, "brackets are nested too deeply");
}

// The contents of {{ }} or {% %}.
static void read_tag(Lexer *l, size_t tag) {
    bool print = l->text[tag + 1] == '{';
    const char *end = print ? "}}" : "%}";
    int open = 0;
    add_token(l, print ? TOKEN_PRINT : TOKEN_TAG, tag, 2);
    l->at = tag + 2;
    if (l->at < l->size && (l->text[l->at] == '-' || (l->text[l->at] == '+' && !print))) l->at++;
    for (;;) {
        skip_spaces(l);
        if (l->at >= l->size)
            template_fatal(l->p, loc_of(l, tag, 2), "the tag has no end: expected %s", end);
        bool minus = l->text[l->at] == '-' || (l->text[l->at] == '+' && !print);
        if (!open && starts(l, l->at + minus, end)) break;
        read_token(l);
        count_brackets(l, &open);
    }
    char sign = l->text[l->at] == '-' || l->text[l->at] == '+' ? l->text[l->at] : 0;
    l->at += sign != 0;
    add_token(l, print ? TOKEN_PRINT_END : TOKEN_TAG_END, l->at, 2);
    l->at += 2;
    after_tag(l, sign, !print);
}

void template_lex(TemplateParser *p) {
    Lexer l = {.p = p, .text = p->source->text, .size = p->source->size, .line_starts = true};
    while (l.at < l.size) {
        size_t tag = next_tag(&l, l.at);
        add_text(&l, l.at, tag);
        l.at = tag;
        if (tag == l.size) break;
        if (l.text[tag + 1] == '#')
            skip_comment(&l, tag);
        else if (l.text[tag + 1] != '%' || !take_raw(&l, tag))
            read_tag(&l, tag);
    }
    add_token(&l, TOKEN_END, l.size, 0);
}
