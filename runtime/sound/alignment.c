// Each alignment head's weights [tokens][encoder steps] are standardized over the tokens and
// smoothed by a median over the steps. Dynamic time warping over the mean of the heads gives each
// token the encoder steps in which it is said.
#include "sound/alignment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/output.h"

enum { MOST_MEDIAN = 99 };
static const double encoder_step_seconds = 0.02;

// ------------------------------------------------------------------------------------------ heads
typedef struct head_record {
    const burin_speech *speech;
    int32_t attention;    // of the step, the latest; even: self-attention
    int32_t first, rows;  // positions that are recorded
    int32_t steps;        // of the encoder
    float *weights;       // [n_alignment][rows][steps]
    float *other;         // [steps]
} head_record;

static void begin_record(void *context, bool encoder) {
    (void)encoder;
    ((head_record *)context)->attention = -1;
}

// An attention with the encoder's steps follows each layer's own.
static float *record_query(void *context, const burin_query *q) {
    head_record *r = context;
    const burin_speech *s = r->speech;
    if (q->row == 0 && q->head == 0) r->attention++;
    int32_t row = q->position - r->first;
    if (r->attention % 2 == 0 || row < 0 || row >= r->rows || q->keys != r->steps) return NULL;
    for (int32_t i = 0; i < s->n_alignment / 2; i++)
        if (s->alignment[2 * i] == r->attention / 2 && s->alignment[2 * i + 1] == q->head)
            return r->weights + ((size_t)i * (size_t)r->rows + (size_t)row) * (size_t)r->steps;
    return NULL;
}

// Reads the window's tokens from the first on, with the heads' weights recorded.
static void record_heads(const burin_decoding *d, head_record *r) {
    burin_session *session = d->run->session;
    const burin_trace *before = session->step.trace;
    const burin_trace trace = {.context = r, .begin = begin_record, .query = record_query};
    burin_slot_truncate(session, 0, 0);
    session->step.trace = &trace;
    burin_run_read(d->run, d->tokens, r->first + r->rows);
    session->step.trace = before;
}

// --------------------------------------------------------------------------------------- smoothing
// Each column gets mean 0 and variance 1; a column of equal values becomes 0.
static void standardize(float *w, int32_t rows, int32_t columns, int32_t stride) {
    for (int32_t c = 0; c < columns; c++) {
        double sum = 0, squares = 0;
        for (int32_t r = 0; r < rows; r++) sum += (double)w[(size_t)r * (size_t)stride + c];
        double mean = sum / rows;
        for (int32_t r = 0; r < rows; r++) {
            double x = (double)w[(size_t)r * (size_t)stride + c] - mean;
            squares += x * x;
        }
        double deviation = sqrt(squares / rows);
        for (int32_t r = 0; r < rows; r++) {
            float *x = &w[(size_t)r * (size_t)stride + c];
            *x = deviation > 0 ? (float)(((double)*x - mean) / deviation) : 0;
        }
    }
}

static float median_of(float *values, int32_t n) {
    for (int32_t i = 1; i < n; i++) {
        float value = values[i];
        int32_t at = i;
        for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1];
        values[at] = value;
    }
    return values[n / 2];
}

// The median of `width` values around each; both ends are mirrored.
static void smooth_row(const float *row, int32_t n, int32_t width, float *sum) {
    float near[MOST_MEDIAN];
    int32_t half = width / 2;
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; n > half && k < width; k++) {
            int32_t at = i + k - half;
            at = at < 0 ? -at : at >= n ? 2 * (n - 1) - at : at;
            near[k] = row[at];
        }
        sum[i] += n > half ? median_of(near, width) : row[i];
    }
}

// Returns the mean of all heads, [rows][columns].
static float *combine_heads(const head_record *r, int32_t columns, int32_t width) {
    int32_t heads = r->speech->n_alignment / 2;
    float *sum = burin_allocate((size_t)r->rows * (size_t)columns, sizeof *sum);
    for (int32_t head = 0; head < heads; head++) {
        float *w = r->weights + (size_t)head * (size_t)r->rows * (size_t)r->steps;
        standardize(w, r->rows, columns, r->steps);
        for (int32_t row = 0; row < r->rows; row++)
            smooth_row(w + (size_t)row * (size_t)r->steps, columns, width,
                       sum + (size_t)row * (size_t)columns);
    }
    for (int64_t i = 0; i < (int64_t)r->rows * columns; i++) sum[i] /= (float)heads;
    return sum;
}

// -------------------------------------------------------------------------------------------- path
enum { BOTH, NEXT_ROW, NEXT_COLUMN };

// The cheapest way to each cell: from the cell before in both, in its column or in its row.
static void fill_costs(const float *weights, int32_t rows, int32_t columns, char *came) {
    float *above = burin_allocate((size_t)columns + 1, sizeof *above),
          *here = burin_allocate((size_t)columns + 1, sizeof *here);
    for (int32_t c = 1; c <= columns; c++) above[c] = INFINITY;
    for (int32_t r = 0; r < rows; r++) {
        here[0] = INFINITY;
        for (int32_t c = 1; c <= columns; c++) {
            float both = above[c - 1], row = above[c], column = here[c - 1];
            int way = both < row && both < column  ? BOTH
                      : row < both && row < column ? NEXT_ROW
                                                   : NEXT_COLUMN;
            float least = way == BOTH ? both : way == NEXT_ROW ? row : column;
            here[c] = (float)((double)least - (double)weights[(size_t)r * (size_t)columns + c - 1]);
            came[(size_t)r * (size_t)columns + c - 1] = (char)way;
        }
        float *spare = above;
        above = here, here = spare;
    }
    free(above);
    free(here);
}

void burin_align_path(const float *weights, int32_t rows, int32_t columns, int32_t *first) {
    char *came = burin_allocate((size_t)rows * (size_t)columns, 1);
    fill_costs(weights, rows, columns, came);
    for (int32_t i = 0; i < rows; i++) first[i] = 0;
    for (int32_t r = rows - 1, c = columns - 1; r >= 0 && c >= 0;) {
        int way = came[(size_t)r * (size_t)columns + c];
        first[r] = c;
        r -= way != NEXT_COLUMN;
        c -= way != NEXT_ROW;
    }
    free(came);
}

// ------------------------------------------------------------------------------------------ window
// A text that was cut has no row of its last token, which ends when the one before does.
void burin_align_window(const burin_decoding *d, int64_t frames, double *seconds) {
    const burin_speech *s = d->speech;
    int32_t n = d->n_tokens - d->n_first, columns = (int32_t)(frames / 2);
    head_record r = {
        .speech = s, .first = d->n_first, .rows = d->ended ? n : n - 1, .steps = s->frames / 2};
    for (int32_t i = 0; i < n; i++) seconds[i] = 0;
    if (r.rows < 1 || columns < 1) return;
    r.weights = burin_allocate((size_t)(s->n_alignment / 2) * (size_t)r.rows * (size_t)r.steps,
                               sizeof *r.weights);
    record_heads(d, &r);
    float *mean = combine_heads(&r, columns, s->median);
    int32_t *first = burin_allocate((size_t)r.rows, sizeof *first);
    burin_align_path(mean, r.rows, columns, first);
    for (int32_t i = 0; i < n; i++)
        seconds[i] = first[i < r.rows ? i : r.rows - 1] * encoder_step_seconds;
    free(first);
    free(mean);
    free(r.weights);
}
