// Tables of GGUF architectures, with one mistake each: `x` in a library of its own, and its part
// `p`.
#ifndef BURIN_BROKEN_TABLES_H
#define BURIN_BROKEN_TABLES_H
#include "broken.h"

typedef struct TableCase {
    const char *name, *table, *part;
} TableCase;

static const TableCase gguf_tables[] = {
    {"gguf-table-word", "model llama LlamaForCausalLM\n# a comment\nlayr attn_q q\n", ""},
    {"gguf-table-word-far", "model llama LlamaForCausalLM\ngguf = [\"x\"]\n", ""},
    {"gguf-table-one-name", "tensor output  # lm_head\n", ""},
    {"gguf-table-condition", "key logit_scale logit_scale if output.weight\n", ""},
    {"gguf-table-prefix", "prefix a b\n", ""},
    {"gguf-table-value", "set norm_topk_prob yes\n", ""},
    {"gguf-table-default", "default n_group\n", ""},
    {"gguf-table-choice", "choice expert_gating_func router_function\n", ""},
    {"gguf-table-only", "only expert_gating_func softmax\n", ""},
    {"gguf-table-undo", "undo rotary scales\n", ""},
    {"gguf-table-no-part", "include p q\n", "prefix a\n"},
    {"gguf-table-circle", "include p\n", "include p\n"},
    {"gguf-table-words", "include p p p p p p p p p p p p p p p p\n", ""},
    {"gguf-table-no-model", "model mistral MistralForCausalLM if sliding_window\n", ""},
};

static void open_gguf_table(const TableCase *c) {
    mkdir("gguf", 0700);
    mkdir("gguf/parts", 0700);
    write_file("gguf/x", c->table, strlen(c->table));
    write_file("gguf/parts/p", c->part, strlen(c->part));
    setenv("LIBRARY", ".", 1);
    begin(3, 0, 1);
    put_string("general.architecture", "x");
    open_gguf(0);
}
#endif
