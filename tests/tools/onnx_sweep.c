// Calls every operator of the ONNX importer with each of its operands absent, scalar, of another
// rank, without elements, of another element type, a sequence, and with each of its attributes out
// of range. Each case is imported and, where its sizes are known, run by the interpreter: it gives
// a result or one message, within a second of a CPU and 1 GB.
//
// usage: onnx_sweep CALLS        CALLS: models as text, one valid call a block
// (tests/readers/onnx_calls.txt)
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "frontend/onnx.h"
#include "frontend/onnx/operators/values.h"
#include "ir/eval/eval.h"
#include "onnx_text.h"
#include "util/diag.h"

enum { MOST_LINES = 64, MOST_RESULTS = 64, MOST_SECONDS = 20, MOST_ELEMENTS = 1 << 20 };

typedef struct Call {
    char *line[MOST_LINES];
    int n;
    const char *node;  // the line of the operator that the block is for: its last
} Call;

// In memory that a child shares: the case that runs, and how many have run.
typedef struct Progress {
    char name[512];
    int n_cases, n_bad;
} Progress;
static Progress *progress;
static int messages;  // a file in memory that standard error goes to

// ---------------------------------------------------------------------------------------- one case
// Sizes are known and small: the interpreter takes no more than an instant.
static bool is_quick(Graph *g) {
    int64_t elements = 0, count;
    EACH_NODE(n, g) {
        if (n->type.dtype == DT_tuple) continue;
        if (!dim_is_const(type_count(g, &n->type), &count) || count > MOST_ELEMENTS) return false;
        elements += count;
    }
    if (elements > MOST_ELEMENTS) return false;
    for (int i = 0; i < g->n_inputs; i++)
        for (int j = 0; j < g->inputs[i]->type.rank; j++)
            if (g->inputs[i]->type.dim[j]->kind != DIM_CONST) return false;
    return g->n_outputs <= MOST_RESULTS;
}

static void run(Arena *arena, const Graph *g) {
    EvalContext *e = eval_new(EVAL_F32);
    const Tensor *outputs[MOST_RESULTS],
        **inputs = ARENA_ARRAY(arena, const Tensor *, g->n_inputs + 1);
    for (int i = 0; i < g->n_inputs; i++) {
        const Type *type = &g->inputs[i]->type;
        Tensor *t = ARENA_NEW(arena, Tensor);
        *t = (Tensor){.dtype = type->dtype, .rank = type->rank};
        for (int j = 0; j < type->rank; j++) t->dim[j] = type->dim[j]->value;
        t->bytes = dtype_bytes(t->dtype, tensor_count(t));
        void *data = arena_alloc(arena, t->bytes + 1);
        memset(data, 0, t->bytes + 1);
        t->data = data, inputs[i] = t;
    }
    eval_graph(e, g, inputs, outputs);
    eval_free(e);
}

static void import(const Text *model) {
    char path[64];
    int file = memfd_create("model", MFD_CLOEXEC);
    if (file < 0 || write(file, model->data, model->length) != (ssize_t)model->length) _exit(2);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    Arena *volatile arena = arena_new();
    if (!setjmp(*diag_guard())) {
        Graph *g = onnx_load(arena, path, &(OnnxOptions){0})->graphs[0];
        if (!graph_verify(g, "import")) fprintf(stderr, ": error: the graph is wrong: error: \n");
        if (is_quick(g)) run(arena, g);
    }
    diag_unguard();
    arena_free(arena);
    close(file);
}

// The messages that a case wrote, in a buffer that the next call replaces.
static const char *read_messages(void) {
    static char text[4096];
    ssize_t n = pread(messages, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = 0;
    if (ftruncate(messages, 0)) _exit(2);
    lseek(messages, 0, SEEK_SET);
    return text;
}

static int count_of(const char *text, const char *wanted) {
    int n = 0;
    for (const char *at = text; (at = strstr(at, wanted)); at++) n++;
    return n;
}

// `wanted`: the message has it, or NULL for a message or a result; "": a result.
static void try_case(const Text *text, const char *wanted, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void try_case(const Text *text, const char *wanted, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(progress->name, sizeof progress->name, format, args);
    va_end(args);
    Text whole = {0};
    text_add(&whole, "ir 10\n%s", text->data);
    Text model = onnx_of_text(whole.data);
    text_free(&whole);
    alarm(MOST_SECONDS);
    import(&model);
    alarm(0);
    text_free(&model);
    const char *said = read_messages();
    int n_errors = count_of(said, ": error: ");
    bool good =
        n_errors <= 1 && (!wanted || (*wanted ? n_errors && strstr(said, wanted) : !n_errors));
    progress->n_cases++;
    if (good) return;
    progress->n_bad++;
    printf("not ok - onnx operands: %s: %s\n", progress->name, *said ? said : "no message\n");
    fflush(stdout);
}

// ---------------------------------------------------------------------------------------- operands
// The replacement of an operand. The type and the dimensions "." are its own; without a type it is
// left out.
static const struct {
    const char *what, *type, *dims, *rest;
} OTHERS[] = {
    {"absent", NULL, NULL, NULL},
    {"a scalar", ".", "[]", ""},
    {"one element", ".", "[1]", ""},
    {"of rank 2", ".", "[2,3]", ""},
    {"of rank 5", ".", "[1,2,1,2,1]", ""},
    {"of rank 8", ".", "[1,1,1,1,1,1,1,2]", ""},
    {"of rank 9", ".", "[1,1,1,1,1,1,1,1,1]", ""},
    {"of size 0", ".", "[0]", ""},
    {"empty rows", ".", "[2,0]", ""},
    {"no rows", ".", "[0,3]", ""},
    {"empty, of rank 3", ".", "[1,0,4]", ""},
    {"empty, of rank 4", ".", "[1,2,0,3]", ""},
    {"of a free size", ".", "[N]", ""},
    {"of free sizes", ".", "[N,M,3]", ""},
    {"booleans", "bool", ".", ""},
    {"strings", "t8", ".", ""},
    {"bytes", "u8", ".", ""},
    {"whole numbers", "i64", ".", ""},
    {"a constant", "f32", "[1]", " raw 1e30"},
    {"no constant", "f32", "[0]", " raw"},
    {"an empty list", "i64", "[0]", " raw"},
    {"zero", "i64", "[]", " raw 0"},
    {"a list of zeros", "i64", "[4]", " raw 0 0 0 0"},
    {"below zero", "i64", "[2]", " raw -1 -9"},
    {"the largest", "i64", "[1]", " raw 9223372036854775807"},
    {"the smallest", "i64", "[2]", " raw -9223372036854775808 -9223372036854775808"},
    {"a long list", "i64", "[10]", " raw 1 1 1 1 1 1 1 1 1 1"},
    {"a large list", "i64", "[3]", " raw 65536 65536 65536"},
};

// The words of a line one by one; false at its end.
static bool next_word(const char **at, const char **word, int *length) {
    *at += strspn(*at, " ");
    *word = *at, *length = (int)strcspn(*at, " ");
    *at += *length;
    return *length > 0;
}

static bool is_declaration(const char *line) {
    return !strncmp(line, "input ", 6) || !strncmp(line, "tensor ", 7);
}

static void add_replaced(Text *out, const char *line, size_t other) {
    const char *at = line, *word[4];
    int length[4];
    for (int i = 0; i < 4; i++)
        if (!next_word(&at, &word[i], &length[i])) length[i] = 0;
    bool own_type = *OTHERS[other].type == '.', own_dims = *OTHERS[other].dims == '.';
    text_add(out, "%s %.*s %.*s %.*s%s\n", *OTHERS[other].rest ? "tensor" : "input", length[1],
             word[1], own_type ? length[2] : (int)strlen(OTHERS[other].type),
             own_type ? word[2] : OTHERS[other].type,
             own_dims ? length[3] : (int)strlen(OTHERS[other].dims),
             own_dims ? word[3] : OTHERS[other].dims, OTHERS[other].rest);
}

static void add_without(Text *out, const char *line, const char *name, int name_length) {
    const char *at = line, *word;
    int length;
    for (bool operands = true; next_word(&at, &word, &length);) {
        if (length == 2 && !strncmp(word, "->", 2)) operands = false;
        bool is_it = operands && length == name_length && !strncmp(word, name, (size_t)length);
        text_add(out, "%.*s ", is_it ? 1 : length, is_it ? "_" : word);
    }
    text_add(out, "\n");
}

// The call with the operand that its line `which` declares as OTHERS[other] has it.
static void try_other(const Call *c, int which, size_t other) {
    Text text = {0};
    const char *at = c->line[which], *word;
    int length;
    next_word(&at, &word, &length), next_word(&at, &word, &length);
    for (int i = 0; i < c->n; i++) {
        if (!OTHERS[other].type && !strncmp(c->line[i], "node ", 5))
            add_without(&text, c->line[i], word, length);
        else if (OTHERS[other].type && i == which)
            add_replaced(&text, c->line[i], other);
        else
            text_add(&text, "%s\n", c->line[i]);
    }
    try_case(&text, NULL, "%s: %.*s is %s", c->node, length, word, OTHERS[other].what);
    text_free(&text);
}

static void try_operands(const Call *c) {
    bool in_body = false;
    for (int i = 0; i < c->n; i++) {
        if (!strncmp(c->line[i], "graph ", 6)) in_body = true;
        if (!strcmp(c->line[i], "end")) in_body = false;
        if (in_body || !is_declaration(c->line[i])) continue;
        for (size_t j = 0; j < sizeof OTHERS / sizeof *OTHERS; j++) try_other(c, i, j);
    }
}

// -------------------------------------------------------------------------------------- attributes
// The last node, with the attribute set to `value` instead of its own.
static void try_attribute(const Call *c, const char *name, int name_length, const char *value,
                          const char *wanted) {
    Text text = {0};
    bool has_colon = false;
    for (int i = 0; i < c->n; i++) {
        if (c->line[i] != c->node) {
            text_add(&text, "%s\n", c->line[i]);
            continue;
        }
        const char *at = c->node, *word;
        for (int length; next_word(&at, &word, &length);) {
            if (length == 1 && *word == ':') has_colon = true;
            if (!strncmp(word, name, (size_t)name_length) && word[name_length] == '=') continue;
            text_add(&text, "%.*s ", length, word);
        }
        text_add(&text, "%s%.*s=%s\n", has_colon ? "" : ": ", name_length, name, value);
    }
    try_case(&text, wanted, "%s: %.*s=%s", c->node, name_length, name, value);
    text_free(&text);
}

static const struct OperatorRow {
    const char *name, *domain, *attributes;
} OPERATORS[] = {
#define ROW_IN(domain, name, least, most, since, results, handler, argument, attributes, ranks) \
    {name, domain, attributes},
#define ROW(...) ROW_IN("", __VA_ARGS__)
#include "frontend/onnx/operators/operators.def"
#undef ROW
#undef ROW_IN
};
typedef struct OperatorRow OperatorRow;

static const OperatorRow *find_operator(const Call *c) {
    char name[64], domain[64] = "";
    const char *at = strstr(c->node, "@domain=");
    if (sscanf(c->node, "node %63s", name) != 1) return NULL;
    if (at) sscanf(at, "@domain=%63s", domain);
    for (size_t i = 0; i < sizeof OPERATORS / sizeof *OPERATORS; i++)
        if (!strcmp(OPERATORS[i].name, name) && !strcmp(OPERATORS[i].domain, domain))
            return &OPERATORS[i];
    return NULL;
}

// Values that no word or range of the table has are refused by the attribute's name.
static bool try_listed(const Call *c, const OperatorRow *op, const char *name, int length,
                       char kind) {
    bool found = false;
    for (int i = 0; i < ONNX_N_VALUES; i++) {
        const OnnxValues *v = &ONNX_VALUES[i];
        if (strcmp(v->operator, "*") && strcmp(v->operator, op->name)) continue;
        if ((int)strlen(v->attribute) != length || strncmp(v->attribute, name, (size_t)length))
            continue;
        char value[32], wanted[96];
        if (v->words)
            snprintf(value, sizeof value, "'wrong'");
        else
            snprintf(value, sizeof value, kind == 'I' ? "[%lld]" : "%lld", (long long)v->most + 1);
        snprintf(wanted, sizeof wanted, "the attribute %.*s is ", length, name);
        try_attribute(c, name, length, value, wanted);
        found = true;
    }
    return found;
}

static void try_attributes(const Call *c, const OperatorRow *op) {
    static const char *const values[][6] = {
        {"-1", "0", "7", "1000000", "2147483647", "-2147483647"},
        {"-1.0", "0.0", "nan", "inf", "1e30", "-inf"},
        {"[]", "[0]", "[-1,-1]", "[1000000,1000000,1000000,1000000]", "[1,1,1,1,1,1,1,1,1,1]",
         "[2147483647,-2147483647]"},
        {"''", "'wrong'", "'...'", "'a,b->c'", "'%s'", "'1'"}};
    const char *at = op->attributes, *word, *kinds = "ifIs";
    for (int length; next_word(&at, &word, &length);) {
        int name = (int)strcspn(word, ":");
        char kind = word[name + 1];
        const char *row = strchr(kinds, kind);
        if (!row || try_listed(c, op, word, name, kind)) continue;
        for (int i = 0; i < 6; i++) try_attribute(c, word, name, values[row - kinds][i], NULL);
    }
}

// ------------------------------------------------------------------------------------------- calls
static void try_call(const Call *c) {
    Text text = {0};
    for (int i = 0; i < c->n; i++) text_add(&text, "%s\n", c->line[i]);
    try_case(&text, "", "%s", c->node);
    text_free(&text);
    try_operands(c);
    const OperatorRow *op = find_operator(c);
    if (op) try_attributes(c, op);
}

// A process each: a crash, a hang or 1 GB end it alone, and the name of the case is known.
static void start(const Call *c) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        const struct rlimit memory = {1u << 30, 1u << 30};
#ifndef __SANITIZE_ADDRESS__
        setrlimit(RLIMIT_AS, &memory);
#else
        (void)memory;
#endif
        dup2(messages, 2);
        try_call(c);
        _exit(0);
    }
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status) {
        progress->n_bad++;
        printf("not ok - onnx operands: %s: the process ends with status %d\n%s\n", progress->name,
               status, read_messages());
    }
}

int main(int argc, char **argv) {
    static char line[4096];
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    messages = memfd_create("messages", 0);
    progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!file || messages < 0 || progress == MAP_FAILED) return 2;
    Call c = {0};
    bool more = true;
    while (more) {
        more = fgets(line, sizeof line, file);
        line[more ? strcspn(line, "\n") : 0] = 0;
        if (*line == '#') continue;
        if (*line && c.n < MOST_LINES) {
            c.line[c.n] = strdup(line);
            if (!strncmp(line, "node ", 5)) c.node = c.line[c.n];
            c.n++;
            continue;
        }
        if (c.node) start(&c);
        for (int i = 0; i < c.n; i++) free(c.line[i]);
        c = (Call){0};
    }
    fclose(file);
    if (!progress->n_bad)
        printf("ok - onnx operands: %d calls give a result or one message\n", progress->n_cases);
    return progress->n_bad > 0;
}
