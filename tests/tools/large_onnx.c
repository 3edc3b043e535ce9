// Writes two ONNX models of 3 GB into the current folder, y = x W with W all zeros: inside.onnx
// holds W itself (protobuf's own readers stop at 2 GB), beside.onnx has it in beside.bin. The zeros
// are holes: the files take no room on disk.
#include <fcntl.h>
#include <unistd.h>

#include "tests/tools/onnx_text.h"

enum { ROWS = 4096, COLUMNS = 196608 };

static const uint64_t BYTES = (uint64_t)ROWS * COLUMNS * 4;

// The end of a file whose last field holds BYTES zeros: the length of each message around it counts
// them.
static void write_hole(const char *path, Text *head, uint64_t bytes) {
    write_file(path, head->data, head->length);
    if (truncate(path, (off_t)(head->length + bytes))) {
        perror(path);
        exit(1);
    }
    text_free(head);
}

static void open_message(Text *t, int field, uint64_t bytes) {
    wire_tag(t, field, 2);
    wire_varint(t, bytes);
}

static Text weight_head(void) {
    Text t = {0};
    wire_int(&t, 1, ROWS);
    wire_int(&t, 1, COLUMNS);
    wire_int(&t, 2, 1);
    wire_text(&t, 8, "W");
    open_message(&t, 9, BYTES);
    return t;
}

static Text graph_head(void) {
    Text g = {0};
    OnnxText lines = {.at =
                          "node MatMul x W -> y\ninput x f32 [T,4096]\noutput y f32 [T,196608]\n"};
    while (onnx_next_line(&lines)) onnx_graph_line(&lines, &g);
    return g;
}

int main(void) {
    Text weight = weight_head(), graph = graph_head(), model = {0}, opset = {0};
    open_message(&graph, 5, weight.length + BYTES);
    text_append(&graph, weight.data, weight.length);
    wire_int(&opset, 2, 20);
    wire_int(&model, 1, 10);
    wire_message(&model, 8, &opset);
    open_message(&model, 7, graph.length + BYTES);
    text_append(&model, graph.data, graph.length);
    write_hole("inside.onnx", &model, BYTES);
    text_free(&weight);
    text_free(&graph);

    Text
        beside = onnx_of_text(
            "ir 10\nopset 20\nnode MatMul x W -> y\ninput x f32 [T,4096]\noutput y f32 [T,196608]\n"
            "tensor W f32 [4096,196608] external location=beside.bin offset=4096 "
            "length=3221225472\n"),
        start = {0};
    write_file("beside.onnx", beside.data, beside.length);
    text_append(&start, "", 1);
    write_hole("beside.bin", &start, 4095 + BYTES);
    text_free(&beside);
    return 0;
}
