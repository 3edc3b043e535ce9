// Inputs for networks, the same for the interpreter and for emitted programs.
#ifndef NET_FILL_H
#define NET_FILL_H
#include <stdint.h>
#include <string.h>

static inline void fill_input(const char *type, int64_t count, int input, void *data) {
    for (int64_t i = 0; i < count; i++) {
        if (!strcmp(type, "f32"))
            ((float *)data)[i] = (float)((i * 37 + 11 * input) % 101 - 50) / 64;
        else if (!strcmp(type, "i32"))
            ((int32_t *)data)[i] = (int32_t)((i * 7 + 3 + input) % 50);
        else if (!strcmp(type, "i64"))
            ((int64_t *)data)[i] = (i * 7 + 3 + input) % 50;
        else if (!strcmp(type, "bool"))
            ((uint8_t *)data)[i] = i % 3 != input % 3;
    }
}
#endif
