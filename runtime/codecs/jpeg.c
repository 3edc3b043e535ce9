// JPEG by libjpeg-turbo: baseline and progressive, gray, colour and CMYK, as PIL's convert("RGB").
// libjpeg's headers need stdio.h, then each other.
// clang-format off
#include <stdio.h>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "base/allocate.h"
#include "base/escape.h"
#include "image/image.h"

enum { MOST_JPEG_SCANS = 500 };  // a progressive picture has about 10

static char jpeg_reason[JMSG_LENGTH_MAX + 32];

typedef struct jpeg_file {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    burin_image *image;
    uint8_t *row;  // of CMYK
} jpeg_file;

static _Noreturn void jpeg_failed(j_common_ptr jpeg) {
    char text[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, text);
    burin_format(jpeg_reason, sizeof jpeg_reason, "libjpeg: %s", text);
    longjmp(((jpeg_file *)jpeg->client_data)->failed, 1);
}

// Warnings about lost pixels end the reading; other notes are not shown.
static void jpeg_said(j_common_ptr jpeg, int level) {
    int code = jpeg->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) jpeg_failed(jpeg);
}

static void watch_jpeg_scans(j_common_ptr jpeg) {
    jpeg_file *f = jpeg->client_data;
    if (f->jpeg.input_scan_number <= MOST_JPEG_SCANS) return;
    burin_format(jpeg_reason, sizeof jpeg_reason, "it has more than %d scans", MOST_JPEG_SCANS);
    longjmp(f->failed, 1);
}

static int jpeg_orientation(const jpeg_file *f) {
    static const char name[] = "Exif\0";
    for (jpeg_saved_marker_ptr m = f->jpeg.marker_list; m; m = m->next)
        if (m->data_length > sizeof name && !memcmp(m->data, name, sizeof name))
            return burin_exif_orientation(m->data + sizeof name, m->data_length - sizeof name);
    return 1;
}

// Files have the complements of cyan, magenta, yellow and black.
static void store_cmyk(const uint8_t *from, uint8_t *to, size_t n) {
    for (size_t x = 0; x < n; x++, from += 4, to += 3) {
        for (int c = 0; c < 3; c++) {
            unsigned lost = (255u - from[c]) * from[3] + 128;
            lost = (lost + (lost >> 8)) >> 8;
            to[c] = (uint8_t)(from[3] > lost ? from[3] - lost : 0);
        }
    }
}

static void read_jpeg_rows(jpeg_file *f) {
    size_t width = (size_t)f->image->width;
    bool cmyk = f->jpeg.out_color_space == JCS_CMYK;
    if (cmyk) f->row = burin_allocate(width, 4);
    for (size_t y = 0; y < (size_t)f->image->height; y++) {
        uint8_t *to = f->image->pixels + y * width * 3;
        JSAMPROW row = cmyk ? f->row : to;
        jpeg_read_scanlines(&f->jpeg, &row, 1);
        if (cmyk) store_cmyk(row, to, width);
    }
}

static const char *read_jpeg(jpeg_file *f, const uint8_t *file, size_t bytes) {
    if (setjmp(f->failed)) return jpeg_reason;
    jpeg_create_decompress(&f->jpeg);
    f->jpeg.progress = &f->progress;
    jpeg_mem_src(&f->jpeg, file, bytes);
    jpeg_save_markers(&f->jpeg, JPEG_APP0 + 1, 0xffff);
    jpeg_read_header(&f->jpeg, TRUE);
    const char *why = burin_image_open(f->image, f->jpeg.image_width, f->jpeg.image_height);
    if (why) return why;
    bool cmyk = f->jpeg.num_components == 4;
    f->jpeg.out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&f->jpeg);
    read_jpeg_rows(f);
    burin_image_orient(f->image, jpeg_orientation(f));
    jpeg_finish_decompress(&f->jpeg);
    return NULL;
}

const char *burin_jpeg_read(burin_image *image, const uint8_t *file, size_t bytes) {
    jpeg_file *f = burin_allocate(1, sizeof *f);
    f->image = image;
    f->jpeg.err = jpeg_std_error(&f->errors);
    f->errors.error_exit = jpeg_failed;
    f->errors.emit_message = jpeg_said;
    f->progress.progress_monitor = watch_jpeg_scans;
    f->jpeg.client_data = f;
    const char *why = read_jpeg(f, file, bytes);
    jpeg_destroy_decompress(&f->jpeg);
    free(f->row);
    free(f);
    if (why) burin_image_close(image);
    return why;
}
