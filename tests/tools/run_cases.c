// Runs compiled cases: run_cases FOLDER [RUNS], linked with many cases and their table.
// FOLDER/NAME.values holds the tensors. A line a case: NAME<tab>pass, or the reason. Each case is a
// process of its own, which computes it RUNS times (1), with 2, 3 and 4 threads by turns, in memory
// that holds no earlier results: each time the same bits.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case_file.h"
#include "engine/network.h"
#include "kernels/plain.h"

extern const burin_model *const cases[];  // ends with NULL

// FINDING: status of a program that a sanitizer ended. FRESH: bytes that the system returns as
// zeros. LARGE: bytes of a session that are reserved alone.
enum { MAX_TENSORS = 512, SECONDS = 20, FINDING = 66, FRESH = 16 << 20, LARGE = 1 << 30 };

static double element(const char *type, const void *data, int64_t i) {
    if (!strcmp(type, "f32")) return ((const float *)data)[i];
    if (!strcmp(type, "f64")) return ((const double *)data)[i];
    if (!strcmp(type, "f16")) return sf_from_f16(((const uint16_t *)data)[i]);
    if (!strcmp(type, "bf16")) return sf_from_bf16(((const uint16_t *)data)[i]);
    if (!strcmp(type, "f8e4m3fn")) return sf_from_f8e4m3fn(((const uint8_t *)data)[i]);
    if (!strcmp(type, "f8e4m3fnuz")) return sf_from_f8e4m3fnuz(((const uint8_t *)data)[i]);
    if (!strcmp(type, "f8e5m2")) return sf_from_f8e5m2(((const uint8_t *)data)[i]);
    if (!strcmp(type, "f8e5m2fnuz")) return sf_from_f8e5m2fnuz(((const uint8_t *)data)[i]);
    if (!strcmp(type, "i64")) return (double)((const int64_t *)data)[i];
    if (!strcmp(type, "u64")) return (double)((const uint64_t *)data)[i];
    if (!strcmp(type, "i32")) return ((const int32_t *)data)[i];
    if (!strcmp(type, "u32")) return ((const uint32_t *)data)[i];
    if (!strcmp(type, "i16")) return ((const int16_t *)data)[i];
    if (!strcmp(type, "u16")) return ((const uint16_t *)data)[i];
    if (!strcmp(type, "i8")) return ((const int8_t *)data)[i];
    return ((const uint8_t *)data)[i];
}

_Noreturn static void fail(const char *why) {
    printf("%s", why);
    exit(1);
}

typedef struct Values {
    const CaseTensor *in[MAX_TENSORS], *out[MAX_TENSORS];
    int n_in, n_out;
    bool draws, exact;
} Values;

static const void *data_of(const CaseTensor *t) { return t + 1; }

static Values read_values(const char *folder, const char *name) {
    char path[4096];
    Values v = {0};
    snprintf(path, sizeof path, "%s/%s.values", folder, name);
    FILE *f = fopen(path, "rb");
    if (!f) fail("no values");
    fseek(f, 0, SEEK_END);
    size_t size = (size_t)ftell(f);
    rewind(f);
    char *bytes = aligned_alloc(64, (size + 127) / 64 * 64), *at = bytes + sizeof(CaseHeader);
    if (fread(bytes, 1, size, f) != size) fail("cannot read the values");
    fclose(f);
    v.draws = ((CaseHeader *)bytes)->draws, v.exact = ((CaseHeader *)bytes)->exact;
    v.n_in = ((CaseHeader *)bytes)->n_inputs, v.n_out = ((CaseHeader *)bytes)->n_outputs;
    if (v.n_in > MAX_TENSORS || v.n_out > MAX_TENSORS) fail("too many tensors");
    for (int i = 0; i < v.n_in + v.n_out; i++) {
        CaseTensor *t = (CaseTensor *)at;
        *(i < v.n_in ? &v.in[i] : &v.out[i - v.n_in]) = t;
        at += (sizeof *t + t->bytes + CASE_ALIGN - 1) / CASE_ALIGN * CASE_ALIGN;
    }
    return v;
}

static void compare(const burin_network *net, const Values *v, int i, const void *got,
                    const int64_t *symbols) {
    const burin_tensor *t = &net->outputs[i];
    const CaseTensor *expected = v->out[i];
    int64_t count = 1;
    if (strcmp(t->type, expected->type) || t->rank != expected->rank) fail("type or rank differs");
    for (int j = 0; j < t->rank; j++) {
        if (burin_network_dim(net, t->dim[j], symbols) != expected->dim[j]) fail("shape differs");
        count *= expected->dim[j];
    }
    if (v->draws) return;
    int bytes_each = count ? (int)(expected->bytes / (uint64_t)count) : 1;
    if (!bytes_each || !strcmp(t->type, "f8e8m0")) {
        if (memcmp(got, data_of(expected), expected->bytes)) fail("wrong bytes");
        return;
    }
    for (int64_t j = 0; j < count; j++) {
        double x = element(t->type, got, j), y = element(t->type, data_of(expected), j);
        bool bits = v->exact && strcmp(t->type, "f64") && !(isnan(x) && isnan(y));
        const char *a = (const char *)got + j * bytes_each,
                   *b = (const char *)data_of(expected) + j * bytes_each;
        if (bits ? !memcmp(a, b, (size_t)bytes_each) : is_close(x, y)) continue;
        printf("wrong value: %g, not %g, at %lld of output %d", x, y, (long long)j, i);
        exit(1);
    }
}

// Room for the most that the run may decide, 8 bytes an element.
static void *output_memory(const burin_network *net, const burin_tensor *t,
                           const int64_t *symbols) {
    size_t bytes = 8;
    for (int j = 0; j < t->rank; j++) bytes *= (size_t)burin_network_dim(net, t->dim[j], symbols);
    void *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!memory) fail("no memory for an output");
    return memory;
}

// Memory of a session. Exports whose sizes have large bounds need terabytes, of which a run touches
// a few pages.
static void *session_memory(size_t bytes) {
    if (bytes < LARGE) return aligned_alloc(64, (bytes + 63) / 64 * 64);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) fail("the system reserves no memory of this size");
    return memory;
}

static void free_session_memory(void *memory, size_t bytes) {
    if (bytes < LARGE)
        free(memory);
    else
        munmap(memory, bytes);
}

// Outputs of one computation of a case, in memory of their own.
typedef struct Results {
    void *data[MAX_TENSORS];
    int64_t symbols[MAX_TENSORS];
} Results;

static Results compute(const burin_model *m, const Values *v, int threads) {
    const burin_network *net = m->net;
    int64_t dims[8 * MAX_TENSORS], *dim = dims;
    const void *inputs[MAX_TENSORS];
    Results r;
    for (int i = 0; i < v->n_in; i++) {
        inputs[i] = data_of(v->in[i]);
        for (int j = 0; j < v->in[i]->rank; j++) *dim++ = v->in[i]->dim[j];
    }
    burin_status status = burin_network_bind(net, dims, r.symbols);
    for (int i = 0; i < v->n_out; i++) r.data[i] = output_memory(net, &net->outputs[i], r.symbols);
    burin_options o = {.threads = threads};
    size_t bytes = burin_session_bytes(m, &o);
    void *memory = session_memory(bytes);
    if (bytes < FRESH) memset(memory, 0xff, bytes);
    burin_session *s;
    if (!status) status = burin_session_open(&s, m, &o, memory, bytes);
    if (!status) status = burin_network_run(s, inputs, r.symbols, r.data);
    if (status) fail(burin_status_text(status));
    burin_session_close(s);
    free_session_memory(memory, bytes);
    return r;
}

static size_t result_bytes(const burin_network *net, const Values *v, const Results *r, int i) {
    size_t n = 1;
    for (int j = 0; j < net->outputs[i].rank; j++)
        n *= (size_t)burin_network_dim(net, net->outputs[i].dim[j], r->symbols);
    return n ? v->out[i]->bytes : 0;
}

static void run_case(const burin_model *m, const char *folder, int runs) {
    const burin_network *net = m->net;
    Values v = read_values(folder, m->name);
    if (!net) fail("no network");
    if (v.n_in != net->n_inputs || v.n_out != net->n_outputs) fail("number of tensors differs");
    Results first = compute(m, &v, 2);
    for (int i = 0; i < v.n_out; i++) compare(net, &v, i, first.data[i], first.symbols);
    for (int run = 1; run < runs; run++) {
        Results again = compute(m, &v, 2 + run % 3);
        for (int i = 0; i < v.n_out; i++) {
            if (memcmp(again.data[i], first.data[i], result_bytes(net, &v, &first, i)))
                fail("other bits in another run");
            free(again.data[i]);
        }
    }
    printf("pass");
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv) {
    if (argc < 2) return 2;
    for (int i = 0; cases[i]; i++) {
        int status = 0;
        printf("%s\t", cases[i]->name);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) alarm(SECONDS), run_case(cases[i], argv[1], argc > 2 ? atoi(argv[2]) : 1);
        waitpid(child, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == FINDING) printf("a sanitizer's finding");
        if (WIFSIGNALED(status)) printf("ends by signal %d", WTERMSIG(status));
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
