// The program of a model with a head: texts in, and out come labels of texts, labels of spans, or
// words for masks.
#include "network/labels.h"

#include <stdlib.h>
#include <string.h>

#include "network/model_card.h"
#include "network/network_program.h"
#include "network/pair_prompt.h"
#include "network/rank.h"
#include "network/scores.h"
#include "network/text_batch.h"
#include "program/network_values.h"
#include "program/output.h"
#include "program/work_items.h"
#include "text/prompt.h"
#include "text/run.h"
#include "text/token_spans.h"
#include "tokenizer/prompt_ids.h"

// A text, or a pair of texts; `type` of each token: of which of both it is.
typedef struct labelled {
    const char *text, *second;  // second NULL: no pair
    size_t bytes, second_bytes;
    burin_tokens tokens;
    int32_t *type;
    const float *logits;
    int64_t columns;  // of a row: labels, or words
    int64_t number;   // of the texts so far
} labelled;

typedef struct labeller {
    const burin_model *model;
    const burin_command *command;
    const burin_card *card;
    const burin_tokenizer *tokenizer;
    burin_text_batch batch;
    float *score;
    burin_work items;
    burin_ranking ranking;
    int64_t n_texts, n_cut;
} labeller;

static bool prints_json(const labeller *l) {
    return l->command->format && !strcmp(l->command->format, "json");
}

// ------------------------------------------------------------------------------------------ tokens
static void note_cut(labeller *l, int32_t n) {
    if (!l->n_cut++)
        burin_note("a text of %d tokens is cut: the model takes %d", n,
                   burin_most_tokens(l->model));
}

static void encode_one(labeller *l, labelled *x) {
    x->tokens = burin_tokenize(l->model, x->text, x->bytes, true);
    size_t n = (size_t)x->tokens.n,
           left = burin_cut_ids(l->model, l->tokenizer, x->tokens.id, n, n);
    if (left < n) note_cut(l, x->tokens.n);
    x->tokens.n = (int32_t)left;
}

// The longer of two texts is cut first, then both.
static void cut_pair(int32_t room, int32_t *a, int32_t *b) {
    int32_t *shorter = *a <= *b ? a : b, *longer = *a <= *b ? b : a;
    if (*a + *b <= room) return;
    if (*shorter > room - *shorter) *shorter = room / 2;
    *longer = room - *shorter;
}

// A model that reads two texts in a prompt of its own: the second is cut until all fits.
static void encode_prompt_of_pair(labeller *l, labelled *x, const char *prompt) {
    int32_t most = burin_most_tokens(l->model);
    burin_pair_text pair = {x->text, x->second, x->bytes, x->second_bytes};
    for (;;) {
        size_t bytes;
        uint8_t *marks;
        char *text = burin_pair_prompt(prompt, &pair, &marks, &bytes);
        x->tokens = burin_tokenize_marked(l->model, text, marks, bytes);
        free(text);
        free(marks);
        if (x->tokens.n <= most) return;
        if (!pair.second_bytes)
            burin_stop(BURIN_USER_MISTAKE,
                       "the first text and the prompt around it are %d tokens, the model takes %d",
                       x->tokens.n, most);
        if (pair.second_bytes == x->second_bytes) note_cut(l, x->tokens.n);
        burin_pair_cut(&pair, most, x->tokens.n);
        free(x->tokens.id);
    }
}

// A text of a pair: special tokens in it are text, since it would end itself otherwise and begin
// the other.
static burin_tokens encode_part(const labeller *l, const char *text, size_t bytes) {
    uint8_t *marks = burin_allocate(1, bytes + 1);
    memset(marks, 1, bytes);
    burin_tokens tokens = burin_tokenize_marked(l->model, text, marks, bytes);
    free(marks);
    return tokens;
}

static void encode_pair(labeller *l, labelled *x) {
    const burin_tokenizer *t = l->tokenizer;
    const burin_pair_item *item =
        (const burin_pair_item *)(const void *)((const char *)t + t->pair.offset);
    burin_tokens part[2] = {encode_part(l, x->text, x->bytes),
                            encode_part(l, x->second, x->second_bytes)};
    int32_t whole = part[0].n + part[1].n, around = (int32_t)t->pair.count - 2;
    cut_pair(burin_most_tokens(l->model) - around, &part[0].n, &part[1].n);
    if (part[0].n + part[1].n < whole) note_cut(l, whole + around);
    x->tokens.n = part[0].n + part[1].n + around;
    x->tokens.id = burin_allocate((size_t)x->tokens.n, sizeof *x->tokens.id);
    x->type = burin_allocate((size_t)x->tokens.n, sizeof *x->type);
    int32_t at = 0;
    for (uint32_t i = 0; i < t->pair.count; i++) {
        const burin_tokens one = {.id = (int32_t[]){item[i].id}, .n = 1};
        const burin_tokens *from = item[i].id >= 0 ? &one : &part[item[i].id == BURIN_PAIR_SECOND];
        for (int32_t j = 0; j < from->n; j++)
            x->tokens.id[at] = from->id[j], x->type[at++] = item[i].type;
    }
    free(part[0].id), free(part[1].id);
}

// ------------------------------------------------------------------------------------------ scores
static const float *scores_of(labeller *l, const float *x, int64_t n) {
    burin_scores((burin_scoring)l->card->scoring, x, n, l->score);
    return l->score;
}

static void print_text_field(const char *name, const char *text, size_t bytes) {
    burin_print("\"%s\": ", name);
    burin_print_json_string(text, bytes);
}

static void begin_json(const labelled *x) {
    burin_print("{");
    print_text_field("text", x->text, x->bytes);
    if (x->second) burin_print(", "), print_text_field("pair", x->second, x->second_bytes);
}

// --------------------------------------------------------------------------------- labels of texts
static void print_labels(labeller *l, const labelled *x) {
    const float *score = scores_of(l, x->logits, x->columns);
    int64_t most = prints_json(l)           ? x->columns
                   : l->command->most_texts ? l->command->most_texts
                                            : 1;
    if (most > x->columns) most = x->columns;
    burin_scored *best = burin_allocate((size_t)x->columns, sizeof *best);
    int64_t n = burin_best_scores(score, x->columns, most, best);
    if (prints_json(l)) begin_json(x), burin_print(", \"labels\": [");
    for (int64_t i = 0; i < n; i++) {
        const char *name = burin_card_label(l->card, (uint32_t)best[i].column);
        if (prints_json(l)) {
            burin_print(i ? ", {" : "{"), print_text_field("label", name, strlen(name));
            burin_print(", \"score\": %.6f}", (double)best[i].score);
        } else {
            if (x->columns > 1) burin_print(i ? "\t%s\t" : "%s\t", name);
            burin_print("%.6f", (double)best[i].score);
        }
    }
    burin_print(prints_json(l) ? "]}\n" : "\n");
    free(best);
}

// ------------------------------------------------------------------------------------------- spans
typedef struct span {
    const char *label;
    double score;  // sum of its tokens'
    int32_t tokens;
    size_t from, end;
} span;

// B-PER begins a span, I-PER continues one; labels without these prefixes can do both.
static const char *label_kind(const char *label, bool *begins) {
    bool marked = (*label == 'B' || *label == 'I') && label[1] == '-';
    *begins = marked && *label == 'B';
    return marked ? label + 2 : label;
}

static void print_span(const labeller *l, const labelled *x, const span *s, bool first) {
    if (!s->tokens) return;
    double score = s->score / s->tokens;
    const char *text = x->text + s->from;
    if (prints_json(l)) {
        burin_print(first ? "{" : ", {"), print_text_field("label", s->label, strlen(s->label));
        burin_print(", \"score\": %.6f, \"start\": %zu, \"end\": %zu, ", score, s->from, s->end);
        print_text_field("text", text, s->end - s->from), burin_print("}");
        return;
    }
    burin_print("%s\t%.6f\t%zu\t%zu\t", s->label, score, s->from, s->end);
    burin_print_text(text, s->end - s->from), burin_print("\n");
}

static void print_spans(labeller *l, const labelled *x) {
    burin_token_span *piece = burin_find_spans(l->tokenizer, &x->tokens, x->text, x->bytes);
    span s = {0};
    int64_t printed = 0;
    burin_scored best;
    if (prints_json(l)) begin_json(x), burin_print(", \"spans\": [");
    if (!prints_json(l) && x->number > 1) burin_print("\n");
    for (int32_t i = 0; i < x->tokens.n; i++) {
        bool begins;
        if (burin_token_is_special(l->tokenizer, x->tokens.id[i])) continue;
        burin_best_scores(scores_of(l, x->logits + i * x->columns, x->columns), x->columns, 1,
                          &best);
        const char *label = burin_card_label(l->card, (uint32_t)best.column),
                   *kind = label_kind(label, &begins);
        bool outside = !strcmp(label, "O");
        if (s.tokens && (outside || begins || strcmp(kind, s.label)))
            print_span(l, x, &s, !printed++), s.tokens = 0;
        if (outside) continue;
        if (!s.tokens) s = (span){.label = kind, .from = piece[i].from};
        s.score += (double)best.score, s.tokens++, s.end = piece[i].end;
    }
    print_span(l, x, &s, !printed);
    if (prints_json(l)) burin_print("]}\n");
    free(piece);
}

// ------------------------------------------------------------------------------------------- masks
static size_t word_of(const labeller *l, int32_t id, char *word) {
    burin_decoder decoder = {.started = true};
    size_t n = burin_decode(l->tokenizer, &decoder, id, word), blanks = 0;
    while (blanks < n && word[blanks] == ' ') blanks++;
    memmove(word, word + blanks, n - blanks);
    return n - blanks;
}

static void print_fill(const labeller *l, const labelled *x, const burin_token_span *mask,
                       burin_scored found) {
    char *word = burin_allocate(1, burin_decode_max(l->tokenizer) + 1);
    size_t n = word_of(l, (int32_t)found.column, word), rest = x->bytes - mask->end;
    char *filled = burin_allocate(1, x->bytes + n + 1);
    memcpy(filled, x->text, mask->from);
    memcpy(filled + mask->from, word, n);
    memcpy(filled + mask->from + n, x->text + mask->end, rest);
    if (prints_json(l)) {
        burin_print("{\"score\": %.6f, \"id\": %lld, ", (double)found.score,
                    (long long)found.column);
        print_text_field("word", word, n), burin_print(", ");
        print_text_field("filled", filled, mask->from + n + rest), burin_print("}");
    } else {
        burin_print("%.6f\t", (double)found.score), burin_print_text(word, n), burin_print("\t");
        burin_print_text(filled, mask->from + n + rest), burin_print("\n");
    }
    free(filled), free(word);
}

static void print_mask(labeller *l, const labelled *x, int32_t token,
                       const burin_token_span *mask) {
    enum { USUAL = 5 };
    int64_t most = l->command->most_texts ? l->command->most_texts : USUAL;
    if (most > x->columns) most = x->columns;
    burin_scored *best = burin_allocate((size_t)most + 1, sizeof *best);
    int64_t n = burin_best_scores(scores_of(l, x->logits + token * x->columns, x->columns),
                                  x->columns, most, best);
    for (int64_t i = 0; i < n; i++) {
        if (prints_json(l) && i) burin_print(", ");
        print_fill(l, x, mask, best[i]);
    }
    free(best);
}

static void fill_masks(labeller *l, const labelled *x) {
    size_t bytes;
    const char *name = burin_token_text(l->tokenizer, l->card->mask, &bytes);
    burin_token_span *piece = burin_find_spans(l->tokenizer, &x->tokens, x->text, x->bytes);
    int64_t found = 0;
    if (prints_json(l)) begin_json(x), burin_print(", \"masks\": [");
    for (int32_t i = 0; i < x->tokens.n; i++) {
        if (x->tokens.id[i] != l->card->mask) continue;
        if (prints_json(l)) burin_print(found ? ", [" : "[");
        if (!prints_json(l) && (found || x->number > 1)) burin_print("\n");
        print_mask(l, x, i, &piece[i]);
        if (prints_json(l)) burin_print("]");
        found++;
    }
    if (prints_json(l)) burin_print("]}\n");
    if (!found)
        burin_note("there is no %.*s in \"%.60s\"", (int)bytes, name ? name : "mask", x->text);
    free(piece);
}

// --------------------------------------------------------------------------------------------- run
static void take_score(void *context, const burin_work_item *item, const void *given,
                       size_t bytes) {
    double score;
    memcpy(&score, given, bytes);
    burin_ranking_add(&((labeller *)context)->ranking, score, item->line, item->bytes);
}

static void give_score(labeller *l, const labelled *x) {
    const burin_work_item item = {.line = x->second, .bytes = x->second_bytes};
    double score = (double)*scores_of(l, x->logits, x->columns);
    burin_item_give(&l->items, &item, &score, sizeof score);
}

static void print_answer_of(labeller *l, const labelled *x) {
    if (l->command->rank)
        give_score(l, x);
    else if (l->card->task == BURIN_LABELS_TEXTS)
        print_labels(l, x);
    else if (l->card->task == BURIN_LABELS_TOKENS)
        print_spans(l, x);
    else
        fill_masks(l, x);
    burin_show();
}

static void take_logits(void *context, const burin_batched *text,
                        const burin_batch_result *result) {
    labeller *l = context;
    const char *line = text->item.line;
    labelled x = {.text = line,
                  .bytes = text->second ? text->second - 1 : text->item.bytes,
                  .tokens = text->tokens,
                  .type = text->types,
                  .logits = result->data,
                  .columns = result->columns,
                  .number = text->number};
    if (text->second)
        x.second = line + text->second, x.second_bytes = text->item.bytes - text->second;
    if (!l->score) l->score = burin_allocate((size_t)x.columns, sizeof *l->score);
    print_answer_of(l, &x);
}

// Both texts of a pair are one line, with a 0 between them.
static void label(labeller *l, labelled *x) {
    size_t bytes = x->bytes + (x->second ? x->second_bytes + 1 : 0);
    char *line = burin_allocate(1, bytes + 1);
    memcpy(line, x->text, x->bytes);
    if (x->second) memcpy(line + x->bytes + 1, x->second, x->second_bytes);
    const char *prompt = burin_card_pair_prompt(l->card);
    if (x->second && prompt)
        encode_prompt_of_pair(l, x, prompt);
    else if (x->second)
        encode_pair(l, x);
    else
        encode_one(l, x);
    burin_text_batch_add(&l->batch, &(burin_batched){.item = {.line = line, .bytes = bytes},
                                                     .tokens = x->tokens,
                                                     .types = x->type,
                                                     .second = x->second ? x->bytes + 1 : 0,
                                                     .number = ++l->n_texts});
    free(line);
}

static void label_rest(void *context) { burin_text_batch_run(&((labeller *)context)->batch); }

static bool takes_pairs(const labeller *l) {
    return l->card->task == BURIN_LABELS_TEXTS &&
           (l->tokenizer->pair.count || l->card->prompts_pairs);
}

// A score of two texts: the single label, or the first of a reranker's, "yes".
static bool gives_rank(const labeller *l) {
    return takes_pairs(l) && (l->card->n_labels == 1 || l->card->prompts_pairs);
}

// A tab separates the texts of a pair.
static void label_line(labeller *l, const char *line, size_t bytes) {
    const char *tab = takes_pairs(l) ? memchr(line, '\t', bytes) : NULL;
    labelled x = {.text = line, .bytes = tab ? (size_t)(tab - line) : bytes};
    if (tab) x.second = tab + 1, x.second_bytes = bytes - x.bytes - 1;
    if (l->command->rank)
        x = (labelled){.text = l->command->rank,
                       .bytes = strlen(l->command->rank),
                       .second = line,
                       .second_bytes = bytes};
    label(l, &x);
}

static void label_arguments(labeller *l) {
    const burin_command *c = l->command;
    bool pairs = c->pair || (gives_rank(l) && c->n_texts == 2 && !c->rank);
    if (c->pair && (!takes_pairs(l) || c->n_texts % 2))
        burin_stop(BURIN_USER_MISTAKE,
                   takes_pairs(l)
                       ? "--pair takes texts by twos, here are %d"
                       : "--pair: this model or its tokenizer puts no two texts together",
                   c->n_texts);
    for (int i = 0; i < c->n_texts; i += 1 + pairs) {
        labelled x = {.text = c->texts[i], .bytes = strlen(c->texts[i])};
        if (pairs) x.second = c->texts[i + 1], x.second_bytes = strlen(x.second);
        if (pairs)
            label(l, &x);
        else
            label_line(l, x.text, x.bytes);
    }
}

static void label_item(void *context, const burin_work_item *item) {
    labeller *l = context;
    l->n_texts = item->index;
    label_line(l, item->line, item->bytes);
}

int burin_logits_output(const burin_network *net) {
    for (int i = 0; i < net->n_outputs; i++)
        if (!strcmp(net->outputs[i].name, "logits")) return i;
    return 0;
}

// ---------------------------------------------------------------------------------------- a server
burin_tokens burin_label_tokens(const burin_model *model, const burin_label_text *text,
                                int32_t **types) {
    labeller l = {.model = model,
                  .card = burin_card_of(model),
                  .tokenizer = burin_tokenizer_of(model),
                  .n_cut = 1};
    labelled x = {.text = text->first,
                  .bytes = text->first_bytes,
                  .second = text->second,
                  .second_bytes = text->second_bytes};
    const char *prompt = burin_card_pair_prompt(l.card);
    if (x.second && prompt)
        encode_prompt_of_pair(&l, &x, prompt);
    else if (x.second)
        encode_pair(&l, &x);
    else
        encode_one(&l, &x);
    *types = x.type;
    return x.tokens;
}

bool burin_label_fits(const burin_model *model, const char *first, size_t bytes) {
    const char *prompt = burin_card_pair_prompt(burin_card_of(model));
    const burin_pair_text pair = {first, "", bytes, 0};
    size_t whole;
    uint8_t *marks;
    if (!prompt) return true;
    char *text = burin_pair_prompt(prompt, &pair, &marks, &whole);
    burin_tokens tokens = burin_tokenize_marked(model, text, marks, whole);
    free(text), free(marks), free(tokens.id);
    return tokens.n <= burin_most_tokens(model);
}

bool burin_label_ranks(const burin_model *model) {
    const labeller l = {
        .model = model, .card = burin_card_of(model), .tokenizer = burin_tokenizer_of(model)};
    return gives_rank(&l);
}

void burin_label_scores(const burin_model *model, const float *logits, int64_t n, float *score) {
    labeller l = {.model = model, .card = burin_card_of(model), .score = score};
    const float *given = scores_of(&l, logits, n);
    if (given != score) memcpy(score, given, (size_t)n * sizeof *score);
}

int burin_label(const burin_model *model, const burin_command *c) {
    labeller l = {.model = model,
                  .command = c,
                  .card = burin_card_of(model),
                  .tokenizer = burin_tokenizer_of(model)};
    if (c->inputs.n || c->random || c->bench || c->output || c->logits_hash)
        return burin_run_network(model, c);
#ifdef BURIN_SERVER
    if (c->server.address) return burin_serve_texts(model, c, l.card);
#endif
    l.ranking.most = c->most_texts ? c->most_texts : 10;
    if (c->rank && !gives_rank(&l))
        burin_stop(BURIN_USER_MISTAKE, "--rank: this model gives no one score for two texts");
    if (l.card->task == BURIN_FILLS_MASKS && l.card->mask < 0)
        burin_stop(BURIN_USER_MISTAKE,
                   "the tokenizer has no token for a mask\nhint: --input input_ids=F.npy");
    l.batch = (burin_text_batch){.session = burin_open(model, c, &(burin_options){0}),
                                 .output = burin_logits_output(model->net),
                                 .context = &l,
                                 .take = take_logits};
    burin_text_batch_open(&l.batch, c);
    l.items = (burin_work){.context = &l,
                           .lines = c->prompt_file ? c->prompt_file : "-",
                           .compute = label_item,
                           .rest = label_rest,
                           .take = take_score};
    label_arguments(&l);
    burin_text_batch_run(&l.batch);
    if (!c->n_texts) burin_check_lines(&l.items, burin_items_run(&l.items));
    if (c->rank) burin_ranking_print(&l.ranking, prints_json(&l));
    if (l.n_cut > 1) burin_note("%lld texts were cut", (long long)l.n_cut);
    burin_ranking_free(&l.ranking);
    free(l.score);
    burin_text_batch_close(&l.batch, c);
    burin_close(l.batch.session);
    return 0;
}
