// A program that answers HTTP requests: common declarations. One thread runs the event loop and the
// steps of the model in turn, so nothing here needs a lock; the model's own threads work within a
// step.
//
//     request -> body (JSON) -> prompt -> answers, each in a slot -> scheduler -> text, as it comes or at the end -> reply
//
// An answer's bytes depend on its request alone: rows of a step have the bits that they have alone,
// each answer draws its own random numbers, and prompts are tokenized independently of a slot's
// contents.
#ifndef BURIN_SERVER_SERVER_H
#define BURIN_SERVER_SERVER_H
#include <event2/event.h>
#include <event2/http.h>

#include "chat/tool_calls.h"
#include "template/template_value.h"
#include "text/draft.h"
#include "text/draft_model.h"
#include "text/generation.h"

typedef struct burin_server burin_server;
typedef struct burin_request burin_request;
typedef struct burin_route burin_route;
typedef struct burin_store burin_store;

enum { BURIN_MOST_CHOICES = 16, BURIN_MOST_STOPS = 16, BURIN_PARAMETER_BYTES = 128 };

typedef enum burin_answer_state {
    ANSWER_QUEUED,
    ANSWER_READING,
    ANSWER_WRITING,
    ANSWER_ENDED
} burin_answer_state;

// How much of a streamed answer was sent.
typedef struct burin_streamed {
    size_t reasoning, content, arguments;  // bytes; arguments: of the newest call
    int calls;                             // whose names were sent
    int blocks, events;  // Anthropic's blocks, or items of a response, that have ended; its events
    burin_capture item, name;  // text so far of the item of a response; the tool that it calls
    char open;                 // first letter of the kind of the block that is open; 0: none
} burin_streamed;

// Guesses of the next tokens, read after the newest one in the same step.
enum { BURIN_MOST_GUESSES = 16, BURIN_MOST_GUESS_ROWS = 32 };  // of an answer, of a step
typedef struct burin_drafts {
    int32_t guess[BURIN_MOST_GUESSES], n;
    double right;   // the share that was right recently
    double credit;  // seconds that a model may still take to read the text; NULL guesser: none
    struct burin_guesser *guesser;
    bool by_model;  // these guesses
} burin_drafts;

// One text that is generated: a choice of a request, in a slot from its first row to its last.
typedef struct burin_answer {
    burin_request *request;
    int index;  // among the request's choices
    burin_answer_state state;
    burin_run run;  // the slot, its limits, this answer's settings
    burin_generation g;
    int32_t n_prompt;              // tokens of the prompt
    int32_t cached;                // tokens that the slot already held
    int32_t forced;                // tokens of the end of its reasoning that were written by force
    int32_t thought;               // tokens of its reasoning
    int32_t picture, picture_row;  // of the request: the next one to read
    burin_drafts drafts;           // tokens that may follow, in the same step
    const char *finish;            // "stop", "length", ...; NULL before the end
    size_t sent;                   // bytes of the text that were streamed
    bool begun;                    // its first event was
    burin_streamed streamed;       // what clients have of it
    burin_capture logprobs;        // of the tokens so far, as JSON
    size_t logprobs_sent;
    struct burin_answer *next;  // in the queue, or among those at work
} burin_answer;

// How an API puts answers into replies.
typedef struct burin_api {
    void (*text)(burin_answer *);   // streamed: there may be new text
    void (*ended)(burin_answer *);  // streamed: this answer has ended
    void (*finished)(
        burin_request *);  // all answers have ended: the reply, or the end of the stream
    bool anthropic;        // shape of errors
} burin_api;

typedef struct burin_shown_picture {
    int32_t number;  // among the server's
    uint8_t *file;   // [bytes]
    size_t bytes;
} burin_shown_picture;

struct burin_request {
    burin_server *server;
    struct evhttp_request *http;  // NULL: the client has gone, or has its reply
    const char *method;
    char path[128];
    const struct burin_route *route;
    const burin_api *api;
    uint64_t turn;            // the newest step that has computed a part of its job
    const char *given;        // body of a receipt, not of a client; NULL: `http` has it
    burin_capture replayed;   // the reply to it
    char *receipt;            // the body, for a receipt that the client wants; NULL: none
    uint64_t arrived, first;  // nanoseconds; first: the first token, 0: none yet
    int status;               // of the reply; 0: none yet
    bool done, gone;          // all answers have ended; the client has left
    uint64_t sent_at;         // nanoseconds: the newest bytes of its stream; 0: none yet
    bool stream, streaming;   // streamed; its headers are sent
    const char *stream_type;
    bool include_usage;
    // The body, as values in one block of memory that ends with the preparation of the answers.
    burin_render_state r;
    burin_rendering memory;
    burin_value body;
    burin_rendering rendering;
    char error[1024], parameter[BURIN_PARAMETER_BYTES], code[32];
    // Settings that all choices share; texts of stops belong to the request.
    burin_command command;
    char *stop_texts;
    char *echo;  // prefix of each text; NULL: none
    size_t echo_bytes;
    int32_t *prompt, n_prompt;
    int32_t n_system;               // tokens of the system message, where a store keeps it; 0: none
    burin_shown_picture *pictures;  // in the order of the prompt
    int32_t n_pictures, most_pictures;
    bool chat;
    burin_tool_format tools;
    // answers may call; the prompt lists tools; an answer ends after its first call
    bool has_tools, shows_tools, one_call;
    bool plain_tools;         // messages tell of the tools as text
    char *grammar;            // that answers obey; NULL: none
    bool thinking;            // the prompt ends within reasoning
    int64_t thinking_budget;  // tokens of reasoning; -1: any number
    burin_tokens end_of_thought;
    int64_t logprobs;  // likeliest tokens beside each; -1: none
    char id[48];
    void (*work)(burin_request *);  // computes a part of its job; NULL: it has answers, or none
    void (*close_job)(burin_request *);  // frees it
    struct burin_texts_job *job;         // of an encoder; NULL: none
    struct burin_sound_job *sound;       // of a recording, or of speech; NULL: none
    const char *file;  // [file_bytes] of multipart/form-data, the client's; NULL: none
    size_t file_bytes;
    int32_t most_results;  // of a ranking
    bool base64;           // floats as base64
    int64_t dimensions;    // of embeddings; 0: all
    int64_t created;       // seconds since 1970
    char now[32];          // the same as the template's clock: "2025-07-05 14:03:09"
    burin_answer *answers;
    int n_answers, n_ended;
    burin_request *next, *before;  // of all that are open
};

// Texts of a request to a model that reads whole texts: each step computes some of them.
typedef struct burin_texts_job {
    struct burin_batched *texts;  // n texts
    int32_t n, begun, ended;
    float *results;  // [n][width], once the first is known
    size_t width;
    int64_t tokens;
} burin_texts_job;

typedef struct burin_slot {
    int32_t *tokens, n;    // its memory
    int32_t saved;         // how many of them a file has since its newest answer; 0: not known
    burin_answer *answer;  // that is at work in it; NULL: free
    uint64_t used;         // the server's count of answers when it was used last
} burin_slot;

// Since the start
typedef struct burin_counters {
    uint64_t requests, failed, cancelled, answers;
    uint64_t prompt_tokens, cached_tokens, completion_tokens, steps, rows, guesses, right_guesses;
    double prompt_seconds, completion_seconds;
} burin_counters;

typedef struct burin_limits {
    int32_t slots, queue, max_tokens, max_messages, timeout;
    size_t max_body;
} burin_limits;

struct burin_server {
    const burin_model *model;
    const burin_command *command;
    burin_run *base;  // whose session all answers share
    const void *tokenizer;
    const char *name;                // of the model, for clients
    char fingerprint[48];            // of the program and its options
    const burin_route *routes;       // ends with a path that is NULL
    bool jobs;                       // requests are computed part by part, without slots
    struct burin_text_batch *batch;  // of an encoder; NULL: none
    struct burin_sounds *sounds;     // of recordings and speech; NULL: none
    const struct burin_card *card;   // of an encoder's head; NULL: it embeds
    burin_request *computing;        // whose texts are in this step
    struct event_base *events;
    struct evhttp *http;
    struct evconnlistener *listener;
    struct event *signals[2], *retry;
    burin_limits limits;
    burin_slot *slots;
    burin_store *store;  // of snapshots; NULL: none
    burin_row *rows;
    burin_embedding *vectors;  // of rows that are a picture's; NULL: the model has no eyes
    burin_answer **wanted;     // [logit_rows] whose logits a step gives, in order
    float *logits;             // [logit_rows][vocab_size]
    int logit_rows;            // slots, and guesses of a step
    burin_guess_source drafts;
    burin_answer *queue, **queue_end, *working;
    int n_queued, n_working, turn;
    burin_request *requests;
    int n_requests, n_unsent;  // n_unsent: replies on their way to clients
    bool draining;
    double decode_seconds,
        row_seconds,    // of a step without prompts, of a prompt's row in a step: recent means
        guess_seconds,  // of a guess's row in a step
        model_seconds, catch_up_seconds;  // of a model's guess; of a token that it reads
    burin_counters counters;
    uint64_t started, count;  // count: of answers that began
};

// ---- http.c ----
struct burin_route {
    const char *path;
    enum evhttp_cmd_type method;
    void (*handle)(burin_request *);  // within burin_request_run
    const burin_api *api;             // NULL: it replies at once, with errors of OpenAI's shape
    bool open;                        // needs no key
};
void burin_http_open(burin_server *);
// They end with a path that is NULL.
extern const burin_route burin_routes[], burin_encoder_routes[], burin_recording_routes[],
    burin_voice_routes[];
// The route of a path. NULL: none; *known: the path takes another method.
const burin_route *burin_route_find(const burin_route *, const char *path, enum evhttp_cmd_type,
                                    bool *known);
void burin_request_run(burin_request *);  // its route's handler
// Calls a function that may fail the request.
void burin_request_try(burin_request *, void (*)(burin_request *));
void burin_request_set_time(burin_request *, int64_t created);
// Replies with what `body` captured, as JSON unless another type is named.
void burin_reply(burin_request *, int status, burin_capture *body, const char *type);
void burin_reply_error(burin_request *, int status, const char *message);
bool burin_client_is_there(const burin_request *);
void burin_stream_begin(burin_request *);  // as q->stream_type; NULL: an event stream
void burin_stream_send(burin_request *,
                       burin_capture *event);  // bytes of an event stream; empties the capture
void burin_stream_end(burin_request *);
void burin_request_abort(burin_request *, int status,
                         const char *message);  // ends its answers with an error
void burin_request_close(burin_request *);      // ends its answers, logs it, frees it

// ---- body.c: fields of a body, by name; other types fail with status 400 ----
_Noreturn void burin_request_fail(burin_request *, int status, const char *parameter,
                                  const char *format, ...) __attribute__((format(printf, 4, 5)));
void burin_body_read(burin_request *);
void burin_form_data_read(burin_request *);  // multipart.c: the same of multipart/form-data
// Memory for the values of a body of this size, which may be too large.
void burin_body_open(burin_request *, size_t bytes, size_t memory);
bool burin_body_is_text(const char *, size_t bytes);  // UTF-8
const burin_value *burin_body_field(burin_request *, burin_value dict,
                                    const char *name);  // NULL: absent, or null
bool burin_body_bool(burin_request *, const char *name, bool absent);
int64_t burin_body_integer(burin_request *, const char *name, int64_t absent, int64_t least,
                           int64_t most);
double burin_body_number(burin_request *, const char *name, double absent, double least,
                         double most);
const burin_value *burin_body_string(burin_request *, const char *name);  // NULL: absent
const burin_value *burin_body_list(burin_request *, const char *name);
const burin_value *burin_body_dict(burin_request *, const char *name);
// Fields set anew; a member that must be there (`where`: of messages); does "type" name this?
burin_value burin_body_text(const char *);
void burin_body_set(burin_request *, burin_value dict, const char *key, burin_value);
burin_value burin_body_member(burin_request *, burin_value dict, const char *key, burin_value_kind,
                              const char *where);
bool burin_body_has_type(burin_request *, burin_value dict, const char *type);
char *burin_copy_text(burin_value);  // terminated; the caller frees it

// ---- settings.c, prompt.c ----
void burin_settings_read(burin_request *,
                         int64_t max_tokens);  // sampling, stops, n: into the request's command
burin_value burin_prompt_json(burin_request *,
                              const burin_value *tools);  // messages as burin_render takes them
void burin_prompt_chat(burin_request *);                  // from messages and tools
void burin_prompt_plain(burin_request *, burin_value);    // from a text, or ids
void burin_prompt_infill(burin_request *, burin_value before, burin_value after);
void burin_prompt_encode(burin_request *, const burin_encoding *);

// ---- pictures.c ----
bool burin_part_is_picture(burin_request *, burin_value part);
// The part that templates read; `where`: its path, for errors.
burin_value burin_picture_part(burin_request *, burin_value part, const char *where);
void burin_pictures_encode(burin_request *, const burin_encoding *);  // the prompt, with pictures
void burin_pictures_pass(burin_answer *, int32_t tokens);  // the slot holds this beginning
burin_embedding burin_pictures_next(burin_answer *);       // the next row of the prompt's pictures
// Returns true if the prompt must not be divided before this token: within rows that see each
// other.
bool burin_pictures_divide(const burin_request *, int32_t at);
void burin_pictures_leave(burin_request *);

// ---- forms.c: what answers must be; its grammar's mistakes fail ----
burin_value burin_body_json(burin_request *, burin_value);
void burin_form_read(burin_request *);   // response_format, json_schema, grammar
void burin_form_tools(burin_request *);  // tools, tool_choice
// plain_tools.c: false: the template has its own form, or one that is not known
bool burin_plain_tools_open(burin_request *);
void burin_plain_tools_write(burin_request *, burin_value messages);
struct burin_constraint *burin_form_open(const burin_request *);

// ---- answers.c ----
void burin_answers_open(burin_request *);  // puts them into the queue; fails where it is full
void burin_answer_open(burin_answer *, int32_t slot, int32_t cached);
void burin_answer_close(burin_answer *);  // frees its memory

void burin_answer_follow_form(burin_answer *);           // after each token
void burin_answer_note_thought(burin_answer *);          // the same: counts tokens of reasoning
long long burin_request_thought(const burin_request *);  // of all its answers
// Before each token: reasoning beyond its budget ends.
void burin_answer_end_thought(burin_answer *, float *logits);
bool burin_answer_has_call(const burin_answer *);  // a whole one

// ---- schedule.c ----
bool burin_server_step(burin_server *);  // one step of all running answers; false: there are none
bool burin_job_step(burin_server *);     // the same of a server of jobs
void burin_answer_drop(burin_answer *);  // out of the queue and its slot

// ---- drafts.c ----
void burin_drafts_open(burin_answer *);
void burin_drafts_close(burin_answer *);
// Sets a->drafts: guesses that are worth their rows, at most this many. `writing`: answers in the
// step.
void burin_drafts_guess(burin_answer *, int32_t most, int writing);
void burin_drafts_learn(burin_answer *, int32_t right);  // right: accepted guesses

// ---- stream.c: the parts of a streamed answer, each byte once ----
typedef enum burin_stream_part { BURIN_STREAM_REASONING, BURIN_STREAM_CONTENT } burin_stream_part;
typedef struct burin_stream_printer {
    void (*part)(burin_answer *, burin_stream_part, const char *text, size_t bytes);
    // More of a call's arguments; `name`: it begins here, else NULL
    void (*call)(burin_answer *, int number, const burin_call_part *name, const char *arguments,
                 size_t bytes);
} burin_stream_printer;
bool burin_stream_parts(burin_answer *,
                        const burin_stream_printer *);  // true: it has called a tool

// ---- completions.c ----
void burin_handle_chat(burin_request *);
void burin_handle_completion(burin_request *);
void burin_handle_infill(burin_request *);
void burin_print_model(const burin_request *);                 // , "model": NAME
void burin_name_request(burin_request *, const char *prefix);  // its id

// ---- anthropic.c, responses.c, texts.c, state.c ----
void burin_handle_messages(burin_request *);
void burin_handle_count_tokens(burin_request *);
void burin_handle_response(burin_request *);
void burin_handle_tokenize(burin_request *);
void burin_handle_detokenize(burin_request *);
void burin_handle_template(burin_request *);
void burin_handle_metrics(burin_request *);
void burin_handle_props(burin_request *);
void burin_handle_slots(burin_request *);

// ---- store.c ----
void burin_store_open(burin_server *);
void burin_store_close(burin_server *);
void burin_store_keep(burin_server *, int32_t slot,
                      int32_t kept);  // before the slot loses all tokens but the first `kept`
void burin_store_keep_system(burin_server *, int32_t slot);  // at the end of a system message
void burin_store_keep_idle(burin_server *);                  // one slot's newest answer
// Loads a snapshot that holds more of the prompt than these tokens of the slot. Returns how many
// tokens the slot can keep.
int32_t burin_store_load(burin_server *, int32_t slot, const burin_request *, int32_t cached);
void burin_handle_slot(burin_request *);

// ---- encoders.c ----
void burin_handle_embeddings(burin_request *);
void burin_handle_rerank(burin_request *);
void burin_handle_classify(burin_request *);
void burin_print_base64(const void *, size_t bytes);

// ---- sounds.c ----
void burin_handle_transcription(burin_request *);
void burin_handle_translation(burin_request *);
void burin_handle_speech(burin_request *);

// ---- receipt.c: requests that can be answered again ----
void burin_receipt_read(burin_request *);   // "receipt": true
void burin_print_receipt(burin_request *);  // , "receipt": {...}, if the client wants one
uint64_t burin_prompt_hash(const burin_request *);

// ---- serve.c ----
void burin_server_open(burin_server *);  // the memory of its slots, its limits and names
void burin_server_close(burin_server *);
int burin_server_run(burin_server *);  // until it is told to stop
#endif
