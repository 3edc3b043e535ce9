// .npz files: what is written is read again; damaged and compressed ones are refused.
#include "program/npz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

static const char path[] = "build/unit-test.npz";
static float ones[] = {1, 2, 3, 4, 5, 6};
static int64_t two = -2;

static const char *write_two(void) {
    const burin_array a = {.element = burin_element_named("f32"),
                           .rank = 2,
                           .dim = {2, 3},
                           .count = 6,
                           .data = ones},
                      b = {.element = burin_element_named("i64"), .count = 1, .data = &two};
    const burin_named_array arrays[] = {{"a/b", &a}, {"scalar", &b}};
    return burin_npz_write(arrays, 2, path);
}

typedef struct found {
    int n;
    bool right;
} found;

static void check_member(void *context, const char *name, int64_t offset) {
    found *f = context;
    burin_array a;
    int file;
    f->right &= !strcmp(name, f->n ? "scalar" : "a/b") &&
                !burin_npy_open_array(&a, path, offset, &file) && !burin_npy_read_array(&a, file);
    f->right &= f->n ? a.rank == 0 && *(int64_t *)a.data == two
                     : a.rank == 2 && a.dim[1] == 3 && !memcmp(a.data, ones, sizeof ones);
    free(a.data);
    f->n++;
}

static void arrays_come_back(void) {
    found f = {.right = true};
    CHECK(!write_two());
    CHECK(!burin_npz_list(path, check_member, &f) && f.n == 2 && f.right);
    unlink(path);
}

static void count_member(void *context, const char *name, int64_t offset) {
    (void)name, (void)offset;
    ++*(int *)context;
}

// Every byte of the file changed, and every length: refused or listed, never read out of bounds.
static void damaged_files_end(void) {
    static unsigned char all[4096], changed[4096];
    CHECK(!write_two());
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(all, 1, sizeof all, f) : 0;
    int members = 0, listed = 0;
    if (f) fclose(f);
    CHECK(n > 400 && n < sizeof all);
    for (size_t i = 0; i < 2 * n; i++) {
        memcpy(changed, all, n);
        if (i < n) changed[i] ^= 0xff;
        f = fopen(path, "wb");
        fwrite(changed, 1, i < n ? n : i - n, f);
        fclose(f);
        members = 0;
        listed += !burin_npz_list(path, count_member, &members);
        CHECK(members <= 2);
    }
    CHECK(listed > 0 && listed < (int)n);
    unlink(path);
}

// Column-major values, as numpy.save writes a transposed array
static void fortran_order_is_read(void) {
    static const char header[] =
        "\x93NUMPY\x01\0\x46\0{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }          "
        "  \n";
    static const float columns[] = {1, 4, 2, 5, 3, 6};
    burin_array a;
    FILE *f = fopen(path, "wb");
    fwrite(header, 1, 10 + 70, f);
    fwrite(columns, 1, sizeof columns, f);
    fclose(f);
    CHECK(!burin_npy_read(&a, path) && a.count == 6 && !memcmp(a.data, ones, sizeof ones));
    free(a.data);
    unlink(path);
}

SUITE(npz) {
    TEST(arrays_come_back);
    TEST(damaged_files_end);
    TEST(fortran_order_is_read);
}
