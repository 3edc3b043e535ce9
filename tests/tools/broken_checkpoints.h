// Broken checkpoints: safetensors, folders, llama2.c. A case is a row or a function.
#ifndef BURIN_TEST_BROKEN_CHECKPOINTS_H
#define BURIN_TEST_BROKEN_CHECKPOINTS_H
#include "broken.h"

// ------------------------------------------------------------------------------------- safetensors
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
    {"shape-too-big-integer",
     "{'x':{'dtype':'F32','shape':[9223372036854775808],'data_offsets':[0,8]}}", 8},
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

// ----------------------------------------------------------------------------------------- folders
static void index_of(const char *text) {
    json(text);
    write_out("model.safetensors.index.json");
    safetensors("a.safetensors", "{" X8 "}", 8);
    open_checkpoint(".");
}

static void index_no_map(void) { index_of("{}"); }
static void index_missing_shard(void) {
    index_of("{'weight_map':{'x':'a.safetensors','y':'b.safetensors'}}");
}
static void index_absent_tensor(void) {
    index_of("{'weight_map':{'x':'a.safetensors','y':'a.safetensors'}}");
}
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

static void config_nan(void) {
    config_of("config.json", "{\n  'model_type': 'llama',\n  'rms_norm_eps': nan\n}\n");
}
static void config_infinity(void) { config_of("config.json", "{\n  'rope_theta': -inf\n}\n"); }
static void config_duplicate(void) {
    config_of("config.json", "{\n  'vocab_size': 1,\n  'vocab_size': 2\n}\n");
}
static void config_cut(void) { config_of("config.json", "{\n  'vocab_size': 1,"); }
static void config_no_object(void) { config_of("config.json", "[1]\n"); }
static void config_type(void) { config_of("config.json", "{\n  'model_type': 3\n}\n"); }
static void config_eos(void) {
    config_of("config.json", "{\n  'vocab_size': 5,\n  'eos_token_id': [1, -5]\n}\n");
}
static void config_many_eos(void) {
    char text[512] = "{'eos_token_id': [0";
    for (int i = 1; i < 65; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), ",%d", i);
    config_of("config.json", strcat(text, "]}\n"));
}
static void config_quantized_text(void) {
    config_of("config.json", "{\n  'quantization_config': 'gptq'\n}\n");
}
static void quantized_beside_cut(void) {
    json("{\n  'quantization': {'quant_algo': 'FP8'");
    write_out("hf_quant_config.json");
    config_of("config.json", "{'model_type':'llama'}");
}
static void quantized_beside_list(void) {
    json("[]");
    write_out("quantize_config.json");
    config_of("config.json", "{'model_type':'llama'}");
}
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
    raw("\200\002 and the rest of a pickle, as torch.save wrote it once");
    write_out("pytorch_model.bin");
    open_checkpoint("pytorch_model.bin");
}

// ----------------------------------------------------------------------------------------- PyTorch
static void u16(uint16_t x) { text_append(&out, (char *)&x, sizeof x); }

typedef struct ArchiveEntry {
    const char *name;
    const void *data;
    uint32_t size;
} ArchiveEntry;

enum {
    ZIP_LOCAL = 0x04034b50,
    ZIP_LISTED = 0x02014b50,
    ZIP_END = 0x06054b50,
    ZIP_END64 = 0x06064b50,
    ZIP_LOCATOR = 0x07064b50
};

static void entry_sizes(const ArchiveEntry *e) {
    u32(0);
    u32(e->size);
    u32(e->size);
    u16((uint16_t)strlen(e->name));
    u16(0);
}

static void archive_end(uint16_t n, uint32_t directory) {
    uint32_t bytes = (uint32_t)out.length - directory;
    u32(ZIP_END);
    u32(0);
    u16(n);
    u16(n);
    u32(bytes);
    u32(directory);
    u16(0);
}

static void open_archive(void) {
    write_out("pytorch_model.bin");
    open_checkpoint("pytorch_model.bin");
}

// A ZIP archive of stored entries, as torch.save writes them; `method`: 0, or how they claim to be
// packed. Returns the offset of its directory.
static uint32_t archive_entries(const ArchiveEntry *entries, uint16_t n, uint16_t method) {
    uint32_t at[4] = {0};
    for (int i = 0; i < n; i++) {
        at[i] = (uint32_t)out.length;
        u32(ZIP_LOCAL);
        u32(0);
        u16(method);
        u32(0);
        entry_sizes(&entries[i]);
        raw(entries[i].name);
        text_append(&out, entries[i].data, entries[i].size);
    }
    uint32_t directory = (uint32_t)out.length;
    for (int i = 0; i < n; i++) {
        u32(ZIP_LISTED);
        u32(0);
        u16(0);
        u16(method);
        u32(0);
        entry_sizes(&entries[i]);
        zeros(10);
        u32(at[i]);
        raw(entries[i].name);
    }
    archive_end(n, directory);
    return directory;
}

static void archive_of(const char *name, const void *data, uint32_t size, uint16_t method) {
    archive_entries(&(ArchiveEntry){name, data, size}, 1, method);
    open_archive();
}

// A directory of the 64-bit kind: `signature` of its record, and how many entries it claims.
static void archive_wide(uint32_t signature, uint64_t entries) {
    u32(ZIP_LOCAL);
    u32(signature);
    zeros(20);
    u64(entries);
    u64(entries);
    u64(0);
    u64(0);
    u32(ZIP_LOCATOR);
    u32(0);
    u64(4);
    u32(1);
    archive_end(UINT16_MAX, (uint32_t)out.length);
    open_archive();
}

static void pickle_of(const char *code, size_t size) {
    archive_of("m/data.pkl", code, (uint32_t)size, 0);
}
#define PICKLE(code) pickle_of(code, sizeof(code) - 1)
#define STORAGE      "((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0000X\3\0\0\0cpuK\4tQ"
#define TENSOR_CODE(places) \
    "\x80\2}X\1\0\0\0xctorch._utils\n_rebuild_tensor_v2\n" STORAGE places "\x89NtRs."
#define TENSOR(places) PICKLE(TENSOR_CODE(places))

static void pickle_calls(void) { PICKLE("\x80\2cposix\nsystem\nX\4\0\0\0true\x85R."); }
static void pickle_code(void) { PICKLE("\x80\2i"); }
static void pickle_cut(void) { PICKLE("\x80\2X\xff\xff\xff\xffx"); }
static void pickle_empty_stack(void) { PICKLE("\x80\2(tR."); }
static void pickle_no_mark(void) { PICKLE("\x80\2}u."); }
static void pickle_notes(void) { PICKLE("\x80\2}r\xff\xff\xff\x7f."); }
static void pickle_no_note(void) { PICKLE("\x80\2h\5."); }
static void pickle_no_dict(void) { PICKLE("\x80\2]."); }
static void pickle_left_over(void) { PICKLE("\x80\2}}."); }
static void pickle_no_name(void) { PICKLE("\x80\2}K\1K\2s."); }
static void pickle_number(void) { PICKLE("\x80\2}X\5\0\0\0epochK\2s."); }
static void pickle_long(void) { PICKLE("\x80\2\x8a\t123456789."); }
static void pickle_state(void) { PICKLE("\x80\2K\1}b."); }
static void pickle_list(void) { PICKLE("\x80\2}K\1a."); }
static void pickle_storage(void) { PICKLE("\x80\2K\1Q."); }
static void tensor_no_storage(void) { TENSOR("K\0(K\4t(K\1t"); }
static void tensor_negative(void) { TENSOR("J\xff\xff\xff\xff(K\4t(K\1t"); }
static void tensor_strides(void) { TENSOR("K\0(K\4t(K\1K\1t"); }
static void tensor_huge(void) {
    TENSOR("K\0(J\xff\xff\xff\x7fJ\xff\xff\xff\x7fJ\xff\xff\xff\x7ft(K\0K\0K\0t");
}
static void pickle_call_value(void) { PICKLE("\x80\2K\1)R."); }
static void pickle_items(void) { PICKLE("\x80\2K\1K\2K\3s."); }
static void pickle_name_number(void) { PICKLE("\x80\2K\1K\2\x93."); }
static void pickle_name_cut(void) { PICKLE("\x80\2ctorch"); }
static void pickle_zero_byte(void) { PICKLE("\x80\2X\3\0\0\0a\0b."); }
static void tensor_stored(const char *code, uint32_t size) {
    archive_entries((ArchiveEntry[]){{"m/data.pkl", code, size}, {"m/data/0", "four", 4}}, 2, 0);
    open_archive();
}
#define STORED(places) tensor_stored(TENSOR_CODE(places), sizeof TENSOR_CODE(places) - 1)
static void tensor_beyond_storage(void) { STORED("K\1(K\4t(K\1t"); }
static void tensor_repeated(void) { STORED("K\0(M\xff\xfft(K\0t"); }
static void archive_big_endian(void) {
    archive_entries((ArchiveEntry[]){{"m/data.pkl", "}.", 2}, {"m/byteorder", "big", 3}}, 2, 0);
    open_archive();
}
static void archive_listed(void) {
    uint32_t directory = archive_entries(&(ArchiveEntry){"m/data.pkl", "}.", 2}, 1, 0);
    out.data[directory] = 'X';
    open_archive();
}
static void archive_moved(void) {
    archive_entries((ArchiveEntry[]){{"m/data/0", "four", 4}, {"m/data.pkl", "}.", 2}}, 2, 0);
    out.data[30 + strlen("m/data/0four")] = 'X';
    open_archive();
}
static void archive_wide_damaged(void) { archive_wide(0, 1); }
static void archive_many(void) { archive_wide(ZIP_END64, 1 << 21); }
static void archive_packed(void) { archive_of("m/data.pkl", "}.", 2, 8); }
static void archive_other(void) { archive_of("word/document.xml", "<w>", 3, 0); }
static void archive_cut(void) {
    raw("PK\003\004 and the rest of a zip file that was not downloaded whole");
    write_out("pytorch_model.bin");
    open_checkpoint("pytorch_model.bin");
}
static void pointer_of_lfs(void) {
    raw("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n");
    write_out("model.safetensors");
    open_checkpoint("model.safetensors");
}

// ----------------------------------------------------------------------------------------- folders
static void folder_holding(const char *name, const char *text) {
    raw(text);
    write_out(name);
    open_checkpoint(".");
}
static void folder_adapter(void) {
    raw("");
    write_out("adapter_model.safetensors");
    folder_holding("adapter_config.json", "{\"base_model_name_or_path\": \"org/base\"}");
}
static void folder_of_cache(void) {
    mkdir("refs", 0700), mkdir("snapshots", 0700), mkdir("snapshots/0a1b", 0700);
    folder_holding("refs/main", "0a1b");
}
static void folder_of_meta(void) { folder_holding("consolidated.00.pth", "x"); }
static void folder_of_mistral(void) { folder_holding("consolidated.safetensors", "x"); }
static void folder_of_flax(void) { folder_holding("flax_model.msgpack", "x"); }

// ---------------------------------------------------------------------------------------- llama2.c
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

static const BrokenCase broken_checkpoints[] = {CASE(header_deep),
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
                                                CASE(pickle_calls),
                                                CASE(pickle_code),
                                                CASE(pickle_cut),
                                                CASE(pickle_empty_stack),
                                                CASE(pickle_no_mark),
                                                CASE(pickle_notes),
                                                CASE(pickle_no_note),
                                                CASE(pickle_no_dict),
                                                CASE(pickle_left_over),
                                                CASE(pickle_no_name),
                                                CASE(pickle_number),
                                                CASE(pickle_long),
                                                CASE(pickle_state),
                                                CASE(pickle_list),
                                                CASE(pickle_storage),
                                                CASE(tensor_no_storage),
                                                CASE(tensor_negative),
                                                CASE(tensor_strides),
                                                CASE(tensor_huge),
                                                CASE(pickle_call_value),
                                                CASE(pickle_items),
                                                CASE(pickle_name_number),
                                                CASE(pickle_name_cut),
                                                CASE(pickle_zero_byte),
                                                CASE(tensor_beyond_storage),
                                                CASE(tensor_repeated),
                                                CASE(archive_big_endian),
                                                CASE(archive_listed),
                                                CASE(archive_moved),
                                                CASE(archive_wide_damaged),
                                                CASE(archive_many),
                                                CASE(archive_packed),
                                                CASE(archive_other),
                                                CASE(archive_cut),
                                                CASE(pointer_of_lfs),
                                                CASE(folder_adapter),
                                                CASE(folder_of_cache),
                                                CASE(folder_of_meta),
                                                CASE(folder_of_mistral),
                                                CASE(folder_of_flax),
                                                CASE(config_nan),
                                                CASE(config_infinity),
                                                CASE(config_duplicate),
                                                CASE(config_cut),
                                                CASE(config_no_object),
                                                CASE(config_type),
                                                CASE(config_eos),
                                                CASE(config_many_eos),
                                                CASE(config_quantized_text),
                                                CASE(quantized_beside_cut),
                                                CASE(quantized_beside_list),
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
                                                CASE(version_1_cut)};
#endif
