// Replaces NAME by the model's name, `library.h` (or library_net.h) by NAME.h, and the line that says where the constants go.
#include "driver/library.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static const char constants_line[] = "// constants of the model\n";

static void append_renamed(const char *from, const char *end, const char *name, Text *out) {
    while (from < end) {
        if (!strncmp(from, "NAME", 4)) {
            text_add(out, "%s", name);
            from += 4;
        } else if (!strncmp(from, "library.h", 9) || !strncmp(from, "library_net.h", 13)) {
            text_add(out, "%s.h", name);
            from = strchr(from, '.') + 2;
        } else {
            text_append(out, from++, 1);
        }
    }
}

static char *read_template(const char *home, const char *file, size_t *size) {
    Text path = {0};
    text_add(&path, "%s/runtime/%s", home, file);
    char *text = read_text_file(path.data, size);
    text_free(&path);
    return text;
}

static void add_constants(const char *name, const LibraryFacts *f, Text *out) {
    text_add(out, "#define %s_ABI_VERSION %d\n", name, BURIN_ABI);
    text_add(out, "#define %s_IDENTITY \"%s\"            // architecture, weights and options\n", name, f->identity);
    text_add(out, "#define %s_WEIGHT_BYTES %" PRIu64 "\n", name, f->weight_bytes);
    text_add(out, "#define %s_MAX_ROWS %d                // computed at once\n", name, f->max_rows);
    if (!f->network) {
        text_add(out, "#define %s_VOCAB_SIZE %d\n", name, f->vocab_size);
        text_add(out, "#define %s_CONTEXT %d                 // tokens in a slot\n", name, f->context);
        text_add(out, "#define %s_SLOT_BYTES %" PRIu64 "     // state of a sequence: KV caches\n", name, f->slot_bytes);
    }
    text_add(out, "#define %s_ROW_BYTES %" PRIu64 "      // of the arena, for each row computed at once\n", name, f->row_bytes);
    text_add(out, "#define %s_ARENA_BYTES %" PRIu64 "    // for all rows\n", name, f->arena_bytes);
    text_add(out, "#define %s_ARENA_LOWER_BOUND %" PRIu64 "  // the most that is live at once\n", name, f->arena_lower_bound);
}

void library_header(const char *home, const char *name, const LibraryFacts *facts, Text *out) {
    size_t size;
    char *text = read_template(home, facts->network ? "library_net.h" : "library.h", &size),
         *marker = strstr(text, constants_line);
    append_renamed(text, marker ? marker : text + size, name, out);
    add_constants(name, facts, out);
    if (marker) append_renamed(marker + strlen(constants_line), text + size, name, out);
    free(text);
}

void library_source(const char *home, const char *name, const LibraryFacts *facts, Text *out) {
    size_t size;
    char *text = read_template(home, facts->network ? "library_net.c" : "library.c", &size);
    append_renamed(text, text + size, name, out);
    free(text);
}
