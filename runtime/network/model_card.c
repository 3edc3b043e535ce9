#include "network/model_card.h"

#include <string.h>

#include "program/output.h"

const burin_card *burin_card_of(const burin_model *m) {
    if (!m->net || !m->template_bytes) return NULL;
    return (const burin_card *)(const void *)(m->weights() + m->template_offset);
}

static const char *card_string(const burin_card *card, uint32_t i) {
    const char *s = (const char *)(card + 1);
    while (i--) s += strlen(s) + 1;
    return s;
}

const char *burin_card_label(const burin_card *card, uint32_t i) { return card_string(card, i); }

const char *burin_card_pair_prompt(const burin_card *card) {
    return card->prompts_pairs ? card_string(card, card->n_labels + 2 * card->n_prompts) : NULL;
}

bool burin_labels(const burin_model *m) {
    const burin_card *card = burin_card_of(m);
    return card && (card->task == BURIN_LABELS_TEXTS || card->task == BURIN_LABELS_TOKENS ||
                    card->task == BURIN_FILLS_MASKS);
}

// The settings at the end of a card of this task.
static const void *settings_of(const burin_model *m, burin_task task, size_t bytes) {
    const burin_card *card = burin_card_of(m);
    return card && card->task == task ? (const char *)card + card->bytes - bytes : NULL;
}

const burin_picture *burin_card_picture(const burin_model *m) {
    static const burin_task tasks[] = {BURIN_LABELS_PICTURES, BURIN_EMBEDS_PICTURES,
                                       BURIN_FINDS_OBJECTS, BURIN_MAPS_PIXELS};
    const burin_picture *p =
        settings_of(m, BURIN_MATCHES_PICTURES, sizeof(burin_picture) + sizeof(burin_pairing));
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks && !p; i++)
        p = settings_of(m, tasks[i], sizeof *p);
    return p;
}

const burin_pairing *burin_card_pairing(const burin_model *m) {
    return settings_of(m, BURIN_MATCHES_PICTURES, sizeof(burin_pairing));
}

const burin_voice *burin_card_voice(const burin_model *m) {
    return settings_of(m, BURIN_SPEAKS, sizeof(burin_voice));
}

const burin_listener *burin_card_listener(const burin_model *m) {
    return settings_of(m, BURIN_HEARS, sizeof(burin_listener));
}

static int32_t prompt_named(const burin_card *card, const char *name) {
    for (uint32_t i = 0; i < card->n_prompts; i++)
        if (!strcmp(card_string(card, card->n_labels + 2 * i), name)) return (int32_t)i;
    return -1;
}

static _Noreturn void no_such_prompt(const burin_card *card, const char *name) {
    if (!card || !card->n_prompts)
        burin_stop(BURIN_USER_MISTAKE, "--prompt-name %s: this model has no prompts", name);
    char names[512];
    size_t at = 0;
    for (uint32_t i = 0; i < card->n_prompts; i++) {
        const char *one = card_string(card, card->n_labels + 2 * i);
        if (at + strlen(one) + 3 > sizeof names) break;
        for (const char *c = at ? ", " : ""; *c; c++) names[at++] = *c;
        for (; *one; one++) names[at++] = *one;
    }
    names[at] = 0;
    burin_stop(BURIN_USER_MISTAKE, "--prompt-name %s: this model has the prompts %s", name, names);
}

const char *burin_prompt_before(const burin_model *m, const burin_command *c,
                                const char *const *names) {
    const burin_card *card = burin_card_of(m);
    int32_t found = c->prompt_name && card ? prompt_named(card, c->prompt_name) : -1;
    if (c->prompt_text) return c->prompt_text;
    if (c->prompt_name && found < 0) no_such_prompt(card, c->prompt_name);
    for (; found < 0 && card && *names; names++) found = prompt_named(card, *names);
    if (found < 0 && card) found = card->default_prompt;
    return found < 0 ? "" : card_string(card, card->n_labels + 2 * (uint32_t)found + 1);
}
