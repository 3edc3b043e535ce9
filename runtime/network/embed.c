// The program of a sentence encoder: texts in, one embedding a text out, as lines of numbers, JSON
// or one .npy array; or the texts that are nearest to a query.
#include "network/embed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "engine/hash.h"
#include "network/model_card.h"
#include "network/network_program.h"
#include "network/rank.h"
#include "network/text_batch.h"
#include "program/lines.h"
#include "program/network_values.h"
#include "program/npy.h"
#include "program/output.h"
#include "program/progress.h"
#include "program/work_items.h"
#include "text/prompt.h"
#include "tokenizer/prompt_ids.h"

typedef struct embedder {
    const burin_model *model;
    const burin_command *command;
    burin_text_batch batch;
    size_t width;
    burin_npy npy;  // rows are written as they come
    bool streams;   // it is open
    float *all;     // the embeddings so far, where the whole is needed at the end
    size_t n, capacity;
    burin_work items;
    burin_ranking ranking;
    int64_t n_cut;  // texts that were longer than the model's
} embedder;

// ---- one text ----

static void cut_tokens(embedder *e, burin_tokens *tokens) {
    size_t n = (size_t)tokens->n,
           left = burin_cut_ids(e->model, burin_tokenizer_of(e->model), tokens->id, n, n);
    if (left == n) return;
    if (!e->n_cut++)
        burin_note("a text of %d tokens is cut: the model takes %d", tokens->n, e->model->context);
    tokens->n = (int32_t)left;
}

static void keep(embedder *e, const float *embedding) {
    if (e->n == e->capacity) {
        e->capacity = e->capacity ? 2 * e->capacity : 16;
        float *larger = realloc(e->all, e->capacity * e->width * sizeof *larger);
        if (!larger) burin_stop(BURIN_USER_MISTAKE, "the embeddings do not fit in memory");
        e->all = larger;
    }
    memcpy(e->all + e->n++ * e->width, embedding, e->width * sizeof *embedding);
}

static void print_line(const embedder *e, const float *embedding) {
    for (size_t i = 0; i < e->width; i++) burin_print("%s%.9g", i ? " " : "", (double)embedding[i]);
    burin_print("\n");
}

static void print_json(const embedder *e, const char *text, size_t bytes,
                       const burin_tokens *tokens, const float *embedding) {
    burin_print("{");
    if (text) {
        burin_print("\"text\": ");
        burin_print_json_string(text, bytes);
        burin_print(", ");
    }
    burin_print("\"ids\": [");
    for (int32_t i = 0; i < tokens->n; i++) burin_print("%s%d", i ? ", " : "", tokens->id[i]);
    burin_print("], \"embedding\": [");
    for (size_t i = 0; i < e->width; i++)
        burin_print("%s%.9g", i ? ", " : "", (double)embedding[i]);
    burin_print("]}\n");
}

static bool collects(const burin_command *c) {
    return c->similarity || c->logits_hash || c->output || (c->format && !strcmp(c->format, "npy"));
}

double burin_cosine(const float *a, const float *b, size_t n) {
    double ab = 0, aa = 0, bb = 0;
    for (size_t i = 0; i < n; i++)
        ab += (double)a[i] * (double)b[i], aa += (double)a[i] * (double)a[i],
            bb += (double)b[i] * (double)b[i];
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

static bool is_json(const burin_command *c) { return c->format && !strcmp(c->format, "json"); }

static bool wants_array(const burin_command *c) {
    return c->output || (c->format && !strcmp(c->format, "npy"));
}

static void array_path(const embedder *e, char *path, size_t room) {
    burin_output_path(path, room, e->command->output,
                      e->model->net->outputs[e->model->net->embedding].name);
}

// Of an array that nothing else needs as a whole, rows go to the file at once: a run that is
// stopped has left those.
static void open_stream(embedder *e) {
    const burin_command *c = e->command;
    static char path[4096];
    if (e->n || !wants_array(c) || c->similarity || c->logits_hash) return;
    burin_flush();
    if (!c->output) {
        e->streams = burin_npy_stream(&e->npy, STDOUT_FILENO, (int32_t)e->width);
        return;
    }
    array_path(e, path, sizeof path);
    burin_make_output_folder(c->output, 1);
    const char *why = burin_npy_open(&e->npy, path, (int32_t)e->width);
    if (why) burin_stop(BURIN_USER_MISTAKE, "cannot write %s: %s", path, why);
    e->streams = true;
}

static void keep_or_write(embedder *e, const float *embedding) {
    if (!e->streams) open_stream(e);
    enum { ROWS_BETWEEN = 32 };
    if (!e->streams)
        keep(e, embedding);
    else if (!burin_npy_add(&e->npy, embedding, 1) ||
             (e->npy.rows % ROWS_BETWEEN == 0 && !burin_npy_sync(&e->npy)))
        burin_stop(BURIN_USER_MISTAKE, "cannot write the embeddings: %s", strerror(errno));
    else
        burin_progress_kept(e->npy.rows / ROWS_BETWEEN * ROWS_BETWEEN);
}

// A line's result that is not printed at once: a score, or an embedding.
static void take_line(void *context, const burin_work_item *item, const void *given, size_t bytes) {
    embedder *e = context;
    if (e->command->rank) {
        burin_ranking_add(&e->ranking, *(const double *)given, item->line, item->bytes);
    } else {
        e->width = bytes / sizeof(float);
        keep_or_write(e, given);
    }
}

// The first of a ranking is the query.
static void take_embedding(embedder *e, const burin_work_item *item, const burin_tokens *tokens,
                           const float *embedding) {
    const burin_command *c = e->command;
    if (c->rank && !e->n) {
        keep(e, embedding);
    } else if (c->rank) {
        double score = burin_cosine(e->all, embedding, e->width);
        burin_item_give(&e->items, item, &score, sizeof score);
    } else if (collects(c)) {
        burin_item_give(&e->items, item, embedding, e->width * sizeof *embedding);
    } else if (is_json(c)) {
        print_json(e, item->line, item->bytes, tokens, embedding);
    } else {
        print_line(e, embedding);
    }
    burin_show();
}

static void take_result(void *context, const burin_batched *text,
                        const burin_batch_result *result) {
    embedder *e = context;
    e->width = result->n;
    take_embedding(e, &text->item, &text->tokens, result->data);
    if (!collects(e->command) && !e->command->rank && text->item.line)
        burin_progress_kept(text->item.index + 1);
}

// Of an item without a line the ids were given.
static void embed(embedder *e, const burin_work_item *item, burin_tokens *tokens) {
    cut_tokens(e, tokens);
    burin_text_batch_add(&e->batch, &(burin_batched){.item = *item, .tokens = *tokens});
}

burin_tokens burin_embed_tokens(const burin_model *model, const burin_command *c,
                                const char *const *names, const char *text, size_t bytes) {
    const char *prompt = burin_prompt_before(model, c, names);
    size_t before = strlen(prompt);
    char *whole = burin_allocate(1, before + bytes + 1);
    memcpy(whole, prompt, before);
    memcpy(whole + before, text, bytes);
    burin_tokens tokens = burin_tokenize(model, whole, before + bytes, true);
    free(whole);
    return tokens;
}

const char *const burin_query_prompts[] = {"query", NULL}, *const burin_document_prompts[] = {
                                                               "document", "passage", "corpus",
                                                               NULL};

static void embed_behind_prompt(embedder *e, const char *const *names,
                                const burin_work_item *item) {
    burin_tokens tokens = burin_embed_tokens(e->model, e->command, names, item->line, item->bytes);
    embed(e, item, &tokens);
}

static void embed_item(void *context, const burin_work_item *item) {
    embedder *e = context;
    embed_behind_prompt(e, e->command->rank ? burin_document_prompts : (const char *const[]){NULL},
                        item);
}

static void embed_rest(void *context) { burin_text_batch_run(&((embedder *)context)->batch); }

static burin_work_item item_of_text(const char *text) {
    return (burin_work_item){.index = -1, .line = text, .bytes = strlen(text)};
}

static void embed_query(embedder *e, const char *text) {
    const burin_work_item item = item_of_text(text);
    embed_behind_prompt(e, burin_query_prompts, &item);
}

static _Noreturn void refuse_embeddings(const embedder *e, const char *why) {
    burin_stop(BURIN_USER_MISTAKE, "--embeddings %s: %s\nhint: --format npy -f FILE > %s",
               e->command->embeddings, why, e->command->embeddings);
}

static burin_array read_embeddings(const embedder *e) {
    burin_array saved;
    char expected[96];
    const char *why = burin_npy_read(&saved, e->command->embeddings);
    if (why) {
        burin_format(expected, sizeof expected, "%.*s", (int)strcspn(why, "\n"), why);
        refuse_embeddings(e, expected);
    }
    burin_format(expected, sizeof expected, "expected f32 [lines, %lld]", (long long)e->width);
    if (saved.rank != 2 || strcmp(saved.element->name, "f32") != 0 ||
        saved.dim[1] != (int64_t)e->width)
        refuse_embeddings(e, expected);
    return saved;
}

// The saved embeddings against the query's, with their lines, or their numbers.
static void rank_saved(embedder *e) {
    burin_array saved = read_embeddings(e);
    const char *file = e->command->prompt_file;
    burin_lines lines;
    char number[32];
    if (file) burin_lines_open(&lines, file);
    for (int64_t i = 0; i < saved.dim[0]; i++) {
        burin_format(number, sizeof number, "line %lld", (long long)i + 1);
        if (file && !burin_next_line(&lines))
            refuse_embeddings(e, "it has more rows than the file has lines");
        const float *row = (const float *)saved.data + (size_t)i * e->width;
        burin_ranking_add(&e->ranking, burin_cosine(e->all, row, e->width),
                          file ? lines.line : number, file ? lines.bytes : strlen(number));
    }
    if (file && burin_next_line(&lines))
        refuse_embeddings(e, "it has fewer rows than the file has lines");
    if (file) burin_lines_close(&lines);
    free(saved.data);
}

static void embed_arguments(embedder *e) {
    for (int i = 0; i < e->command->n_texts; i++) {
        const burin_work_item item = item_of_text(e->command->texts[i]);
        embed_item(e, &item);
    }
}

static void embed_tokens(embedder *e) {
    bool empty;
    burin_tokens tokens = burin_read_prompt(e->model, e->command, e->model->context, &empty);
    embed(e, &(burin_work_item){.index = -1}, &tokens);
}

// ---- all texts ----

static void write_all(const embedder *e, const char *folder) {
    burin_array a = {.element = burin_element_named("f32"),
                     .rank = 2,
                     .dim = {(int64_t)e->n, (int64_t)e->width},
                     .data = e->all};
    char path[4096];
    a.count = e->n * e->width;
    burin_flush();
    if (!folder && !burin_npy_put(&a, STDOUT_FILENO))
        burin_stop(BURIN_USER_MISTAKE, "cannot write: %s", strerror(errno));
    if (!folder) return;
    array_path(e, path, sizeof path);
    burin_make_output_folder(folder, 1);
    const char *why = burin_npy_write(&a, path);
    if (why) burin_stop(BURIN_USER_MISTAKE, "cannot write %s: %s", path, why);
}

static void finish(embedder *e) {
    const burin_command *c = e->command;
    size_t values = e->n * e->width;
    if (c->rank) burin_ranking_print(&e->ranking, is_json(c));
    if (c->similarity) burin_print("%.6f\n", burin_cosine(e->all, e->all + e->width, e->width));
    if (c->logits_hash)
        burin_print("%016llx\n", (unsigned long long)burin_hash_bytes(burin_hash_start, e->all,
                                                                      values * sizeof *e->all));
    if (e->streams && !burin_npy_close(&e->npy))
        burin_stop(BURIN_USER_MISTAKE, "cannot write the embeddings: %s", strerror(errno));
    if (wants_array(c) && !e->streams) write_all(e, c->output);
}

int burin_embed(const burin_model *model, const burin_command *c) {
    embedder e = {
        .model = model, .command = c, .ranking = {.most = c->most_texts ? c->most_texts : 10}};
    if (c->inputs.n || c->random || c->bench) return burin_run_network(model, c);
#ifdef BURIN_SERVER
    if (c->server.address) return burin_serve_texts(model, c, NULL);
#endif
    if (wants_array(c) && !c->output && isatty(STDOUT_FILENO))
        burin_stop(BURIN_USER_MISTAKE,
                   "--format npy is no text for a terminal\nhint: > embeddings.npy");
    burin_note_seed(model->net, c);
    e.batch = (burin_text_batch){.session = burin_open(model, c, &(burin_options){0}),
                                 .output = model->net->embedding,
                                 .context = &e,
                                 .take = take_result};
    burin_text_batch_open(&e.batch, c);
    e.items = (burin_work){.context = &e,
                           .lines = c->prompt_file ? c->prompt_file : "-",
                           .compute = embed_item,
                           .rest = embed_rest,
                           .take = take_line};
    if (c->rank) embed_query(&e, c->rank);
    if (c->tokens) embed_tokens(&e);
    embed_arguments(&e);
    burin_text_batch_run(&e.batch);
    if (c->embeddings)
        rank_saved(&e);
    else if (!c->tokens && !c->n_texts)
        burin_check_lines(&e.items, burin_items_run(&e.items));
    finish(&e);
    if (e.n_cut > 1) burin_note("%lld texts were cut", (long long)e.n_cut);
    burin_ranking_free(&e.ranking);
    free(e.all);
    burin_text_batch_close(&e.batch, c);
    burin_close(e.batch.session);
    return 0;
}
