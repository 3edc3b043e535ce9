#include "build/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build/crash.h"
#include "build/editor.h"
#include "build/memory_needs.h"
#include "build/output_name.h"
#include "build/pictures.h"
#include "build/program_kind.h"
#include "build/server.h"
#include "build/sounds.h"
#include "cli/option_tables.h"
#include "engine/picture.h"
#include "frontend/card.h"
#include "frontend/dsl.h"
#include "frontend/eyes.h"
#include "frontend/onnx.h"
#include "frontend/sentence.h"
#include "ir/dump.h"
#include "passes/pass.h"
#include "passes/recipe.h"
#include "toolchain/cache.h"
#include "toolchain/compiler.h"
#include "toolchain/flags.h"
#include "util/files.h"
#include "util/hash.h"
#include "version.h"

static bool has_suffix(const char *name, const char *suffix) {
    size_t n = strlen(name), m = strlen(suffix);
    return n > m && !strcmp(name + n - m, suffix);
}

// -------------------------------------------------------------------------------- checking options
static bool is_one_of(const char *value, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!strcmp(value, names[i])) return true;
    return false;
}

// Other words for number formats, as far as they are among the names.
static const char *meant_format(const char *value, const char *const *names, size_t n) {
    static const char *const words[][2] = {
        {"int8", "q8_0"},   {"int8", "q8"},     {"q8", "q8_0"},  {"8bit", "q8_0"}, {"i8", "q8_0"},
        {"fp8", "q8_0"},    {"fp16", "f16"},    {"half", "f16"}, {"16", "f16"},    {"8", "q8_0"},
        {"float16", "f16"}, {"float32", "f32"}, {"fp32", "f32"}, {"float", "f32"}, {"32", "f32"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(value, words[i][0]) && is_one_of(words[i][1], names, n)) return words[i][1];
    return NULL;
}

static void check_one_of(const char *option, const char *value, const char *const *names,
                         size_t n) {
    if (!value || is_one_of(value, names, n)) return;
    const char *near = meant_format(value, names, n);
    if (!near && !strchr(value, ',')) near = nearest_name(value, names, n);
    if (near)
        usage_error("--%s=%s: unknown\n  hint: did you mean %s? There are %s", option, value, near,
                    name_list(names, n));
    usage_error("--%s=%s: expected one of %s", option, value, name_list(names, n));
}

// The first name that begins with the same letters: "fusion" means fuse.
static const char *same_beginning(const char *word, const char *const *names, size_t n) {
    enum { LETTERS = 3 };
    for (size_t i = 0; i < n; i++)
        if (strlen(word) >= LETTERS && !strncmp(word, names[i], LETTERS)) return names[i];
    return NULL;
}

// The first or last pass that an option names, by itself or by its group.
static int pass_named(const char *option, const char *name, bool first, int absent) {
    const char *names[GROUP_COUNT + PASS_COUNT];
    for (int i = 0; i < GROUP_COUNT; i++) names[i] = group_info[i].name;
    for (int i = 0; i < PASS_COUNT; i++) names[GROUP_COUNT + i] = pass_info[i].name;
    if (!name) return absent;
    for (int i = 0; i < GROUP_COUNT; i++)
        if (!strcmp(name, names[i]))
            return first ? group_first((PassGroup)i) : group_last((PassGroup)i);
    for (int i = 0; i < PASS_COUNT; i++)
        if (!strcmp(name, pass_info[i].name)) return i;
    const char *near = nearest_name(name, names, GROUP_COUNT + PASS_COUNT);
    if (!near) near = same_beginning(name, names, GROUP_COUNT + PASS_COUNT);
    if (near)
        usage_error("--%s=%s: unknown\n  hint: did you mean %s? `burin passes` lists them", option,
                    name, near);
    usage_error("--%s=%s: expected a pass or a group of passes\n  hint: `burin passes` lists them",
                option, name);
}

static const QuantRules *rules_of(Arena *arena, const char *text) {
    const char *problem;
    const QuantRules *rules = text ? quant_rules(arena, text, &problem) : NULL;
    if (text && !rules)
        usage_error("--quant=%s: %s\n  hint: %s%s", text, problem,
                    strstr(problem, " bits: ") ? "" : "there are ",
                    strstr(problem, " bits: ") ? "`burin formats` lists all" : quant_names(arena));
    return rules;
}

// -O1, or BURIN_OPTIMIZE=1 where no -O is given
static bool is_quick(const Options *o) {
    static const char *const levels[] = {"1", "3"};
    const char *set = getenv("BURIN_OPTIMIZE"), *level = o->optimize   ? o->optimize
                                                         : set && *set ? set
                                                                       : "3";
    check_one_of("optimize", o->optimize, levels, sizeof levels / sizeof *levels);
    if (strcmp(level, "1") && strcmp(level, "3"))
        usage_error("BURIN_OPTIMIZE=%s: expected 1 or 3", level);
    return *level == '1';
}

Build build_new(Arena *arena, const Options *o) {
    static const char *const emits[] = {"ir", "c"}, *const forms[] = {"text", "net"},
                             *const rows[] = {"f32", "q8"},
                             *const extras[] = {"mpi", "server", "images", "sounds"},
                             *const caches[] = {"f32", "f16", "q8_0"},
                             *const editors[] = {"auto", "libedit", "none"},
                             *const maths[] = {"exact", "fast"};
    Build b = {.arena = arena, .options = o, .name = symbol_name(arena, model_name(arena, o))};
    check_one_of("kv", o->kv, caches, sizeof caches / sizeof *caches);
    check_one_of("pooling", o->pooling, pooling_names, N_POOLINGS);
    check_one_of("with", o->with, extras, sizeof extras / sizeof *extras);
    check_one_of("line-editor", o->line_editor, editors, sizeof editors / sizeof *editors);
    check_one_of("emit", o->emit, emits, sizeof emits / sizeof *emits);
    check_one_of("as", o->as, forms, sizeof forms / sizeof *forms);
    check_one_of("math", o->math, maths, sizeof maths / sizeof *maths);
    b.tools = toolchain_new(arena, o->target, o->mcpu, o->math && !strcmp(o->math, "fast"));
    b.tools.verbose = o->verbose;
    b.tools.quick = is_quick(o);
    if (o->with && !strcmp(o->with, "mpi")) toolchain_with_mpi(&b.tools);
    check_one_of("activations", o->activations, rows, sizeof rows / sizeof *rows);
    b.passes = (PassContext){.arena = arena,
                             .quant = rules_of(arena, o->quant),
                             .requantize = o->requantize,
                             .require_fusion = o->require_fusion,
                             .dump_dir = o->dump_ir};
    b.passes.cache = o->kv;
    b.passes.float_rows = o->activations && !strcmp(o->activations, "f32");
    b.passes.stop_after = pass_named("stop-after", o->stop_after, false, -1);
    b.passes.start_from = pass_named("start-from", o->start_from, true, 0);
    bool dumped = has_suffix(o->model, ".ir"), description = has_suffix(o->model, ".burin");
    if (dumped != !!o->start_from)
        usage_error(dumped
                        ? "%s is a dumped graph\n  hint: --start-from=PASS says which pass is next"
                        : "--start-from needs a dumped .ir file, and %s is none",
                    o->model);
    if ((o->dim || o->max) && !has_suffix(o->model, ".onnx"))
        usage_error(
            "--dim and --max are for ONNX models, and %s is none\n  hint: `burin run MODEL -- "
            "--dim` is the program's own "
            "option",
            o->model);
    if ((o->bind || o->as) && !has_suffix(o->model, ".onnx"))
        usage_error("--bind and --as are for ONNX models, and %s is none", o->model);
    if (description && !o->weights)
        usage_error("%s is a description\n  hint: --weights says where its weights are", o->model);
    if (!description && o->weights && has_suffix(o->weights, ".burin"))
        usage_error(
            "--weights=%s is a description, and MODEL is %s\n  hint: the other way round: %s "
            "--weights=%s",
            o->weights, o->model, o->weights, o->model);
    if (!description && o->weights)
        usage_error("--weights goes with a .burin description, and %s is none", o->model);
    return b;
}

// ----------------------------------------------------------------------------------------- loading
// "owner/name", as hubs name models, and no folder here.
static bool is_name_of_hub(Arena *arena, const char *path) {
    const char *slash = strchr(path, '/');
    return slash && slash > path && slash[1] && !strchr(slash + 1, '/') && *path != '.' &&
           access(arena_strndup(arena, path, (size_t)(slash - path)), F_OK);
}

void build_check_models(const Build *b) {
    const char *missing = NULL;
    for (int i = b->options->n_files - 1; i >= 0; i--)
        if (access(b->options->files[i], F_OK) && errno == ENOENT) missing = b->options->files[i];
    if (!missing) return;
    const char *name = path_name(missing);
    const char *text = b->options->n_rest ? b->options->rest[0] : NULL;
    if (text && !access(text, F_OK))
        diag_fatal(NO_LOC, "there is no %s\nhint: the model comes first: burin %s %s \"%s\"",
                   missing, commands[b->options->command].name, text, missing);
    if (is_name_of_hub(b->arena, missing))
        diag_fatal(
            NO_LOC,
            "there is no %s\nhint: huggingface-cli download %s --local-dir %s, then burin %s %s",
            missing, missing, name, commands[b->options->command].name, name);
    diag_fatal(NO_LOC,
               "there is no %s\nhint: MODEL is a Hugging Face folder, a .gguf or llama2.c .bin "
               "file, an .onnx, or a .burin "
               "with --weights",
               missing);
}

static const char *library_of(const Build *b) {
    return arena_printf(b->arena, "%s/dsl", burin_home(b->arena));
}

void build_open_weights(Build *b) {
    const Options *o = b->options;
    size_t length = strlen(o->model);
    b->onnx = length > 5 && !strcmp(o->model + length - 5, ".onnx");
    if (o->start_from || b->onnx || b->checkpoint) return;
    build_check_models(b);
    b->checkpoint = checkpoint_open(b->arena, o->weights ? o->weights : o->model, library_of(b));
    if (o->lora)
        checkpoint_add_loras(b->checkpoint, o->lora);
    else
        checkpoint_warn_of_adapter(b->checkpoint);
}

void build_open(Build *b) {
    const Options *o = b->options;
    build_open_weights(b);
    if (b->checkpoint)
        b->description =
            o->weights ? o->model : dsl_find_description(b->arena, library_of(b), b->checkpoint);
}

int build_vocabulary(const Build *b) {
    int64_t size = 0;
    const Graph *g = b->program->graph;
    const Type *logits = &g->outputs[0]->type;
    return logits->rank && dim_is_const(logits->dim[logits->rank - 1], &size) && size < INT32_MAX
               ? (int)size
               : 0;
}

static int vocabulary_size(const Checkpoint *c) {
    const json_t *v = c && c->config ? json_object_get(c->config, "vocab_size") : NULL;
    return json_is_integer(v) && json_integer_value(v) < INT32_MAX ? (int)json_integer_value(v) : 0;
}

// The modules after an encoder's or decoder's states: from the folder, or --pooling.
static Sentence read_sentence(const Build *b) {
    const Options *o = b->options;
    Sentence s = sentence_read(b->arena, b->checkpoint->folder);
    const char *pooling = o->pooling ? o->pooling : s.pooling ? NULL : b->checkpoint->pooling;
    if (pooling) s.pooling = pooling_parse(pooling), s.n_others = 0;
    if (s.pooling && !s.n_steps) sentence_read_dense(&s, b->checkpoint);
    return s;
}

static void load_checkpoint(Build *b) {
    const Options *o = b->options;
    Sentence s = read_sentence(b);
    build_rotary_factors(b);
    DslOptions dsl = {.library = arena_printf(b->arena, "%s/dsl", burin_home(b->arena)),
                      .checkpoint = b->checkpoint,
                      .states = s.pooling != POOLING_NONE,
                      .row_states = drafts_by_head(o),
                      .guess = b->is_head,
                      .verbose = o->verbose};
    b->module = dsl_load(b->arena, b->description, &dsl);
    if (!s.pooling) return;
    sentence_add(b->module->graphs[0], &s, dsl.library);
    b->embeds = true;
    if (s.max_tokens && (!b->module->context || s.max_tokens < b->module->context))
        b->module->context = s.max_tokens;
    if (o->context && o->context < b->module->context) b->module->context = o->context;
}

// A network's card is stored where a decoder has its template.
static void load_card(Build *b) {
    const Checkpoint *c = b->checkpoint ? b->checkpoint : b->side_folder;
    if (!c || !b->tokenizer || b->module->n_graphs != 1 ||
        !strcmp(b->module->graphs[0]->name, "decode"))
        return;
    Card card = card_read(b->arena, c, b->module->graphs[0], b->tokenizer, b->embeds);
    b->chat = (CompiledTemplate){.blob = card.blob, .bytes = card.bytes};
    b->labels = card.labels;
}

static void load_picture_card(Build *b) {
    if (!b->checkpoint || b->chat.blob || b->module->eyes) return;
    Card card = picture_card_read(b->arena, b->checkpoint, b->module->graphs[0], b->tokenizer);
    b->pictures = card.blob != NULL;
    b->picture_modes = card.pictures;
    if (b->pictures) b->chat = (CompiledTemplate){.blob = card.blob, .bytes = card.bytes};
    if (pictures_are_asked_for(b->options) && !b->pictures)
        diag_fatal(NO_LOC,
                   "--with=images: the program takes no pictures\n"
                   "hint: models of pictures with a preprocessor_config.json do");
}

static void note_bounds_of_voice(const Graph *g) {
    const Dim *frames = dim_find_symbol(g, "range");
    for (int i = 0; i < g->n_inputs; i++) {
        const Dim *n = g->inputs[i]->type.rank == 2 ? g->inputs[i]->type.dim[1] : NULL;
        if (frames && n && n->kind == DIM_SYMBOL)
            diag_note(NO_LOC,
                      "longer texts than %lld ids, or %lld frames of sound, are said in parts: "
                      "--max=%s=N,range=N",
                      (long long)dim_upper(n), (long long)dim_upper(frames), n->name);
    }
}

static void load_sound_card(Build *b) {
    if (b->options->start_from || b->text || b->module->n_graphs != 1 || b->chat.blob ||
        (b->onnx ? wants_tensors(b->options) : !b->checkpoint))
        return;
    const char *folder = b->onnx ? path_folder(b->arena, b->options->model) : b->checkpoint->folder;
    const SoundFolder f = {folder, b->onnx, b->tokenizer != NULL};
    Card card = {0};
    if (b->onnx) card = voice_card_read(b->arena, b->options->model, b->module->graphs[0]);
    b->speaks = card.blob != NULL;
    if (b->speaks)
        note_bounds_of_voice(b->module->graphs[0]);
    else
        card = listener_card_read(b->arena, &f, b->module->graphs[0]);
    b->hears = card.blob && !b->speaks;
    if (card.blob) b->chat = (CompiledTemplate){.blob = card.blob, .bytes = card.bytes};
}

// A decoder that has a tokenizer may have a template. One that is not understood is named, and left
// out.
static void load_template(Build *b) {
    TemplateText text;
    const Checkpoint *c = b->checkpoint;
    if (!c || !b->tokenizer || b->embeds || b->labels || b->module->n_graphs > 1) return;
    bool gguf = c->kind == CHECKPOINT_GGUF && c->tokenizer && has_suffix(c->tokenizer, ".gguf");
    if (!template_find(b->arena, gguf ? c->tokenizer : c->folder, &text)) return;
    b->chat = template_compile(b->arena, &text);
    b->has_chat = b->chat.blob != NULL;
    if (!b->has_chat) diag_warning(b->chat.place, "%s: the program has no --chat", b->chat.problem);
}

// A decoder whose model takes pictures, too: as a program alone.
// Rows that see each other are in one step: those of a picture, or of a prompt with two.
static void make_room_for_pictures(Build *b) {
    const burin_eyes *e = b->module->eyes;
    enum { ROWS_OF_TEXT = 256 };
    int64_t rows =
        e->sees_all == BURIN_SEES_PROMPT ? 2 * e->tile_rows + ROWS_OF_TEXT : e->tile_rows;
    if (e->sees_all && b->passes.max_rows < rows) b->passes.max_rows = rows;
}

// The mmproj file of a GGUF model: the one of --mmproj, or the only one in its folder.
static const char *mmproj_of(const Build *b) {
    int n = 0;
    const char *given = b->options->mmproj, *model = b->checkpoint->path;
    const char *path = given ? given : checkpoint_find_mmproj(b->arena, model, &n);
    if (n > 1)
        diag_warning(NO_LOC,
                     "%s: %d encoders of pictures (mmproj) are in its folder: the program takes no "
                     "pictures\nhint: --mmproj FILE selects one",
                     model, n);
    return path;
}

// NULL: the model has no encoder, or one that is not read.
static const Checkpoint *encoder_of_gguf(Build *b) {
    const char *path = mmproj_of(b), *why;
    if (!path) return NULL;
    Checkpoint *rest = checkpoint_open_mmproj(b->arena, b->checkpoint, path, &why);
    if (!rest && b->options->mmproj) diag_fatal(NO_LOC, "--mmproj %s: %s", path, why);
    if (!rest) diag_warning(NO_LOC, "%s: %s: the program takes no pictures", path, why);
    if (!rest) return NULL;
    b->checkpoint->whole_class = checkpoint_class(rest);
    b->checkpoint->n_left_out = rest->n_tensors;
    return rest;
}

static void load_eyes(Build *b) {
    Checkpoint *c = b->checkpoint;
    bool gguf = c && c->kind == CHECKPOINT_GGUF && !b->is_draft;
    if (b->options->mmproj && !gguf)
        diag_fatal(NO_LOC, "--mmproj: the encoder of pictures of a GGUF model, and MODEL is none");
    const Checkpoint *rest = !c               ? NULL
                             : gguf           ? encoder_of_gguf(b)
                             : c->whole_class ? checkpoint_open_rest(b->arena, c->path, c->library)
                                              : NULL;
    if (!rest) return;
    const char *description = eyes_description(b->arena, c, rest);
    bool program = b->kind == OUTPUT_PROGRAM && !b->tools.mpi && !b->is_draft && !b->options->draft;
    if (description && program && b->tokenizer && !b->embeds && !b->labels &&
        b->module->n_graphs == 1)
        b->pictures = eyes_add(b->module, description, c, rest, b->tokenizer);
    if (!b->pictures && b->options->mmproj)
        diag_fatal(NO_LOC,
                   "--mmproj: the program takes no pictures"
                   "\nhint: programs without --draft and --with=mpi do, libraries do not");
    if (!b->pictures)
        checkpoint_warn_of_rest(c);
    else
        make_room_for_pictures(b);
}

void build_load(Build *b) {
    const Options *o = b->options;
    if (o->start_from) {
        b->module = module_load(b->arena, o->model);
        b->tokenizer = b->module->tokenizer;
        if (b->kind == OUTPUT_PROGRAM) b->name = symbol_name(b->arena, b->module->name);
    } else if (b->onnx) {
        b->module = load_onnx(b);
        if (b->text && !b->side_folder) take_onnx_config(b);
        b->passes.file_rows = b->module->float_rows && !b->options->activations;
    } else {
        load_checkpoint(b);
    }
    b->module->name = b->name;
    const char *path = o->tokenizer    ? o->tokenizer
                       : b->checkpoint ? b->checkpoint->tokenizer
                                       : NULL;
    if (path && (b->text || !o->tokenizer_beside))
        b->tokenizer = tokenizer_load(b->arena, path, vocabulary_size(b->checkpoint));
    if (o->verbose && b->tokenizer && b->tokenizer->note)
        fprintf(stderr, "  tokenizer: %s\n", b->tokenizer->note);
    b->module->tokenizer = b->tokenizer;
    load_card(b);
    load_picture_card(b);
    load_sound_card(b);
    load_template(b);
    build_special_tokens(b);
    build_generation(b);
    build_speech(b);
    if (sounds_are_asked_for(o) && !b->module->speech && !b->hears)
        diag_fatal(NO_LOC,
                   "--with=sounds: the program takes no recordings\n"
                   "hint: Whisper with a preprocessor_config.json does");
    build_context(b);
    load_eyes(b);
}

bool build_passes(Build *b) {
    if (b->options->verbose) fprintf(stderr, "  passes\n");
    crash_watch(b);
    bool whole = passes_run(b->module, &b->passes);
    if (whole) build_check_positions(b);
    if (whole) build_warnings(b);
    return whole;
}

// Files linked alone use the same names for every model, so that models share objects. An object or
// archive meets others in a host program, and a folder of C is read by people.
static const char *name_in_c(const Build *b) {
    if (b->kind != OUTPUT_PROGRAM && b->kind != OUTPUT_SHARED) return b->name;
    return b->is_draft ? "model_draft" : "model";
}

void build_lower(Build *b) {
    LowerOptions options = {.name = name_in_c(b),
                            .over_ranks = b->tools.mpi || b->options->command == COMMAND_plan};
    options.gather_above = b->options->gather_above,
    options.compared = b->options->command == COMMAND_check;
    b->program = lower_module(b->arena, b->module, &options);
    name_functions(b->program);
    warn_of_odd_weights(b->program);
    b->image = image_of(b->program, b->tokenizer, b->chat);
    b->image.step =
        b->passes.quantized ? "quantizing and packing the weights" : "packing the weights";
    if (!program_has_integers(b->program)) toolchain_without(&b->tools, FOR_INTEGERS);
    if (!program_has_bf16(b->program)) toolchain_without(&b->tools, FOR_FAST_MATH);
    b->numbers = numbers_of(b);
    Text t = {0};
    graph_print(&t, b->program->graph);
    uint64_t hash = hash_bytes(t.data, t.length,
                               hash_text(BURIN_VERSION, (uint64_t)b->passes.context << 20 ^
                                                            (uint64_t)b->program->max_rows));
    if (b->tokenizer) hash = hash_bytes(b->tokenizer->blob, b->tokenizer->bytes, hash);
    if (b->calibrated) hash = hash_bytes(&b->calibrated, sizeof b->calibrated, hash);
    if (b->tools.mpi) hash = hash_text(b->options->with, hash ^ (uint64_t)options.gather_above);
    if (rounds_rows(b)) hash = hash_text(b->options->math, hash);
    if (b->chat.blob) hash = hash_bytes(b->chat.blob, b->chat.bytes, hash);
    text_free(&t);
    b->identity = arena_printf(b->arena, "%016llx", (unsigned long long)hash);
}

// ----------------------------------------------------------------------------------------- sources
static const char *info_text(const Build *b) {
    Text t = {0};
    const char *compiler = path_name(b->tools.clang ? b->tools.clang : TESTED_COMPILER);
    text_add(&t, "model     %s, identity %s\n", b->name, b->identity);
    text_add(&t, "weights   %s, %.1f MB, packed\n",
             b->options->quant ? b->options->quant : "as in the checkpoint",
             (double)b->image.bytes / 1e6);
    if (is_decoder(b->program))
        text_add(&t, "context   %lld tokens, %lld rows at once\n", (long long)b->passes.context,
                 (long long)b->program->max_rows);
    text_add(&t, "passes   ");
    for (int i = pass_info[b->passes.start_from].group; i < GROUP_COUNT; i++)
        text_add(&t, " %s", group_info[i].name);
    text_add(&t, "\ncompiler  burin %s, %s %s " FLAGS_NUMBERS ", for", BURIN_VERSION, compiler,
             toolchain_kernel_flags(&b->tools));
    for (int i = 0; i < b->tools.n_cpus; i++) text_add(&t, " %s", b->tools.cpus[i]->name);
    text_add(&t, "\n");
    if (b->numbers) text_add(&t, "numbers   %s\n", b->numbers);
    if (b->has_chat) text_add(&t, "editor    %s\n", b->tools.editor ? "libedit" : "none");
    if (b->tools.server) text_add(&t, "server    libevent\n");
    if (b->pictures) text_add(&t, "pictures  %s\n", pictures_formats(b));
    if (b->module->speech || b->hears) text_add(&t, "sounds    %s\n", sounds_formats(b));
    text_add(&t, "memory    at most %s\n", memory_needs_text(b));
    plan_print(&t, b->program);
    const char *text = arena_strndup(b->arena, t.data, t.length);
    text_free(&t);
    return text;
}

static void write_text(const Build *b, const char *folder, const char *suffix, Text *t) {
    write_file(arena_printf(b->arena, "%s/%s%s", folder, b->program->name, suffix), t->data,
               t->length);
    text_free(t);
}

const char *weights_symbol(const Build *b) {
    if (b->kind != OUTPUT_PROGRAM) return arena_printf(b->arena, "%s_weights", b->name);
    return b->is_draft ? "burin_draft_weights" : "burin_weights";
}

void build_sources(const Build *b, const char *folder) {
    bool library = b->kind != OUTPUT_PROGRAM;
    DispatchOptions d = {.cpus = b->tools.cpus,
                         .n_cpus = b->tools.n_cpus,
                         .identity = b->identity,
                         .info = info_text(b),
                         .tokenizer_offset = b->image.tokenizer_offset,
                         .template_offset = b->image.template_offset,
                         .template_bytes = b->chat.bytes,
                         .sums_offset = b->image.sums_offset,
                         .modes = program_modes(b),
                         .speech = program_modes(b) && b->module->speech,
                         .modes_apart = b->kind == OUTPUT_FOLDER,
                         .tokenizer_bytes = b->tokenizer ? b->tokenizer->bytes : 0};
    if (b->draft) d.draft = arena_printf(b->arena, "%s_model", b->draft->name);
    d.weights_symbol = weights_symbol(b);
    d.weights_mapped = !library && machine_is_windows(b->tools.machine);
    d.descriptor =
        library || b->is_draft ? arena_printf(b->arena, "%s_model", b->name) : "burin_model_this";
    Text source = {0}, header = {0}, dispatch = {0};
    emit_program(b->program, &source);
    emit_header(b->program, &header);
    emit_dispatch(b->program, &d, &dispatch);
    if (b->kind == OUTPUT_FOLDER && !b->is_draft)
        text_add(&dispatch,
                 "\n// The program's main finds its model by this name.\nextern const burin_model "
                 "burin_model_this "
                 "__attribute__((alias(\"%s_model\")));\n",
                 b->name);
    write_text(b, folder, ".c", &source);
    write_text(b, folder, "_plan.h", &header);
    write_text(b, folder, "_model.c", &dispatch);
    if (b->draft) build_sources(b->draft, folder);
}

// ------------------------------------------------------------------------------------------- cache
// The files of a model: configuration, imports, shards, external data, and companions.
static uint64_t hash_input(Arena *arena, const char *path, uint64_t h) {
    static const char *const models[] = {".json",  ".safetensors", ".bin",   ".burin",
                                         ".model", ".txt",         ".jinja", NULL};
    static const char *const beside[] = {".json", ".burin", ".model", ".txt", ".jinja", NULL};
    struct stat s;
    h = hash_text(path, h);
    if (!path) return h;
    if (stat(path, &s)) diag_fatal(NO_LOC, "there is no %s", path);
    if (S_ISDIR(s.st_mode)) return hash_folder(path, models, h);
    h = hash_files(path_folder(arena, path), has_suffix(path, ".json") ? models : beside,
                   hash_file(path, h));
    int n = 0;
    const char *const *external =
        has_suffix(path, ".onnx") ? onnx_external_files(arena, path, &n) : NULL;
    for (int i = 0; i < n; i++)
        if (!access(external[i], R_OK)) h = hash_file(external[i], hash_text(external[i], h));
    return h;
}

static uint64_t hash_loras(Arena *arena, const char *list, uint64_t h) {
    h = hash_text(list, h);
    for (const char *at = list; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        const char *folder = arena_strndup(arena, at, strcspn(at, ",="));
        if (!access(folder, R_OK)) h = hash_input(arena, folder, h);
    }
    return h;
}

static uint64_t hash_mmproj(Arena *arena, const Options *o, uint64_t h) {
    int n;
    const char *model = o->weights ? o->weights : o->model;
    const char *path = o->mmproj ? o->mmproj : checkpoint_find_mmproj(arena, model, &n);
    return path && !access(path, R_OK) ? hash_file(path, hash_text(path, h)) : h;
}

const char *build_cache_path(const Build *b) {
    static const char *const ours[] = {".c", ".h", ".burin", ".html", NULL};
    const Options *o = b->options;
    const char *home = burin_home(b->arena);
    build_check_models(b);
    if (o->sysroot) return NULL;  // its libraries may change
    uint64_t h = hash_file("/proc/self/exe", 0);
    h = hash_folder(arena_printf(b->arena, "%s/dsl", home), ours,
                    hash_folder(arena_printf(b->arena, "%s/runtime", home), ours, h));
    for (int i = 0; i < o->n_files; i++) h = hash_input(b->arena, o->files[i], h);
    h = hash_mmproj(b->arena, o, h);
    h = hash_input(b->arena, o->tokenizer, hash_input(b->arena, o->weights, options_key(o, h)));
    if (o->draft)
        h = drafts_by_head(o) ? hash_text(o->draft, h) : hash_input(b->arena, o->draft, h);
    h = hash_loras(b->arena, o->lora,
                   hash_input(b->arena, o->calibrate, b->tools.quick ? h + 1 : h));
    h = hash_text(wants_tensors(o) ? "net" : "text", hash_text(b->tools.machine->triple, h));
    for (int i = 0; i < b->tools.n_cpus; i++) h = hash_text(b->tools.cpus[i]->name, h);
    h = sounds_key(b, pictures_key(b, server_key(b, editor_key(b, h))));
    const char *folder = cache_folder(b->arena, "programs", h);
    return folder ? arena_printf(b->arena, "%s/%s%s", folder, b->name,
                                 machine_ending(b->tools.machine))
                  : NULL;
}
