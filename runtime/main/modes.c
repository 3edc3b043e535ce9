#include "text/modes.h"

#include "bench/bench.h"
#include "chat/conversation.h"
#include "image/classify.h"
#include "image/eyes.h"
#include "image/source.h"
#include "main/run_text.h"
#include "network/embed.h"
#include "network/labels.h"
#include "network/network_program.h"
#include "program/network_values.h"
#include "sound/listen.h"
#include "sound/transcribe.h"
#include "text/line_slots.h"
#include "voice/speak.h"

const struct burin_modes burin_modes_text = {.kind = BURIN_DECODER,
                                             .run = burin_run_text,
                                             .serve = burin_serve,
                                             .lines = burin_continue_lines};

const struct burin_modes burin_modes_chat = {.kind = BURIN_DECODER,
                                             .run = burin_run_text,
                                             .serve = burin_serve,
                                             .chat = burin_chat,
                                             .messages = burin_answer_messages,
                                             .question = burin_answer_question,
                                             .lines = burin_answer_lines};

const struct burin_modes burin_modes_text_eyes = {.kind = BURIN_SEER,
                                                  .run = burin_run_text,
                                                  .see = burin_see,
                                                  .look = burin_look,
                                                  .recall = burin_recall,
                                                  .lines = burin_continue_lines};

const struct burin_modes burin_modes_chat_eyes = {.kind = BURIN_SEER,
                                                  .run = burin_run_text,
                                                  .serve = burin_serve,
                                                  .chat = burin_chat,
                                                  .messages = burin_answer_messages,
                                                  .question = burin_answer_question,
                                                  .see = burin_see,
                                                  .look = burin_look,
                                                  .recall = burin_recall,
                                                  .lines = burin_answer_lines};

const struct burin_modes burin_modes_sources = {.kind = BURIN_ENCODER_DECODER,
                                                .run = burin_run_text,
                                                .print_network = burin_network_print,
                                                .from_sources = burin_generate_from_sources,
                                                .bench_encoder = burin_bench_encoder};

const struct burin_modes burin_modes_picture_text = {.kind = BURIN_ENCODER_DECODER,
                                                     .run = burin_run_text,
                                                     .print_network = burin_network_print,
                                                     .from_sources = burin_generate_from_sources,
                                                     .bench_encoder = burin_bench_encoder,
                                                     .picture = burin_picture_source};

const struct burin_modes burin_modes_speech = {.kind = BURIN_TRANSCRIBER,
                                               .run = burin_run_text,
                                               .serve = burin_serve_recordings,
                                               .transcribe = burin_transcribe,
                                               .print_network = burin_network_print,
                                               .from_sources = burin_generate_from_sources,
                                               .bench_encoder = burin_bench_encoder};

const struct burin_modes burin_modes_network = {
    .kind = BURIN_NETWORK, .run = burin_run_network, .print_network = burin_network_print};

const struct burin_modes burin_modes_embed = {
    .kind = BURIN_EMBEDDER, .run = burin_embed, .print_network = burin_network_print};

const struct burin_modes burin_modes_picture = {
    .kind = BURIN_CLASSIFIER, .run = burin_classify, .print_network = burin_network_print};

const struct burin_modes burin_modes_picture_embed = {
    .kind = BURIN_CLASSIFIER, .run = burin_embed_pictures, .print_network = burin_network_print};

const struct burin_modes burin_modes_picture_objects = {
    .kind = BURIN_CLASSIFIER, .run = burin_find_objects, .print_network = burin_network_print};

const struct burin_modes burin_modes_picture_map = {
    .kind = BURIN_CLASSIFIER, .run = burin_map_pixels, .print_network = burin_network_print};

const struct burin_modes burin_modes_picture_match = {
    .kind = BURIN_CLASSIFIER, .run = burin_match_pictures, .print_network = burin_network_print};

const struct burin_modes burin_modes_voice = {
    .kind = BURIN_SPEAKER, .run = burin_speak, .print_network = burin_network_print};

const struct burin_modes burin_modes_listen = {
    .kind = BURIN_LISTENER, .run = burin_listen, .print_network = burin_network_print};

const struct burin_modes burin_modes_label = {
    .kind = BURIN_LABELLER, .run = burin_label, .print_network = burin_network_print};
