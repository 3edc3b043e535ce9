#include "frontend/card.h"

#include <string.h>
#include <unistd.h>

#include "engine/card.h"
#include "runtime/tokenizer/tokenizer.h"
#include "util/diag.h"
#include "util/json.h"
#include "util/text.h"

static const json_t *sentence_config(Arena *arena, const char *folder, Loc *loc) {
    const char *path = arena_printf(arena, "%s/config_sentence_transformers.json", folder);
    if (access(path, F_OK)) return NULL;
    const Source *s = read_source(arena, path);
    *loc = loc_file(s);
    return json_read(arena, s, s->text, s->size);
}

static void add_string(Text *t, const char *s) { text_append(t, s, strlen(s) + 1); }

// A name and a text each; the default's number.
static void add_prompts(Text *t, const json_t *config, Loc loc, burin_card *card) {
    const json_t *prompts = json_object_get(config, "prompts"), *value;
    const char *usual = json_string_value(json_object_get(config, "default_prompt_name")), *name;
    card->default_prompt = -1;
    json_object_foreach((json_t *)prompts, name, value) {
        if (!json_is_string(value)) diag_fatal(loc, "the prompt \"%s\" is no text", name);
        if (usual && !strcmp(name, usual)) card->default_prompt = (int32_t)card->n_prompts;
        add_string(t, name), add_string(t, json_string_value(value));
        card->n_prompts++;
    }
    if (usual && card->default_prompt < 0)
        diag_fatal(loc, "\"default_prompt_name\" is \"%s\", and \"prompts\" has none of that name",
                   usual);
}

// ------------------------------------------------------------------------------------------ labels
static int64_t last_dim(const Node *n) {
    int64_t size = 0;
    if (n->type.rank) dim_is_const(n->type.dim[n->type.rank - 1], &size);
    return size;
}

static bool fits(const Checkpoint *c, const Node *logits, burin_card *card) {
    static const struct {
        const char *end;
        burin_task task;
        int rank;
    } classes[] = {{"ForSequenceClassification", BURIN_LABELS_TEXTS, 1},
                   {"ForTokenClassification", BURIN_LABELS_TOKENS, 2},
                   {"ForMaskedLM", BURIN_FILLS_MASKS, 2}};
    const char *name = checkpoint_class(c);
    for (size_t i = 0; logits && name && i < sizeof classes / sizeof *classes; i++)
        if (text_ends_with(name, classes[i].end) && logits->type.rank == classes[i].rank &&
            last_dim(logits)) {
            card->task = classes[i].task;
            return true;
        }
    return false;
}

// {"0": "negative", "1": "positive"}; missing labels get transformers' default names.
uint32_t card_add_labels(Text *t, const Checkpoint *c, int64_t n) {
    const json_t *names = json_object_get(c->config, "id2label");
    char key[32];
    for (int64_t i = 0; i < n; i++) {
        snprintf(key, sizeof key, "%lld", (long long)i);
        const char *name = json_string_value(json_object_get(names, key));
        snprintf(key, sizeof key, "LABEL_%lld", (long long)i);
        add_string(t, name ? name : key);
    }
    return (uint32_t)n;
}

// The class of torch.nn that a cross-encoder's scores go through: since version 5.4
// sentence-transformers writes it into a file of its own. NULL: none is said.
static const char *activation_of(Arena *arena, const Checkpoint *c) {
    static const char *const known[] = {"Identity", "Sigmoid", "Softmax"};
    Loc loc = checkpoint_config_loc(c, "sentence_transformers");
    const json_t *config = sentence_config(arena, c->folder, &loc),
                 *own = json_object_get(config, "activation_fn");
    if (!own)
        own = json_object_get(json_object_get(c->config, "sentence_transformers"), "activation_fn");
    if (!own) own = json_object_get(c->config, "sbert_ce_default_activation_function");
    const char *name = json_string_value(own);
    for (size_t i = 0; name && i < sizeof known / sizeof *known; i++)
        if (text_ends_with(name, known[i])) return known[i];
    if (name)
        diag_fatal(loc,
                   "the activation_fn \"%s\" is not supported\nhint: torch.nn's Identity, Sigmoid "
                   "and Softmax are",
                   name);
    return NULL;
}

// What sentence-transformers' CrossEncoder and transformers' pipelines make of the numbers.
static burin_scoring scoring_of(Arena *arena, const Checkpoint *c, const burin_card *card) {
    if (card->task != BURIN_LABELS_TEXTS) return BURIN_SOFTMAX;
    const char *function = activation_of(arena, c),
               *problem = json_string_value(json_object_get(c->config, "problem_type"));
    if (function && !strcmp(function, "Identity")) return BURIN_AS_IT_IS;
    if (function) return !strcmp(function, "Sigmoid") ? BURIN_SIGMOID : BURIN_SOFTMAX;
    if (problem && !strcmp(problem, "regression")) return BURIN_AS_IT_IS;
    if (card->n_labels == 1 || (problem && !strcmp(problem, "multi_label_classification")))
        return BURIN_SIGMOID;
    return BURIN_SOFTMAX;
}

// The mask token: the one named by tokenizer_config.json, or by its usual names.
static int32_t mask_of(Arena *arena, const Checkpoint *c, const Tokenizer *tokenizer) {
    static const char *const usual[] = {"[MASK]", "<mask>"};
    json_t *config = json_beside(c->folder, "tokenizer_config.json");
    const json_t *token = config ? json_object_get(json_own(arena, config), "mask_token") : NULL;
    const char *name =
        json_string_value(json_is_object(token) ? json_object_get(token, "content") : token);
    int32_t id = name ? burin_token_find(tokenizer->blob, name, strlen(name)) : -1;
    for (size_t i = 0; id < 0 && i < sizeof usual / sizeof *usual; i++)
        id = burin_token_find(tokenizer->blob, usual[i], strlen(usual[i]));
    return id;
}

static bool reads_tokens(const Graph *g) {
    for (int i = 0; i < g->n_inputs; i++)
        if (input_role(g->inputs[i]) == INPUT_TOKENS) return g->inputs[i]->type.rank == 1;
    return false;
}

static const Node *logits_of(const Graph *g) {
    int at = graph_output_index(g, "logits");
    return at < 0 ? NULL : g->outputs[at];
}

bool card_has_labels(const Checkpoint *c, const Graph *g) {
    return reads_tokens(g) && fits(c, logits_of(g), &(burin_card){0});
}

Card card_read(Arena *arena, const Checkpoint *c, const Graph *g, const Tokenizer *tokenizer,
               bool embeds) {
    burin_card card = {
        .magic = BURIN_CARD_MAGIC, .version = BURIN_CARD_VERSION, .mask = -1, .default_prompt = -1};
    const Node *logits = logits_of(g);
    Text strings = {0};
    Loc loc = NO_LOC;
    bool labels = !embeds && reads_tokens(g) && fits(c, logits, &card);
    if (!embeds && !labels) return (Card){0};
    if (card.task == BURIN_FILLS_MASKS)
        card.mask = mask_of(arena, c, tokenizer);
    else if (labels)
        card.n_labels = card_add_labels(&strings, c, last_dim(logits));
    card.scoring = scoring_of(arena, c, &card);
    const json_t *prompts = embeds ? sentence_config(arena, c->folder, &loc) : NULL;
    if (prompts) add_prompts(&strings, prompts, loc, &card);
    card.prompts_pairs = card.task == BURIN_LABELS_TEXTS && c->pair_prompt;
    if (card.prompts_pairs) add_string(&strings, c->pair_prompt);
    if (embeds && !card.n_prompts) return (Card){0};
    card.bytes = (uint32_t)(sizeof card + strings.length);
    Card made = {.blob = arena_alloc(arena, (card.bytes + 7) / 8 * 8),
                 .bytes = card.bytes,
                 .labels = labels};
    memcpy(made.blob, &card, sizeof card);
    if (strings.length) memcpy((char *)made.blob + sizeof card, strings.data, strings.length);
    text_free(&strings);
    return made;
}
