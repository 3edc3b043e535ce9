// GGUF files with weights in blocks, or in several files.
#ifndef BURIN_BROKEN_BLOCKS_H
#define BURIN_BROKEN_BLOCKS_H
#include "broken_gguf.h"
#include "ir/format.h"

static void gguf_cut_blocks(void) {
    open_tensor((Described){"blk.0.attn_q.weight", 4, 256, 12, 64}, 160);
}
static void gguf_grid_type(void) {
    open_tensor((Described){"blk.0.attn_q.weight", 4, 256, 16, 0}, 512);
}
static void gguf_removed_type(void) {
    open_tensor((Described){"blk.0.attn_q.weight", 4, 32, 31, 0}, 128);
}
static void gguf_activation_type(void) {
    open_tensor((Described){"blk.0.attn_q.weight", 4, 256, 15, 0}, 2048);
}
static void gguf_vector_of_blocks(void) {
    open_tensor((Described){"output_norm.weight", 1, 8, 8, 0}, 64);
}

// NVFP4 [2, 64], in 72 bytes, followed by n factors of values, of type F32 unless given
static void open_factors(uint64_t n, uint32_t type, const char *bytes, size_t length) {
    begin_model(2, 0);
    describe((Described){"blk.0.attn_v.weight", 2, 64, 40, 0});
    string("blk.0.attn_v.scale");
    u32(1);
    u64(n);
    u32(type);
    u64(96);
    zeros(-out.length & 31);
    zeros(96);
    text_append(&out, bytes, length);
    write_out("model.gguf");
    open_checkpoint("model.gguf");
}
static void gguf_nvfp4_rows(void) {
    open_tensor((Described){"blk.0.attn_v.weight", 2, 32, 40, 0}, 72);
}
static void gguf_nvfp4_cut(void) {
    open_tensor((Described){"blk.0.attn_v.weight", 4, 64, 40, 0}, 96);
}
static void gguf_nvfp4_factor_type(void) { open_factors(1, 1, "\0\74", 2); }
static void gguf_nvfp4_factor_count(void) { open_factors(3, 0, "\0\0\200?\0\0\200?\0\0\200?", 12); }
static void gguf_nvfp4_factor_nan(void) { open_factors(1, 0, "\0\0\300\177", 4); }
static void gguf_nvfp4_factor_tiny(void) { open_factors(1, 0, "\0\0\200\0", 4); }
static void gguf_nvfp4_factor_cut(void) { open_factors(1, 0, "\0\0", 2); }

// Blocks of every type whose bytes are all 255: scales that are not numbers
static void gguf_nan_scale(const char *name) {
    for (int i = 0; i < n_formats; i++) {
        if (formats[i].ggml < 0 || strcmp(formats[i].name, name)) continue;
        begin_model(1, 0);
        describe((Described){"blk.0.attn_v.weight", 4, (uint64_t)formats[i].block,
                             (uint32_t)formats[i].ggml, 0});
        zeros(-out.length & 31);
        for (int b = 0; b < 4 * formats[i].bytes; b++) text_append(&out, "\377", 1);
        write_out("model.gguf");
        open_checkpoint("model.gguf");
    }
}

// One part of a split: number `no` of `count`, with `tensors` as their total.
static void write_part(const char *name, uint32_t no, uint32_t count, uint32_t tensors) {
    out.length = 0;
    begin_model(1, 3);
    put_u32("split.no", no);
    put_u32("split.count", count);
    put_u32("split.tensors.count", tensors);
    describe((Described){no ? "output.weight" : "token_embd.weight", 4, 4, 0, 0});
    zeros(-out.length & 31);
    zeros(64);
    write_out(name);
}

#define FIRST  "m-00001-of-00002.gguf"
#define SECOND "m-00002-of-00002.gguf"
static void gguf_part_missing(void) {
    write_part(FIRST, 0, 2, 2);
    open_checkpoint(FIRST);
}
static void gguf_part_second(void) {
    write_part(SECOND, 1, 2, 2);
    open_checkpoint(SECOND);
}
static void gguf_part_renamed(void) {
    write_part("model.gguf", 0, 2, 2);
    open_checkpoint("model.gguf");
}
static void gguf_part_other(void) {
    write_part(FIRST, 0, 2, 2);
    write_part(SECOND, 1, 3, 2);
    open_checkpoint(FIRST);
}
static void gguf_part_first_number(void) {
    write_part(FIRST, 1, 2, 2);
    open_checkpoint(FIRST);
}
static void gguf_part_count(void) {
    write_part(FIRST, 0, 2, 3);
    write_part(SECOND, 1, 2, 3);
    open_checkpoint(FIRST);
}
static void gguf_part_overlap(void) {
    write_part(FIRST, 0, 2, 3);
    begin_model(2, 3);
    put_u32("split.no", 1);
    put_u32("split.count", 2);
    put_u32("split.tensors.count", 3);
    describe((Described){"output.weight", 4, 4, 0, 0});
    describe((Described){"blk.0.attn_q.weight", 4, 4, 0, 32});
    zeros(-out.length & 31);
    zeros(128);
    write_out(SECOND);
    open_checkpoint(FIRST);
}
static void gguf_part_twice(void) {
    static const char *const names[] = {"m-00001-of-00003.gguf", "m-00002-of-00003.gguf",
                                        "m-00003-of-00003.gguf"};
    for (uint32_t i = 0; i < 3; i++) write_part(names[i], i, 3, 3);
    open_checkpoint(names[0]);
}
static void gguf_part_number(void) {
    write_part(FIRST, 0, 20000, 2);
    open_checkpoint(FIRST);
}
static void gguf_part_text(void) {
    write_part(FIRST, 0, 2, 2);
    out.length = 0;
    string("no model");
    write_out(SECOND);
    open_checkpoint(FIRST);
}
static void gguf_part_same(void) {
    write_part(FIRST, 0, 2, 2);
    write_part(SECOND, 0, 2, 2);
    open_checkpoint(FIRST);
}

static const BrokenCase broken_blocks[] = {
    CASE(gguf_cut_blocks),        CASE(gguf_grid_type),         CASE(gguf_removed_type),
    CASE(gguf_activation_type),   CASE(gguf_vector_of_blocks),  CASE(gguf_part_missing),
    CASE(gguf_part_second),       CASE(gguf_part_renamed),      CASE(gguf_part_other),
    CASE(gguf_part_first_number), CASE(gguf_part_count),        CASE(gguf_part_number),
    CASE(gguf_part_text),         CASE(gguf_part_same),         CASE(gguf_nvfp4_rows),
    CASE(gguf_nvfp4_cut),         CASE(gguf_nvfp4_factor_type), CASE(gguf_nvfp4_factor_count),
    CASE(gguf_nvfp4_factor_nan),  CASE(gguf_nvfp4_factor_tiny), CASE(gguf_nvfp4_factor_cut),
    CASE(gguf_part_overlap),      CASE(gguf_part_twice)};
#endif
