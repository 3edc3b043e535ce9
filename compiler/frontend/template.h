// Chat templates: found where models keep them, parsed into the blob that
// runtime/template/template.c renders.
//
//   template/source.c       a Jinja file, or a model's: chat_template.jinja, tokenizer_config.json, a GGUF's metadata
//   template/lexer.c        text and tags to tokens, with Jinja's rules for white space
//   template/statements.c   tags; template/expressions.c: their expressions
//   template/write.c        nodes and strings, laid out in the blob
#ifndef BURIN_FRONTEND_TEMPLATE_H
#define BURIN_FRONTEND_TEMPLATE_H
#include "runtime/template/template.h"
#include "util/arena.h"
#include "util/diag.h"

typedef struct TemplateText {
    const Source *source;    // the text, with a name of its location
    const Source *tool_use;  // renders instead of `source` when there are tools; NULL: none
    const char *bos, *eos;   // texts of the model's tokens; NULL: not defined
    const struct TemplateToken {
        const char *name, *text;  // name: "pad_token"
    } *tokens;                    // other special tokens, which are variables of the template
    int n_tokens;
} TemplateText;

typedef struct CompiledTemplate {
    void *blob;
    uint32_t bytes;
    const char *problem;  // why there is no blob: a construct outside of the subset, or a mistake
    Loc place;            // of the problem
} CompiledTemplate;

// A file of Jinja, a folder with a model, its tokenizer_config.json, or a GGUF. False: the model
// has none.
bool template_find(Arena *, const char *path, TemplateText *);
// A text as Jinja reads it: every end of a line is \n, and the last one goes.
const Source *template_source(Arena *, const char *name, const char *text, size_t size);
// Names that the template uses and that no renderer knows are warnings: they fail when a rendering
// comes to them.
CompiledTemplate template_compile(Arena *, const TemplateText *);
#endif
