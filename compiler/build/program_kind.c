#include "build/program_kind.h"

#include <stdlib.h>
#include <string.h>

#define MODES(name) #name, &burin_modes_##name
static const ProgramKind kinds[] = {
    {MODES(text), "\"Once upon a time\""},
    {MODES(chat), "--chat"},
    {MODES(text_eyes), "\"Once upon a time\""},
    {MODES(chat_eyes), "--chat"},
    {MODES(sources), "\"a text\""},
    {MODES(picture_text), "photo.jpg"},
    {MODES(speech), "talk.wav"},
    {MODES(network), "--info"},
    {MODES(embed), "\"a text\""},
    {MODES(label), "\"a text\""},
    {MODES(picture), "photo.jpg"},
    {MODES(picture_embed), "photo.jpg"},
    {MODES(picture_objects), "photo.jpg"},
    {MODES(picture_map), "photo.jpg"},
    {MODES(picture_match), "photo.jpg"},
    {MODES(voice), "\"Hello there.\" -o hello.wav"},
    {MODES(listen), "talk.wav"},
};

static const char *modes_of_network(const Build *b) {
    const burin_network *net = &describe_net(b->program)->net;
    if (b->pictures) return b->picture_modes;
    if (b->speaks) return "voice";
    if (b->hears) return "listen";
    if (b->labels) return "label";
    return b->tokenizer && net->tokens >= 0 && net->embedding >= 0 ? "embed" : "network";
}

static const char *modes_of(const Build *b) {
    if (b->module->speech) return "speech";
    if (!is_decoder(b->program)) return modes_of_network(b);
    if (b->module->eyes) return b->has_chat ? "chat_eyes" : "text_eyes";
    if (b->program->encoder) return b->pictures ? b->picture_modes : "sources";
    return b->has_chat ? "chat" : "text";
}

const ProgramKind *program_kind(const Build *b) {
    const char *modes = modes_of(b);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].name, modes)) return &kinds[i];
    abort();  // the table lacks a row
}

const char *program_modes(const Build *b) {
    if (b->is_draft || (b->kind != OUTPUT_PROGRAM && b->kind != OUTPUT_FOLDER)) return NULL;
    return program_kind(b)->name;
}

const char *program_trial(const Build *b) {
    bool reads_ids = is_decoder(b->program) && !b->module->speech && !b->pictures && !b->tokenizer;
    return reads_ids ? "--tokens 1,2,3" : program_kind(b)->trial;
}
