// Models that read whole texts: /v1/embeddings, /v1/rerank and /v1/classify. A step computes some
// texts of a request, and requests take turns, so that a long one does not delay the others; a
// text's numbers are those that it has alone.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "network/embed.h"
#include "network/labels.h"
#include "network/model_card.h"
#include "network/text_batch.h"
#include "program/output.h"
#include "server/server.h"
#include "text/run.h"
#include "tokenizer/prompt_ids.h"

enum { MOST_TEXTS = 4096 };

// ---- texts of a request ----
static void close_texts(burin_request *q) {
    burin_texts_job *job = q->job;
    for (int32_t i = job->begun; i < job->n; i++)
        free(job->texts[i].tokens.id), free(job->texts[i].types);
    free(job->texts), free(job->results), free(job);
}

static void compute_texts(burin_request *q);

static void open_job(burin_request *q, uint32_t n) {
    if (!n || n > MOST_TEXTS)
        burin_request_fail(q, 400, NULL, "a request must have from 1 to %d texts, and has %u",
                           MOST_TEXTS, n);
    q->job = burin_allocate(1, sizeof *q->job), q->work = compute_texts, q->close_job = close_texts;
    q->job->texts = burin_allocate(n, sizeof *q->job->texts);
}

static void add_tokens(burin_request *q, burin_tokens tokens, int32_t *types) {
    const burin_server *s = q->server;
    size_t n = (size_t)tokens.n;
    tokens.n = (int32_t)burin_cut_ids(s->model, s->tokenizer, tokens.id, n, n);
    q->job->tokens += tokens.n;
    q->job->texts[q->job->n++] = (burin_batched){.tokens = tokens, .types = types};
}

static void add_text(burin_request *q, burin_value text, const char *const *names) {
    const burin_server *s = q->server;
    int32_t *types = NULL;
    const burin_label_text one = {.first = text.text, .first_bytes = text.length};
    burin_tokens tokens =
        s->card ? burin_label_tokens(s->model, &one, &types)
                : burin_embed_tokens(s->model, s->command, names, text.text, text.length);
    add_tokens(q, tokens, types);
}

static burin_value text_of_item(burin_request *q, burin_value item, const char *field) {
    const burin_value *inner = item.kind == BURIN_DICT ? burin_body_field(q, item, "text") : NULL;
    if (inner) item = *inner;
    if (item.kind != BURIN_STRING || !item.length)
        burin_request_fail(q, 400, field,
                           "\"%s\" must be a text or a list of texts, none of them empty", field);
    return item;
}

static void add_ids(burin_request *q, const burin_list *ids) {
    int32_t most = burin_input_vocabulary(q->server->model);
    if (!most) most = burin_tokenizer_size(q->server->tokenizer);
    burin_tokens tokens = {.id = burin_allocate(ids->n, sizeof *tokens.id)};
    add_tokens(q, tokens, NULL);  // which the job frees, whatever follows
    burin_batched *x = &q->job->texts[q->job->n - 1];
    if (ids->n > (uint32_t)burin_most_tokens(q->server->model))
        burin_request_fail(q, 400, "input", "\"input\" has %u ids, the model takes %d", ids->n,
                           burin_most_tokens(q->server->model));
    for (uint32_t i = 0; i < ids->n; i++) {
        burin_value id = ids->items[i];
        if (id.kind != BURIN_INTEGER || id.integer < 0 || id.integer >= most)
            burin_request_fail(q, 400, "input",
                               "\"input\": a token's id must be a whole number from 0 to %d",
                               most - 1);
        x->tokens.id[x->tokens.n++] = (int32_t)id.integer;
    }
    q->job->tokens += x->tokens.n;
}

static bool is_ids(burin_value v) {
    return v.kind == BURIN_LIST && v.list->n && v.list->items[0].kind == BURIN_INTEGER;
}

static void add_input(burin_request *q) {
    const burin_value *input = burin_body_field(q, q->body, "input");
    if (!input) burin_request_fail(q, 400, "input", "\"input\" is missing");
    bool several = input->kind == BURIN_LIST && !is_ids(*input);
    open_job(q, several ? input->list->n : 1);
    for (uint32_t i = 0; i < (several ? input->list->n : 1); i++) {
        burin_value item = several ? input->list->items[i] : *input;
        if (is_ids(item))
            add_ids(q, item.list);
        else
            add_text(q, text_of_item(q, item, "input"), (const char *const[]){NULL});
    }
}

// ---- steps ----
static void take_result(void *context, const burin_batched *text,
                        const burin_batch_result *result) {
    burin_request *q = ((burin_server *)context)->computing;
    burin_texts_job *job = q->job;
    size_t n = q->server->card ? (size_t)result->columns : result->n;
    if (!job->results)
        job->results = burin_allocate((size_t)job->n * n, sizeof *job->results), job->width = n;
    memcpy(job->results + (size_t)text->number * n, result->data, n * sizeof *job->results);
    job->ended++;
}

static void compute_texts(burin_request *q) {
    burin_server *s = q->server;
    burin_texts_job *job = q->job;
    s->computing = q;
    for (int32_t i = 0; i < s->batch->most && job->begun < job->n; i++) {
        job->texts[job->begun].number = job->begun;
        burin_text_batch_add(s->batch, &job->texts[job->begun++]);
    }
    burin_text_batch_run(s->batch);
    if (job->ended == job->n) q->done = true, s->counters.prompt_tokens += (uint64_t)job->tokens;
}

// ---- embeddings ----
void burin_print_base64(const void *data, size_t n) {
    const unsigned char *bytes = data;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (i + 2 < n ? bytes[i + 2] : 0);
        char four[4] = {digits[three >> 18], digits[three >> 12 & 63],
                        i + 1 < n ? digits[three >> 6 & 63] : '=',
                        i + 2 < n ? digits[three & 63] : '='};
        burin_print_bytes(four, 4);
    }
}

// The first dimensions alone have length 1 again.
static void shorten(float *embedding, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)embedding[i] * (double)embedding[i];
    for (size_t i = 0; i < n && sum > 0; i++)
        embedding[i] = (float)((double)embedding[i] / sqrt(sum));
}

static void print_embedding(const burin_request *q, const float *embedding, size_t n) {
    if (q->base64) {
        burin_print("\"");
        burin_print_base64(embedding, n * sizeof *embedding);
        burin_print("\"");
        return;
    }
    burin_print("[");
    for (size_t i = 0; i < n; i++) burin_print("%s%.9g", i ? ", " : "", (double)embedding[i]);
    burin_print("]");
}

static void print_job_usage(const burin_request *q) {
    burin_print("], \"usage\": {\"prompt_tokens\": %lld, \"total_tokens\": %lld}}",
                (long long)q->job->tokens, (long long)q->job->tokens);
}

static void finish_embeddings(burin_request *q) {
    burin_texts_job *job = q->job;
    size_t n = q->dimensions ? (size_t)q->dimensions : job->width;
    if (n > job->width) {
        burin_reply_error(q, 400, "\"dimensions\" is more than the model's embeddings have");
        return;
    }
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"object\": \"list\"");
    burin_print_model(q);
    burin_print(", \"data\": [");
    for (int32_t i = 0; i < job->n; i++) {
        float *embedding = job->results + (size_t)i * job->width;
        if (n < job->width) shorten(embedding, n);
        burin_print("%s{\"object\": \"embedding\", \"index\": %d, \"embedding\": ", i ? ", " : "",
                    i);
        print_embedding(q, embedding, n);
        burin_print("}");
    }
    print_job_usage(q);
    burin_capture_into(before);
    burin_reply(q, 200, &body, NULL);
}

void burin_handle_embeddings(burin_request *q) {
    burin_body_read(q);
    const burin_value *format = burin_body_string(q, "encoding_format");
    if (q->server->card)
        burin_request_fail(q, 400, NULL,
                           "this model gives labels, no embeddings: /v1/classify, /v1/rerank");
    if (format && !burin_is_text(*format, "float") && !burin_is_text(*format, "base64"))
        burin_request_fail(q, 400, "encoding_format",
                           "\"encoding_format\" must be float or base64");
    q->base64 = format && burin_is_text(*format, "base64");
    q->dimensions = burin_body_integer(q, "dimensions", 0, 1, 1 << 20);
    add_input(q);
}

// ---- ranks ----
typedef struct ranked {
    double score;
    int32_t index;
} ranked;

static int compare_ranked(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    return x->score > y->score ? -1 : x->score < y->score ? 1 : x->index - y->index;
}

// The first text of an embedder's ranking is the query.
static double score_of(const burin_request *q, int32_t i) {
    const burin_texts_job *job = q->job;
    float score;
    if (!q->server->card)
        return burin_cosine(job->results, job->results + (size_t)(i + 1) * job->width, job->width);
    float *scores = burin_allocate(job->width, sizeof *scores);
    burin_label_scores(q->server->model, job->results + (size_t)i * job->width, (int64_t)job->width,
                       scores);
    score = *scores;
    free(scores);
    return (double)score;
}

static void finish_rerank(burin_request *q) {
    int32_t n = q->job->n - !q->server->card;
    ranked *ranks = burin_allocate((size_t)n, sizeof *ranks);
    for (int32_t i = 0; i < n; i++) ranks[i] = (ranked){score_of(q, i), i};
    qsort(ranks, (size_t)n, sizeof *ranks, compare_ranked);
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"object\": \"list\"");
    burin_print_model(q);
    burin_print(", \"results\": [");
    for (int32_t i = 0; i < n && i < q->most_results; i++)
        burin_print("%s{\"index\": %d, \"relevance_score\": %.9g}", i ? ", " : "", ranks[i].index,
                    ranks[i].score);
    print_job_usage(q);
    burin_capture_into(before);
    free(ranks);
    burin_reply(q, 200, &body, NULL);
}

static void add_pair(burin_request *q, burin_value query, burin_value document) {
    int32_t *types = NULL;
    const burin_label_text pair = {query.text, document.text, query.length, document.length};
    burin_tokens tokens = burin_label_tokens(q->server->model, &pair, &types);
    q->job->tokens += tokens.n;
    q->job->texts[q->job->n++] = (burin_batched){.tokens = tokens, .types = types};
}

void burin_handle_rerank(burin_request *q) {
    burin_body_read(q);
    const burin_server *s = q->server;
    const burin_value query = burin_body_member(q, q->body, "query", BURIN_STRING, "query"),
                      documents =
                          burin_body_member(q, q->body, "documents", BURIN_LIST, "documents");
    q->most_results = (int32_t)burin_body_integer(q, "top_n", MOST_TEXTS, 1, INT32_MAX);
    if (s->card && !burin_label_ranks(s->model))
        burin_request_fail(q, 400, NULL, "this model gives no one score for two texts");
    if (s->card && !burin_label_fits(s->model, query.text, query.length))
        burin_request_fail(q, 400, "query",
                           "\"query\" leaves no room for a document: the model takes %d tokens",
                           burin_most_tokens(s->model));
    for (uint32_t i = 0; i < documents.list->n; i++)
        text_of_item(q, documents.list->items[i], "documents");
    if (!documents.list->n) burin_request_fail(q, 400, "documents", "\"documents\" is empty");
    open_job(q, documents.list->n + !s->card);
    if (!s->card) add_text(q, text_of_item(q, query, "query"), burin_query_prompts);
    for (uint32_t i = 0; i < documents.list->n; i++) {
        burin_value text = text_of_item(q, documents.list->items[i], "documents");
        if (s->card)
            add_pair(q, query, text);
        else
            add_text(q, text, burin_document_prompts);
    }
}

// ---- labels ----
static void print_label(const burin_request *q, uint32_t column, float score, bool first) {
    const char *name = burin_card_label(q->server->card, column);
    burin_print("%s{\"label\": ", first ? "" : ", ");
    burin_print_json_string(name, strlen(name));
    burin_print(", \"score\": %.9g}", (double)score);
}

static void print_classes(const burin_request *q, const float *scores) {
    size_t n = q->job->width, best = 0;
    for (size_t i = 1; i < n; i++)
        if (scores[i] > scores[best]) best = i;
    const char *name = burin_card_label(q->server->card, (uint32_t)best);
    burin_print("\"label\": ");
    burin_print_json_string(name, strlen(name));
    burin_print(", \"num_classes\": %zu, \"labels\": [", n);
    for (size_t i = 0; i < n; i++) print_label(q, (uint32_t)i, scores[i], !i);
    burin_print("]}");
}

static void finish_classify(burin_request *q) {
    burin_texts_job *job = q->job;
    float *scores = burin_allocate(job->width, sizeof *scores);
    burin_capture body = {0}, *before = burin_capture_into(&body);
    burin_print("{\"object\": \"list\"");
    burin_print_model(q);
    burin_print(", \"data\": [");
    for (int32_t i = 0; i < job->n; i++) {
        burin_label_scores(q->server->model, job->results + (size_t)i * job->width,
                           (int64_t)job->width, scores);
        burin_print("%s{\"index\": %d, ", i ? ", " : "", i);
        print_classes(q, scores);
    }
    print_job_usage(q);
    burin_capture_into(before);
    free(scores);
    burin_reply(q, 200, &body, NULL);
}

void burin_handle_classify(burin_request *q) {
    burin_body_read(q);
    const burin_card *card = q->server->card;
    if (!card || card->task != BURIN_LABELS_TEXTS)
        burin_request_fail(q, 400, NULL, "this model gives no labels of whole texts");
    add_input(q);
}

const burin_api burin_embeddings_api = {.finished = finish_embeddings},
                burin_rerank_api = {.finished = finish_rerank},
                burin_classify_api = {.finished = finish_classify};

int burin_serve_texts(const burin_model *model, const burin_command *c, const burin_card *card) {
    burin_run base = {.model = model, .command = c, .context = burin_most_tokens(model)};
    burin_server s = {
        .base = &base, .model = model, .command = c, .routes = burin_encoder_routes, .card = card};
    burin_text_batch batch = {
        .session = burin_open(model, c, &(burin_options){0}),
        .output = card ? burin_logits_output(model->net) : model->net->embedding,
        .context = &s,
        .take = take_result};
    base.session = batch.session;
    burin_text_batch_open(&batch, c);
    s.batch = &batch, s.jobs = true;
    int status = burin_server_run(&s);
    burin_text_batch_close(&batch, c);
    burin_close(batch.session);
    return status;
}
