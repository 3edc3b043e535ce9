// Pictures: PIL's bytes of resizing, transformers' values, formats good and bad.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/preprocess.h"
#include "image/resize.h"
#include "unit.h"

typedef struct resized_picture {
    int32_t width, height, resample;
    uint8_t bytes[300];
} resized_picture;

typedef struct preprocessed_picture {
    burin_picture picture;
    int32_t height, width;
    float values[60];
} preprocessed_picture;

#include "picture_bytes.h"

// The picture of picture_bytes.py
static burin_image make_picture(void) {
    burin_image image;
    burin_image_open(&image, 23, 17);
    uint8_t *to = image.pixels;
    for (int y = 0; y < 17; y++) {
        for (int x = 0; x < 23; x++) {
            *to++ = (uint8_t)(x * 37 + y * 11);
            *to++ = (uint8_t)(x * x * 3 + y * 29);
            *to++ = (x + y) % 2 ? 255 : 0;
        }
    }
    return image;
}

static void resizing_gives_pils_bytes(void) {
    for (size_t i = 0; i < sizeof resized_pictures / sizeof *resized_pictures; i++) {
        const resized_picture *r = &resized_pictures[i];
        burin_image image = make_picture();
        burin_image_resize(&image, r->width, r->height, (burin_resampling)r->resample);
        CHECK(image.width == r->width && image.height == r->height);
        CHECK(!memcmp(image.pixels, r->bytes, 3 * (size_t)r->width * (size_t)r->height));
        burin_image_close(&image);
    }
}

static void preprocessing_gives_transformers_values(void) {
    for (size_t i = 0; i < sizeof preprocessed_pictures / sizeof *preprocessed_pictures; i++) {
        const preprocessed_picture *r = &preprocessed_pictures[i];
        float values[60];
        burin_image image = make_picture();
        CHECK(!burin_image_preprocess(&image, &r->picture, r->height, r->width, values));
        for (int j = 0; j < 3 * r->height * r->width; j++)
            CHECK(fabsf(values[j] - r->values[j]) <= 1e-6f);
        burin_image_close(&image);
    }
}

static void long_pictures_are_refused(void) {
    const burin_picture p = {
        .resize = BURIN_SHORTEST_EDGE, .height = 4000, .crop_height = 8, .crop_width = 8};
    burin_image image;
    burin_image_open(&image, 1000, 1);
    const char *why = burin_image_preprocess(&image, &p, 8, 8, NULL);
    CHECK(why && strstr(why, "1000 x 1 pixels become 4000000 x 4000: too long"));
    burin_image_close(&image);
}

// ------------------------------------------------------------------------------------ orientation
static void orientations_turn(void) {
    static const char *const turned[] = {"abcdef", "abcdef", "cbafed", "fedcba", "defabc",
                                         "adbecf", "daebfc", "fcebda", "cfbead", "abcdef"};
    for (int o = 0; o < 10; o++) {
        burin_image image;
        burin_image_open(&image, 3, 2);
        for (int i = 0; i < 18; i++) image.pixels[i] = (uint8_t)"abcdef"[i / 3];
        burin_image_orient(&image, o);
        CHECK(image.width == (o >= 5 && o <= 8 ? 2 : 3));
        for (int i = 0; i < 18; i++) CHECK(image.pixels[i] == (uint8_t)turned[o][i / 3]);
        burin_image_close(&image);
    }
}

static void orientations_are_found(void) {
    static const uint8_t little[] =
        "II*\0\x08\0\0\0\x02\0\0\1\3\0\1\0\0\0\5\0\0\0"
        "\x12\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0";
    static const uint8_t big[] = "MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\x08\0\0\0\0\0\0";
    CHECK(burin_exif_orientation(little, sizeof little) == 6);
    CHECK(burin_exif_orientation(big, sizeof big) == 8);
    for (size_t n = 0; n < 32; n++) CHECK(burin_exif_orientation(little, n) == 1);
    static const uint8_t far[] = "II*\0\xff\xff\xff\xff";
    CHECK(burin_exif_orientation(far, sizeof far - 1) == 1);
}

// ---------------------------------------------------------------------------------------- formats
#define BYTES(text) (const uint8_t *)text, sizeof text - 1

static const char *why_not(const uint8_t *file, size_t bytes) {
    burin_image image;
    uint8_t *exact =
        malloc(bytes + 1);  // of this size exactly: a sanitizer finds reads after its end
    memcpy(exact, file, bytes);
    exact = realloc(exact, bytes ? bytes : 1);
    const char *why = burin_image_read(&image, exact, bytes);
    CHECK(!why == !!image.pixels);
    burin_image_close(&image);
    free(exact);
    return why ? why : "";
}

static void netpbm_is_read(void) {
    burin_image image;
    CHECK(!burin_image_read(&image, BYTES("P6\n# made\n2 1\n255\nabcdef")));
    CHECK(image.width == 2 && image.height == 1 && !memcmp(image.pixels, "abcdef", 6));
    burin_image_close(&image);
    CHECK(!burin_image_read(&image, BYTES("P5 2 2 3\n\0\1\2\3")));
    CHECK(!memcmp(image.pixels, "\0\0\0\x55\x55\x55\xaa\xaa\xaa\xff\xff\xff", 12));
    burin_image_close(&image);
    CHECK(!burin_image_read(&image, BYTES("P5 1 1 65535\n\x80\0")) && image.pixels[2] == 128);
    burin_image_close(&image);
}

static void bad_files_have_reasons(void) {
    static const struct {
        const uint8_t *file;
        size_t bytes;
        const char *why;
    } rows[] = {
        {BYTES(""), "it is empty"},
        {BYTES("<html><body>"), "it is HTML"},
        {BYTES("GIF89a"), "GIF: the file is cut"},
        {BYTES("RIFF\0\0\0\0WEBPVP8 "), "it is WebP, and this program was built without libwebp"},
        {BYTES("hello"), "it begins as no picture does"},
        {BYTES("P6"), "its header is cut"},
        {BYTES("P6 1 1 255"), "its header is cut"},
        {BYTES("P6 1 1 0 abc"), "its largest value is not from 1 to 65535"},
        {BYTES("P6 0 9 255 abc"), "it has no pixels"},
        {BYTES("P6 2 1 255\nabcde"), "it is cut: the file ends before its last pixel"},
        {BYTES("P6 60000 60000 255\nabc"), "it is cut: the file ends before its last pixel"},
        {BYTES("P6 99999999999999999999 1 255\nabc"),
         "it has 4294967295 x 1 pixels: expected at most 134217728 in all, 65535 a side"},
        {BYTES("BM"), "its header is cut"},
        {BYTES("BM............\x0d\0\0\0........................"),
         "its header is of no known size"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        CHECK(!strcmp(why_not(rows[i].file, rows[i].bytes), rows[i].why));
}

#define BMP_HEADER(size, bits, compression, colours)                                       \
    "BM\0\0\0\0\0\0\0\0" size "\0\0\0\x28\0\0\0\2\0\0\0\1\0\0\0\1\0" bits "\0" compression \
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" colours "\0\0\0\0\0\0\0"

static void bmps_are_read(void) {
    static const uint8_t colour[] = BMP_HEADER("\x36", "\x18", "\0", "\0") "cbafed\0\0";
    static const uint8_t palette[] = BMP_HEADER("\x3e", "\4", "\0", "\2") "cba.fed.\x01\0\0\0";
    static const uint8_t packed[] = BMP_HEADER("\x36", "\x18", "\1", "\0") "cbafed\0\0";
    static const uint8_t lacking[] = BMP_HEADER("\x3e", "\4", "\0", "\2") "cba.fed.\x05\0\0\0";
    burin_image image;
    CHECK(!burin_image_read(&image, colour, sizeof colour - 1));
    CHECK(!memcmp(image.pixels, "abcdef", 6));
    burin_image_close(&image);
    CHECK(!burin_image_read(&image, palette, sizeof palette - 1));
    CHECK(!memcmp(image.pixels, "abcdef", 6));
    burin_image_close(&image);
    CHECK(!strcmp(why_not(packed, sizeof packed - 1), "it has compression 1: expected 0, none"));
    CHECK(!strcmp(why_not(lacking, sizeof lacking - 1),
                  "a pixel has a colour that its palette lacks"));
    for (size_t n = 2; n < sizeof palette - 1; n++) CHECK(*why_not(palette, n));
}

SUITE(picture) {
    TEST(resizing_gives_pils_bytes);
    TEST(preprocessing_gives_transformers_values);
    TEST(long_pictures_are_refused);
    TEST(orientations_turn);
    TEST(orientations_are_found);
    TEST(netpbm_is_read);
    TEST(bad_files_have_reasons);
    TEST(bmps_are_read);
}
