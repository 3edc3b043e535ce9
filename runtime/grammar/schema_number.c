// Numbers between bounds, as digits: for each length the digits from the first on, as long as they
// are those of a bound; then the fraction, if there may be one. Without bounds any number; with
// them none has an exponent.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

typedef burin_decimal digits;

typedef struct range_of_digits {
    const digits *low, *high;  // high NULL: without end
    bool whole;                // integers alone
} range_of_digits;

// ---------------------------------------------------------------------------------------- decimals
static bool is_zero_decimal(const digits *d) { return d->n == 1 && *d->whole == '0' && !d->n_part; }

// Digits of a text like "-12.5e-3", without its point; returns how many are before the point, which
// may be below 0.
static int read_decimal(burin_schema_writer *w, const char *text, char all[BURIN_DIGITS], int *n) {
    int point = -1;
    *n = 0;
    for (text += *text == '-'; *text && *text != 'e'; text++) {
        if (*text == '.') {
            point = *n;
            continue;
        }
        if (*n == BURIN_DIGITS)
            burin_schema_fail(w, "bounds of numbers may have %d digits", BURIN_DIGITS);
        all[(*n)++] = *text;
    }
    if (point < 0) point = *n;
    return point + (*text == 'e' ? atoi(text + 1) : 0);
}

burin_decimal burin_decimal_of(burin_schema_writer *w, burin_value number, const char *keyword) {
    char room[64], all[BURIN_DIGITS];
    burin_decimal d = {0};
    int n;
    if (number.kind == BURIN_BOOL || !burin_is_number(number))
        burin_schema_fail(w, "%s must be a number", keyword);
    if (!isfinite(burin_number(number)))
        burin_schema_fail(w, "%s must be a finite number", keyword);
    const char *text = burin_number_text(number, room);
    int point = read_decimal(w, text, all, &n), begin = point < 0 ? point : 0;
    if (point > BURIN_DIGITS || n - begin > BURIN_DIGITS + (point > 0 ? point : 0) ||
        (point <= 0 && n - point > BURIN_DIGITS))
        burin_schema_fail(w, "bounds of numbers may have %d digits", BURIN_DIGITS);
    for (int i = 0; i < point; i++) {
        char c = i < n ? all[i] : '0';
        if (c != '0' || d.n) d.whole[d.n++] = c;
    }
    if (!d.n) d.whole[d.n++] = '0';
    for (int i = point; i < n; i++) d.part[d.n_part++] = i < 0 ? '0' : all[i];
    while (d.n_part && d.part[d.n_part - 1] == '0') d.n_part--;
    d.negative = *text == '-' && !is_zero_decimal(&d);
    return d;
}

static int order_sizes(const digits *a, const digits *b) {
    int shorter = a->n_part < b->n_part ? a->n_part : b->n_part;
    if (a->n != b->n) return a->n - b->n;
    int order = memcmp(a->whole, b->whole, (size_t)a->n);
    if (!order) order = memcmp(a->part, b->part, (size_t)shorter);
    return order ? order : a->n_part - b->n_part;
}

int burin_decimal_order(const burin_decimal *a, const burin_decimal *b) {
    if (a->negative != b->negative) return a->negative ? -1 : 1;
    return a->negative ? order_sizes(b, a) : order_sizes(a, b);
}

// One more, or one less than a whole size from 1 on.
static void change_size(burin_schema_writer *w, digits *d, bool more) {
    char from = more ? '9' : '0', to = more ? '0' : '9';
    int i = d->n - 1;
    for (; i >= 0 && d->whole[i] == from; i--) d->whole[i] = to;
    if (i >= 0) {
        d->whole[i] = (char)(d->whole[i] + (more ? 1 : -1));
    } else {
        if (d->n == BURIN_DIGITS)
            burin_schema_fail(w, "bounds of numbers may have %d digits", BURIN_DIGITS);
        memmove(d->whole + 1, d->whole, (size_t)d->n++);
        *d->whole = '1';
    }
    if (d->n > 1 && *d->whole == '0') memmove(d->whole, d->whole + 1, (size_t)--d->n);
    if (is_zero_decimal(d)) d->negative = false;
}

// Adds 1 to a whole number, or takes 1 away.
static void step_whole(burin_schema_writer *w, digits *d, bool up) {
    if (is_zero_decimal(d)) {
        *d->whole = '1', d->negative = !up;
        return;
    }
    change_size(w, d, up != d->negative);
}

// The nearest whole number that a low bound (up) or a high one allows.
static void make_whole(burin_schema_writer *w, digits *d, bool up) {
    bool fraction = d->n_part > 0, away = d->negative != up;  // away: from 0
    d->n_part = 0;
    d->negative &= !is_zero_decimal(d);
    if (fraction ? away : d->open) step_whole(w, d, up);
    d->open = false;
}

// Digits after the point from position `at` of a bound on: not below (or above) it. False:
// impossible.
static bool part_from(burin_growing *g, const digits *low, int at) {
    if (at == low->n_part)
        return burin_growing_add(g, low->open ? "\"0\"* [1-9] [0-9]*" : "[0-9]*"), true;
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
    if (!(at == high->n_part - 1 && high->open))
        burin_growing_add(g, " | \"%c\" ", b), part_to(g, high, at + 1);
    burin_growing_add(g, ")");
    return true;
}

// The fraction after all digits before the point, which equal those of `low` and `high` if these
// are not NULL.
static bool write_part(burin_growing *g, const range_of_digits *r, const digits *low,
                       const digits *high) {
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

static bool write_digits(burin_growing *g, const range_of_digits *r, int n, int at,
                         const digits *low, const digits *high);

// One digit and its successors; takes back impossible ones.
static bool write_branch(burin_growing *g, const range_of_digits *r, int n, int at, char digit,
                         const digits *low, const digits *high) {
    size_t before = g->n;
    burin_growing_add(g, "%s\"%c\" ", g->bytes[g->n - 1] == '(' ? "" : " | ", digit);
    if (write_digits(g, r, n, at + 1, low, high)) return true;
    g->bytes[g->n = before] = 0;
    return false;
}

// Digits from `at` on of a number of n digits, those before being the bounds' where these are not
// NULL.
static bool write_digits(burin_growing *g, const range_of_digits *r, int n, int at,
                         const digits *low, const digits *high) {
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
            burin_growing_add(g, "%s[%c-%c] [0-9]{%d}%s", possible ? " | " : "", first, last,
                              n - at - 1, r->whole ? "" : " (\".\" [0-9]+)?");
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
        if (write_digits(g, r, n, 0, n == r->low->n ? r->low : NULL,
                         r->high && n == longest ? r->high : NULL))
            any = true;
        else
            g->bytes[g->n = before] = 0;
    }
    if (!r->high)
        burin_growing_add(g, "%s[1-9] [0-9]{%d,}%s", any ? " | " : "", r->low->n,
                          r->whole ? "" : " (\".\" [0-9]+)?");
    return any || !r->high;
}

static bool write_positive(burin_growing *g, bool whole, const burin_bounds *b) {
    digits low = {.whole = "0", .n = 1};
    if (b->has_low && !b->low.negative) low = b->low;
    return write_size(g, &(range_of_digits){&low, b->has_high ? &b->high : NULL, whole});
}

// "-" and the size: from -high to -low.
static bool write_negative(burin_growing *g, bool whole, const burin_bounds *b) {
    digits low = {.whole = {whole ? '1' : '0'}, .n = 1};
    if (b->has_high && b->high.negative) low = b->high;
    return write_size(g, &(range_of_digits){&low, b->has_low ? &b->low : NULL, whole});
}

void burin_schema_number(burin_schema_writer *w, burin_growing *g, bool whole,
                         const burin_bounds *given) {
    burin_bounds b = *given;
    bool any = false;
    if (!b.has_low && !b.has_high) {
        burin_growing_add(g, whole ? "integer" : "number");
        return;
    }
    if (whole && b.has_low) make_whole(w, &b.low, true);
    if (whole && b.has_high) make_whole(w, &b.high, false);
    if (b.has_low && b.has_high && burin_decimal_order(&b.low, &b.high) > 0)
        burin_schema_fail(w, "no number is between these bounds");
    size_t start = g->n;
    burin_growing_add(g, "(");
    if (!b.has_high || (!b.high.negative && !(is_zero_decimal(&b.high) && b.high.open)))
        any = write_positive(g, whole, &b);
    size_t before = g->n;
    if (!any) g->bytes[g->n = before = start + 1] = 0;
    if (!b.has_low || b.low.negative) {
        burin_growing_add(g, any ? " | \"-\" (" : "\"-\" (");
        bool negative = write_negative(g, whole, &b);
        burin_growing_add(g, ")");
        if (!negative) g->bytes[g->n = before] = 0;
        any |= negative;
    }
    if (!any) burin_schema_fail(w, "no number is between these bounds");
    burin_growing_add(g, ")");
}
