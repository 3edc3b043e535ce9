#include "debug/compiled_model.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/forward.h"
#include "toolchain/process.h"
#include "util/files.h"

// --------------------------------------------------------------------------------------- the trace
static const Node *item_of(const Node *tuple, int index) {
    for (int i = 0; i < tuple->n_users; i++)
        if (tuple->users[i]->op == OP_item && attr_int(tuple->users[i], "index", 0) == index)
            return tuple->users[i];
    return NULL;
}

// The node that a kernel's result is: its own, or the items of a tuple.
static const Node *named_result(const Kernel *k, const char *name) {
    if (k->node->name && !strcmp(k->node->name, name)) return k->node;
    for (int i = 0; i < 2 && k->node->type.dtype == DT_tuple; i++) {
        const Node *item = item_of(k->node, i);
        if (item && !strcmp(item->name, name)) return item;
    }
    return NULL;
}

// In the loop over layers the text names the first layer's value: the kernel that many periods
// later has this one's.
const Node *compiled_model_node(const Program *p, const char *name, int layer) {
    for (int i = 0; i < p->n_kernels; i++) {
        const Node *n = named_result(p->kernels[i], name);
        if (!n) continue;
        int at = i + (layer > 0 ? layer * p->loop.period : 0);
        if (at == i || at >= p->n_kernels) return n;
        const Kernel *k = p->kernels[at];
        return k->node->type.dtype == DT_tuple ? item_of(k->node, (int)attr_int(n, "index", 0))
                                               : k->node;
    }
    return NULL;
}

// ------------------------------------------------------------------------------------- the program
static void add_door(Text *t, const char *door, const Program *p, const Target *cpu) {
    text_add(t,
             "void %s_forward_%s(const burin_step *, int);\n"
             "__attribute__((visibility(\"default\"))) void %s(const burin_step *s, int thread) {\n"
             "    %s_forward_%s(s, thread);\n"
             "}\n",
             p->name, cpu->symbol, door, p->name, cpu->symbol);
}

// The emitted functions are hidden in a library: one more file gives them names to be found by.
static const char *write_doors(const Build *b, const char *folder, const Target *cpu) {
    const char *path = arena_printf(b->arena, "%s/%s_check.c", folder, b->program->name);
    Text t = {0};
    text_add(&t, "#include \"engine/program.h\"\n");
    add_door(&t, "check_forward", b->program, cpu);
    if (b->program->encoder) add_door(&t, "check_encode", b->program->encoder, cpu);
    write_file(path, t.data, t.length);
    text_free(&t);
    return path;
}

static CompiledModel load_doors(Build *b, const char *folder) {
    const Target *cpu = b->tools.cpus[0];
    Emitted emitted = {.folder = folder,
                       .name = b->program->name,
                       .kind = OUTPUT_SHARED,
                       .extra = write_doors(b, folder, cpu)};
    Objects objects = toolchain_compile(&b->tools, &emitted);
    objects.paths[1] =
        objects.paths[--objects.n];  // without the descriptor, which names the weights
    const char *path = arena_printf(b->arena, "%s/check.so", folder);
    toolchain_link_library(&b->tools, &objects, OUTPUT_SHARED, folder, path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CompiledModel doors = {0};
    if (library) doors.forward = (ForwardFunction *)dlsym(library, "check_forward");
    if (library && b->program->encoder)
        doors.encode = (ForwardFunction *)dlsym(library, "check_encode");
    if (!doors.forward) diag_fatal(NO_LOC, "cannot load the compiled model: %s", dlerror());
    return doors;
}

static const unsigned char *map_weights(const Build *b, const char *folder) {
    const char *path = arena_printf(b->arena, "%s/weights", folder);
    image_write(&b->image, path);
    FILE *f = fopen(path, "rb");
    void *weights =
        f ? mmap(NULL, b->image.bytes, PROT_READ, MAP_PRIVATE, fileno(f), 0) : MAP_FAILED;
    if (f) fclose(f);
    if (weights == MAP_FAILED) diag_fatal(NO_LOC, "cannot map %s", path);
    return weights;
}

CompiledModel compiled_model_open(Build *b, const char *folder) {
    CompiledModel t = load_doors(b, folder);
    t.weights = map_weights(b, folder);
    return t;
}

void compiled_model_close(CompiledModel *t, const Build *b) {
    munmap((void *)(uintptr_t)t->weights, b->image.bytes);
}

// The best of the CPUs that this machine is.
void compiled_model_for_here(Build *b, const char *none) {
    Toolchain *t = &b->tools;
    while (t->n_cpus && !target_runs_here(t->cpus[t->n_cpus - 1])) t->n_cpus--;
    if (!t->n_cpus) usage_error("%s", none);
    t->cpus[0] = t->cpus[t->n_cpus - 1];
    t->n_cpus = 1;
    toolchain_find(t);
}

// ------------------------------------------------------------------------------------------ memory
unsigned char *compiled_model_memory(uint64_t bytes, int fill) {
    unsigned char *memory =
        aligned_alloc(BURIN_ALIGNMENT, (bytes + 4096) / BURIN_ALIGNMENT * BURIN_ALIGNMENT);
    if (!memory) diag_fatal(NO_LOC, "not enough memory: %" PRIu64 " bytes", bytes);
    return memset(memory, fill, bytes);
}

// As large as the largest run of a network needs, which may be more than there is: pages come as
// they are touched.
unsigned char *compiled_model_scratch(uint64_t bytes) {
    enum { FILLED = 1 << 30 };
    void *memory = mmap(NULL, bytes + 1, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) diag_fatal(NO_LOC, "not enough memory: %" PRIu64 " bytes", bytes);
    return bytes < FILLED ? memset(memory, 0xff, bytes) : memory;
}

void compiled_model_free_scratch(void *memory, uint64_t bytes) { munmap(memory, bytes + 1); }
