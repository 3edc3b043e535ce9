// Writes the ONNX model that a text describes (onnx_text.h). usage: onnx_of_text FILE < TEXT
#include "tests/tools/onnx_text.h"

int main(int argc, char **argv) {
    Text text = {0};
    char line[4096];
    if (argc != 2) return 2;
    while (fgets(line, sizeof line, stdin)) text_append(&text, line, strlen(line));
    Text model = onnx_of_text(text.data);
    write_file(argv[1], model.data, model.length);
    text_free(&text);
    text_free(&model);
    return 0;
}
