// Replaces NAME by the model's name, `library.h` (or library_net.h) by NAME.h, the line that says where the constants go, and
// the inclusion of what the interfaces of decoders and networks share.
#include "driver/library.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

static const char constants_line[] = "// constants of the model\n";

static char *read_template(const char *home, const char *file, int length, size_t *size) {
    Text path = {0};
    text_add(&path, "%s/runtime/%.*s", home, length, file);
    char *text = read_text_file(path.data, size);
    text_free(&path);
    return text;
}

static bool starts(const char *text, const char *with) { return !strncmp(text, with, strlen(with)); }

// A template, or a part of one. What it includes of the two interfaces' common text is pasted.
typedef struct Template {
    const char *home, *name;
} Template;

static void append_renamed(const Template *t, const char *from, const char *end, Text *out) {
    static const char include[] = "#include \"", shared[] = "library_shared.h\"\n", calls[] = "library_calls.h\"\n";
    while (from < end) {
        const char *file = from + strlen(include);
        if (starts(from, "NAME")) {
            text_add(out, "%s", t->name);
            from += strlen("NAME");
        } else if (starts(from, include) && (starts(file, shared) || starts(file, calls))) {
            size_t size;
            int length = (int)(strchr(file, '"') - file);
            char *text = read_template(t->home, file, length, &size);
            append_renamed(t, strstr(text, "\n\n") + 2, text + size, out);  // behind its heading
            free(text);
            from = file + length + strlen("\"\n");
        } else if (starts(from, "library.h") || starts(from, "library_net.h")) {
            text_add(out, "%s.h", t->name);
            from = strchr(from, '.') + strlen(".h");
        } else {
            text_append(out, from++, 1);
        }
    }
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

static void append_file(const char *home, const char *name, const char *file, const LibraryFacts *facts, Text *out) {
    const Template template = {home, name};
    size_t size;
    char *text = read_template(home, file, (int)strlen(file), &size), *marker = strstr(text, constants_line);
    append_renamed(&template, text, marker ? marker : text + size, out);
    if (marker) {
        add_constants(name, facts, out);
        append_renamed(&template, marker + strlen(constants_line), text + size, out);
    }
    free(text);
}

void library_header(const char *home, const char *name, const LibraryFacts *facts, Text *out) {
    append_file(home, name, facts->network ? "library_net.h" : "library.h", facts, out);
}

void library_source(const char *home, const char *name, const LibraryFacts *facts, Text *out) {
    append_file(home, name, facts->network ? "library_net.c" : "library.c", facts, out);
}
