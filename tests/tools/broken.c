// Broken checkpoints and tokenizers, one a diagnostic. usage: broken --list | broken NAME
// NAME writes its files into the current folder and opens them: the message comes out on stderr, with status 1.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "frontend/checkpoint.h"
#include "frontend/tokenizer.h"
#include "tests/tools/bytes.h"
#include "util/text.h"

// Single quotes become double ones, so that JSON stays readable here.
static void json(const char *text) {
    for (; *text; text++) text_append(&out, *text == '\'' ? "\"" : text, 1);
}

static void write_out(const char *path) {
    write_file(path, out.data ? out.data : "", out.length);
    text_free(&out);
}

static Arena *arena;
static void open_checkpoint(const char *path) { checkpoint_special_tokens(checkpoint_open(arena, path, getenv("LIBRARY"))); }

// --------------------------------------------------------------------------------------------------------------- safetensors
static void safetensors(const char *path, const char *header, size_t data) {
    u64(strlen(header));
    json(header);
    zeros(data);
    write_out(path);
}

static void open_safetensors(const char *header, size_t data) {
    safetensors("model.safetensors", header, data);
    open_checkpoint("model.safetensors");
}

#define X8 "'x':{'dtype':'F32','shape':[2],'data_offsets':[0,8]}"
static const struct {
    const char *name, *header;
    size_t data;
} headers[] = {
    {"header-not-json", "{'x' 1}", 0},
    {"header-duplicate", "{" X8 "," X8 "}", 8},
    {"header-no-object", "[]", 0},
    {"entry-no-object", "{'x':1}", 0},
    {"no-tensors", "{}", 0},
    {"dtype-missing", "{'x':{'shape':[2],'data_offsets':[0,8]}}", 8},
    {"dtype-unknown", "{'x':{'dtype':'F4','shape':[2],'data_offsets':[0,8]}}", 8},
    {"shape-missing", "{'x':{'dtype':'F32','data_offsets':[0,8]}}", 8},
    {"shape-rank", "{'x':{'dtype':'U8','shape':[1,1,1,1,1,1,1,1,1],'data_offsets':[0,1]}}", 1},
    {"shape-zero", "{'x':{'dtype':'F32','shape':[0,4],'data_offsets':[0,16]}}", 0},
    {"shape-negative", "{'x':{'dtype':'F32','shape':[-1],'data_offsets':[0,4]}}", 4},
    {"shape-fraction", "{'x':{'dtype':'F32','shape':[1.5],'data_offsets':[0,4]}}", 4},
    {"shape-huge", "{'x':{'dtype':'F32','shape':[9223372036854775807,2],'data_offsets':[0,8]}}", 8},
    {"shape-too-big-integer", "{'x':{'dtype':'F32','shape':[9223372036854775808],'data_offsets':[0,8]}}", 8},
    {"offsets-missing", "{'x':{'dtype':'F32','shape':[2]}}", 8},
    {"offsets-three", "{'x':{'dtype':'F32','shape':[2],'data_offsets':[0,4,8]}}", 8},
    {"offsets-negative", "{'x':{'dtype':'F32','shape':[2],'data_offsets':[-8,0]}}", 8},
    {"offsets-backwards", "{'x':{'dtype':'F32','shape':[2],'data_offsets':[8,0]}}", 8},
    {"offsets-wrong-size", "{'x':{'dtype':'F32','shape':[2],'data_offsets':[0,4]}}", 8},
    {"offsets-past-end", "{'x':{'dtype':'F32','shape':[2],'data_offsets':[4,12]}}", 8},
    {"offsets-overlap", "{" X8 ",'y':{'dtype':'F32','shape':[2],'data_offsets':[4,12]}}", 12},
    {"data-left-over", "{" X8 "}", 12},
};

static void header_deep(void) {
    for (int i = 0; i < 5000; i++) raw("[");
    const char *text = arena_strndup(arena, out.data, out.length);
    text_free(&out);
    open_safetensors(text, 0);
}

static void header_too_long(void) {
    u64(UINT64_C(1) << 40);
    raw("{}");
    write_out("model.safetensors");
    open_checkpoint("model.safetensors");
}

static void header_past_end(void) {
    u64(1000);
    raw("{}");
    write_out("model.safetensors");
    open_checkpoint("model.safetensors");
}

static void header_cut(void) {
    raw("{}");
    zeros(2);
    write_out("tiny.safetensors");
    open_checkpoint("tiny.safetensors");
}

// ------------------------------------------------------------------------------------------------------------------- folders
static void index_of(const char *text) {
    json(text);
    write_out("model.safetensors.index.json");
    safetensors("a.safetensors", "{" X8 "}", 8);
    open_checkpoint(".");
}

static void index_no_map(void) { index_of("{}"); }
static void index_missing_shard(void) { index_of("{'weight_map':{'x':'a.safetensors','y':'b.safetensors'}}"); }
static void index_absent_tensor(void) { index_of("{'weight_map':{'x':'a.safetensors','y':'a.safetensors'}}"); }
static void index_outside(void) { index_of("{'weight_map':{'x':'../a.safetensors'}}"); }
static void index_not_json(void) { index_of("{'weight_map':\n  {'x' 'a.safetensors'}}"); }

static void index_duplicate(void) {
    safetensors("b.safetensors", "{" X8 "}", 8);
    index_of("{'weight_map':{'x':'a.safetensors','y':'b.safetensors'}}");
}

static void index_wrong_shard(void) {
    safetensors("b.safetensors", "{'y':{'dtype':'U8','shape':[1],'data_offsets':[0,1]}}", 1);
    index_of("{'weight_map':{'x':'a.safetensors','y':'a.safetensors','z':'b.safetensors'}}");
}

static void folder_empty(void) {
    mkdir("empty", 0700);
    open_checkpoint("empty");
}

static void folder_of_pickles(void) {
    raw("{}");
    write_out("pytorch_model.bin.index.json");
    open_checkpoint(".");
}

static void config_of(const char *name, const char *text) {
    json(text);
    write_out(name);
    safetensors("model.safetensors", "{" X8 "}", 8);
    open_checkpoint(".");
}

static void config_nan(void) { config_of("config.json", "{\n  'model_type': 'llama',\n  'rms_norm_eps': NaN\n}\n"); }
static void config_infinity(void) { config_of("config.json", "{\n  'rope_theta': -Infinity\n}\n"); }
static void config_duplicate(void) { config_of("config.json", "{\n  'vocab_size': 1,\n  'vocab_size': 2\n}\n"); }
static void config_cut(void) { config_of("config.json", "{\n  'vocab_size': 1,"); }
static void config_no_object(void) { config_of("config.json", "[1]\n"); }
static void config_type(void) { config_of("config.json", "{\n  'model_type': 3\n}\n"); }
static void config_eos(void) { config_of("config.json", "{\n  'vocab_size': 5,\n  'eos_token_id': [1, -5]\n}\n"); }
static void config_many_eos(void) { config_of("config.json", "{'eos_token_id': [1,2,3,4,5,6,7,8,9]}\n"); }
static void generation_bos(void) { config_of("generation_config.json", "{'bos_token_id': 'x'}\n"); }

static void not_there(void) { open_checkpoint("nowhere.bin"); }
static void not_regular(void) { open_checkpoint("/dev/null"); }

static void empty_file(void) {
    write_out("empty.bin");
    open_checkpoint("empty.bin");
}

static void wrong_magic(void) {
    raw("GGUX and then some text that is no checkpoint");
    write_out("model.gguf");
    open_checkpoint("model.gguf");
}

static void pickle(void) {
    raw("PK\003\004 and the rest of a zip file, as torch.save writes it");
    write_out("pytorch_model.bin");
    open_checkpoint("pytorch_model.bin");
}

// ------------------------------------------------------------------------------------------------------------------ llama2.c
static void llama2c_header(int32_t vocabulary, int32_t heads) {
    const int32_t header[] = {8, 4, 1, heads, 1, vocabulary, 4};
    for (int i = 0; i < 7; i++) u32((uint32_t)header[i]);
}

static void open_bin(size_t size) {
    zeros(size - out.length);
    write_out("model.bin");
    open_checkpoint("model.bin");
}

static void legacy_cut(void) {
    llama2c_header(4, 2);
    open_bin(500);
}

static void legacy_long(void) {
    llama2c_header(4, 2);
    open_bin(5000);
}

static void version_1_header(uint32_t version, int32_t vocabulary, int32_t heads) {
    raw("24ka");
    u32(version);
    llama2c_header(vocabulary, heads);
}

static void version_2(void) {
    version_1_header(2, 4, 2);
    open_bin(256);
}

static void version_1_heads(void) {
    version_1_header(1, 4, 3);
    open_bin(256);
}

static void version_1_huge(void) {
    version_1_header(1, INT32_MAX, 2);
    open_bin(1000);
}

static void version_1_cut(void) {
    version_1_header(1, 4, 2);
    open_bin(100);
}

// ---------------------------------------------------------------------------------------------------------------------- GGUF
enum { MODEL_VALUES = 7 };

static void model_values(void) {
    put_string("general.architecture", "llama");
    put_u32("llama.embedding_length", 4);
    put_u32("llama.feed_forward_length", 4);
    put_u32("llama.block_count", 1);
    put_u32("llama.attention.head_count", 1);
    put_u32("llama.context_length", 8);
    key("llama.attention.layer_norm_rms_epsilon", F32);
    f32(1e-5f);
}

static void begin_model(uint64_t tensors, uint64_t more_values) {
    begin(3, tensors, MODEL_VALUES + more_values);
    model_values();
}

static void open_gguf(size_t data) {
    zeros(-out.length & 31);
    zeros(data);
    write_out("model.gguf");
    open_checkpoint("model.gguf");
}

static void open_tensor(Described t, size_t data) {
    begin_model(1, 0);
    describe(t);
    open_gguf(data);
}

static void gguf_version(void) {
    begin(1, 0, 0);
    open_gguf(0);
}

static void gguf_many_tensors(void) {
    begin(3, UINT64_C(1) << 63, 0);
    open_gguf(0);
}

static void gguf_many_values(void) {
    begin(3, 0, UINT64_C(1) << 63);
    open_gguf(0);
}

static void gguf_long_string(void) {
    begin(3, 0, 1);
    u64(UINT64_MAX);
    open_gguf(64);
}

static void gguf_empty_name(void) {
    begin(3, 0, 1);
    u64(0);
    open_gguf(64);
}

static void gguf_unknown_type(void) {
    begin(3, 0, 1);
    key("x", 77);
    open_gguf(64);
}

static void gguf_nested_array(void) {
    begin(3, 0, 1);
    key("x", ARRAY);
    u32(ARRAY);
    u64(1);
    open_gguf(64);
}

static void gguf_long_array(void) {
    begin(3, 0, 1);
    key("x", ARRAY);
    u32(U32);
    u64(UINT64_C(1) << 62);
    open_gguf(64);
}

static void gguf_duplicate_key(void) {
    begin(3, 0, 2);
    put_u32("x", 1);
    put_u32("x", 1);
    open_gguf(0);
}

static void gguf_alignment_0(void) {
    begin_model(0, 1);
    put_u32("general.alignment", 0);
    open_gguf(0);
}

static void gguf_no_architecture(void) {
    begin(3, 0, 1);
    put_u32("x", 1);
    open_gguf(0);
}

static void gguf_architecture(void) {
    begin(3, 0, 1);
    put_string("general.architecture", "mamba");
    open_gguf(0);
}

static void gguf_no_heads(void) {
    begin(3, 0, 2);
    put_string("general.architecture", "llama");
    put_u32("llama.embedding_length", 4);
    open_gguf(0);
}

static void gguf_string_for_integer(void) {
    begin(3, 0, 2);
    put_string("general.architecture", "llama");
    put_string("llama.embedding_length", "64");
    open_gguf(0);
}

static void gguf_integer_for_string(void) {
    begin(3, 0, 1);
    put_u32("general.architecture", 1);
    open_gguf(0);
}

static void gguf_epsilon(float epsilon, uint32_t type) {
    begin(3, 0, MODEL_VALUES);
    model_values();
    out.length -= 8;
    u32(type);
    f32(epsilon);
    open_gguf(0);
}

static void gguf_nan(void) { gguf_epsilon(0.0f / 0.0f, F32); }

static void gguf_scaling(void) {
    begin_model(0, 1);
    put_string("llama.rope.scaling.type", "dynamic");
    open_gguf(0);
}

static void gguf_partial_rotary(void) {
    begin_model(0, 1);
    put_u32("llama.rope.dimension_count", 2);
    open_gguf(0);
}

static void gguf_norm_type(void) {
    begin(3, 1, 7);
    put_string("general.architecture", "gemma");
    put_u32("gemma.embedding_length", 4);
    put_u32("gemma.feed_forward_length", 4);
    put_u32("gemma.block_count", 1);
    put_u32("gemma.attention.head_count", 1);
    put_u32("gemma.context_length", 8);
    key("gemma.attention.layer_norm_rms_epsilon", F32);
    f32(1e-5f);
    describe((Described){"output_norm.weight", 1, 4, 1, 0});
    open_gguf(8);
}

static void gguf_integer_for_float(void) {
    begin_model(0, 1);
    put_u32("llama.rope.scaling.factor", 2);
    open_gguf(0);
}

static void gguf_rows_of_groups(void) {
    begin(3, 1, 5);
    put_string("general.architecture", "bloom");
    put_u32("bloom.embedding_length", 4);
    put_u32("bloom.block_count", 1);
    put_u32("bloom.attention.head_count", 2);
    key("bloom.attention.layer_norm_epsilon", F32);
    f32(1e-5f);
    describe((Described){"blk.0.attn_qkv.weight", 4, 4, 0, 0});
    open_gguf(64);
}

// A table of one number for each of a head's two pairs.
static void open_table(const char *name, float factor) {
    begin_model(1, 0);
    string(name);
    u32(1), u64(2), u32(0), u64(0);
    zeros(-out.length & 31);
    f32(factor), f32(factor);
    open_gguf(0);
}
static void gguf_rope_zero(void) { open_table("rope_freqs.weight", 0); }
static void gguf_rope_half(void) { open_table("rope_factors_long.weight", 1); }

static void gguf_yarn(void) {
    begin_model(0, 3);
    put_string("llama.rope.scaling.type", "yarn");
    key("llama.rope.scaling.factor", F32);
    f32(4);
    key("llama.rope.scaling.yarn_log_multiplier", F32);
    f32(0.1f);
    open_gguf(0);
}

static void gguf_rope_freqs(void) { open_tensor((Described){"rope_freqs.weight", 1, 2, 0, 0}, 8); }
static void gguf_quantized(void) { open_tensor((Described){"blk.0.attn_q.weight", 4, 4, 12, 0}, 64); }
static void gguf_tensor_type(void) { open_tensor((Described){"token_embd.weight", 4, 4, 99, 0}, 64); }
static void gguf_past_end(void) { open_tensor((Described){"token_embd.weight", 4, 4, 0, 32}, 64); }
static void gguf_offset_wraps(void) { open_tensor((Described){"token_embd.weight", 4, 4, 0, UINT64_MAX - 63}, 64); }
static void gguf_zero_rows(void) { open_tensor((Described){"token_embd.weight", 0, 4, 0, 0}, 64); }
static void gguf_huge(void) { open_tensor((Described){"token_embd.weight", UINT64_C(1) << 62, 4, 0, 0}, 64); }
static void gguf_odd_rows(void) { open_tensor((Described){"blk.0.attn_q.weight", 3, 4, 0, 0}, 64); }

static void gguf_rank(void) {
    begin_model(1, 0);
    string("token_embd.weight");
    u32(9);
    open_gguf(64);
}

static void open_two(Described second) {
    begin_model(2, 0);
    describe((Described){"token_embd.weight", 4, 4, 0, 0});
    describe(second);
    open_gguf(128);
}

static void gguf_duplicate_tensor(void) { open_two((Described){"token_embd.weight", 4, 4, 0, 64}); }
static void gguf_overlap(void) { open_two((Described){"output.weight", 4, 4, 0, 32}); }

// ---------------------------------------------------------------------------------------------------------------- tokenizers
static void open_vocabulary(void) {
    zeros(-out.length & 31);
    write_out("model.gguf");
    tokenizer_load(arena, "model.gguf", 0);
}

static void put_tokens(int n) {
    key("tokenizer.ggml.tokens", ARRAY);
    u32(STRING);
    u64((uint64_t)n);
    for (int i = 0; i < n; i++) string("a");
}

static void vocabulary_no_model(void) {
    begin(3, 0, 1);
    put_tokens(2);
    open_vocabulary();
}

static void vocabulary_kind(void) {
    begin(3, 0, 2);
    put_string("tokenizer.ggml.model", "rwkv");
    put_tokens(2);
    open_vocabulary();
}

static void vocabulary_no_tokens(void) {
    begin(3, 0, 1);
    put_string("tokenizer.ggml.model", "llama");
    open_vocabulary();
}

static void put_array(const char *name, uint32_t type, int n) {
    key(name, ARRAY);
    u32(type);
    u64((uint64_t)n);
    zeros((size_t)n * 4);
}

static void vocabulary_array(const char *name, uint32_t type, int n) {
    begin(3, 0, 3);
    put_string("tokenizer.ggml.model", "llama");
    put_tokens(2);
    put_array(name, type, n);
    open_vocabulary();
}

static void vocabulary_counts(void) { vocabulary_array("tokenizer.ggml.token_type", I32, 3); }
static void vocabulary_types(void) { vocabulary_array("tokenizer.ggml.token_type", F32, 2); }
static void vocabulary_scores(void) { vocabulary_array("tokenizer.ggml.scores", I32, 2); }
static void vocabulary_bos_list(void) { vocabulary_array("tokenizer.ggml.bos_token_id", I32, 2); }

static void vocabulary_strings(void) {
    begin(3, 0, 2);
    put_string("tokenizer.ggml.model", "llama");
    put_array("tokenizer.ggml.tokens", I32, 2);
    open_vocabulary();
}

static void vocabulary_nan(void) {
    begin(3, 0, 3);
    put_string("tokenizer.ggml.model", "llama");
    put_tokens(1);
    put_array("tokenizer.ggml.scores", F32, 0);
    out.length -= 8;
    u64(1);
    f32(0.0f / 0.0f);
    open_vocabulary();
}

static void vocabulary_bos(void) {
    begin(3, 0, 3);
    put_string("tokenizer.ggml.model", "llama");
    put_tokens(2);
    put_u32("tokenizer.ggml.bos_token_id", 2);
    open_vocabulary();
}

static void vocabulary_flag(void) {
    begin(3, 0, 3);
    put_string("tokenizer.ggml.model", "llama");
    put_tokens(2);
    put_u32("tokenizer.ggml.add_space_prefix", 2);
    open_vocabulary();
}

static void put_merges(void) {
    key("tokenizer.ggml.merges", ARRAY);
    u32(STRING);
    u64(1);
    string("a a");
}

static void vocabulary_no_merges(void) {
    begin(3, 0, 2);
    put_string("tokenizer.ggml.model", "gpt2");
    put_tokens(2);
    open_vocabulary();
}

static void vocabulary_pretokenizer(void) {
    begin(3, 0, 4);
    put_string("tokenizer.ggml.model", "gpt2");
    put_string("tokenizer.ggml.pre", "odd");
    key("tokenizer.ggml.tokens", ARRAY);
    u32(STRING);
    u64(2);
    string("a");
    string("aa");
    put_merges();
    open_vocabulary();
}

static void gpt2_no_merges(void) {
    json("{'a':0,'b':1}");
    write_out("vocab.json");
    tokenizer_load(arena, "vocab.json", 0);
}

static void open_bin_tokenizer(int vocab_size) {
    write_out("tokenizer.bin");
    tokenizer_load(arena, "tokenizer.bin", vocab_size);
}

static void put_bin_token(float score, const char *text) {
    f32(score);
    u32((uint32_t)strlen(text));
    raw(text);
}

static void bin_cut(void) {
    u32(1);
    put_bin_token(0, "a");
    u32(0);
    open_bin_tokenizer(2);
}

static void bin_long(void) {
    u32(1);
    put_bin_token(0, "a");
    put_bin_token(0, "b");
    open_bin_tokenizer(1);
}

static void bin_nan(void) {
    u32(1);
    put_bin_token(0.0f / 0.0f, "a");
    open_bin_tokenizer(1);
}

static void bin_long_token(void) {
    u32(1);
    f32(0);
    u32(70000);
    zeros(70000);
    open_bin_tokenizer(1);
}

static void bin_unknown(void) {
    raw("\n\016\n\005<unk>\025");
    open_bin_tokenizer(1);
}

static void folder_pickle(void) {
    mkdir("model", 0700);
    raw("PK\003\004 and the rest of a zip file, as torch.save writes it");
    write_out("model/pytorch_model.bin");
    open_checkpoint("model");
}

static void bin_empty(void) {
    u32(1);
    open_bin_tokenizer(0);
}

#define BPE             "'model':{'type':'BPE','vocab':{'a':0,'b':1,'ab':2},'merges':['a b']}"
#define WITH(part)      "{" part "," BPE "}"
#define MODEL(text)     "{'model':{" text "}}"
#define BPE_MODEL(text) MODEL("'type':'BPE','vocab':{'a':0,'b':1,'ab':2}," text)
#define SPLIT(regex)    WITH("'pre_tokenizer':{'type':'Split','behavior':'Isolated','pattern':{'Regex':'" regex "'}}")
#define UNICODE_2581    "\\u2581"
static const struct {
    const char *name, *text;
} tokenizers[] = {
    {"tokenizer-not-json", "{'model':\n {'type' 'BPE'}}"},
    {"tokenizer-no-model", "{'version':'1.0'}"},
    {"model-type", MODEL("'type':'Magic','vocab':{}")},
    {"model-vocabulary", MODEL("'type':'BPE','vocab':[],'merges':[]")},
    {"model-empty", MODEL("'type':'BPE','vocab':{},'merges':[]")},
    {"model-id", MODEL("'type':'BPE','vocab':{'a':'0'},'merges':[]")},
    {"model-id-negative", MODEL("'type':'BPE','vocab':{'a':-1},'merges':[]")},
    {"model-id-huge", MODEL("'type':'BPE','vocab':{'a':9000000000},'merges':[]")},
    {"model-id-twice", MODEL("'type':'BPE','vocab':{'a':0,'b':0},'merges':[]")},
    {"model-unknown", BPE_MODEL("'merges':[],'unk_token':'?'")},
    {"model-unknown-type", BPE_MODEL("'merges':[],'unk_token':7")},
    {"model-dropout", BPE_MODEL("'merges':[],'dropout':0.1")},
    {"model-prefix", BPE_MODEL("'merges':[],'continuing_subword_prefix':'##'")},
    {"model-suffix", BPE_MODEL("'merges':[],'end_of_word_suffix':'</w>'")},
    {"model-suffix-long",
     "{'pre_tokenizer':{'type':'ByteLevel'},'model':{'type':'BPE','vocab':{'a':0},'merges':[],"
     "'end_of_word_suffix':'012345678901234567890123456789012'}}"},
    {"model-flag", BPE_MODEL("'merges':[],'byte_fallback':1")},
    {"merges-missing", MODEL("'type':'BPE','vocab':{'a':0}")},
    {"merges-one-word", BPE_MODEL("'merges':['ab']")},
    {"merges-unknown", BPE_MODEL("'merges':['a b','b a']")},
    {"wordpiece-word", MODEL("'type':'WordPiece','vocab':{'a':0},'max_input_chars_per_word':0")},
    {"unigram-empty", MODEL("'type':'Unigram','vocab':[]")},
    {"unigram-entry", MODEL("'type':'Unigram','vocab':[['a',0],['b','c']]")},
    {"unigram-unknown", MODEL("'type':'Unigram','vocab':[['a',0]],'unk_id':1")},
    {"byte-level-words", "{'pre_tokenizer':{'type':'ByteLevel'},'model':{'type':'WordLevel','vocab':{'a':0}}}"},
    {"normalizer-unknown", WITH("'normalizer':{'type':'Umlaut'}")},
    {"normalizer-no-type", WITH("'normalizer':{}")},
    {"normalizer-grows", WITH("'normalizer':{'type':'Sequence','normalizers':["
                              "{'type':'Replace','pattern':{'String':'a'},'content':'01234567890123456789012345678901'},"
                              "{'type':'Replace','pattern':{'String':'a'},'content':'01234567890123456789012345678901'}]}")},
    {"pattern-missing", WITH("'normalizer':{'type':'Replace','pattern':{},'content':''}")},
    {"pattern-empty", WITH("'normalizer':{'type':'Replace','pattern':{'String':''},'content':''}")},
    {"pretokenizer-unknown", WITH("'pre_tokenizer':{'type':'UnicodeScripts'}")},
    {"pretokenizer-behavior", WITH("'pre_tokenizer':{'type':'Split','behavior':'Odd','pattern':{'String':'a'}}")},
    {"pretokenizer-two-byte-levels",
     WITH("'pre_tokenizer':{'type':'Sequence','pretokenizers':[{'type':'ByteLevel'},{'type':'ByteLevel'}]}")},
    {"pretokenizer-two-prefixes",
     WITH("'pre_tokenizer':{'type':'Sequence','pretokenizers':[{'type':'Metaspace','replacement':'" UNICODE_2581
          "'},{'type':'ByteLevel'}]}")},
    {"pretokenizer-metaspace", WITH("'pre_tokenizer':{'type':'Metaspace','replacement':'_'}")},
    {"pretokenizer-scheme",
     WITH("'pre_tokenizer':{'type':'Metaspace','replacement':'" UNICODE_2581 "','prepend_scheme':'last'}")},
    {"regex-property", SPLIT("\\\\p{Han}")},
    {"regex-no-property", SPLIT("\\\\pL")},
    {"regex-hex", SPLIT("\\\\x{zz}")},
    {"regex-escape", SPLIT("\\\\Kword")},
    {"regex-posix", SPLIT("[[:alpha:]]")},
    {"regex-range-class", SPLIT("[a-\\\\d]")},
    {"regex-range", SPLIT("[z-a]")},
    {"regex-class-end", SPLIT("[abc")},
    {"regex-group", SPLIT("(?<=a)b")},
    {"regex-group-end", SPLIT("(ab")},
    {"regex-group-start", SPLIT("ab)")},
    {"regex-line-start", SPLIT("^a")},
    {"regex-nothing", SPLIT("a|*")},
    {"regex-counts", SPLIT("a{2,1}")},
    {"regex-counts-broken", SPLIT("a{x}")},
    {"regex-lazy", SPLIT("a+?")},
    {"regex-repeated-group", SPLIT("(ab)+")},
    {"regex-deep", SPLIT("((((((((((((((((((a))))))))))))))))))")},
    {"added-no-id", WITH("'added_tokens':[{'content':'<s>'}]")},
    {"added-taken", WITH("'added_tokens':[{'content':'<s>','id':1}]")},
    {"charsmap-base64", WITH("'normalizer':{'type':'Precompiled','precompiled_charsmap':'AA*A'}")},
    {"charsmap-short", WITH("'normalizer':{'type':'Precompiled','precompiled_charsmap':'AQI='}")},
    {"charsmap-trie", WITH("'normalizer':{'type':'Precompiled','precompiled_charsmap':'BAAAAP////8='}")},
    {"added-single-word", WITH("'added_tokens':[{'content':'<s>','id':3,'single_word':true}]")},
    {"post-unknown", WITH("'post_processor':{'type':'Odd'}")},
    {"post-no-list", WITH("'post_processor':{'type':'TemplateProcessing'}")},
    {"post-no-token", WITH("'post_processor':{'type':'TemplateProcessing','single':[{'SpecialToken':{'id':'<s>'}}]}")},
    {"post-twice",
     WITH("'post_processor':{'type':'TemplateProcessing','single':[{'Sequence':{'id':'A'}},{'Sequence':{'id':'A'}}]}")},
    {"post-cls", WITH("'post_processor':{'type':'BertProcessing','cls':['a',0]}")},
    {"decoder-unknown", WITH("'decoder':{'type':'CTC'}")},
    {"decoder-strip", WITH("'decoder':{'type':'Strip','content':' ','start':2,'stop':0}")},
    {"decoder-replace", WITH("'decoder':{'type':'Replace','pattern':{'String':'_'},'content':' '}")},
    {"decoder-metaspace", WITH("'decoder':{'type':'Metaspace','replacement':'_'}")},
    {"decoder-byte-level", WITH("'decoder':{'type':'ByteLevel'}")},
};

static void open_tokenizer(const char *text) {
    json(text);
    write_out("tokenizer.json");
    tokenizer_load(arena, "tokenizer.json", 0);
}

static void tokenizer_too_large(void) {
    json("{" BPE "}");
    write_out("tokenizer.json");
    tokenizer_load(arena, "tokenizer.json", 2);
}

static void regex_too_long(void) {
    json("{'pre_tokenizer':{'type':'Split','behavior':'Isolated','pattern':{'String':'");
    for (int i = 0; i < 5000; i++) raw("a");
    json("'}}," BPE "}");
    write_out("tokenizer.json");
    tokenizer_load(arena, "tokenizer.json", 0);
}

// --------------------------------------------------------------------------------------------------------------------- cases
#define CASE(f) {#f, f}
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {CASE(header_deep),
             CASE(header_too_long),
             CASE(header_past_end),
             CASE(header_cut),
             CASE(index_no_map),
             CASE(index_missing_shard),
             CASE(index_absent_tensor),
             CASE(index_outside),
             CASE(index_not_json),
             CASE(index_duplicate),
             CASE(index_wrong_shard),
             CASE(folder_empty),
             CASE(folder_of_pickles),
             CASE(config_nan),
             CASE(config_infinity),
             CASE(config_duplicate),
             CASE(config_cut),
             CASE(config_no_object),
             CASE(config_type),
             CASE(config_eos),
             CASE(config_many_eos),
             CASE(generation_bos),
             CASE(not_there),
             CASE(not_regular),
             CASE(empty_file),
             CASE(wrong_magic),
             CASE(pickle),
             CASE(legacy_cut),
             CASE(legacy_long),
             CASE(version_2),
             CASE(version_1_heads),
             CASE(version_1_huge),
             CASE(version_1_cut),
             CASE(gguf_version),
             CASE(gguf_many_tensors),
             CASE(gguf_many_values),
             CASE(gguf_long_string),
             CASE(gguf_empty_name),
             CASE(gguf_unknown_type),
             CASE(gguf_nested_array),
             CASE(gguf_long_array),
             CASE(gguf_duplicate_key),
             CASE(gguf_alignment_0),
             CASE(gguf_no_architecture),
             CASE(gguf_architecture),
             CASE(gguf_no_heads),
             CASE(gguf_string_for_integer),
             CASE(gguf_integer_for_string),
             CASE(gguf_nan),
             CASE(gguf_rows_of_groups),
             CASE(gguf_integer_for_float),
             CASE(gguf_scaling),
             CASE(gguf_partial_rotary),
             CASE(gguf_rope_freqs),
             CASE(gguf_rope_zero),
             CASE(gguf_rope_half),
             CASE(gguf_yarn),
             CASE(gguf_norm_type),
             CASE(gguf_quantized),
             CASE(gguf_tensor_type),
             CASE(gguf_past_end),
             CASE(gguf_offset_wraps),
             CASE(gguf_zero_rows),
             CASE(gguf_huge),
             CASE(gguf_odd_rows),
             CASE(gguf_rank),
             CASE(gguf_duplicate_tensor),
             CASE(gguf_overlap),
             CASE(vocabulary_no_model),
             CASE(vocabulary_kind),
             CASE(vocabulary_no_tokens),
             CASE(vocabulary_counts),
             CASE(vocabulary_types),
             CASE(vocabulary_scores),
             CASE(vocabulary_bos_list),
             CASE(vocabulary_strings),
             CASE(vocabulary_nan),
             CASE(vocabulary_bos),
             CASE(vocabulary_pretokenizer),
             CASE(vocabulary_no_merges),
             CASE(gpt2_no_merges),
             CASE(vocabulary_flag),
             CASE(bin_cut),
             CASE(bin_long),
             CASE(bin_nan),
             CASE(bin_long_token),
             CASE(bin_empty),
             CASE(bin_unknown),
             CASE(folder_pickle),
             CASE(tokenizer_too_large),
             CASE(regex_too_long)};

#define COUNT(table) (sizeof table / sizeof *table)

static void list(void) {
    for (size_t i = 0; i < COUNT(cases); i++) puts(cases[i].name);
    for (size_t i = 0; i < COUNT(headers); i++) puts(headers[i].name);
    for (size_t i = 0; i < COUNT(tokenizers); i++) puts(tokenizers[i].name);
}

static void run(const char *name) {
    for (size_t i = 0; i < COUNT(cases); i++)
        if (!strcmp(cases[i].name, name)) cases[i].run();
    for (size_t i = 0; i < COUNT(headers); i++)
        if (!strcmp(headers[i].name, name)) open_safetensors(headers[i].header, headers[i].data);
    for (size_t i = 0; i < COUNT(tokenizers); i++)
        if (!strcmp(tokenizers[i].name, name)) open_tokenizer(tokenizers[i].text);
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    arena = arena_new();
    if (!strcmp(argv[1], "--list"))
        list();
    else
        run(argv[1]);
    arena_free(arena);
    return 0;
}
