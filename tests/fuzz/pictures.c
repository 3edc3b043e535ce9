// libFuzzer target: pictures in messages become names, and everything else stays as it is. The
// result of a second reading is that of the first.
#include <stdlib.h>
#include <string.h>

#include "chat/picture_parts.h"
#include "text/modes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// One picture, whatever its bytes.
static burin_sight seen = {.hash = 0xabc, .lines = 3, .columns = 4};

static int32_t see(burin_run *run, const uint8_t *file, size_t bytes, const char **why) {
    uint8_t sum = 0;
    (void)run;
    for (size_t i = 0; i < bytes; i++) sum ^= file[i];
    *why = sum == 7 ? "seven" : NULL;
    return *why ? -1 : 0;
}

static int32_t recall(burin_run *run, uint64_t hash, int32_t lines, int32_t columns) {
    (void)run;
    return hash == seen.hash && lines == seen.lines && columns == seen.columns ? 0 : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct burin_modes modes = {.see = see, .recall = recall};
    static const burin_command command = {.media_path = "/nowhere"};
    const burin_model model = {.modes = &modes};
    burin_run run = {.model = &model, .command = &command, .sights = {.items = &seen, .n = 1}};
    burin_pictures first, second;
    if (!burin_pictures_read(&first, &run, (const char *)data, size)) {
        if (!first.n && (first.bytes != size || memcmp(first.json, data, size))) abort();
        if (burin_pictures_read(&second, &run, first.json, first.bytes)) abort();
        if (second.n != first.n || second.bytes != first.bytes ||
            memcmp(second.json, first.json, first.bytes))
            abort();
        burin_pictures_close(&second);
    }
    burin_pictures_close(&first);
    return 0;
}
