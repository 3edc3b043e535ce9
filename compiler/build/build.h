// From a model to the text of a program: the first part of every command. The steps in order; each
// needs the earlier ones.
#ifndef BURIN_BUILD_H
#define BURIN_BUILD_H
#include "cli/options.h"
#include "codegen/codegen.h"
#include "frontend/checkpoint.h"
#include "frontend/onnx.h"
#include "frontend/template.h"
#include "ir.h"
#include "lower/lower.h"
#include "passes/pass.h"
#include "toolchain/image.h"
#include "toolchain/toolchain.h"

typedef struct Build {
    Arena *arena;
    const Options *options;
    const char *name;  // of the program: [a-z][a-z0-9_]*
    OutputKind kind;
    bool into_cache;  // the output takes the place of any earlier one
    Toolchain tools;
    bool is_draft;              // this is the draft of another
    bool is_head;               // it is the head of the other's checkpoint (--draft=mtp)
    bool onnx;                  // MODEL is an ONNX file
    bool text;                  // that is a decoder of tokens
    bool embeds;                // texts in, embeddings out
    bool pictures;              // pictures in, or pictures in prompts
    const char *picture_modes;  // of a network that takes pictures
    bool speaks;                // texts in, speech out
    bool hears;                 // recordings in, texts or labels out
    bool labels;                // texts in, labels or words out
    bool has_chat;              // it has a chat template
    Checkpoint *checkpoint;     // NULL when MODEL is a dumped .ir or an ONNX file
    const Checkpoint
        *side_folder;  // of an ONNX encoder of texts: the folder and its config.json, no tensors
    const char *description;  // path of the .burin file
    Module *module;
    Tokenizer *tokenizer;   // or NULL
    CompiledTemplate chat;  // no blob: none
    PassContext passes;
    Program *program;
    Image image;
    uint64_t calibrated;   // a hash of the text that --calibrate has read; 0: none
    const char *identity;  // 16 hex digits
    const char *numbers;   // what --math=fast changes, in words; NULL: without that option
    struct Build *draft;   // of --draft, from build_draft on; NULL: none
    const char *written;   // path of a wheel; NULL: the output has the name of -o
    const char *reader;    // the same program for this machine, which reads --prompt; NULL: itself
} Build;

Build build_new(Arena *, const Options *);
void build_check_models(const Build *);  // ends the run when a MODEL is not there
void build_open_weights(Build *);        // the checkpoint, unless it is open
void build_open(Build *);                // checkpoint and description
void build_load(Build *);                // the graphs and the tokenizer
bool build_passes(Build *);              // false: stopped by --stop-after, --emit=ir
void build_lower(Build *);               // kernels, plan, places of the weights
// the program of --draft, up to its kernels; after build_lower
void build_draft(Build *);
bool drafts_by_head(const Options *);  // --draft=mtp

void build_sources(const Build *, const char *folder);  // the emitted C, its draft's too
const char *weights_symbol(const Build *);              // that the emitted C finds its weights by
const char *numbers_of(const Build *);                  // for Build.numbers
bool rounds_rows(const Build *);      // --math=fast changes products of this program
int build_vocabulary(const Build *);  // columns of the logits
Module *load_onnx(Build *);
// An encoder of texts (onnx_texts.c). NULL: no file defines the use of its numbers.
Module *load_onnx_texts(Build *, const OnnxOptions *, OnnxSaid *, Text *why);
void take_onnx_config(
    const Build *);  // context and ends of the configuration files beside an ONNX decoder
bool wants_tensors(const Options *);  // an ONNX decoder is to be a program of tensors
void build_special_tokens(Build *);
void build_rotary_factors(
    const Build *);  // which of LongRoPE's two lists --ctx asks for, before the description is read
void build_generation(Build *);  // of an encoder-decoder
void build_speech(
    Build *);  // features and tokens of a model that takes recordings; after build_generation
void build_context(Build *);
void build_check_positions(const Build *);
// after the passes: options without effect, results that the program lacks
void build_warnings(const Build *);
int64_t learned_positions(
    const Graph *, int64_t context);  // the smallest table that positions look up, or `context`
// Where `burin run` keeps the program of these options: the same path exactly when it would be the
// same program.
const char *build_cache_path(const Build *);
#endif
