// Options by their names: their own, those of other programs; for an unknown name what was meant.
#include "program/option_find.h"

#include <string.h>

#include "program/option_names.h"
#include "program/option_rows.h"
#include "program/output.h"

// Edit distance of two short names.
static int distance(const char *a, const char *b) {
    enum { LONGEST = 40 };
    int row[LONGEST + 1], n = (int)strlen(a), m = (int)strlen(b);
    if (n > LONGEST || m > LONGEST) return LONGEST;
    for (int j = 0; j <= m; j++) row[j] = j;
    for (int i = 1; i <= n; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]),
                shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            diagonal = row[j];
            row[j] = change < shorter ? change : shorter;
        }
    }
    return row[m];
}

static size_t common_start(const char *a, const char *b) {
    size_t n = 0;
    while (a[n] && a[n] == b[n]) n++;
    return n;
}

// The shortest long option that the name begins, or the longest that begins the name
static const char *option_by_prefix(burin_kind program, const char *name) {
    enum { LEAST = 5 };  // of "--top-k": "--top"
    const char *inside = NULL, *longer = NULL;
    for (int i = 0; i < N_OPTIONS; i++)
        for (int alias = 0; alias < 2; alias++) {
            const char *candidate = alias ? options[i].alias : options[i].name;
            if (!candidate || !(options[i].programs & program)) continue;
            size_t n = common_start(name, candidate);
            if (n < LEAST) continue;
            if (!candidate[n] && (!inside || n > strlen(inside))) inside = candidate;
            if (!name[n] && (!longer || strlen(candidate) < strlen(longer))) longer = candidate;
        }
    return longer ? longer : inside;
}

static const char *nearest_option(burin_kind program, const char *name) {
    const char *best = option_by_prefix(program, name);
    int least = best ? 2 : (int)strlen(name) / 4 + 1;  // of "--trace": less than 2 letters
    if (strlen(name) < 4) return NULL;                 // any letter is near -n
    for (int i = 0; i < N_OPTIONS; i++)
        for (int alias = 0; alias < 2; alias++) {
            const char *candidate = alias ? options[i].alias : options[i].name;
            int d = candidate && options[i].programs & program ? distance(name, candidate) : least;
            if (d < least) least = d, best = candidate;
        }
    return best;
}

// The row of an option that one of these kinds of programs has; -1: none has it.
static int row_of(unsigned programs, const char *name) {
    for (int i = 0; i < N_OPTIONS; i++)
        if (options[i].programs & programs &&
            (!strcmp(name, options[i].name) ||
             (options[i].alias && !strcmp(name, options[i].alias))))
            return i;
    return -1;
}

// The name is one of the words. transformers writes _ where a word here has -.
static bool lists_name(const char *words, const char *name) {
    size_t i = 0;
    for (; *words; words += *words == ' ') {
        for (i = 0; name[i] && (*words == name[i] || (*words == '-' && name[i] == '_')); i++)
            words++;
        if (!name[i] && (!*words || *words == ' ')) return true;
        words += strcspn(words, " ");
    }
    return false;
}

static const char *find_other_name(const other_name *rows, size_t n, burin_kind program,
                                   const char *name) {
    for (size_t i = 0; i < n; i++)
        if (rows[i].programs & program && lists_name(rows[i].names, name)) return rows[i].ours;
    return NULL;
}

#define FIND_OTHER_NAME(rows, program, name) \
    find_other_name(rows, sizeof rows / sizeof *rows, program, name)

// The same with - for each _; -1: there is none.
static int row_of_underscores(burin_kind program, const char *name) {
    char own[64];
    size_t n = 0;
    for (; name[n] && n + 1 < sizeof own; n++) own[n] = name[n] == '_' ? '-' : name[n];
    own[n] = 0;
    return row_of(program, own);
}

// What programs print or take that have an option which this one lacks; in the order of the bits
// of burin_kind.
static const char *kind_that_has(unsigned programs) {
    static const char *const kinds[] = {"texts",
                                        "networks that take .npy files",
                                        "embeddings",
                                        "encoder-decoders",
                                        "labels of texts",
                                        "recordings to texts",
                                        "pictures",
                                        "speech",
                                        "pictures in a chat",
                                        "recordings"};
    int i = 0;
    while (!(programs >> i & 1)) i++;
    return kinds[i];
}

static _Noreturn void stop_at_option_of_others(int row, const char *name) {
    burin_stop(BURIN_BAD_COMMAND_LINE,
               "unknown option %s: it is for programs of %s\nhint: --help-all lists this one's",
               name, kind_that_has(options[row].programs));
}

// -n2 is -n 2.
static void stop_at_attached_value(burin_kind program, const char *name) {
    char option[3] = {name[0], name[1]};
    int row = name[1] == '-' ? -1 : row_of(program, option);
    if (row >= 0 && options[row].argument && name[2] &&
        strspn(name + 2, "0123456789.") == strlen(name + 2))
        burin_stop(BURIN_BAD_COMMAND_LINE, "unknown option %s\nhint: %s %s", name, option,
                   name + 2);
}

int burin_find_option(burin_kind program, const char *name) {
    const char *ours = FIND_OTHER_NAME(option_aliases, program, name);
    int row = row_of(program, ours ? ours : name);
    if (row < 0) row = row_of_underscores(program, name);
    if (row >= 0) return row;
    const char *hint = FIND_OTHER_NAME(option_hints, program, name);
    if (hint) burin_stop(BURIN_BAD_COMMAND_LINE, "unknown option %s\nhint: %s", name, hint);
    row = row_of(A, name);
    if (row >= 0) stop_at_option_of_others(row, name);
    stop_at_attached_value(program, name);
    const char *nearest = nearest_option(program, name);
    burin_stop(BURIN_BAD_COMMAND_LINE, "unknown option %s\nhint: %s%s%s", name,
               nearest ? "did you mean " : "", nearest ? nearest : "--help lists the options",
               nearest ? "?" : "; a prompt that starts with - goes after --");
}
