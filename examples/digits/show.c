// Handwritten digits, read by a compiled Vision Transformer and drawn in the terminal.
// usage: show [NUMBER ...]    without numbers: all 64, and every one that it gets wrong
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "digits.h"

enum { DIGITS = 64, SIDE = 8, CLASSES = 10, NPY_HEADER = 128 };

static float images[DIGITS][SIDE][SIDE], logits[DIGITS][CLASSES];
static int64_t labels[DIGITS];

static void stop(const char *what, const char *why) {
    fprintf(stderr, "show: %s: %s\n", what, why);
    exit(1);
}

// The values of a .npy file are behind 128 bytes that describe them.
static void read_npy(const char *path, void *values, size_t bytes) {
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, NPY_HEADER, SEEK_SET) || fread(values, 1, bytes, f) != bytes)
        stop(path, "cannot be read");
    fclose(f);
}

static void classify(void) {
    const void *inputs[] = {images};
    void *outputs[] = {logits};
    int64_t dims[] = {DIGITS, 1, SIDE, SIDE};
    digits_options options = {.dims = dims};
    digits_state state;
    size_t bytes = digits_state_bytes(&options);
    void *memory = aligned_alloc(digits_ALIGNMENT, bytes);
    int status = digits_init(&state, &options, memory, bytes);
    if (!status) status = digits_run(&state, inputs, dims, outputs);
    if (status) stop("digits", digits_error_text(status));
    digits_close(&state);
    free(memory);
}

static int answer(int digit) {
    int best = 0;
    for (int i = 1; i < CLASSES; i++)
        if (logits[digit][i] > logits[digit][best]) best = i;
    return best;
}

// Two characters a pixel: characters are about twice as high as they are wide.
static void draw(int digit) {
    static const char *const shades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
    for (int y = 0; y < SIDE; y++) {
        printf("    ");
        for (int x = 0; x < SIDE; x++) {
            float ink = images[digit][y][x];
            printf("%s", shades[ink <= 0 ? 0 : ink >= 1 ? 4 : (int)(ink * 4 + 0.5f)]);
        }
        if (y == SIDE / 2 - 1) printf("    number %d: this is a %d", digit, answer(digit));
        if (y == SIDE / 2 && answer(digit) != labels[digit])
            printf("    (it was meant to be a %d)", (int)labels[digit]);
        printf("\n");
    }
}

static int show_all(void) {
    int right = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (answer(i) == labels[i])
            right++;
        else
            draw(i);
    }
    printf("%d of %d right\n", right, DIGITS);
    return 0;
}

int main(int argc, char **argv) {
    read_npy("images.npy", images, sizeof images);
    read_npy("labels.npy", labels, sizeof labels);
    classify();
    if (argc < 2) return show_all();
    for (int i = 1; i < argc; i++) {
        int digit = atoi(argv[i]);
        if (digit < 0 || digit >= DIGITS) stop(argv[i], "the digits have the numbers 0 to 63");
        draw(digit);
    }
    return 0;
}
