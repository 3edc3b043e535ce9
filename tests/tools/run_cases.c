// Runs compiled cases: run_cases FOLDER, linked with many cases and their table. FOLDER/NAME.values holds the tensors. A line a
// case: NAME<tab>pass, or the reason. Each case is a process of its own.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "case_file.h"
#include "engine/network.h"
#include "kernels/plain.h"

extern const burin_model *const cases[];  // ends with NULL

enum { MAX_TENSORS = 512, SECONDS = 20 };

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

static void compare(const burin_network *net, const Values *v, int i, const void *got, const int64_t *symbols) {
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
        const char *a = (const char *)got + j * bytes_each, *b = (const char *)data_of(expected) + j * bytes_each;
        if (bits ? !memcmp(a, b, (size_t)bytes_each) : is_close(x, y)) continue;
        printf("wrong value: %g, not %g, at %lld of output %d", x, y, (long long)j, i);
        exit(1);
    }
}

// Room for the most that the run may decide, 8 bytes an element.
static void *output_memory(const burin_network *net, const burin_tensor *t, const int64_t *symbols) {
    size_t bytes = 8;
    for (int j = 0; j < t->rank; j++) bytes *= (size_t)burin_network_dim(net, t->dim[j], symbols);
    return aligned_alloc(64, (bytes + 127) / 64 * 64);
}

static void run_case(const burin_model *m, const char *folder) {
    const burin_network *net = m->net;
    Values v = read_values(folder, m->name);
    if (!net) fail("no network");
    if (v.n_in != net->n_inputs || v.n_out != net->n_outputs) fail("number of tensors differs");
    int64_t dims[8 * MAX_TENSORS], *dim = dims, symbols[MAX_TENSORS];
    const void *inputs[MAX_TENSORS];
    void *outputs[MAX_TENSORS];
    for (int i = 0; i < v.n_in; i++) {
        inputs[i] = data_of(v.in[i]);
        for (int j = 0; j < v.in[i]->rank; j++) *dim++ = v.in[i]->dim[j];
    }
    burin_status status = burin_network_bind(net, dims, symbols);
    for (int i = 0; i < v.n_out; i++) outputs[i] = output_memory(net, &net->outputs[i], symbols);
    burin_options o = {.threads = 2};
    size_t bytes = burin_session_bytes(m, &o);
    void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(memory, 0xff, bytes);
    burin_session *s;
    if (!status) status = burin_session_open(&s, m, &o, memory, bytes);
    if (!status) status = burin_network_run(s, inputs, symbols, outputs);
    if (status) fail(burin_status_text(status));
    for (int i = 0; i < v.n_out; i++) compare(net, &v, i, outputs[i], symbols);
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
        if (child == 0) alarm(SECONDS), run_case(cases[i], argv[1]);
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status)) printf("ends by signal %d", WTERMSIG(status));
        printf("\n");
        fflush(stdout);
    }
    return 0;
}
