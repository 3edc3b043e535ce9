// Numbers between bounds, as digits: for each length the digits from the first on, as long as they are those of a bound; then
// the fraction, if there may be one. Without bounds any number; with them none has an exponent.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "schema.h"

// The size of a bound: 12.5 is "12" and "5", without zeros at the end.
typedef struct digits {
    char whole[40], part[40];
    int n, n_part;
    bool open;  // without the bound itself
} digits;

typedef struct range_of_digits {
    const digits *low, *high;  // high NULL: without end
    bool whole;                // integers alone
} range_of_digits;

static digits digits_of(burin_schema_writer *w, double size, bool open) {
    digits d = {.open = open};
    char text[64];
    if (size >= 1e15) burin_schema_fail(w, "bounds of numbers must be less than 10^15");
    snprintf(text, sizeof text, "%.12f", size);
    char *dot = strchr(text, '.');
    *dot = 0;
    d.n = (int)strlen(text);
    memcpy(d.whole, text, (size_t)d.n);
    d.n_part = (int)strlen(dot + 1);
    memcpy(d.part, dot + 1, (size_t)d.n_part);
    while (d.n_part && d.part[d.n_part - 1] == '0') d.n_part--;
    if (size != 0 && d.n == 1 && d.whole[0] == '0' && !d.n_part) burin_schema_fail(w, "bounds of numbers may have 12 decimals");
    return d;
}

// Digits behind the point from position `at` of a bound on: not less (or more) than its. False: impossible.
static bool part_from(burin_growing *g, const digits *low, int at) {
    if (at == low->n_part) return burin_growing_add(g, low->open ? "\"0\"* [1-9] [0-9]*" : "[0-9]*"), true;
    char d = low->part[at];
    burin_growing_add(g, "(\"%c\" ", d);
    part_from(g, low, at + 1);
    if (d < '9') burin_growing_add(g, " | [%c-9] [0-9]*", d + 1);
    burin_growing_add(g, ")");
    return true;
}

static bool part_to(burin_growing *g, const digits *high, int at) {
    if (at == high->n_part) return burin_growing_add(g, "\"0\"*"), true;
    char d = high->part[at];
    bool last = at == high->n_part - 1 && high->open;
    burin_growing_add(g, "(\"\"");
    if (d > '0') burin_growing_add(g, " | [0-%c] [0-9]*", d - 1);
    if (!last) burin_growing_add(g, " | \"%c\" ", d), part_to(g, high, at + 1);
    burin_growing_add(g, ")");
    return true;
}

// Between both, which have the same digits before `at`.
static bool part_between(burin_growing *g, const digits *low, const digits *high, int at) {
    if (at >= low->n_part && at >= high->n_part) {
        burin_growing_add(g, "\"0\"*");
        return !low->open && !high->open;
    }
    char a = at < low->n_part ? low->part[at] : '0', b = at < high->n_part ? high->part[at] : '0';
    bool ends = at >= low->n_part && !low->open;  // the low bound itself, written shorter
    if (a > b) return false;
    burin_growing_add(g, ends ? "(\"\" | " : "(");
    if (a == b) {
        burin_growing_add(g, "\"%c\" ", a);
        bool possible = part_between(g, low, high, at + 1);
        return burin_growing_add(g, ")"), possible;
    }
    burin_growing_add(g, "\"%c\" ", a);
    if (at + 1 > low->n_part)
        burin_growing_add(g, low->open ? "\"0\"* [1-9] [0-9]*" : "[0-9]*");
    else
        part_from(g, low, at + 1);
    if (b - a > 1) burin_growing_add(g, " | [%c-%c] [0-9]*", a + 1, b - 1);
    if (!(at == high->n_part - 1 && high->open)) burin_growing_add(g, " | \"%c\" ", b), part_to(g, high, at + 1);
    burin_growing_add(g, ")");
    return true;
}

// The fraction behind all digits before the point, which are those of `low` and `high` where these are not NULL.
static bool write_part(burin_growing *g, const range_of_digits *r, const digits *low, const digits *high) {
    bool needs = low && (low->n_part || low->open), possible = true;
    if (r->whole) return true;
    if (!low && high && !high->n_part && high->open) return false;
    burin_growing_add(g, " (\".\" ");
    size_t before = g->n;
    if (!low && !high)
        burin_growing_add(g, "[0-9]+");
    else if (low && high)
        possible = part_between(g, low, high, 0);
    else if (low)
        possible = part_from(g, low, 0);
    else
        possible = part_to(g, high, 0);
    burin_growing_add(g, ")%s", needs ? "" : "?");
    return possible && g->n > before;
}

static bool write_digits(burin_growing *g, const range_of_digits *r, int n, int at, const digits *low, const digits *high);

// One digit, and what follows it; takes back what turns out to be impossible.
static bool write_branch(burin_growing *g, const range_of_digits *r, int n, int at, char digit, const digits *low,
                         const digits *high) {
    size_t before = g->n;
    burin_growing_add(g, "%s\"%c\" ", g->bytes[g->n - 1] == '(' ? "" : " | ", digit);
    if (write_digits(g, r, n, at + 1, low, high)) return true;
    g->bytes[g->n = before] = 0;
    return false;
}

// Digits from `at` on of a number of n digits, those before being the bounds' where these are not NULL.
static bool write_digits(burin_growing *g, const range_of_digits *r, int n, int at, const digits *low, const digits *high) {
    bool possible = false;
    if (at == n) return write_part(g, r, low, high);
    char a = low ? low->whole[at] : at == 0 && n > 1 ? '1' : '0', b = high ? high->whole[at] : '9';
    burin_growing_add(g, "(");
    if (low && high && a == b) {
        possible = write_branch(g, r, n, at, a, low, high);
    } else if (a <= b) {
        if (low) possible |= write_branch(g, r, n, at, a, low, NULL);
        char first = (char)(a + (low != NULL)), last = (char)(b - (high != NULL));
        if (first <= last) {
            burin_growing_add(g, "%s[%c-%c] [0-9]{%d}%s", possible ? " | " : "", first, last, n - at - 1,
                              r->whole ? "" : " (\".\" [0-9]+)?");
            possible = true;
        }
        if (high) possible |= write_branch(g, r, n, at, b, NULL, high);
    }
    burin_growing_add(g, ")");
    return possible;
}

// Numbers from 0 on. False: there are none.
static bool write_size(burin_growing *g, const range_of_digits *r) {
    bool any = false;
    int longest = r->high ? r->high->n : r->low->n;
    for (int n = r->low->n; n <= longest; n++) {
        size_t before = g->n;
        burin_growing_add(g, any ? " | " : "");
        if (write_digits(g, r, n, 0, n == r->low->n ? r->low : NULL, r->high && n == longest ? r->high : NULL))
            any = true;
        else
            g->bytes[g->n = before] = 0;
    }
    if (!r->high) burin_growing_add(g, "%s[1-9] [0-9]{%d,}%s", any ? " | " : "", r->low->n, r->whole ? "" : " (\".\" [0-9]+)?");
    return any || !r->high;
}

// Integers have no open bounds.
static burin_bounds whole_bounds(burin_bounds b) {
    double low = ceil(b.low), high = floor(b.high);
    if (b.above_low && low == b.low) low++;
    if (b.below_high && high == b.high) high--;
    return (burin_bounds){.has_low = b.has_low, .has_high = b.has_high, .low = low, .high = high};
}

static bool write_positive(burin_schema_writer *w, burin_growing *g, bool whole, const burin_bounds *b) {
    bool from_zero = !b->has_low || b->low < 0;
    digits low = digits_of(w, from_zero ? 0 : b->low, !from_zero && b->above_low), high = {0};
    if (b->has_high) high = digits_of(w, b->high, b->below_high);
    return write_size(g, &(range_of_digits){&low, b->has_high ? &high : NULL, whole});
}

// "-" and the size: from -high to -low.
static bool write_negative(burin_schema_writer *w, burin_growing *g, bool whole, const burin_bounds *b) {
    bool to_zero = !b->has_high || b->high >= 0;
    digits low = digits_of(w, to_zero ? whole : -b->high, !to_zero && b->below_high), high = {0};
    if (b->has_low) high = digits_of(w, -b->low, b->above_low);
    return write_size(g, &(range_of_digits){&low, b->has_low ? &high : NULL, whole});
}

void burin_schema_number(burin_schema_writer *w, burin_growing *g, bool whole, const burin_bounds *given) {
    burin_bounds b = whole ? whole_bounds(*given) : *given;
    bool any = false;
    if (!b.has_low && !b.has_high) {
        burin_growing_add(g, whole ? "integer" : "number");
        return;
    }
    size_t start = g->n;
    burin_growing_add(g, "(");
    if (!b.has_high || b.high > 0 || (b.high == 0 && !b.below_high)) any = write_positive(w, g, whole, &b);
    size_t before = g->n;
    if (!any) g->bytes[g->n = before = start + 1] = 0;
    if (!b.has_low || b.low < 0) {
        burin_growing_add(g, any ? " | \"-\" (" : "\"-\" (");
        bool negative = write_negative(w, g, whole, &b);
        burin_growing_add(g, ")");
        if (!negative) g->bytes[g->n = before] = 0;
        any |= negative;
    }
    if (!any || (b.has_low && b.has_high && b.low > b.high)) burin_schema_fail(w, "no number is between these bounds");
    burin_growing_add(g, ")");
}
