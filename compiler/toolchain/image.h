// The bytes that a program maps: packed weights, the tokenizer, a checksum of each
// (runtime/engine/integrity.h); and how they get into ELF files, streaming.
//
// The linker never sees the weights of a program: it links code of some hundred kilobytes that
// refers to the absolute symbol `burin_weights` at IMAGE_ADDRESS, and the driver then appends one
// more segment to the file, for that address. Libraries get an object file of one section, written
// here too. Sizes are 64 bits throughout.
#ifndef BURIN_IMAGE_H
#define BURIN_IMAGE_H
#include "frontend/template.h"
#include "frontend/tokenizer.h"
#include "lower/lower.h"

// Far above the code of a static program, on 64 KB pages too.
#define IMAGE_ADDRESS 0x10000000

typedef struct Image {
    const Program *program;
    const Tokenizer *tokenizer;  // or NULL
    CompiledTemplate chat;       // no blob: none
    uint64_t tokenizer_offset, template_offset, sums_offset, bytes;
    const char *step;  // label of the progress bar
} Image;

Image image_of(const Program *, const Tokenizer *, CompiledTemplate chat);

// The bytes as a file of their own.
void image_write(const Image *, const char *path);
// Adds to a linked static executable: a PT_LOAD segment at IMAGE_ADDRESS and the section
// .burin.weights, so that strip keeps it. `draft`, if not NULL, follows the image without a gap.
void image_append(const Image *, const Image *draft, const char *executable);
// Adds a prompt to such a program: the session that has read it, and its system message
// (runtime/text/prompt_cache.h).
typedef struct ImagePrompt {
    const char *session, *system;
    size_t session_bytes, system_bytes;
} ImagePrompt;
void image_add_prompt(const Image *, const ImagePrompt *, const char *executable);
// Adds to a linked program for Windows the image that it maps by itself
// (runtime/windows/weights.c), on a page after its last section.
void image_append_behind(const Image *, const Image *draft, const char *executable);
// An object file with the bytes as the hidden symbol `symbol`, in .lrodata (x86-64, of any size) or
// .rodata (aarch64); false for other architectures.
bool image_write_object(const Image *, const char *architecture, const char *symbol,
                        const char *path);
#endif
