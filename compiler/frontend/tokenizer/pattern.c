// Regular expressions of tokenizer.json (Oniguruma's syntax) to instructions of the matcher in runtime/tokenizer_text.h.
//
//   ?\p{L}+|\s+(?!\S)      SPLIT 1 4; SET ' ' 0..1; SET L 1..; JUMP 8; SET space 1..; LOOK not, then 8; SET not-space; DONE;
//   DONE
//
// Known: alternatives, groups (also optional, or with case folded), classes, \p{..}, repetition of one character, look-ahead,
// of a group that is so many characters of one class, possessive repetition, the end,
// look-behind of a fixed length, the start and the end of a line, a word's boundary. Everything else is refused by name: a
// pattern is never approximated.
#include <stdlib.h>
#include <string.h>

#include "frontend/tokenizer/compile.h"
#include "runtime/tokenizer_text.h"

enum { MAX_DEPTH = 16, MAX_REPEAT = 1000, MAX_PROGRAM = 4096 };

typedef enum {
    PATTERN_SET,
    PATTERN_SEQUENCE,
    PATTERN_CHOICE,
    PATTERN_OPTIONAL,
    PATTERN_LOOK,
    PATTERN_BEHIND,
    PATTERN_START,
    PATTERN_END,
    PATTERN_BOUNDARY
} PatternKind;

typedef struct Pattern {
    PatternKind kind;
    uint16_t set, min, max, stride;  // a set: so many characters at a time
    bool possessive, negative;
    struct Pattern *first, *next;  // children; the next of the same parent
} Pattern;

typedef struct {
    TokenizerBuilder *b;
    const char *regex, *at;
    bool fold;
    int depth;
} Parser;

_Noreturn static void refuse(const Parser *p, const char *what) {
    tokenizer_fatal(p->b, "the pattern \"%s\" uses %s, which is not supported (byte %d of it)", p->regex, what,
                    (int)(p->at - p->regex));
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

// ------------------------------------------------------------------------------------------------------------------- classes
static void take_property(Parser *p, CharSet *s, bool negative) {
    const char *end = *p->at == '{' ? strchr(p->at, '}') : NULL;
    if (!end) refuse(p, "\\p without {name}");
    bool inverse = p->at[1] == '^';
    const char *name = arena_strndup(p->b->arena, p->at + 1 + inverse, (size_t)(end - p->at - 1 - inverse));
    CharSet inner = {{.arena = p->b->arena}};
    if (!set_add_property(&inner, name)) refuse(p, arena_printf(p->b->arena, "the property \\p{%s}", name));
    if (negative != inverse) set_invert(&inner);
    set_add_set(s, &inner);
    p->at = end + 1;
}

static uint32_t take_hex(Parser *p, int digits) {
    char text[9] = {0}, *end;
    bool braces = *p->at == '{';
    p->at += braces;
    for (int i = 0; i < (braces ? 8 : digits) && p->at[i] && p->at[i] != '}'; i++) text[i] = p->at[i];
    uint32_t code = (uint32_t)strtoul(text, &end, 16);
    if (end == text || *end || code > 0x10ffff) refuse(p, "a broken \\x or \\u");
    p->at += end - text;
    if (braces && *p->at++ != '}') refuse(p, "a broken \\x or \\u");
    return code;
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
            set_add_oniguruma_word(&inner);
            break;
        case 'n':
            return *code = '\n', true;
        case 'r':
            return *code = '\r', true;
        case 't':
            return *code = '\t', true;
        case 'f':
            return *code = '\f', true;
        case 'v':
            return *code = '\v', true;
        case 'x':
            return *code = take_hex(p, 2), true;
        case 'u':
            return *code = take_hex(p, 4), true;
        default:
            p->at--;
            if (!c || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) refuse(p, "this escape");
            return *code = take_code(p), true;
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
        if (p->at[1] == ':') refuse(p, "a POSIX class");
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
    CharSet both = {{.arena = p->b->arena}};  // complement of what stands left of &&
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

// --------------------------------------------------------------------------------------------------------------- expressions
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
                if ((one = fixed_length(p, n)) != sum) refuse(p, "alternatives of several lengths behind each other");
            return (uint16_t)sum;
        case PATTERN_OPTIONAL:
            break;
        default:
            return 0;
    }
    refuse(p, "look-behind of no fixed length");
}

static Pattern *take_group(Parser *p) {
    bool fold = p->fold, look = false, behind = false, negative = false;
    if (++p->depth > MAX_DEPTH) refuse(p, "deep nesting");
    if (p->at[1] != '?') {
        p->at++;
    } else if (!strncmp(p->at, "(?:", 3)) {
        p->at += 3;
    } else if (!strncmp(p->at, "(?i:", 4)) {
        p->at += 4, p->fold = true;
    } else if (!strncmp(p->at, "(?!", 3) || !strncmp(p->at, "(?=", 3)) {
        look = true, negative = p->at[2] == '!', p->at += 3;
    } else if (!strncmp(p->at, "(?<!", 4) || !strncmp(p->at, "(?<=", 4)) {
        behind = true, negative = p->at[3] == '!', p->at += 4;
    } else {
        refuse(p, "this kind of group");
    }
    Pattern *inner = take_choice(p);
    if (*p->at++ != ')') refuse(p, "a group without its end");
    p->fold = fold, p->depth--;
    if (!look && !behind) return inner;
    Pattern *n = new_pattern(p, behind ? PATTERN_BEHIND : PATTERN_LOOK);
    n->first = inner, n->negative = negative;
    if (behind) n->min = fixed_length(p, inner);
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

// \b: between a character of a word and one that is none.
static Pattern *boundary(Parser *p) {
    Pattern *n = new_pattern(p, PATTERN_BOUNDARY);
    CharSet words = {{.arena = p->b->arena}};
    set_add_oniguruma_word(&words);
    n->set = builder_set(p->b, &words);
    p->at += 2;
    return n;
}

static Pattern *take_atom(Parser *p) {
    CharSet s = {{.arena = p->b->arena}};
    uint32_t code;
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
            take_class(p, &s);
            break;
        case '.':
            p->at++;
            set_add(&s, '\n', '\n');
            set_invert(&s);
            break;
        case '\\':
            if (p->at[1] == 'b') return boundary(p);
            p->at++;
            if (take_escape(p, &s, &code)) set_add(&s, code, code);
            break;
        default:
            code = take_code(p);
            set_add(&s, code, code);
    }
    if (p->fold) set_fold_case(&s);
    Pattern *n = new_pattern(p, PATTERN_SET);
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
            if (end == p->at + 1 || (*end != ',' && *end != '}')) refuse(p, "a broken {min,max}");
            if (*end == ',') *max = end[1] == '}' ? BURIN_NO_LIMIT : strtoul(end + 1, &end, 10);
            if (*max == BURIN_NO_LIMIT && *end == ',') end++;
            if (*end != '}' || *min > MAX_REPEAT || *max < *min || (*max > MAX_REPEAT && *max != BURIN_NO_LIMIT))
                refuse(p, "a broken {min,max}");
            p->at = end;
            break;
        default:
            return false;
    }
    p->at++;
    return true;
}

// The set that is all of a group, as often as it says: (\d{3}); else NULL.
static Pattern *only_set(Pattern *n) {
    while (n && (n->kind == PATTERN_CHOICE || n->kind == PATTERN_SEQUENCE)) n = n->first && !n->first->next ? n->first : NULL;
    return n && n->kind == PATTERN_SET && n->min == n->max && n->max && n->stride == 1 ? n : NULL;
}

static Pattern *take_repeated(Parser *p) {
    bool braces;
    unsigned long min, max;
    Pattern *n = take_atom(p);
    braces = *p->at == '{';
    if (!take_counts(p, &min, &max)) return n;
    if (*p->at == '?' || *p->at == '*' || *p->at == '{' || (*p->at == '+' && braces)) refuse(p, "repetition of this kind");
    bool possessive = *p->at == '+';
    p->at += possessive;
    Pattern *set = only_set(n);
    if (set) {
        n = set, n->stride = n->min;
        n->min = (uint16_t)min, n->max = (uint16_t)max, n->possessive = possessive;
        return n;
    }
    if (min || max != 1 || possessive) refuse(p, "repetition of a group");
    Pattern *optional = new_pattern(p, PATTERN_OPTIONAL);
    optional->first = n;
    return optional;
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

// -------------------------------------------------------------------------------------------------------------- instructions
static burin_match *instruction(Bytes *program, uint16_t at) { return (burin_match *)program->data + at; }

static uint16_t emit(const TokenizerBuilder *b, Bytes *program, burin_match m) {
    size_t n = program->length / sizeof m;
    if (n >= MAX_PROGRAM) tokenizer_fatal(b, "a pattern is too long: more than %d instructions", MAX_PROGRAM);
    bytes_append(program, &m, sizeof m);
    return (uint16_t)n;
}

static uint16_t here(const Bytes *program) { return (uint16_t)(program->length / sizeof(burin_match)); }

static void emit_pattern(const TokenizerBuilder *b, Bytes *program, const Pattern *n);

static void emit_choice(const TokenizerBuilder *b, Bytes *program, const Pattern *n) {
    uint16_t split = 0, jump, chain = 0;  // jumps to the end, chained through their targets
    for (const Pattern *c = n->first; c; c = c->next) {
        if (c->next) {
            split = emit(b, program, (burin_match){.op = BURIN_MATCH_SPLIT});
            instruction(program, split)->a = here(program);
        }
        emit_pattern(b, program, c);
        if (!c->next) break;
        jump = emit(b, program, (burin_match){.op = BURIN_MATCH_JUMP, .a = chain});
        chain = jump;
        instruction(program, split)->b = here(program);
    }
    while (chain) {
        burin_match *m = instruction(program, chain);
        chain = m->a;
        m->a = here(program);
    }
}

static void emit_pattern(const TokenizerBuilder *b, Bytes *program, const Pattern *n) {
    uint16_t at;
    switch (n->kind) {
        case PATTERN_SET:
            emit(b, program,
                 (burin_match){
                     .op = BURIN_MATCH_SET, .set = n->set, .min = n->min, .max = n->max, .a = n->possessive, .b = n->stride});
            break;
        case PATTERN_SEQUENCE:
            for (const Pattern *c = n->first; c; c = c->next) emit_pattern(b, program, c);
            break;
        case PATTERN_CHOICE:
            emit_choice(b, program, n);
            break;
        case PATTERN_OPTIONAL:
            at = emit(b, program, (burin_match){.op = BURIN_MATCH_SPLIT});
            instruction(program, at)->a = here(program);
            emit_pattern(b, program, n->first);
            instruction(program, at)->b = here(program);
            break;
        case PATTERN_LOOK:
            at = emit(b, program, (burin_match){.op = BURIN_MATCH_LOOK, .b = n->negative});
            emit_pattern(b, program, n->first);
            emit(b, program, (burin_match){.op = BURIN_MATCH_DONE});
            instruction(program, at)->a = here(program);
            break;
        case PATTERN_BEHIND:
            at = emit(b, program, (burin_match){.op = BURIN_MATCH_BEHIND, .min = n->min, .b = n->negative});
            emit_pattern(b, program, n->first);
            emit(b, program, (burin_match){.op = BURIN_MATCH_DONE});
            instruction(program, at)->a = here(program);
            break;
        case PATTERN_START:
            emit(b, program, (burin_match){.op = BURIN_MATCH_START});
            break;
        case PATTERN_BOUNDARY:
            emit(b, program, (burin_match){.op = BURIN_MATCH_BOUNDARY, .set = n->set});
            break;
        case PATTERN_END:
            emit(b, program, (burin_match){.op = BURIN_MATCH_END});
            break;
    }
}

static burin_section finish(TokenizerBuilder *b, Bytes *program) {
    emit(b, program, (burin_match){.op = BURIN_MATCH_DONE});
    return builder_section(b, program->data, program->length / sizeof(burin_match), sizeof(burin_match));
}

burin_section pattern_compile(TokenizerBuilder *b, const char *regex) {
    Parser p = {.b = b, .regex = regex, .at = regex};
    Bytes program = {.arena = b->arena};
    if (!*regex) {  // an empty match everywhere: every character alone
        CharSet any = {{.arena = b->arena}};
        set_invert(&any);
        return pattern_of_set(b, &any, 1);
    }
    const Pattern *n = take_choice(&p);
    if (*p.at) refuse(&p, "a group without its start");
    emit_pattern(b, &program, n);
    return finish(b, &program);
}

burin_section pattern_literal(TokenizerBuilder *b, const char *text) {
    Parser p = {.b = b, .regex = text, .at = text};
    Bytes program = {.arena = b->arena};
    while (*p.at) {
        CharSet one = {{.arena = b->arena}};
        uint32_t code = take_code(&p);
        set_add(&one, code, code);
        emit(b, &program, (burin_match){.op = BURIN_MATCH_SET, .set = builder_set(b, &one), .min = 1, .max = 1, .b = 1});
    }
    return finish(b, &program);
}

burin_section pattern_of_set(TokenizerBuilder *b, CharSet *s, uint16_t max) {
    Bytes program = {.arena = b->arena};
    emit(b, &program, (burin_match){.op = BURIN_MATCH_SET, .set = builder_set(b, s), .min = 1, .max = max, .b = 1});
    return finish(b, &program);
}
