// Long lines of the emitted text, broken where a reader would break them:
//
//   KERNEL void matmul_bf16_192x320(burin_range units, int rows, const float *x, const uint16_t *w, float *y) {
//   matmul_bf16_192x320(THREAD_RANGE(matmul_units(20, rows)), rows, input_layernorm,
//                       w->layer[layer].self_attn_q_k_v_proj, q_k_v_proj);
#include <stdlib.h>
#include <string.h>

#include "codegen/emit.h"

enum { COLUMNS = 120, DEEPEST_COLUMN = 60, FURTHER_INDENT = 8, MOST_DEPTH = 64 };

// Where a line may be broken, and how far in its rest begins.
typedef struct Break {
    size_t at;
    int depth;  // of parentheses
    size_t indent;
} Break;

typedef struct Scan {
    const char *line;
    size_t indent, opened[MOST_DEPTH];  // indent of the line; columns after the open parentheses
    int depth;
    bool quoted, escaped;
} Scan;

// Behind a comma or a semicolon; before an operator that has blanks around it.
static bool may_break(const char *line, size_t at) {
    static const char *const operators[] = {"+ ", "&& ", "|| ", "? ", ": "};
    if (at < 2 || line[at - 1] != ' ') return false;
    if (line[at - 2] == ',' || line[at - 2] == ';') return true;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (!strncmp(line + at, operators[i], strlen(operators[i]))) return true;
    return false;
}

static void scan_one(Scan *s, size_t i) {
    char c = s->line[i];
    bool plain = !s->escaped;
    s->escaped = s->quoted && plain && c == '\\';
    if (c == '"' && plain) s->quoted = !s->quoted;
    if (s->quoted) return;
    if ((c == '(' || c == '{') && s->depth < MOST_DEPTH - 1) s->opened[++s->depth] = i + 1;
    if ((c == ')' || c == '}') && s->depth) s->depth--;
}

static size_t indent_of_rest(const Scan *s) {
    if (!s->depth) return s->line[0] == ' ' ? s->indent : FURTHER_INDENT;
    return s->opened[s->depth] <= DEEPEST_COLUMN ? s->opened[s->depth] : s->indent + FURTHER_INDENT;
}

// The last place outside of most parentheses; at 0 when there is none.
static Break best_break(const char *line, size_t n) {
    Scan s = {.line = line, .indent = strspn(line, " ")};
    Break best = {0};
    for (size_t i = s.indent; i < n && i <= COLUMNS; i++) {
        bool better = !best.at || s.depth <= best.depth;
        if (i > s.indent && !s.quoted && better && may_break(line, i))
            best = (Break){i, s.depth, indent_of_rest(&s)};
        if (!s.quoted && line[i] == '/' && line[i + 1] == '/') break;
        scan_one(&s, i);
    }
    return best.indent < best.at ? best : (Break){0};
}

static Break best_break_of_comment(const char *line) {
    size_t indent = strspn(line, " "), at = COLUMNS;
    while (at > indent + FURTHER_INDENT && line[at - 1] != ' ') at--;
    return at > indent + FURTHER_INDENT ? (Break){at, 0, indent} : (Break){0};
}

// Returns where a trailing comment begins; n without one.
static size_t comment_behind(const char *line, size_t n) {
    Scan s = {.line = line};
    for (size_t i = strspn(line, " "); i + 1 < n; i++) {
        scan_one(&s, i);
        if (!s.quoted && line[i] == '/' && line[i + 1] == '/') return i;
    }
    return n;
}

static size_t without_blanks(const char *line, size_t n) {
    while (n && line[n - 1] == ' ') n--;
    return n;
}

// The rest's indent overwrites text before the break, so the rest is never copied, however long it
// is.
static void add_line(Text *t, char *line, size_t n) {
    bool comment = !strncmp(line + strspn(line, " "), "//", 2);
    size_t code = n > COLUMNS && !comment && *line != '#' ? comment_behind(line, n) : n;
    if (code < n) {  // it moves before its code
        text_add(t, "%.*s%.*s\n", (int)strspn(line, " "), line, (int)(n - code), line + code);
        n = without_blanks(line, code);
    }
    while (n > COLUMNS && *line != '#') {
        Break b = comment ? best_break_of_comment(line) : best_break(line, n);
        if (!b.at) break;
        text_append(t, line, without_blanks(line, b.at));
        text_append(t, "\n", 1);
        const char *prefix = comment ? "//   " : "";
        size_t before = b.indent + strlen(prefix);
        line += b.at - before;
        n -= b.at - before;
        memset(line, ' ', b.indent);
        memcpy(line + b.indent, prefix, strlen(prefix));
    }
    text_append(t, line, n);
}

void wrap_lines(Text *t, size_t begin) {
    Text wrapped = {0};
    for (char *line = t->data + begin; t->length > begin && *line;) {
        size_t n = strcspn(line, "\n");
        add_line(&wrapped, line, n);
        line += n;
        if (*line) {
            text_append(&wrapped, "\n", 1);
            line++;
        }
    }
    t->length = begin;
    if (wrapped.length) text_append(t, wrapped.data, wrapped.length);
    text_free(&wrapped);
}
