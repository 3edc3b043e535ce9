// The passes, as passes.def lists them, and their runner.
#ifndef BURIN_PASS_H
#define BURIN_PASS_H
#include "ir.h"

typedef struct PassContext PassContext;
typedef bool PassFunction(Graph *, PassContext *);

// What a pass may rely on: name, bit, and what messages call it.
// clang-format off
#define GRAPH_PROPERTIES(X) \
    X(TYPES, 0, "types")       /* every value has its type */ \
    X(FORMULAS, 1, "formulas") /* attention and contractions are still written in core ops */ \
    X(FUSIONS, 2, "fusions")   /* every site of a fusion has matched or missed */ \
    X(ROWS, 3, "rows")         /* rows carry slots and positions (graphs that have an autoregressive form) */ \
    X(LAYOUT, 4, "layout")     /* weights are packed */
// clang-format on

typedef enum {
#define X(name, bit, text) HAS_##name = 1 << (bit),
    GRAPH_PROPERTIES(X)
#undef X
} GraphProperty;

typedef enum {
#define GROUP(name, ...) GROUP_##name,
#include "passes.def"
    GROUP_COUNT
} PassGroup;

typedef enum {
#define PASS(group, name, ...) PASS_##name,
#include "passes.def"
    PASS_COUNT
} Pass;

typedef struct PassInfo {
    const char *name;
    PassGroup group;
    PassFunction *run;
    enum {
        OUTER,
        BODIES
    } where;  // of a module's graphs alone, or of the bodies of loops and branches too
    unsigned needs, gives, breaks;  // bits of GraphProperty; what is not broken is kept
    const char *help;
} PassInfo;

typedef struct GroupInfo {
    const char *name, *help;
} GroupInfo;

extern const PassInfo pass_info[PASS_COUNT];
extern const GroupInfo group_info[GROUP_COUNT];
Pass group_first(PassGroup);
Pass group_last(PassGroup);

// One candidate of recognise or fuse: matched, or missed because of a node. Also what became of a
// whole graph, and why.
typedef struct FusionSite {
    struct FusionSite *next;
    const char *pattern;  // "attention", "rms_normalization", ...
    Loc loc;
    bool missed;
    const char
        *node;  // name of the first node that did not fit, or that the choice rests on; or NULL
    const char *why;
    const char *path;  // from the site to that node, by operands or by users: "softmax %p <- min
                       // %clamped"; or NULL
} FusionSite;

// Who is told of every pass, and when one fails. Functions may be NULL.
typedef struct PassGuard {
    struct PassGuard *next;
    void *user;
    void (*before)(void *user, Module *, Pass);
    void (*after)(void *user, Module *, Pass);   // its graphs are verified
    void (*failed)(void *user, Module *, Pass);  // a graph does not verify, and the run ends
} PassGuard;

typedef struct QuantRules QuantRules;
struct PassContext {
    Arena *arena;
    Module *module;
    const QuantRules *quant;  // of --quant (passes/recipe.h), or NULL: as the checkpoint has it
    bool requantize;    // --requantize: weights that are in blocks already take other formats too
    bool float_rows;    // --activations=f32: products by weights in blocks take rows of floats
    bool file_rows;     // ... by those that the file has in blocks (Module's float_rows)
    const char *cache;  // --kv: format of cached keys and values, or NULL: f32
    int64_t context;    // --ctx: positions a slot can hold
    int64_t max_rows;   // rows of one forward call (--chunk)
    FusionSite *sites, **sites_end;
    bool require_fusion;
    bool quantized;        // --quant changed the format of a weight
    const char *dump_dir;  // --dump-ir, or NULL
    int stop_after;        // a Pass, the last that runs, or -1
    int start_from;        // a Pass, the first that runs
    PassGuard *guards;     // or NULL
    bool best_effort;      // a graph that cannot become incremental is left as it is, instead of an
                           // error
    void (*observer)(
        struct PassContext *,
        int pass);        // called with the graphs as loaded (-1) and after each pass; or NULL
    void *observer_data;  // for `observer`
};

bool pass_run(const PassInfo *, Graph *,
              PassContext *);  // over a graph and the bodies in it: did anything change?
bool group_run(PassGroup, Graph *, PassContext *);  // likewise, its passes in order
void pass_apply(Module *, PassContext *,
                Pass);  // over every graph, which is verified: errors end the run
// Runs passes.def in order over every graph: checks needs, verifies after each, dumps; false when
// stopped by stop_after.
bool passes_run(Module *, PassContext *);
void fusion_site(PassContext *, const char *pattern, Loc, const Node *broke,
                 const char *why);  // missed unless broke is NULL
void fusion_path(PassContext *, const Node *site, const Node *broke);  // of the last site
void fusion_note(PassContext *, const char *what, Loc, const Node *by,
                 const char *why);  // counts as a match
void fusion_table(const PassContext *,
                  Text *);  // the patterns and their counts: what `burin build` prints
void fusion_report(const PassContext *, Text *);  // the same, and why each site that was missed was
#endif
