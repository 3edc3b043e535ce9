// Replaces NAME by the model's name, `library.h` (or library_network.h) by NAME.h, the line for the
// constants, and the inclusion of the text that the interfaces of decoders and networks share.
#include "output/library.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/network.h"

static const char constants_line[] = "// constants of the model\n",
                  tensors_line[] = "// tensors of the model\n";

static char *read_template(const char *home, const char *file, int length, size_t *size) {
    Text path = {0};
    text_add(&path, "%s/runtime/library/%.*s", home, length, file);
    char *text = read_text_file(path.data, size);
    text_free(&path);
    return text;
}

static bool starts(const char *text, const char *with) {
    return !strncmp(text, with, strlen(with));
}

// A template, or a part of one. Its inclusions of parts are replaced by their texts.
typedef struct Template {
    const char *home, *name;
    bool texts;  // with the interface's end for texts: library_answers.h, library_labels.h
} Template;

static bool is_of_texts(const char *file) {
    return starts(file, "library_answer") || starts(file, "library_label");
}

static bool is_part(const char *file) {
    return starts(file, "library_shared.h\"\n") || starts(file, "library_calls.h\"\n") ||
           is_of_texts(file);
}

static void append_renamed(const Template *t, const char *from, const char *end, Text *out) {
    static const char include[] = "#include \"";
    while (from < end) {
        const char *file = from + strlen(include);
        if (starts(from, "NAME")) {
            text_add(out, "%s", t->name);
            from += strlen("NAME");
        } else if (starts(from, include) && is_part(file)) {
            size_t size;
            int length = (int)(strchr(file, '"') - file);
            char *text = read_template(t->home, file, length, &size);
            if (t->texts || !is_of_texts(file))
                append_renamed(t, strstr(text, "\n\n") + 2, text + size, out);  // after its heading
            free(text);
            from = file + length + strlen("\"\n");
        } else if (starts(from, "library.h") || starts(from, "library_network.h")) {
            text_add(out, "%s.h", t->name);
            from = strchr(from, '.') + strlen(".h");
        } else {
            text_append(out, from++, 1);
        }
    }
}

static void add_constants(const char *name, const LibraryFacts *f, Text *out) {
    text_add(out, "#define %s_ABI_VERSION %d\n", name, BURIN_ABI);
    text_add(out, "#define %s_IDENTITY \"%s\"            // architecture, weights and options\n",
             name, f->identity);
    if (f->numbers)
        text_add(out, "// %s. What is said below of equal bits holds but for that.\n", f->numbers);
    text_add(out, "#define %s_WEIGHT_BYTES %" PRIu64 "\n", name, f->weight_bytes);
    text_add(out, "#define %s_MAX_ROWS %d                // computed at once\n", name, f->max_rows);
    if (!f->network) {
        text_add(out, "#define %s_VOCAB_SIZE %d\n", name, f->vocab_size);
        text_add(out, "#define %s_CONTEXT %d                 // tokens in a slot\n", name,
                 f->context);
        text_add(out, "#define %s_SLOT_BYTES %" PRIu64 "     // state of a sequence: KV caches\n",
                 name, f->slot_bytes);
    }
    text_add(out,
             "#define %s_ROW_BYTES %" PRIu64
             "      // of the arena, for each row computed at once\n",
             name, f->row_bytes);
    text_add(out, "#define %s_ARENA_BYTES %" PRIu64 "    // for all rows\n", name, f->arena_bytes);
    text_add(out,
             "#define %s_ARENA_LOWER_BOUND %" PRIu64
             "  // what must lie apart, whatever the places%s\n",
             name, f->arena_lower_bound, f->network ? ", in the largest run it was built for" : "");
}

// ----------------------------------------------------------------------- an example of the tensors
// A tensor's name as C.
static void add_identifier(Text *out, const char *name) {
    if (!isalpha((unsigned char)*name)) text_add(out, "_");
    for (; *name; name++) text_add(out, "%c", isalnum((unsigned char)*name) ? *name : '_');
}

static void add_tensor_names(Text *out, const burin_tensor *tensors, int n) {
    for (int i = 0; i < n; i++) text_add(out, i ? ", " : ""), add_identifier(out, tensors[i].name);
}

static void add_dims(Text *out, const burin_network *net, const int64_t *symbols) {
    bool first = true;
    for (int i = 0; i < net->n_inputs; i++)
        for (int j = 0; j < net->inputs[i].rank; j++, first = false) {
            int64_t dim = net->inputs[i].dim[j];
            text_add(out, "%s%" PRId64, first ? "" : ", ",
                     dim >= 0 ? dim : net->dimension((int)(-1 - dim), symbols));
        }
}

static void add_types(Text *out, const char *what, const burin_tensor *tensors, int n) {
    for (int i = 0; i < n; i++) {
        text_add(out, "//     //   %s ", what), add_identifier(out, tensors[i].name);
        text_spell(out, ": %s %s\n", tensors[i].type, tensors[i].shape);
    }
}

static void add_tensors(const burin_network *net, Text *out) {
    int64_t *symbols =
        calloc((size_t)(net->n_symbols + net->n_data_dependent) + 1, sizeof *symbols);
    burin_network_usual_symbols(net, symbols);
    add_types(out, "input", net->inputs, net->n_inputs);
    add_types(out, "output", net->outputs, net->n_outputs);
    text_add(out, "//     const void *inputs[] = {"),
        add_tensor_names(out, net->inputs, net->n_inputs);
    text_add(out, "};\n//     int64_t dims[] = {"), add_dims(out, net, symbols);
    text_add(out, "};  // of all inputs, one after the other\n//     void *outputs[] = {");
    add_tensor_names(out, net->outputs, net->n_outputs), text_add(out, "};\n");
    free(symbols);
}

// --------------------------------------------------------------------------------------- the files
static void append_file(const char *home, const char *name, const char *file,
                        const LibraryFacts *facts, Text *out) {
    const Template template = {home, name, facts->texts};
    size_t size;
    char *text = read_template(home, file, (int)strlen(file), &size), *from = text, *marker;
    if ((marker = strstr(from, tensors_line))) {
        append_renamed(&template, from, marker, out);
        if (facts->net) add_tensors(facts->net, out);
        from = marker + strlen(tensors_line);
    }
    if ((marker = strstr(from, constants_line))) {
        append_renamed(&template, from, marker, out);
        add_constants(name, facts, out);
        from = marker + strlen(constants_line);
    }
    append_renamed(&template, from, text + size, out);
    free(text);
}

void library_header(const char *home, const char *name, const LibraryFacts *facts, Text *out) {
    append_file(home, name, facts->network ? "library_network.h" : "library.h", facts, out);
}

void library_source(const char *home, const char *name, const LibraryFacts *facts, Text *out) {
    append_file(home, name, facts->network ? "library_network.c" : "library.c", facts, out);
}

// A literal of Python; any bytes.
static void add_literal(Text *out, const char *s) {
    text_add(out, "b\"");
    for (; *s; s++)
        text_add(out, isalnum((unsigned char)*s) || strchr(" ._-", *s) ? "%c" : "\\x%02x",
                 (unsigned char)*s);
    text_add(out, "\".decode(errors=\"replace\")");
}

// The strings after a card, in order
static const char *next_string(const char **at) {
    const char *s = *at;
    *at += strlen(s) + 1;
    return s;
}

static void add_prompts(const burin_card *card, const char **at, Text *out) {
    const char *usual = NULL;
    text_add(out, "PROMPTS = {");
    for (uint32_t i = 0; i < card->n_prompts; i++) {
        const char *name = next_string(at);
        if ((int32_t)i == card->default_prompt) usual = name;
        text_add(out, i ? ", " : ""), add_literal(out, name);
        text_add(out, ": "), add_literal(out, next_string(at));
    }
    text_add(out, "}\nDEFAULT_PROMPT = ");
    if (usual)
        add_literal(out, usual);
    else
        text_add(out, "None");
    text_add(out, "\nPAIR_PROMPT = %s\n", card->prompts_pairs ? "True" : "False");
}

// The task of a network that reads texts (engine/card.h).
static void add_card(const LibraryFacts *f, Text *out) {
    const burin_network *net = f->net;
    const burin_card none = {.task = BURIN_EMBEDS, .default_prompt = -1}, *card = f->card;
    const char *at = card ? (const char *)(card + 1) : "";
    if (!card) card = &none;
    text_add(out, "TOKENS = "), add_literal(out, net->inputs[net->tokens].name);
    text_add(out, "\nEMBEDDING = ");
    if (net->embedding >= 0)
        add_literal(out, net->outputs[net->embedding].name);
    else
        text_add(out, "None");
    text_add(out, "\nTASK = \"%s\"\nLABELS = [",
             card->task == BURIN_EMBEDS         ? "embeddings"
             : card->task == BURIN_LABELS_TEXTS ? "labels"
                                                : "tokens");
    for (uint32_t i = 0; i < card->n_labels; i++)
        text_add(out, i ? ", " : ""), add_literal(out, next_string(&at));
    text_add(out, "]\n");
    add_prompts(card, &at, out);
}

// A file name is any bytes.
static void add_python_constants(const LibraryFacts *f, Text *out) {
    text_add(out, "LIBRARY = os.fsdecode(b\"");
    for (const char *s = f->shared; *s; s++)
        text_add(out, isalnum((unsigned char)*s) || strchr("._-", *s) ? "%c" : "\\x%02x",
                 (unsigned char)*s);
    text_add(out, "\")\n");
    if (!f->network) text_add(out, "VOCAB_SIZE, CONTEXT = %d, %d\n", f->vocab_size, f->context);
    if (f->network && f->texts) add_card(f, out);
}

static void append_part(const Template *t, const char *file, const LibraryFacts *f, Text *out) {
    static const char constants[] = "# constants of the model\n";
    size_t size;
    char *text = read_template(t->home, file, (int)strlen(file), &size),
         *marker = strstr(text, constants), *from = text;
    if (marker) {
        append_renamed(t, text, marker, out);
        add_python_constants(f, out);
        from = marker + strlen(constants);
    }
    append_renamed(t, from, text + size, out);
    free(text);
}

void library_python(const char *home, const char *name, const LibraryFacts *facts, Text *out) {
    const Template template = {home, name, facts->texts};
    append_part(&template, "library.py", facts, out);
    append_part(&template, facts->network ? "library_network.py" : "library_text.py", facts, out);
    if (facts->network && facts->texts) append_part(&template, "library_labels.py", facts, out);
}
