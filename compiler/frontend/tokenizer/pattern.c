// Regular expressions of tokenizer.json (Oniguruma's syntax) to instructions of the matcher in
// runtime/tokenizer/tokenizer_characters.h.
//
//   ?\p{L}+|\s+(?!\S)      SPLIT 1 4; SET ' ' 0..1; SET L 1..; JUMP 8; SET space 1..; LOOK not, then 8; SET not-space; DONE;
//   DONE
//
// Known: alternatives, groups (repeated, atomic, or with case folded), classes, \p{..}, greedy,
// lazy and possessive repetition, look-ahead, look-behind of a fixed length, the start and the end
// of a line or text, a word's boundary. All other syntax is refused by name: a pattern is never
// approximated.
#include "frontend/tokenizer/pattern.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/tokenizer/tokenizer_characters.h"

enum { MAX_DEPTH = 16, MAX_REPEAT = 1000 };

typedef struct {
    TokenizerBuilder *b;
    const char *regex, *at;
    bool fold, any_line;  // (?i), (?m)
    bool in_class;
    int depth;
} Parser;

_Noreturn static void refuse(const Parser *p, const char *what) {
    tokenizer_fatal(p->b, "the pattern \"%s\" uses %s, which is not supported (byte %d of it)",
                    p->regex, what, (int)(p->at - p->regex));
}

static Pattern *new_pattern(Parser *p, PatternKind kind) {
    Pattern *n = ARENA_NEW(p->b->arena, Pattern);
    *n = (Pattern){.kind = kind, .min = 1, .max = 1, .stride = 1};
    return n;
}

static uint32_t take_code(Parser *p) {
    uint32_t code;
    p->at += burin_utf8_read((const uint8_t *)p->at, (const uint8_t *)p->at + strlen(p->at), &code);
    return code;
}

// ----------------------------------------------------------------------------------------- classes
static void take_property(Parser *p, CharSet *s, bool negative) {
    const char *end = *p->at == '{' ? strchr(p->at, '}') : NULL;
    if (!end) refuse(p, "\\p without {name}");
    bool inverse = p->at[1] == '^';
    const char *name =
        arena_strndup(p->b->arena, p->at + 1 + inverse, (size_t)(end - p->at - 1 - inverse));
    CharSet inner = {{.arena = p->b->arena}};
    if (!set_add_property(&inner, name))
        refuse(p, arena_printf(p->b->arena, "the property \\p{%s}", name));
    if (negative != inverse) set_invert(&inner);
    set_add_set(s, &inner);
    p->at = end + 1;
}

static uint32_t take_hex(Parser *p, int digits) {
    char text[9] = {0}, *end;
    bool braces = *p->at == '{';
    p->at += braces;
    for (int i = 0; i < (braces ? 8 : digits) && p->at[i] && p->at[i] != '}'; i++)
        text[i] = p->at[i];
    uint32_t code = (uint32_t)strtoul(text, &end, 16);
    if (end == text || *end || code > 0x10ffff) refuse(p, "a broken \\x or \\u");
    p->at += end - text;
    if (braces && *p->at++ != '}') refuse(p, "a broken \\x or \\u");
    return code;
}

// POSIX' classes, as Oniguruma has them; those that follow derived properties of Unicode are not
// known.
static bool add_named_class(CharSet *s, const char *name) {
    static const struct {
        const char *name, *categories[3];
        uint32_t ranges[3][2];
    } classes[] = {{"digit", {"Nd"}, {{0, 0}}},
                   {"punct", {"P", "S"}, {{0, 0}}},
                   {"blank", {"Zs"}, {{'\t', '\t'}}},
                   {"cntrl", {"Cc"}, {{0, 0}}},
                   {"ascii", {NULL}, {{0, 127}}},
                   {"xdigit", {NULL}, {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
    if (!strcmp(name, "space")) return set_add_spaces(s), true;
    if (!strcmp(name, "word")) return set_add_word(s), true;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (strcmp(classes[i].name, name)) continue;
        for (int k = 0; k < 3 && classes[i].categories[k]; k++)
            set_add_category(s, classes[i].categories[k]);
        for (int k = 0; k < 3 && classes[i].ranges[k][1]; k++)
            set_add(s, classes[i].ranges[k][0], classes[i].ranges[k][1]);
        return true;
    }
    return false;
}

// "[:name:]" or "[:^name:]" inside a class.
static void take_posix(Parser *p, CharSet *s) {
    bool inverse = p->at[2] == '^';
    const char *name = p->at + 2 + inverse, *end = strstr(name, ":]");
    CharSet inner = {{.arena = p->b->arena}};
    if (!end || !add_named_class(&inner, arena_strndup(p->b->arena, name, (size_t)(end - name))))
        refuse(p, "this POSIX class");
    if (inverse) set_invert(&inner);
    set_add_set(s, &inner);
    p->at = end + 2;
}

// The character of a letter escape:
// , \t and the like; 0 for other letters.
static uint32_t control_of(char c) {
    static const char letters[] = "aentrfv", codes[] = "\a\x1b\n\t\r\f\v";
    const char *at = c ? strchr(letters, c) : NULL;
    return at ? (uint32_t)codes[at - letters] : 0;
}

// A character's escape gives its code.
static uint32_t take_character(Parser *p, char c) {
    if (control_of(c)) return control_of(c);
    if (c == 'x') return take_hex(p, 2);
    if (c == 'u') return take_hex(p, 4);
    p->at--;
    if (!c || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        refuse(p, "this escape");
    return take_code(p);
}

// A class escape adds to the set and returns false; a character's escape gives its code.
static bool take_escape(Parser *p, CharSet *s, uint32_t *code) {
    char c = *p->at++;
    CharSet inner = {{.arena = p->b->arena}};
    switch (c) {
        case 'p':
        case 'P':
            take_property(p, s, c == 'P');
            return false;
        case 's':
        case 'S':
            set_add_spaces(&inner);
            break;
        case 'd':
        case 'D':
            set_add_category(&inner, "Nd");
            break;
        case 'w':
        case 'W':
            if (p->in_class)
                set_add_word(&inner);
            else
                set_add_oniguruma_word(&inner);
            break;
        case 'h':
        case 'H':
            add_named_class(&inner, "xdigit");
            break;
        case 'N':
            set_add(s, 0, '\n' - 1);
            set_add(s, '\n' + 1, 0x10ffff);
            return false;
        case 'O':
            set_add(s, 0, 0x10ffff);
            return false;
        default:
            return *code = take_character(p, c), true;
    }
    if (c >= 'A' && c <= 'Z') set_invert(&inner);
    set_add_set(s, &inner);
    return false;
}

static void take_class(Parser *p, CharSet *s);

static void take_class_item(Parser *p, CharSet *s) {
    uint32_t first, last;
    if (*p->at == '[') {
        CharSet inner = {{.arena = p->b->arena}};
        if (p->at[1] == ':') {
            take_posix(p, s);
            return;
        }
        take_class(p, &inner);
        set_add_set(s, &inner);
        return;
    }
    if (*p->at == '\\') {
        p->at++;
        if (!take_escape(p, s, &first)) return;
    } else {
        first = take_code(p);
    }
    last = first;
    if (p->at[0] == '-' && p->at[1] && p->at[1] != ']') {
        p->at++;
        if (*p->at != '\\')
            last = take_code(p);
        else if (p->at++, !take_escape(p, s, &last))
            refuse(p, "a range that ends in a class");
    }
    if (last < first) refuse(p, "a range that runs backwards");
    set_add(s, first, last);
}

// "[...]", p->at on the bracket.
static void take_class(Parser *p, CharSet *s) {
    CharSet both = {{.arena = p->b->arena}};  // complement of the left side of &&
    bool negative = p->at[1] == '^', intersects = false, empty = true;
    if (++p->depth > MAX_DEPTH) refuse(p, "deep nesting");
    p->at += 1 + negative;
    for (; *p->at != ']' || empty; empty = false) {
        if (!*p->at) refuse(p, "a class without its end");
        if (p->at[0] == '&' && p->at[1] == '&') {
            set_invert(s);
            set_add_set(&both, s);
            *s = (CharSet){{.arena = p->b->arena}};
            intersects = true;
            p->at += 2;
        } else {
            take_class_item(p, s);
        }
    }
    if (intersects) {
        set_invert(s);
        set_add_set(s, &both);
        set_invert(s);
    }
    if (p->fold) set_fold_case(s);
    if (negative) set_invert(s);
    p->at++, p->depth--;
}

// ------------------------------------------------------------------------------------- expressions
static Pattern *take_choice(Parser *p);

// How many characters a pattern takes that is looked for in front.
static uint16_t fixed_length(const Parser *p, const Pattern *n) {
    unsigned sum = 0, one;
    switch (n->kind) {
        case PATTERN_SET:
            if (n->min != n->max) break;
            return (uint16_t)(n->min * n->stride);
        case PATTERN_SEQUENCE:
            for (n = n->first; n; n = n->next) sum += fixed_length(p, n);
            return (uint16_t)sum;
        case PATTERN_CHOICE:
            sum = fixed_length(p, n->first);
            for (n = n->first->next; n; n = n->next)
                if ((one = fixed_length(p, n)) != sum)
                    refuse(p, "alternatives of several lengths behind each other");
            return (uint16_t)sum;
        case PATTERN_ATOMIC:
            return fixed_length(p, n->first);
        case PATTERN_REPEAT:
            if (n->min != n->max ||
                (sum = n->min * (unsigned)fixed_length(p, n->first)) >= BURIN_NO_LIMIT)
                break;
            return (uint16_t)sum;
        default:
            return 0;
    }
    refuse(p, "look-behind of no fixed length");
}

static Pattern *new_parent(Parser *p, PatternKind kind, Pattern *child) {
    Pattern *n = new_pattern(p, kind);
    n->first = child;
    return n;
}

// The opening of a group, and its kind.
static const struct Opening {
    const char *text;
    PatternKind kind;
    bool negative;
} openings[] = {{"(?:", PATTERN_SEQUENCE, false}, {"(?=", PATTERN_LOOK, false},
                {"(?!", PATTERN_LOOK, true},      {"(?<=", PATTERN_BEHIND, false},
                {"(?<!", PATTERN_BEHIND, true},   {"(?>", PATTERN_ATOMIC, false}};

static Pattern *take_inside(Parser *p, PatternKind kind, bool negative) {
    Pattern *n = new_parent(p, kind, take_choice(p));
    if (*p->at++ != ')') refuse(p, "a group without its end");
    n->negative = negative;
    if (kind == PATTERN_BEHIND) n->min = fixed_length(p, n->first);
    return n;
}

// "(?i-m:...)", or "(?i)", which applies up to the end of the enclosing group.
static Pattern *take_options(Parser *p) {
    bool on = true, fold = p->fold, any_line = p->any_line;
    Pattern *n;
    for (p->at += 2; *p->at != ':' && *p->at != ')'; p->at++) {
        if (*p->at == '-')
            on = false;
        else if (*p->at == 'i')
            p->fold = on;
        else if (*p->at == 'm')
            p->any_line = on;
        else
            refuse(p, "this kind of group");
    }
    if (*p->at++ == ':')
        n = take_inside(p, PATTERN_SEQUENCE, false);
    else
        n = take_choice(p);
    p->fold = fold, p->any_line = any_line;
    return n;
}

// "(?<name>...)" is a group, since nothing refers to it.
static void skip_name(Parser *p) {
    const char *end = strchr(p->at, '>');
    p->at = end ? end + 1 : p->at + strlen(p->at);
}

static Pattern *take_group(Parser *p) {
    Pattern *n = NULL;
    if (++p->depth > MAX_DEPTH) refuse(p, "deep nesting");
    for (size_t i = 0; i < sizeof openings / sizeof *openings && !n; i++) {
        size_t length = strlen(openings[i].text);
        if (strncmp(p->at, openings[i].text, length)) continue;
        p->at += length;
        n = take_inside(p, openings[i].kind, openings[i].negative);
    }
    if (!n && p->at[1] == '?' && p->at[2] != '<') {
        n = take_options(p);
    } else if (!n) {
        p->at++;
        if (*p->at == '?') skip_name(p);
        n = take_inside(p, PATTERN_SEQUENCE, false);
    }
    p->depth--;
    return n;
}

// Oniguruma's $ is the end of a line.
static Pattern *end_of_line(Parser *p) {
    Pattern *choice = new_pattern(p, PATTERN_CHOICE), *look = new_pattern(p, PATTERN_LOOK),
            *newline = new_pattern(p, PATTERN_SET);
    CharSet s = {{.arena = p->b->arena}};
    set_add(&s, '\n', '\n');
    newline->set = builder_set(p->b, &s);
    look->first = newline;
    look->next = new_pattern(p, PATTERN_END);
    choice->first = look;
    return choice;
}

// Oniguruma's ^ is the start of a line.
static Pattern *start_of_line(Parser *p) {
    Pattern *choice = new_pattern(p, PATTERN_CHOICE), *behind = new_pattern(p, PATTERN_BEHIND),
            *newline = new_pattern(p, PATTERN_SET);
    CharSet s = {{.arena = p->b->arena}};
    set_add(&s, '\n', '\n');
    newline->set = builder_set(p->b, &s);
    behind->first = newline;
    behind->next = new_pattern(p, PATTERN_START);
    choice->first = behind;
    return choice;
}

// \b: between a character of a word and one that is none. \B: elsewhere.
static Pattern *boundary(Parser *p, bool negative) {
    Pattern *n = new_pattern(p, PATTERN_BOUNDARY);
    CharSet words = {{.arena = p->b->arena}};
    set_add_oniguruma_word(&words);
    n->set = builder_set(p->b, &words);
    n->negative = negative;
    return n;
}

// NULL: the escape is no assertion.
static Pattern *take_place(Parser *p) {
    char c = p->at[1];
    if (!c || !strchr("bBAz", c)) return NULL;
    p->at += 2;
    return c == 'A'   ? new_pattern(p, PATTERN_START)
           : c == 'z' ? new_pattern(p, PATTERN_END)
                      : boundary(p, c == 'B');
}

static Pattern *take_atom(Parser *p) {
    CharSet s = {{.arena = p->b->arena}};
    uint32_t code;
    Pattern *n;
    switch (*p->at) {
        case '(':
            return take_group(p);
        case '$':
            p->at++;
            return end_of_line(p);
        case '^':
            p->at++;
            return start_of_line(p);
        case '*':
        case '+':
        case '?':
        case '{':
            refuse(p, "repetition of nothing");
        case '[':
            p->in_class = true;
            take_class(p, &s);
            p->in_class = false;
            break;
        case '.':
            p->at++;
            if (!p->any_line) set_add(&s, '\n', '\n');
            set_invert(&s);
            break;
        case '\\':
            if ((n = take_place(p))) return n;
            p->at++;
            if (take_escape(p, &s, &code)) set_add(&s, code, code);
            break;
        default:
            code = take_code(p);
            set_add(&s, code, code);
    }
    if (p->fold) set_fold_case(&s);
    n = new_pattern(p, PATTERN_SET);
    n->set = builder_set(p->b, &s);
    return n;
}

static bool take_counts(Parser *p, unsigned long *min, unsigned long *max) {
    char *end;
    switch (*p->at) {
        case '?':
            *min = 0, *max = 1;
            break;
        case '*':
            *min = 0, *max = BURIN_NO_LIMIT;
            break;
        case '+':
            *min = 1, *max = BURIN_NO_LIMIT;
            break;
        case '{':
            *min = *max = strtoul(p->at + 1, &end, 10);
            if ((end == p->at + 1 && *end != ',') || (*end != ',' && *end != '}'))
                refuse(p, "a broken {min,max}");
            if (*end == ',') *max = end[1] == '}' ? BURIN_NO_LIMIT : strtoul(end + 1, &end, 10);
            if (*max == BURIN_NO_LIMIT && *end == ',') end++;
            if (*end != '}' || *min > MAX_REPEAT || *max < *min ||
                (*max > MAX_REPEAT && *max != BURIN_NO_LIMIT))
                refuse(p, "a broken {min,max}");
            p->at = end;
            break;
        default:
            return false;
    }
    p->at++;
    return true;
}

// The set that is a whole group, with its count: (\d{3}); else NULL.
static Pattern *only_set(Pattern *n) {
    while (n && (n->kind == PATTERN_CHOICE || n->kind == PATTERN_SEQUENCE))
        n = n->first && !n->first->next ? n->first : NULL;
    return n && n->kind == PATTERN_SET && n->min == n->max && n->max && n->stride == 1 ? n : NULL;
}

static Pattern *repeated(Parser *p, Pattern *n, unsigned long min, unsigned long max) {
    Pattern *set = only_set(n);
    if (set) {
        set->stride = set->min;
        n = set;
    } else {
        n = new_parent(p, PATTERN_REPEAT, n);
    }
    n->min = (uint16_t)min, n->max = (uint16_t)max;
    return n;
}

// "?" after a count is lazy, "+" possessive. In Oniguruma x{3}? is optional, and x{3}+ repeats.
static Pattern *take_repeated(Parser *p) {
    unsigned long min, max;
    Pattern *n = take_atom(p);
    bool braces = *p->at == '{';
    if (!take_counts(p, &min, &max)) return n;
    n = repeated(p, n, min, max);
    if (braces && *p->at == '?' && min == max) {
        n = repeated(p, new_parent(p, PATTERN_CHOICE, new_parent(p, PATTERN_SEQUENCE, n)), 0, 1);
        p->at++;
    } else if (*p->at == '?') {
        n->lazy = true, p->at++;
    } else if (*p->at == '+' && !braces) {
        n->possessive = true, p->at++;
    }
    if (*p->at && strchr("?*+{", *p->at)) refuse(p, "repetition of this kind");
    return n;
}

static Pattern *take_sequence(Parser *p) {
    Pattern *sequence = new_pattern(p, PATTERN_SEQUENCE), **last = &sequence->first;
    while (*p->at && *p->at != '|' && *p->at != ')') {
        *last = take_repeated(p);
        last = &(*last)->next;
    }
    return sequence;
}

static Pattern *take_choice(Parser *p) {
    Pattern *choice = new_pattern(p, PATTERN_CHOICE), **last = &choice->first;
    for (;; p->at++) {
        *last = take_sequence(p);
        last = &(*last)->next;
        if (*p->at != '|') return choice;
    }
}

Pattern *pattern_parse(TokenizerBuilder *b, const char *regex) {
    Parser p = {.b = b, .regex = regex, .at = regex};
    Pattern *n = take_choice(&p);
    if (*p.at) refuse(&p, "a group without its start");
    return n;
}

burin_section pattern_compile(TokenizerBuilder *b, const char *regex) {
    if (*regex) return pattern_program(b, regex, pattern_parse(b, regex));
    CharSet any = {{.arena = b->arena}};  // an empty match everywhere: every character alone
    set_invert(&any);
    return pattern_of_set(b, &any, 1);
}
