// The memory of a model by kind. A program maps its weights, so everything is RAM; without an
// operating system they stay in flash with the code, and RAM holds NAME_state_bytes: KV caches and
// other state, arena, the session, for one slot and one thread.
#include "output/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build/memory_needs.h"
#include "output/output.h"
#include "toolchain/footprint.h"

static bool fits(const Build *b, MemoryNeeds n) {
    const Options *o = b->options;
    return (!o->max_ram || n.ram <= (uint64_t)o->max_ram) &&
           (!o->max_flash || n.flash <= (uint64_t)o->max_flash);
}

// -------------------------------------------------------------------------- what would make it fit
// Does it fit with other options? Their pipeline up to the plan, in a process of its own;
// `compiled`: up to the objects where there is flash, which holds their code, too.
static bool fits_with(const Options *options, bool compiled) {
    int status = 1;
    fflush(stdout), fflush(stderr);
    pid_t child = fork();
    if (!child) {
        Options o = *options;
        Arena *arena = arena_new();
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (nowhere >= 0) dup2(nowhere, 1), dup2(nowhere, 2);
        o.dump_ir = NULL;
        Build b = build_new(arena, &o);
        b.kind = OUTPUT_ARCHIVE;
        build_open(&b);
        build_load(&b);
        if (!build_passes(&b)) _exit(1);
        build_lower(&b);
        MemoryNeeds n = memory_needs(&b);
        if (compiled && o.max_flash) n.flash += build_code_bytes(&b);
        _exit(!fits(&b, n));
    }
    while (child > 0 && waitpid(child, &status, 0) < 0) {}
    return child > 0 && !status;
}

static bool plan_fits(const Options *o) { return fits_with(o, false); }

static bool would_fit(const Options *o) { return fits_with(o, true); }

enum { LEAST_CONTEXT = 16 };

// The longest context of 16, 32, 64 ... below the model's that fits with the other options; 0: none
// does
static int64_t fitting_context(const Build *b, Options o) {
    int64_t context = LEAST_CONTEXT, whole = b->passes.context;
    o.context = context;
    if (whole <= context || !plan_fits(&o)) return 0;
    while (2 * context < whole) {
        o.context = 2 * context;
        if (!plan_fits(&o)) break;
        context *= 2;
    }
    o.context = context;
    return would_fit(&o) ? context : 0;
}

// Options added to those that were given, and their words for the hint.
typedef struct Attempt {
    Options options;
    Text words;
} Attempt;

static void with_chunk(Attempt *a, int64_t rows) {
    a->options.chunk = rows;
    text_add(&a->words, " --chunk %lld", (long long)rows);
}

static void with_cache(Attempt *a, const char *format) {
    a->options.kv = format;
    text_add(&a->words, " --kv %s", format);
}

static void with_quant(Attempt *a, const char *format) {
    a->options.quant = format;
    text_add(&a->words, " --quant %s", format);
}

static bool try_context(const Build *b, Attempt *a) {
    int64_t context = fitting_context(b, a->options);
    if (context) text_add(&a->words, " --ctx %lld", (long long)context);
    return context;
}

static void add_answer(Text *hint, Attempt *a) {
    text_add(hint, "%s%s", hint->length ? ", or" : "", a->words.data);
    a->words.length = 0;
}

// Each by itself, the one that costs least first.
static void try_alone(const Build *b, const Options *o, Text *hint) {
    static const char *const caches[] = {"f16", "q8_0"}, *const formats[] = {"q8_0", "q4_0"};
    bool decoder = is_decoder(b->program), found = false;
    Attempt a = {.options = *o};
    if (decoder && b->program->max_rows > 8 && (with_chunk(&a, 8), would_fit(&a.options)))
        add_answer(hint, &a);
    a.words.length = 0, a.options = *o;
    if (decoder && try_context(b, &a)) add_answer(hint, &a);
    a.options = *o;
    for (int i = 0; i < 2 && b->program->plan.cache_bytes && !o->kv && !found;
         i++, a.words.length = 0)
        if ((with_cache(&a, caches[i]), found = would_fit(&a.options))) add_answer(hint, &a);
    a.options = *o, found = false;
    for (int i = 0; i < 2 && !o->quant && !found; i++, a.words.length = 0)
        if ((with_quant(&a, formats[i]), found = would_fit(&a.options))) add_answer(hint, &a);
    text_free(&a.words);
}

// One added to the other, until it fits.
static void try_together(const Build *b, const Options *o, Text *hint) {
    bool decoder = is_decoder(b->program), found = false;
    Attempt a = {.options = *o};
    if (decoder && b->program->max_rows > 8) with_chunk(&a, 8);
    if (b->program->plan.cache_bytes && !o->kv)
        with_cache(&a, "q8_0"), found = would_fit(&a.options);
    if (!found && decoder) found = try_context(b, &a);
    static const char *const formats[] = {"q8_0", "q4_0"};
    size_t length = a.words.length;
    for (int i = 0; i < 2 && !o->quant && !found; i++) {
        a.words.length = length;
        with_quant(&a, formats[i]);
        found = would_fit(&a.options) || (decoder && try_context(b, &a));
    }
    if (found) add_answer(hint, &a);
    text_free(&a.words);
}

static const char *what_fits(const Build *b) {
    Options o = *b->options;
    Text hint = {0};
    try_alone(b, &o, &hint);
    if (!hint.length) try_together(b, &o, &hint);
    const char *sizes = b->program->dynamic_sizes ? plan_sizes_option(b->arena, b->program) : "";
    if (!hint.length && *sizes)
        return arena_printf(b->arena, "that is the largest run:%s bounds its sizes", sizes);
    if (!hint.length) return "it does not fit with other --chunk, --ctx, --kv and --quant either";
    return arena_printf(b->arena, "it fits with%s", hint.data);
}

static _Noreturn void refuse(const Build *b, MemoryNeeds n) {
    const Options *o = b->options;
    bool ram = o->max_ram && n.ram > (uint64_t)o->max_ram;
    Text plan = {0};
    plan_print(&plan, b->program);
    char needed[32], allowed[32];
    diag_fatal(NO_LOC,
               "the %s needs %s MB (%llu bytes)%s, --max-%s allows %s MB (%llu bytes)\nnote: "
               "%s:\n%-shint: %s",
               n.flash ? "library" : "program", megabytes_text(needed, ram ? n.ram : n.flash),
               (unsigned long long)(ram ? n.ram : n.flash), ram && n.flash ? " of RAM" : "",
               ram ? "ram" : "flash",
               megabytes_text(allowed, (uint64_t)(ram ? o->max_ram : o->max_flash)),
               (unsigned long long)(ram ? o->max_ram : o->max_flash),
               ram ? memory_needs_text(b) : "weights, tokenizer and code",
               arena_strdup(b->arena, plan.data), what_fits(b));
}

void memory_check(const Build *b) {
    const Options *o = b->options;
    if (!o->max_ram && !o->max_flash) return;
    if (o->max_flash && !machine_is_bare(b->tools.machine))
        usage_error("--max-flash: a program for %s is in memory as a whole\n  hint: --max-ram",
                    b->tools.machine->triple);
    MemoryNeeds n = memory_needs(b);
    if (fits(b, n)) return;
    refuse(b, n);
}

// --------------------------------------------------------------------------------------- the table
static void print_row(const char *place, const char *what, uint64_t bytes) {
    char text[32];
    printf("%-7s %-36s %12s\n", place, what, bytes_text(text, bytes));
}

static void print_stack(const char *place, const char *calls, StackNeed need) {
    char what[64];
    snprintf(what, sizeof what, "%s, %s%s", calls, need.endless ? "and levels of " : "at most",
             need.endless ? need.endless : "");
    print_row(place, what, need.bytes);
}

void memory_of_library(const Build *b, const Objects *objects) {
    const Program *p = b->program;
    const Footprint f = footprint_of(b->arena, objects, b->name);
    MemoryNeeds needs = memory_needs(b);
    uint64_t weights = program_weight_bytes(p), state = needs.ram;
    needs.flash += f.code;
    if (!fits(b, needs)) refuse(b, needs);
    print_row("flash", "weights", weights);
    print_row("", "tokenizer, template, checksums", b->image.bytes - weights);
    print_row("", "code and its constants, at most", f.code);
    print_row("RAM", "KV cache of a sequence", p->plan.cache_bytes);
    print_row("", "other state of a sequence", p->plan.slot_bytes - p->plan.cache_bytes);
    print_row("", "arena and session, at most", state - p->plan.slot_bytes);
    print_stack("stack", is_decoder(p) ? "forward" : "run", f.forward);
    print_stack("", "any other call", f.other);
}
