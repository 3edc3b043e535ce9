// burin explain: parts of the report's data in words, for a terminal.
#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "report/words.h"

const char *advice_for(const char *why) {
    static const struct {
        const char *part, *advice;
    } rows[] = {
#define ADVICE(part, advice) {part, advice},
#include "report/advice.def"
#undef ADVICE
    };
    for (size_t i = 0; why && i < sizeof rows / sizeof *rows; i++)
        if (strstr(why, rows[i].part)) return rows[i].advice;
    return NULL;
}

// ----------------------------------------------------------------------------------------- summary
static void explain_costs(const json_t *program) {
    size_t i;
    const json_t *cost;
    json_array_foreach(words_get(program, "costs"), i, cost) {
        const json_t *sum = words_get(cost, "sum");
        char weights[32], other[32];
        print_spelled("%-8s %s, %s: %.3g operations, reads %s of weights and moves %s\n",
                      i ? "" : "step", words_text(words_get(program, "graph"), "name"),
                      words_text(cost, "step"), words_number(sum, "operations"),
                      bytes_text(weights, (uint64_t)words_number(sum, "weight_bytes")),
                      bytes_text(other, (uint64_t)words_number(sum, "bytes")));
    }
}

static void explain_all(const json_t *root) {
    const json_t *s = words_get(root, "summary"), *o;
    char bytes[32];
    size_t i;
    print_spelled("model    %s, %s%s%s\n", words_text(s, "name"), words_text(s, "kind"),
                  json_object_get(s, "architecture") ? ", " : "", words_text(s, "architecture"));
    print_spelled("weights  %.4g parameters, %s packed\n", words_number(s, "parameters"),
                  bytes_text(bytes, (uint64_t)words_number(s, "weight_bytes")));
    json_array_foreach(words_get(root, "programs"), i, o) explain_costs(o);
    printf("\n%-24s %8s %8s\n", "pattern", "matched", "missed");
    json_array_foreach(words_get(s, "fusions"), i, o)
        print_spelled("%-24s %8.0f %8.0f\n", words_text(o, "pattern"), words_number(o, "matched"),
                      words_number(o, "missed"));
    printf(
        "\nburin explain MODEL WHAT: a place (model.layers.3.mlp) or a value; --memory; --time; "
        "--why-not PATTERN\n");
}

// ----------------------------------------------------------------------------------------- why not
static void explain_site(const json_t *site) {
    const json_t *at = words_get(site, "at");
    print_spelled("%s%s%s: missed %s\n", words_text(at, "text"),
                  json_object_get(at, "scope") ? " " : "", words_text(at, "scope"),
                  words_text(site, "pattern"));
    print_spelled("  %%%s %s\n", words_text(site, "node"), words_text(site, "why"));
    if (json_object_get(site, "path")) print_spelled("  path: %s\n", words_text(site, "path"));
    if (json_object_get(site, "advice")) print_spelled("  hint: %s\n", words_text(site, "advice"));
}

static void explain_why_not(const json_t *root, const char *pattern) {
    const json_t *site;
    const char *names[64];
    size_t i, n = 0;
    int missed = 0, matched = 0;
    json_array_foreach(words_get(root, "sites"), i, site) {
        const char *name = words_text(site, "pattern");
        if (n < 64) names[n++] = name;
        if (strcmp(name, pattern)) continue;
        json_is_true(json_object_get(site, "missed")) ? explain_site(site), missed++ : matched++;
    }
    if (!missed && !matched) {
        const char *near = nearest_name(pattern, names, n);
        if (near)
            diag_fatal(NO_LOC, "no part of this model looks like %s\nhint: did you mean %s?",
                       pattern, near);
        diag_fatal(NO_LOC,
                   "no part of this model looks like %s\nhint: `burin explain MODEL` lists the "
                   "patterns that it found",
                   pattern);
    }
    print_spelled("%s: %d matched, %d missed\n", pattern, matched, missed);
}

// ------------------------------------------------------------------------------------------ memory
static void memory_line(const char *what, const json_t *memory, const char *key) {
    char bytes[32];
    double n = words_number(memory, key);
    if (n > 0) print_spelled("%-10s %14.0f  %s\n", what, n, bytes_text(bytes, (uint64_t)n));
}

static void explain_peak(const json_t *program) {
    const json_t *memory = words_get(program, "memory"), *peak = words_get(memory, "peak"), *index;
    const json_t *kernel =
        json_array_get(words_get(program, "kernels"), (size_t)words_number(peak, "kernel"));
    double rows =
        json_is_true(json_object_get(memory, "dynamic_sizes")) ? 1 : words_number(memory, "rows");
    size_t i;
    if (!kernel) return;
    print_spelled("most is live at kernel %.0f, %s (%%%s):\n", words_number(peak, "kernel"),
                  words_function(program, kernel), words_text(kernel, "node"));
    json_array_foreach(words_get(peak, "buffers"), i, index) {
        const json_t *b =
            json_array_get(words_get(memory, "buffers"), (size_t)json_integer_value(index));
        print_spelled("  %-28s %14.0f  %s\n", words_text(b, "name"),
                      words_number(b, "bytes") * rows, words_text(b, "type"));
    }
    double arena = words_number(memory, "arena_bytes"), bound = words_number(memory, "lower_bound");
    if (bound > 0)
        printf("the arena is %.1f %% above what must lie apart: %s\n", 100 * (arena / bound - 1),
               arena > bound ? "buffers leave gaps" : "nothing is lost");
}

static void explain_memory(const json_t *root) {
    const json_t *program;
    size_t i;
    json_array_foreach(words_get(root, "programs"), i, program) {
        const json_t *memory = words_get(program, "memory");
        bool by_run = json_is_true(json_object_get(memory, "dynamic_sizes"));
        if (i) printf("\n");
        print_spelled("%s: bytes%s", words_text(words_get(program, "graph"), "name"),
                      by_run ? " of the largest run\n" : "");
        if (!by_run) printf(" for %.0f rows at once\n", words_number(memory, "rows"));
        memory_line("arena", memory, "arena_bytes");
        memory_line("at least", memory, "lower_bound");
        memory_line("local", memory, "local_bytes");
        memory_line("state", memory, "slot_bytes");
        memory_line("KV cache", memory, "cache_bytes");
        memory_line("weights", memory, "weight_bytes");
        explain_peak(program);
    }
}

// -------------------------------------------------------------------------------------------- time
static void explain_run(const json_t *run) {
    const json_t *site;
    double all = words_number(run, "ms");
    size_t i;
    printf("\n%s: %.2f ms of thread 0, of which %.2f waiting\n", words_text(run, "step"), all,
           words_number(run, "waiting_ms"));
    printf("%8s %10s %8s %9s %9s  %s\n", "share", "ms", "calls", "us a call", "of limit",
           "kernel and place");
    json_array_foreach(words_get(run, "sites"), i, site) {
        double ms = words_number(site, "ms"), calls = words_number(site, "calls"),
               least = words_number(site, "least_ms");
        char limit[16] = "";
        if (least > 0 && ms > 0) snprintf(limit, sizeof limit, "%.0f %%", 100 * least / ms);
        print_spelled("%6.1f %% %10.2f %8.0f %9.1f %9s  %s %s\n", all > 0 ? 100 * ms / all : 0, ms,
                      calls, 1e3 * ms / calls, limit, words_text(site, "function"),
                      words_text(site, "location"));
    }
}

static void explain_time(const json_t *root) {
    const json_t *time = words_get(root, "time"), *limits = words_get(time, "limits"), *run;
    size_t i;
    print_spelled("%s, %.0f threads; memory %.3g GB/s, f32 %.3g, int8 %.3g operations a second\n",
                  words_text(time, "cpu"), words_number(time, "threads"),
                  words_number(limits, "read") / 1e9, words_number(limits, "fma"),
                  words_number(limits, "dot"));
    json_array_foreach(words_get(time, "runs"), i, run) explain_run(run);
}

int explain_model(Build *b) {
    const Options *o = b->options;
    const char *what = o->n_rest ? o->rest[0] : NULL;
    if (!!what + !!o->why_not + o->memory + o->measure > 1)
        usage_error("burin explain says one thing at a time: WHAT, --why-not, --memory or --time");
    const json_t *root = report_collect(b);
    if (o->why_not)
        explain_why_not(root, o->why_not);
    else if (what)
        explain_part(b->arena, root, what);
    else if (o->measure)
        explain_time(root);
    else
        o->memory ? explain_memory(root) : explain_all(root);
    return 0;
}
