#include "voice/sentences.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
static bool closes_quote(char c) { return c == '"' || c == '\'' || c == ')' || c == ']'; }
static bool is_word_letter(char c) {
    return ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (c & 0x80);
}

// "Dr" and "J" of "Dr. J. Smith"
static bool is_abbreviation(const char *text, size_t end) {
    static const char *const titles[] = {"mr", "mrs", "ms", "dr", "st", "prof", "vs", "no"};
    size_t from = end;
    while (from && is_word_letter(text[from - 1])) from--;
    if (end - from == 1) return true;
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strlen(titles[i]) == end - from && !strncasecmp(text + from, titles[i], end - from))
            return true;
    return false;
}

// Bytes up to the first word after `at`.
static size_t skip_spaces(const char *text, size_t bytes, size_t at) {
    while (at < bytes && is_blank(text[at])) at++;
    return at;
}

// Returns the mark at `at` if a clause ends there: a space, a closing quote or the end follows.
// Else 0.
static char mark_at(const char *text, size_t bytes, size_t at) {
    char c = text[at];
    if (!c || !strchr(",;:.!?", c)) return 0;
    size_t next = at + 1;
    while (next < bytes && (closes_quote(text[next]) || strchr(".!?", text[next]))) next++;
    return next == bytes || is_blank(text[next]) ? c : 0;
}

static bool ends_sentence(const char *text, size_t bytes, size_t at) {
    char mark = mark_at(text, bytes, at);
    if (mark == '!' || mark == '?') return true;
    size_t next = skip_spaces(text, bytes, at + 1);
    if (mark != '.') return false;
    return next == bytes ||
           (!is_abbreviation(text, at) && !(text[next] >= 'a' && text[next] <= 'z'));
}

// Marks and quotes that follow belong to the sentence.
static size_t after_marks(const char *text, size_t bytes, size_t at) {
    while (at < bytes && (closes_quote(text[at]) || strchr(".!?", text[at]))) at++;
    return at;
}

size_t burin_sentence_bytes(const char *text, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (ends_sentence(text, bytes, i)) return after_marks(text, bytes, i + 1);
    return bytes;
}

// A clause that is too long ends at its last space, or at a whole character; where neither is
// found (bytes that are no UTF-8), anywhere.
static size_t cut_clause(const char *text) {
    size_t cut = BURIN_MOST_CLAUSE;
    while (cut && !is_blank(text[cut])) cut--;
    if (cut) return cut;
    for (cut = BURIN_MOST_CLAUSE; cut && (text[cut] & 0xc0) == 0x80; cut--) {}
    return cut ? cut : BURIN_MOST_CLAUSE;
}

burin_clause burin_next_clause(const char **text, size_t *bytes) {
    size_t from = skip_spaces(*text, *bytes, 0), at = from;
    burin_clause clause = {.words = *text + from};
    while (at < *bytes && at - from < BURIN_MOST_CLAUSE) {
        clause.mark = mark_at(*text, *bytes, at);
        if (clause.mark == '.' && !ends_sentence(*text, *bytes, at)) clause.mark = 0;
        if (clause.mark) break;
        at++;
    }
    if (at < *bytes && !clause.mark) at = from + cut_clause(*text + from);
    clause.bytes = at - from;
    if (clause.mark) at = after_marks(*text, *bytes, at + 1);
    *text += at;
    *bytes -= at;
    return clause;
}
