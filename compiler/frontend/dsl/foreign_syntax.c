// Hints and notes of syntax errors: the equivalent of another language's syntax, and the location
// of an open bracket. Nothing here decides whether a description is right.
#include "frontend/dsl/foreign_syntax.h"

#include <ctype.h>
#include <string.h>

const char *habit_of(const char *word, size_t length) {
    static const struct {
        const char *word, *hint;
    } foreign_words[] = {
#define HABIT(word, hint) {word, hint},
#include "frontend/dsl/foreign_syntax.def"
#undef HABIT
    };
    for (size_t i = 0; i < sizeof foreign_words / sizeof *foreign_words; i++)
        if (strlen(foreign_words[i].word) == length &&
            !strncmp(foreign_words[i].word, word, length))
            return foreign_words[i].hint;
    return NULL;
}

// -------------------------------------------------------------------------------------- characters
uint32_t habit_code_point(const char *utf8) {
    unsigned lead = (unsigned char)*utf8;
    int more = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    uint32_t c = lead & (0x3f >> more);
    while (more--) c = c << 6 | ((unsigned char)*++utf8 & 0x3f);
    return c;
}

const char *habit_of_character(uint32_t c) {
    static const struct {
        uint32_t from, to;
        const char *hint;
    } characters[] = {
        {'\'', '\'', "a string stands between \" and \""},
        {'`', '`', "a string stands between \" and \""},
        {'&', '&', "write and"},
        {'|', '|', "write or"},
        {'!', '!', "write not"},
        {'$', '$',
         "names are of letters, digits and _; a string takes values in braces: \"layers.{i}\""},
        {'\\', '\\', "a line goes on inside parentheses and brackets, or behind an operator"},
        {'~', '~', "write not"},
        {0xa0, 0xa0, "this is a space that does not break lines: write an ordinary one"},
        {0x2018, 0x201f, "write \" on both sides"},
        {0xab, 0xab, "write \" on both sides"},
        {0xbb, 0xbb, "write \" on both sides"},
        {0x2010, 0x2015, "write -"},
        {0x2212, 0x2212, "write -"},
        {0xd7, 0xd7, "write *"},
        {0xb7, 0xb7, "write *"},
        {0x22c5, 0x22c5, "write *"},
        {0xf7, 0xf7, "write /"},
        {0x2264, 0x2264, "write <="},
        {0x2265, 0x2265, "write >="},
        {0x2260, 0x2260, "write !="},
        {0x2192, 0x2192, "write ->"},
        {0x221a, 0x221a, "write sqrt(x)"},
        {0x221e, 0x221e, "write inf"},
        {0xb2, 0xb3, "write x ^ 2"},
        {0x1d40, 0x1d40, "write x^T"},
        {0xfeff, 0xfeff, "this is a byte order mark: save the file without it"},
    };
    for (size_t i = 0; i < sizeof characters / sizeof *characters; i++)
        if (c >= characters[i].from && c <= characters[i].to) return characters[i].hint;
    return c < 128 ? NULL
                   : "names are of the letters a to z, digits and _; other letters stand in "
                     "strings and comments";
}

// --------------------------------------------------------------------------------------- the place
bool is_name_character(char c) { return isalnum((unsigned char)c) || c == '_'; }

// Where the line of `at` begins.
static uint32_t line_begin(const char *text, uint32_t at) {
    while (at && text[at - 1] != '\n') at--;
    return at;
}

// The end of the text before `at`, without blanks.
static uint32_t before(const char *text, uint32_t at) {
    while (at && isspace((unsigned char)text[at - 1])) at--;
    return at;
}

static uint32_t word_begin(const char *text, uint32_t end) {
    while (end && is_name_character(text[end - 1])) end--;
    return end;
}

static bool is_first_of_line(const char *text, uint32_t at) {
    uint32_t i = line_begin(text, at);
    while (i < at && isspace((unsigned char)text[i])) i++;
    return i == at;
}

static bool ends_line(const Source *s, uint32_t at) {
    while (at < s->size && (s->text[at] == ' ' || s->text[at] == '\t' || s->text[at] == '\r')) at++;
    return at >= s->size || s->text[at] == '\n' || s->text[at] == '#';
}

bool is_behind_slashes(const Source *s, uint32_t at) {
    if (at > s->size) at = (uint32_t)s->size;
    for (uint32_t i = line_begin(s->text, at); i + 1 < at; i++)
        if (s->text[i] == '/' && s->text[i + 1] == '/') return true;
    return false;
}

// ---------------------------------------------------------------------------------------- brackets
void bracket_open(Parser *p, char kind) {
    if (p->n_open < MAX_OPEN) p->open[p->n_open] = (OpenBracket){kind, p->offset - 1};
    p->n_open++;
}

static char partner(char closing) { return closing == ')' ? '(' : closing == ']' ? '[' : '{'; }

static OpenBracket *innermost(Parser *p) {
    return p->n_open && p->n_open <= MAX_OPEN ? &p->open[p->n_open - 1] : NULL;
}

// How far the line of `at` is indented.
static uint32_t indentation(const char *text, uint32_t at) {
    uint32_t begin = line_begin(text, at), n = 0;
    while (text[begin + n] == ' ' || text[begin + n] == '\t') n++;
    return n;
}

// A } further left than the line of its { may belong to an earlier one.
void bracket_close(Parser *p, char kind) {
    const OpenBracket *top = innermost(p);
    const char *text = p->source->text;
    uint32_t at = p->offset - 1;
    bool left = kind == '}' && top && is_first_of_line(text, at) &&
                indentation(text, at) < indentation(text, top->offset);
    if (left && !p->suspect.kind) p->suspect = *top;
    if (p->n_open && (!top || top->kind == partner(kind)))
        p->n_open--;
    else
        p->unmatched = p->offset;
}

void brackets_forget(Parser *p) {
    while (innermost(p) && innermost(p)->kind != '{') p->n_open--;
    p->parentheses = 0;
}

// ------------------------------------------------------------------------------------------- hints
// By the words at the place and before it.
static const char *hint_of_words(const SyntaxError *s) {
    const char *text = s->p->source->text;
    uint32_t end = before(text, s->begin), begin = word_begin(text, end);
    const char *own = habit_of(text + s->begin, s->end - s->begin),
               *previous = habit_of(text + begin, end - begin);
    if (own || previous) return own ? own : previous;
    if (text[s->begin] != '(' || !begin || begin == end || text[begin - 1] != '.') return NULL;
    uint32_t object = word_begin(text, begin - 1);
    const char *library = habit_of(text + object, begin - 1 - object),
               *function = habit_of(text + begin, end - begin);
    return library ? library : function ? function : "functions stand alone: f(x), not x.f()";
}

static const char *hint_of_keyword(const SyntaxError *s) {
    const char *word = s->p->source->text + s->begin;
    size_t n = s->end - s->begin;
    if (s->wants & WANTS_STATEMENT) return NULL;
    if (n == 2 && !strncmp(word, "if", n)) return "write condition ? a : b";
    if (n == 3 && !strncmp(word, "not", n)) return "write not (x in list), or x != y";
    return NULL;
}

// A { whose first word is no name.
static bool begins_record(const SyntaxError *s) {
    const char *text = s->p->source->text;
    uint32_t end = before(text, s->begin);
    return s->wants & WANTS_NAME && end && text[end - 1] == '{';
}

static const char *hint_of_sign(const SyntaxError *s) {
    const Source *source = s->p->source;
    const OpenBracket *open = innermost(s->p);
    char c = s->begin < source->size ? source->text[s->begin] : 0;
    char previous =
        s->begin
            ? source->text[before(source->text, s->begin) - (before(source->text, s->begin) > 0)]
            : 0;
    bool grouped = open && open->kind == '(' &&
                   !(open->offset && is_name_character(source->text[open->offset - 1]));
    if (begins_record(s)) return "the fields of a record have names: {rows = 2, columns = 3}";
    if (c == '"' && s->wants & WANTS_NAME) return "a name stands without quotes";
    if (c == '.' && !strncmp(source->text + s->begin, ".burin", 6))
        return "import linear is a file of dsl/std, import \"x.burin\" one beside this";
    if (c == ':' && ends_line(source, s->begin + 1))
        return "a body stands in braces, not behind a colon: { ... }";
    if (c == ',' && grouped) return "a list stands in brackets: [a, b]";
    if (c == '{' && s->wants & WANTS_ARROW)
        return "a graph says what it gives: -> logits: [T, vocab_size] {";
    if (c == '(' && s->wants & WANTS_EQUALS)
        return "a call by itself has no effect: x = f(x), or return f(x)";
    if (c == '=' && !(s->wants & (WANTS_EQUALS | WANTS_EXPRESSION)))
        return "== compares; a statement gives one value: x = ...";
    if ((c == ')' || c == ']') && previous == ',') return "no comma stands behind the last";
    return NULL;
}

static const char *syntax_hint(const SyntaxError *s) {
    const char *hint = s->end > s->begin ? hint_of_keyword(s) : NULL;
    if (!hint && is_behind_slashes(s->p->source, s->begin + 2))
        hint = "a comment begins with #; a // b divides and rounds down";
    if (!hint) hint = hint_of_words(s);
    if (!hint) hint = hint_of_sign(s);
    if (!hint && s->wants & WANTS_DECLARATION && s->end > s->begin)
        hint =
            "a file has model, import, config, block, graph and NAME = ...; statements stand in "
            "the braces of a block or graph";
    return hint;
}

// ------------------------------------------------------------------------------------------- notes
static bool begins_declaration(const char *word, size_t n) {
    static const char *const words[] = {"graph", "block", "config", "model", "import"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == n && !strncmp(words[i], word, n)) return true;
    return false;
}

// The bracket that is to blame, or NULL.
static const OpenBracket *open_bracket(const SyntaxError *s) {
    const OpenBracket *open = innermost(s->p);
    const char *text = s->p->source->text;
    if (!open || open->offset >= s->begin) return NULL;
    bool at_end = s->begin == s->end || s->begin >= s->p->source->size;
    if (at_end || begins_declaration(text + s->begin, s->end - s->begin))
        return s->p->suspect.kind ? &s->p->suspect : open;
    bool closes = strchr(open->kind == '{' ? "}" : ")]}", text[s->begin]),
         earlier = open->offset < line_begin(text, s->begin);
    return closes || (open->kind != '{' && earlier && is_first_of_line(text, s->begin)) ? open
                                                                                        : NULL;
}

const char *syntax_advice(const SyntaxError *s) {
    const OpenBracket *open = begins_record(s) ? NULL : open_bracket(s);
    const char *hint = open ? NULL : syntax_hint(s);
    if (open)
        return arena_message(
            s->p->arena, "\nnote: the %c of %s is not closed", open->kind,
            loc_text((Loc){.source = s->p->source, .offset = open->offset, .length = 1}));
    if (!hint && s->p->unmatched == s->begin + 1) hint = "nothing is open that it closes";
    return hint ? arena_message(s->p->arena, "\nhint: %s", hint) : "";
}
