// The C interface of a decoder as the driver writes it: library_text NAME FOLDER makes NAME.h and
// NAME.c there, for the fake model of tests/e2e/fake_model.h.
#include <stdio.h>

#include "output/library.h"

static void write_text(const char *folder, const char *name, const char *end, const Text *text) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, end);
    write_file(path, text->data, text->length);
}

int main(int argc, char **argv) {
    const LibraryFacts facts = {
        .identity = "0123456789abcdef", .vocab_size = 300, .context = 64, .max_rows = 16};
    Text header = {0}, source = {0};
    if (argc != 3) return 2;
    library_header(".", argv[1], &facts, &header);
    library_source(".", argv[1], &facts, &source);
    write_text(argv[2], argv[1], "h", &header);
    write_text(argv[2], argv[1], "c", &source);
    text_free(&header);
    text_free(&source);
    return 0;
}
