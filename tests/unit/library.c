// The C interface under a model's name.
#include "output/library.h"

#include <stdlib.h>

#include "unit.h"

static void header_carries_name_and_facts(void) {
    LibraryFacts facts = {.identity = "0123456789abcdef",
                          .vocab_size = 300,
                          .context = 64,
                          .max_rows = 16,
                          .weight_bytes = 5000000000u};
    Text header = {0};
    library_header(".", "story", &facts, &header);
    CHECK(
        strstr(header.data,
               "int story_forward(story_state *, const story_row *rows, int n, float *logits);") !=
        NULL);
    CHECK(strstr(header.data, "#define story_VOCAB_SIZE 300\n") != NULL);
    CHECK(strstr(header.data, "#define story_WEIGHT_BYTES 5000000000\n") != NULL);
    CHECK(strstr(header.data, "#define story_IDENTITY \"0123456789abcdef\"") != NULL);
    CHECK(strstr(header.data, "#ifndef story_LIBRARY_H") != NULL);
    CHECK(strstr(header.data, "NAME") == NULL);
    text_free(&header);
}

static void source_includes_its_header(void) {
    LibraryFacts facts = {0};
    Text source = {0};
    library_source(".", "story", &facts, &source);
    CHECK(strstr(source.data, "#include \"story.h\"") != NULL);
    CHECK(strstr(source.data, "extern const burin_model story_model;") != NULL);
    CHECK(strstr(source.data, "NAME") == NULL);
    text_free(&source);
}

static void networks_have_their_own(void) {
    LibraryFacts facts = {.identity = "0123456789abcdef", .network = true};
    Text header = {0}, source = {0};
    library_header(".", "vit", &facts, &header);
    library_source(".", "vit", &facts, &source);
    CHECK(strstr(header.data,
                 "int vit_run(vit_state *, const void *const inputs[], const int64_t dims[]") !=
          NULL);
    CHECK(strstr(header.data, "VOCAB_SIZE") == NULL);
    CHECK(strstr(source.data, "#include \"vit.h\"") != NULL);
    CHECK(strstr(header.data, "NAME") == NULL && strstr(source.data, "NAME") == NULL);
    text_free(&header);
    text_free(&source);
}

SUITE(library) {
    TEST(networks_have_their_own);
    TEST(header_carries_name_and_facts);
    TEST(source_includes_its_header);
}
