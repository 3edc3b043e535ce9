// What programs write: whole characters, .npy files, the hash of logits.
#include "program/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/hash.h"
#include "program/npy.h"
#include "unit.h"

// Feeds the bytes one at a time, and all at once; both must give `expected`.
static void check_characters(const char *bytes, const char *expected) {
    for (int at_once = 0; at_once < 2; at_once++) {
        burin_utf8 u = {0};
        char out[256];
        size_t n = strlen(bytes), at = 0;
        for (size_t i = 0; i < n; i += at_once ? n : 1)
            at += burin_utf8_add(&u, bytes + i, at_once ? n : 1, out + at);
        at += burin_utf8_end(&u, out + at);
        out[at] = 0;
        CHECK_TEXT(out, expected);
    }
}

static void passes_whole_characters(void) {
    check_characters("plain", "plain");
    check_characters("é€😀", "é€😀");
    check_characters("\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
                     "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf");
}

static void replaces_what_is_none(void) {
    check_characters(
        "a\xff"
        "b",
        "a\ufffdb");
    check_characters("\x80\x80", "\ufffd\ufffd");
    check_characters("\xe2\x82", "\ufffd");        // cut off at the end: one
    check_characters("\xe2\x82!", "\ufffd!");      // cut off by another
    check_characters("\xc0\xaf", "\ufffd\ufffd");  // overlong
    check_characters("\xe0\x80\xaf", "\ufffd\ufffd\ufffd");
    check_characters("\xed\xa0\x80", "\ufffd\ufffd\ufffd");  // a surrogate
    check_characters("\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd");
    check_characters("\xf0\x9f\x98\xf0\x9f\x98\x80", "\ufffd😀");
}

static void waits_for_the_rest_of_a_character(void) {
    burin_utf8 u = {0};
    char out[16];
    CHECK(burin_utf8_add(&u, "\xf0\x9f", 2, out) == 0);
    CHECK(burin_utf8_add(&u, "\x98", 1, out) == 0);
    CHECK(burin_utf8_add(&u, "\x80x", 2, out) == 5 && !memcmp(out, "😀x", 5));
}

static void npy_has_its_rows_at_the_end(void) {
    char path[] = "/tmp/burin-npy-XXXXXX", text[400];
    close(mkstemp(path));
    const float values[6] = {1, 2, 3, 4, 5, 6};
    burin_npy npy;
    CHECK(!burin_npy_open(&npy, path, 3));
    CHECK(burin_npy_add(&npy, values, 1) && burin_npy_add(&npy, values + 3, 1) &&
          burin_npy_close(&npy));
    FILE *file = fopen(path, "rb");
    size_t n = fread(text, 1, sizeof text, file);
    fclose(file);
    unlink(path);
    CHECK(n == 128 + sizeof values);
    CHECK(!memcmp(
        text,
        "\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        10 + 59));
    CHECK(text[127] == '\n' && !memcmp(text + 128, values, sizeof values));
}

static void npy_says_when_it_cannot(void) {
    burin_npy npy;
    CHECK(burin_npy_open(&npy, "/nonexistent/x.npy", 3) != NULL);
    CHECK(burin_npy_open(&npy, "/dev/full", 3) != NULL);
}

static void hash_is_of_the_sequence(void) {
    const float values[4] = {1, 2, 3, 4}, other[4] = {1, 3, 2, 4};
    uint64_t whole = burin_hash_floats(burin_hash_start, values, 4);
    CHECK(whole ==
          burin_hash_floats(burin_hash_floats(burin_hash_start, values, 1), values + 1, 3));
    CHECK(whole != burin_hash_floats(burin_hash_start, other, 4));
    CHECK(burin_hash_floats(burin_hash_start, &(float){0.0f}, 1) !=
          burin_hash_floats(burin_hash_start, &(float){-0.0f}, 1));
}

SUITE(output) {
    TEST(passes_whole_characters);
    TEST(replaces_what_is_none);
    TEST(waits_for_the_rest_of_a_character);
    TEST(npy_has_its_rows_at_the_end);
    TEST(npy_says_when_it_cannot);
    TEST(hash_is_of_the_sequence);
}
