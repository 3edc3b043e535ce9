// The ONNX reader: a small model, written here with every kind of damage, and exports when they are
// at hand.
#include "frontend/onnx.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "onnx.pb-c.h"
#include "unit.h"

#define EXPORTS "../shared/data/onnx/exports/"

// y = Relu(x W + b): x [T, 2], W [2, 3] raw, b [3] typed.
typedef struct Small {
    BurinOnnx__ModelFile model;
    BurinOnnx__GraphBody graph;
    BurinOnnx__OperatorSet opset;
    BurinOnnx__Operation node[3];
    BurinOnnx__TensorData weight, bias;
    BurinOnnx__ValueInfo input, output;
    BurinOnnx__ValueType type;
    BurinOnnx__ValueType__TensorOf tensor;
    BurinOnnx__Shape shape;
    BurinOnnx__Shape__Dimension dim[2];
    BurinOnnx__OperatorSet *opsets[1];
    BurinOnnx__Operation *nodes[3];
    BurinOnnx__TensorData *tensors[2];
    BurinOnnx__ValueInfo *inputs[1], *outputs[1];
    BurinOnnx__Shape__Dimension *dims[2];
    char *in[3][2], *out[3][1];
    int64_t weight_dims[2], bias_dims[1];
    float weight_data[6], bias_data[3];
} Small;

static void set_node(Small *s, int i, const char *op, const char *a, const char *b, const char *y) {
    s->in[i][0] = (char *)a;
    s->in[i][1] = (char *)b;
    s->out[i][0] = (char *)y;
    s->node[i] = (BurinOnnx__Operation)BURIN_ONNX__OPERATION__INIT;
    s->node[i].op_type = (char *)op;
    s->node[i].n_input = b ? 2 : 1;
    s->node[i].input = s->in[i];
    s->node[i].n_output = 1;
    s->node[i].output = s->out[i];
    s->nodes[i] = &s->node[i];
}

static void set_tensors(Small *s) {
    s->weight = s->bias = (BurinOnnx__TensorData)BURIN_ONNX__TENSOR_DATA__INIT;
    for (int i = 0; i < 6; i++) s->weight_data[i] = (float)i - 2;
    for (int i = 0; i < 3; i++) s->bias_data[i] = 0.5f;
    s->weight_dims[0] = 2;
    s->weight_dims[1] = s->bias_dims[0] = 3;
    s->weight.name = "W";
    s->bias.name = "b";
    s->weight.has_data_type = s->bias.has_data_type = true;
    s->weight.data_type = s->bias.data_type = 1;
    s->weight.n_dims = 2;
    s->weight.dims = s->weight_dims;
    s->bias.n_dims = 1;
    s->bias.dims = s->bias_dims;
    s->weight.has_raw_data = true;
    s->weight.raw_data = (ProtobufCBinaryData){sizeof s->weight_data, (uint8_t *)s->weight_data};
    s->bias.n_float_data = 3;
    s->bias.float_data = s->bias_data;
    s->tensors[0] = &s->weight;
    s->tensors[1] = &s->bias;
}

static void set_values(Small *s) {
    s->dim[0] = s->dim[1] = (BurinOnnx__Shape__Dimension)BURIN_ONNX__SHAPE__DIMENSION__INIT;
    s->dim[0].dim_param = "T";
    s->dim[1].has_dim_value = true;
    s->dim[1].dim_value = 2;
    s->dims[0] = &s->dim[0];
    s->dims[1] = &s->dim[1];
    s->shape = (BurinOnnx__Shape)BURIN_ONNX__SHAPE__INIT;
    s->shape.n_dim = 2;
    s->shape.dim = s->dims;
    s->tensor = (BurinOnnx__ValueType__TensorOf)BURIN_ONNX__VALUE_TYPE__TENSOR_OF__INIT;
    s->tensor.has_elem_type = true;
    s->tensor.elem_type = 1;
    s->tensor.shape = &s->shape;
    s->type = (BurinOnnx__ValueType)BURIN_ONNX__VALUE_TYPE__INIT;
    s->type.tensor_type = &s->tensor;
    s->input = s->output = (BurinOnnx__ValueInfo)BURIN_ONNX__VALUE_INFO__INIT;
    s->input.name = "x";
    s->input.type = &s->type;
    s->output.name = "y";
    s->inputs[0] = &s->input;
    s->outputs[0] = &s->output;
}

static Small *small(void) {
    static Small s;
    memset(&s, 0, sizeof s);
    set_node(&s, 0, "MatMul", "x", "W", "p");
    set_node(&s, 1, "Add", "p", "b", "q");
    set_node(&s, 2, "Relu", "q", NULL, "y");
    set_tensors(&s);
    set_values(&s);
    s.graph = (BurinOnnx__GraphBody)BURIN_ONNX__GRAPH_BODY__INIT;
    s.graph.n_node = 3;
    s.graph.node = s.nodes;
    s.graph.n_initializer = 2;
    s.graph.initializer = s.tensors;
    s.graph.n_input = s.graph.n_output = 1;
    s.graph.input = s.inputs;
    s.graph.output = s.outputs;
    s.opset = (BurinOnnx__OperatorSet)BURIN_ONNX__OPERATOR_SET__INIT;
    s.opset.has_version = true;
    s.opset.version = 20;
    s.opsets[0] = &s.opset;
    s.model = (BurinOnnx__ModelFile)BURIN_ONNX__MODEL_FILE__INIT;
    s.model.has_ir_version = true;
    s.model.ir_version = 10;
    s.model.graph = &s.graph;
    s.model.n_opset_import = 1;
    s.model.opset_import = s.opsets;
    return &s;
}

static size_t packed(const Small *s, unsigned char *bytes) {
    return burin_onnx__model_file__pack(&s->model, bytes);
}

// The graph's text, or the first line of the error; in a static buffer.
static const char *load_file(const char *path, const OnnxOptions *options) {
    static char result[8192];
    Arena *volatile arena = arena_new();
    FILE *said = tmpfile();
    int saved = dup(STDERR_FILENO);
    fflush(stderr);
    dup2(fileno(said), STDERR_FILENO);
    memset(result, 0, sizeof result);
    if (!setjmp(*diag_guard())) {
        Text t = {0};
        graph_print(&t, onnx_load(arena, path, options)->graphs[0]);
        snprintf(result, sizeof result, "%s", t.data);
        text_free(&t);
    } else {
        fflush(stderr);
        rewind(said);
        const char *line = fgets(result, sizeof result, said);
        const char *error = line ? strstr(line, "error: ") : NULL;
        memmove(result, error ? error : "", error ? strlen(error) + 1 : 1);
        result[strcspn(result, "\n")] = 0;
    }
    diag_unguard();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    fclose(said);
    arena_free(arena);
    return result;
}

static const char *load_bytes(const void *bytes, size_t n) {
    char path[] = "/tmp/burin-onnx-XXXXXX";
    int fd = mkstemp(path);
    close(fd);
    write_file(path, bytes, n);
    const char *result = load_file(path, &(OnnxOptions){0});
    unlink(path);
    return result;
}

static const char *load(const Small *s) {
    unsigned char bytes[4096];
    return load_bytes(bytes, packed(s, bytes));
}

static void small_models_become_graphs(void) {
    const char *text = load(small());
    CHECK(strstr(text, "graph main(%x: f32[T, 2]") != NULL);
    CHECK(strstr(text, "%p = matmul(%x, %W)") != NULL);
    CHECK(strstr(text, "%y = relu(%q)") != NULL);
}

static void order_of_nodes_is_free(void) {
    Small *s = small();
    BurinOnnx__Operation *last = s->nodes[2];
    s->nodes[2] = s->nodes[0];
    s->nodes[0] = last;
    CHECK(strstr(load(s), "relu(%q)") != NULL);
}

static void raw_data_stays_in_the_file(void) {
    Small *s = small();
    s->weight.raw_data.len = 20;
    CHECK_TEXT(load(s), "error: tensor W: 20 bytes of data, its shape needs 24");
}

// How many there are is known when all are: no size that only the run tells.
static void elements_that_are_all_true_are_counted(void) {
    Small *s = small();
    set_node(s, 0, "Shape", "x", NULL, "p");
    set_node(s, 1, "Equal", "p", "p", "q");
    set_node(s, 2, "NonZero", "q", NULL, "y");
    s->output.type = NULL;
    const char *text = load(s);
    CHECK(strstr(text, "%y = ") != NULL);
    CHECK(strstr(text, "nonzero") == NULL);
}

static void graphs_are_checked(void) {
    Small *s = small();
    set_node(s, 1, "Add", "p", "q", "q");
    CHECK_TEXT(load(s), "error: the graph has a cycle through q");
    set_node(s, 1, "Add", "p", "nowhere", "q");
    CHECK_TEXT(load(s), "error: nothing computes nowhere, operand 1 of Add");
    set_node(s, 1, "Add", "p", "b", "p");
    CHECK_TEXT(load(s), "error: the value p is computed twice");
    set_node(s, 1, "Frobnicate", "p", "b", "q");
    CHECK_TEXT(load(s),
               "error: unknown operator Frobnicate of domain ai.onnx, opset 20, in 1 node");
    set_node(s, 1, "Add", "p", NULL, "q");
    CHECK_TEXT(load(s), "error: Add: has 1 operands, expected 2");
    s = small();
    s->output.name = "z";
    CHECK_TEXT(load(s), "error: nothing computes the output z");
    s = small();
    s->bias.name = "W";
    CHECK_TEXT(load(s), "error: two initializers are named W");
}

static void tensors_are_checked(void) {
    Small *s = small();
    s->weight_dims[0] = -2;
    CHECK_TEXT(load(s), "error: tensor W: dimension 0 is -2");
    s->weight_dims[0] = INT64_MAX;
    s->weight_dims[1] = INT64_MAX;
    CHECK_TEXT(load(s), "error: tensor W: dimension 1 is 9223372036854775807");
    s = small();
    s->bias.n_float_data = 2;
    CHECK_TEXT(load(s), "error: tensor b: 2 values, its shape needs 3");
    s = small();
    s->weight.data_type = 99;
    CHECK_TEXT(load(s), "error: tensor W: element type 99 is not supported");
    s = small();
    s->model.ir_version = 99;
    CHECK_TEXT(load(s), "error: ir_version 99 is not supported (3 to 14 are)");
}

static const char *load_external(char *location, char *offset) {
    Small *s = small();
    BurinOnnx__StringPair pair[2] = {BURIN_ONNX__STRING_PAIR__INIT, BURIN_ONNX__STRING_PAIR__INIT},
                          *pairs[2] = {&pair[0], &pair[1]};
    pair[0].key = "location";
    pair[0].value = location;
    pair[1].key = "offset";
    pair[1].value = offset;
    s->weight.has_raw_data = false;
    s->weight.has_data_location = true;
    s->weight.data_location = 1;
    s->weight.n_external_data = 2;
    s->weight.external_data = pairs;
    return load(s);
}

static void external_data_stays_in_the_folder(void) {
    CHECK_TEXT(load_external("../secrets", "0"),
               "error: tensor W: external data \"../secrets\" is outside the model's folder");
    CHECK_TEXT(load_external("/etc/passwd", "0"),
               "error: tensor W: external data \"/etc/passwd\" is outside the model's folder");
    CHECK_TEXT(load_external("a/../../b", "0"),
               "error: tensor W: external data \"a/../../b\" is outside the model's folder");
    CHECK_TEXT(load_external("weights.bin", "-4"),
               "error: tensor W: its external data weights.bin cannot be read");
}

static void truncated_files_are_refused(void) {
    unsigned char bytes[4096];
    size_t n = packed(small(), bytes);
    for (size_t i = 1; i < n; i++) CHECK(!strncmp(load_bytes(bytes, i), "error: ", 7));
}

// Whatever a byte becomes, the reader answers with a graph or with a message.
static void damaged_files_are_survived(void) {
    unsigned char bytes[4096], was;
    size_t n = packed(small(), bytes);
    static const unsigned char VALUES[] = {0, 1, 127, 128, 255};
    for (size_t i = 0; i < n; i++)
        for (size_t v = 0; v < sizeof VALUES; v++) {
            was = bytes[i];
            bytes[i] = VALUES[v];
            const char *text = load_bytes(bytes, n);
            CHECK(!strncmp(text, "error: ", 7) || !strncmp(text, "graph ", 6));
            bytes[i] = was;
        }
}

static void deep_nesting_is_refused(void) {
    // attribute (5) of node (1) of graph (6): each level is three messages
    unsigned char bytes[100000];
    size_t at = sizeof bytes, length = 0;
    for (int level = 0; level < 10000; level++) {
        static const unsigned char TAGS[] = {0x32, 0x2a, 0x0a};
        unsigned char head[6];
        size_t n = 0;
        head[n++] = level == 9999 ? 0x3a : TAGS[level % 3];
        for (size_t rest = length; n == 1 || rest; rest >>= 7)
            head[n++] = (unsigned char)(rest > 127 ? rest | 128 : rest);
        if (n > at) break;
        at -= n;
        length += n;
        memcpy(bytes + at, head, n);
    }
    const char *text = load_bytes(bytes + at, sizeof bytes - at);
    CHECK(strstr(text, "nested more than 200 deep") != NULL);
}

static const OnnxDim ONE_SEQUENCE[] = {
    {"batch_size", 1, 1, NULL}, {"batch", 1, 1, NULL}, {"sequence_length", 1, 128, NULL}};

static void exports_lose_their_shape_chains(void) {
    static const char *const names[] = {"bert-optimum-enc", "gpt2-optimum-nocache",
                                        "gpt2-optimum-past", "llama-optimum-nocache"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[256];
        snprintf(path, sizeof path, EXPORTS "%s/model.onnx", names[i]);
        if (access(path, R_OK)) {
            printf("# SKIP %s is not here\n", path);
            continue;
        }
        const char *text = load_file(path, &(OnnxOptions){.dims = ONE_SEQUENCE, .n_dims = 3});
        CHECK(!strncmp(text, "graph main(%input_ids: i64[1, sequence_length]", 46));
    }
}

SUITE(onnx) {
    TEST(small_models_become_graphs);
    TEST(order_of_nodes_is_free);
    TEST(raw_data_stays_in_the_file);
    TEST(elements_that_are_all_true_are_counted);
    TEST(graphs_are_checked);
    TEST(tensors_are_checked);
    TEST(external_data_stays_in_the_folder);
    TEST(truncated_files_are_refused);
    TEST(damaged_files_are_survived);
    TEST(deep_nesting_is_refused);
    TEST(exports_lose_their_shape_chains);
}
