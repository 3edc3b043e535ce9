// burin passes, ops, targets, formats and models: the tables, in words.
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "commands/commands.h"
#include "frontend/dsl.h"
#include "ir/format.h"
#include "passes/pass.h"
#include "passes/recipe.h"
#include "toolchain/compiler.h"
#include "toolchain/toolchain.h"
#include "util/text.h"

// One line a pass, however long: scripts read them.
void list_passes(void) {
    for (int i = 0; i < PASS_COUNT; i++) {
        const PassInfo *p = &pass_info[i];
        const GroupInfo *group = &group_info[p->group];
        bool alone = group_first(p->group) == group_last(p->group);
        if (i == (int)group_first(p->group)) printf("%-20s %s\n", group->name, group->help);
        if (!alone) printf("  %-18s %s\n", p->name, p->help);
    }
}

void list_ops(void) {
    printf("%-26s %-40s %-44s %s\n", "op", "operands (? may be absent)", "attributes (! required)",
           "meaning");
    for (int i = 0; i < OP_COUNT; i++) {
        const OpInfo *op = &op_info[i];
        printf("%-26s %-40s %-44s %s\n", op->name, op->operands, op->attrs, op->help);
    }
}

enum { TARGET_COLUMN = 30 };  // of a note about one

static void print_target(const Target *t, const char *when) {
    printf("  --mcpu=%-20s %s%s\n%*stested: %s\n", t->name, t->help, when, TARGET_COLUMN, "",
           t->tested);
}

// The installed requirements of the machine's programs, or the missing ones with the command that
// installs them.
static void print_requirements(Arena *arena, const Machine *m, bool there) {
    Requirement needs[MAX_REQUIREMENTS];
    Text names = {0}, packages = {0};
    int n = machine_requirements(arena, m, needs);
    for (int i = 0; i < n; i++) {
        if (needs[i].there != there) continue;
        text_add(&names, "%s%s", names.length ? ", " : "", needs[i].what);
        text_add(&packages, "%s%s", packages.length ? " " : "", needs[i].package);
    }
    if (names.length && there) printf("%*shere: %s\n", TARGET_COLUMN, "", names.data);
    if (names.length && !there)
        printf("%*smissing: %s (%s)\n", TARGET_COLUMN, "", names.data,
               cross_hint(arena, packages.data, m->triple));
    text_free(&names), text_free(&packages);
}

static void print_machine(Arena *arena, const Machine *m) {
    printf("--target=%-20s %s%s\n", m->triple, m->help,
           machine_is_native(m) ? ": this machine" : "");
    print_requirements(arena, m, true);
    print_requirements(arena, m, false);
}

void list_targets(Arena *arena) {
    static const char *const when[] = {" (default)", " (default with weights in blocks)",
                                       " (default with --math=fast and weights of bf16)"};
    const char *compiler = compiler_on_path(arena);
    printf("%-*s%s%s\n", TARGET_COLUMN - 1, "on all of them", compiler ? "here: " : "missing: ",
           compiler ? compiler : arena_printf(arena, "clang (%s)", clang_hint(arena)));
    for (int j = 0; j < n_targets; j++)
        if (!targets[j].architecture) print_target(&targets[j], "");
    for (int i = 0; i < n_machines; i++) {
        const Target *defaults[MAX_CPUS];
        int n = target_defaults(machines[i].architecture, true, defaults, MAX_CPUS);
        print_machine(arena, &machines[i]);
        for (int j = 0; j < n_targets; j++) {
            bool is_default = false;
            if (!targets[j].architecture || !target_is_of(&targets[j], machines[i].architecture))
                continue;
            for (int k = 0; k < n; k++) is_default |= defaults[k] == &targets[j];
            print_target(&targets[j], is_default ? when[targets[j].use] : "");
        }
    }
    for (int i = 0; i < n_other_machines; i++) {
        const OtherMachine *m = &other_machines[i];
        printf("no target: %-18s %s\n%*sinstead: %s\n", m->name, m->why, TARGET_COLUMN, "",
               m->instead);
    }
    printf(
        "--mcpu also takes the name of a CPU (cortex-a76, znver4), `native`, and lists of all "
        "these.\n");
}

static const char *made_by(const Format *f) {
    if (f->dtype == DT_nvfp4) return "GGUF, folders";  // whose blocks are regrouped
    return format_is_exact(f) ? "ONNX"
           : f->encode        ? "GGUF, --quant"
           : f->ggml < 0      ? "folders"
                              : "GGUF";
}

void list_formats(void) {
    Arena *arena = arena_new();
    printf("%-8s %-6s %-18s %-14s %s\n", "format", "block", "bits in the file", "in the program",
           "");
    for (int i = 0; i < n_formats; i++) {
        const Format *f = &formats[i];
        int bytes =
            f->bytes - (format_has_panel_d(f) ? (int)sizeof(float) : 0);  // a file has d once
        double panel = (double)format_panel_bytes(f) / 16;
        printf("%-8s %-6d %-18.4g %-14.4g %s\n", f->name, f->block, 8.0 * bytes / f->block,
               8.0 * panel / f->block, made_by(f));
    }
    printf(
        "f32, f16, bf16: as they are. A product by weights in blocks takes its rows as int8 in "
        "blocks of 32 "
        "(--activations).\n");
    printf("--quant takes %s: those with a letter behind give some matrices more bits.\n",
           quant_names(arena));
    printf("Parts for rules (--quant q4_k_m,ffn_down=q5_k): %s, or any piece of a tensor's name.\n",
           part_names_text(arena));
    arena_free(arena);
}

// A part of its name, its words or the paper's title; without regard to case.
static bool has_word(const Description *d, const char *word) {
    return !word || strcasestr(d->name, word) || strcasestr(d->summary, word) ||
           strcasestr(d->paper, word);
}

void list_models(const char *home, const char *word) {
    Arena *arena = arena_new();
    int n = 0;
    Descriptions all = dsl_descriptions(arena, arena_printf(arena, "%s/dsl", home));
    for (int i = 0; i < all.n; i++) {
        const Description *d = &all.items[i];
        if (!has_word(d, word)) continue;
        n++;
        printf("%-22s %s\n", d->name, d->summary);
        if (*d->paper) printf("%22s %s\n", "", d->paper);
    }
    if (!n)
        usage_error(
            "no architecture has \"%s\" in its name or its words\n  hint: burin models lists all",
            word);
    arena_free(arena);
}
