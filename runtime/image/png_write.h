// Gray PNG files, without a library.
#ifndef BURIN_PNG_WRITE_H
#define BURIN_PNG_WRITE_H
#include <stdint.h>

// Writes height x width values of 8 or 16 bits. NULL, or why the file cannot be written.
const char *burin_png_write(const char *path, const uint16_t *values, int32_t width, int32_t height,
                            int bits);
#endif
