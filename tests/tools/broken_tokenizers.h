// Broken tokenizers: tokenizer.json as texts, vocabularies of other files by functions. A case is a
// row or a function.
#ifndef BURIN_TEST_BROKEN_TOKENIZERS_H
#define BURIN_TEST_BROKEN_TOKENIZERS_H
#include "broken.h"

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
    put_string("tokenizer.ggml.model", "plamo2");
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
static void vocabulary_scores(void) { vocabulary_array("tokenizer.ggml.scores", U32, 2); }
static void vocabulary_score_counts(void) { vocabulary_array("tokenizer.ggml.scores", F32, 3); }
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

// Pieces of no bytes, which are looked up as others are.
static void vocabulary_pieces_of_nothing(void) {
    begin(3, 0, 3);
    put_string("tokenizer.ggml.model", "gpt2");
    key("tokenizer.ggml.tokens", ARRAY);
    u32(STRING);
    u64(3);
    string("");
    string("a");
    string("");
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
    raw("\211PNG\r\n\032\n");
    open_bin_tokenizer(1);
}

static void folder_pickle(void) {
    mkdir("model", 0700);
    raw("PK\003\004 and the rest of a zip file, as torch.save writes it");
    write_out("model/pytorch_model.bin");
    open_checkpoint("model");
}

static void bin_tokens_of_nothing(void) {
    u32(1);
    for (int id = 0; id < 5; id++) put_bin_token(0, "");
    u32(0);
    open_bin_tokenizer(6);
}

static void bin_empty(void) {
    u32(1);
    open_bin_tokenizer(0);
}

#define BPE             "'model':{'type':'BPE','vocab':{'a':0,'b':1,'ab':2},'merges':['a b']}"
#define WITH(part)      "{" part "," BPE "}"
#define MODEL(text)     "{'model':{" text "}}"
#define BPE_MODEL(text) MODEL("'type':'BPE','vocab':{'a':0,'b':1,'ab':2}," text)
#define SPLIT(regex) \
    WITH("'pre_tokenizer':{'type':'Split','behavior':'Isolated','pattern':{'Regex':'" regex "'}}")
#define UNICODE_2581 "\\u2581"
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
    {"model-prefix",
     BPE_MODEL("'merges':[],'continuing_subword_prefix':'##','end_of_word_suffix':'</w>'")},
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
    {"normalizer-unknown", WITH("'normalizer':{'type':'Umlaut'}")},
    {"normalizer-no-type", WITH("'normalizer':{}")},
    {"normalizer-grows",
     WITH(
         "'normalizer':{'type':'Sequence','normalizers':["
         "{'type':'Replace','pattern':{'String':'a'},'content':'01234567890123456789012345678901'},"
         "{'type':'Replace','pattern':{'String':'a'},'content':'01234567890123456789012345678901'}]"
         "}")},
    {"pattern-missing", WITH("'normalizer':{'type':'Replace','pattern':{},'content':''}")},
    {"pattern-empty", WITH("'normalizer':{'type':'Replace','pattern':{'String':''},'content':''}")},
    {"pretokenizer-unknown", WITH("'pre_tokenizer':{'type':'Odd'}")},
    {"pretokenizer-delimiter",
     WITH("'pre_tokenizer':{'type':'CharDelimiterSplit','delimiter':''}")},
    {"pretokenizer-length", WITH("'pre_tokenizer':{'type':'FixedLength','length':0}")},
    {"pretokenizer-behavior",
     WITH("'pre_tokenizer':{'type':'Split','behavior':'Odd','pattern':{'String':'a'}}")},
    {"pretokenizer-metaspace", WITH("'pre_tokenizer':{'type':'Metaspace','replacement':'__'}")},
    {"pretokenizer-scheme", WITH("'pre_tokenizer':{'type':'Metaspace','replacement':'" UNICODE_2581
                                 "','prepend_scheme':'last'}")},
    {"regex-property", SPLIT("\\\\p{Klingon}")},
    {"regex-no-property", SPLIT("\\\\pL")},
    {"regex-hex", SPLIT("\\\\x{zz}")},
    {"regex-escape", SPLIT("\\\\Kword")},
    {"regex-posix", SPLIT("[[:alpha:]]")},
    {"regex-range-class", SPLIT("[a-\\\\d]")},
    {"regex-range", SPLIT("[z-a]")},
    {"regex-class-end", SPLIT("[abc")},
    {"regex-group", SPLIT("(?~a)b")},
    {"regex-group-end", SPLIT("(ab")},
    {"regex-group-start", SPLIT("ab)")},
    {"regex-behind", SPLIT("(?<=a+)b")},
    {"regex-behind-lengths", SPLIT("(?<!a|bc)d")},
    {"regex-nothing", SPLIT("a|*")},
    {"regex-counts", SPLIT("a{2,1}")},
    {"regex-counts-broken", SPLIT("a{x}")},
    {"regex-repeated-twice", SPLIT("a+*")},
    {"regex-loop-inside", SPLIT("(?=(?:a?)*b)c")},
    {"regex-loop-of-nothing", SPLIT("(?:a?|b)*c")},
    {"regex-nested-nothing", SPLIT("(?:(?:(?:(?:(?:(?:){1000}){1000}){1000}){1000}){1000}){1000}")},
    {"regex-deep", SPLIT("((((((((((((((((((a))))))))))))))))))")},
    {"added-no-id", WITH("'added_tokens':[{'content':'<s>'}]")},
    {"added-taken",
     "{'added_tokens':[{'content':'<s>','id':9}],'model':{'type':'BPE','vocab':{'a':0,'b':2},'"
     "merges':[]}}"},
    {"charsmap-base64", WITH("'normalizer':{'type':'Precompiled','precompiled_charsmap':'AA*A'}")},
    {"charsmap-short", WITH("'normalizer':{'type':'Precompiled','precompiled_charsmap':'AQI='}")},
    {"charsmap-trie",
     WITH("'normalizer':{'type':'Precompiled','precompiled_charsmap':'BAAAAP////8='}")},
    {"post-unknown", WITH("'post_processor':{'type':'Odd'}")},
    {"post-no-list", WITH("'post_processor':{'type':'TemplateProcessing'}")},
    {"post-no-token", WITH("'post_processor':{'type':'TemplateProcessing','single':[{'SpecialToken'"
                           ":{'id':'<s>'}}]}")},
    {"post-twice", WITH("'post_processor':{'type':'TemplateProcessing','single':[{'Sequence':{'id':"
                        "'A'}},{'Sequence':{'id':'A'}}]}")},
    {"post-cls", WITH("'post_processor':{'type':'BertProcessing','cls':['a',0]}")},
    {"post-id", WITH("'post_processor':{'type':'BertProcessing','cls':['a',99],'sep':['a',0]}")},
    {"post-no-text", WITH("'post_processor':{'type':'TemplateProcessing','single':[{'SpecialToken':"
                          "{'id':'a'}}],'special_"
                          "tokens':{'a':{'ids':[0]}}}")},
    {"post-pieces",
     WITH(
         "'post_processor':{'type':'Sequence','processors':[{'type':'TemplateProcessing','single':["
         "{'SpecialToken':{'id':'a'}},{'Sequence':{'id':'A'}}],'special_tokens':{'a':{'ids':[0]}}},"
         "{'type':'BertProcessing','cls':['a',0],'sep':['a',0]}]}")},
    {"decoder-unknown", WITH("'decoder':{'type':'CTC'}")},
    {"decoder-strip", WITH("'decoder':{'type':'Strip','content':' ','start':300,'stop':0}")},
    {"decoder-strip-bytes", WITH("'decoder':{'type':'Sequence','decoders':[{'type':'ByteFallback'},"
                                 "{'type':'Strip','content':' "
                                 "','start':0,'stop':1}]}")},
    {"normalizer-replace-nothing",
     WITH("'normalizer':{'type':'Replace','pattern':{'Regex':'a*'},'content':'b'}")},
    {"decoder-behind",
     WITH("'decoder':{'type':'Sequence','decoders':[{'type':'Fuse'},{'type':'ByteLevel'}]}")},
    {"decoder-suffix",
     WITH(
         "'decoder':{'type':'BPEDecoder','suffix':'a'},'added_tokens':[{'content':'xay','id':7}]")},
    {"truncation-second", WITH("'truncation':{'max_length':4,'strategy':'OnlySecond'}")},
    {"truncation-length", WITH("'truncation':{'max_length':'4','strategy':'LongestFirst'}")},
    {"padding-direction",
     WITH("'padding':{'strategy':'BatchLongest','direction':'Up','pad_id':0}")},
    {"decoder-metaspace", WITH("'decoder':{'type':'Metaspace','replacement':'__'}")},
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

static const char *utf8_of(uint32_t code) {
    static char text[5];
    text[burin_utf8_write((uint8_t *)text, code)] = 0;
    return text;
}

// `n` copies of a step, then the last of a list.
static void open_steps(const char *list, const char *step, int n, const char *end) {
    json(list);
    for (int i = 0; i < n; i++) json(step), json(",");
    json(end);
    write_out("tokenizer.json");
    tokenizer_load(arena, "tokenizer.json", 0);
}

static void charsmap_grows(void) {
    char *text = arena_alloc(arena, (1 << 16) + 2);
    memset(text, 'x', (1 << 16) + 1);
    json("{'normalizer':{'type':'Precompiled','precompiled_charsmap':'");
    raw(charsmap_base64(arena, text));
    json("'}," BPE "}");
    write_out("tokenizer.json");
    tokenizer_load(arena, "tokenizer.json", 0);
}

#define METASPACE "{'type':'Metaspace','replacement':'" UNICODE_2581 "','split':false}"
static void pretokenizers_too_many(void) {
    open_steps("{'pre_tokenizer':{'type':'Sequence','pretokenizers':[", METASPACE, 70,
               METASPACE "]}," BPE "}");
}

static void pretokenizers_grow(void) {
    open_steps("{'pre_tokenizer':{'type':'Sequence','pretokenizers':[", METASPACE, 60,
               METASPACE "]}," BPE "}");
}

static void normalizers_too_many(void) {
    open_steps("{'normalizer':{'type':'Sequence','normalizers':[", "{'type':'Strip'}", 1024,
               "{'type':'Strip'}]}," BPE "}");
}

static void decoder_grows(void) {
    static const char step[] =
        "{'type':'Replace','pattern':{'String':'a'},'content':'aaaaaaaaaaaaaaaa'}";
    open_steps("{'decoder':{'type':'Sequence','decoders':[", step, 8, "{'type':'Fuse'}]}," BPE "}");
}

static void decoders_too_many(void) {
    static const char step[] = "{'type':'Replace','pattern':{'String':'a'},'content':'b'}";
    open_steps("{'decoder':{'type':'Sequence','decoders':[", step, 65,
               "{'type':'Fuse'}]}," BPE "}");
}

// Tokens of 900 letters, each of which becomes 1,000.
static void decoder_makes_much(void) {
    char text[904], step[1100];
    memset(text, 'a', 900), memset(step, 'b', 1000);
    text[900] = step[1000] = 0;
    json("{'decoder':{'type':'Replace','pattern':{'String':'a'},'content':'");
    raw(step);
    json("'},'model':{'type':'WordLevel','unk_token':'u','vocab':{'u':0");
    for (int i = 1; i < 100; i++) json(arena_printf(arena, ",'%s%d':%d", text, i, i));
    json("}}}");
    write_out("tokenizer.json");
    tokenizer_load(arena, "tokenizer.json", 0);
}

static void regex_many_sets(void) {
    json("{'pre_tokenizer':{'type':'Sequence','pretokenizers':[");
    for (uint32_t i = 0; i < 3; i++) {
        json("{'type':'Split','behavior':'Isolated','pattern':{'String':'");
        for (uint32_t code = 0x4e00 + 4000 * i; code < 0x4e00 + 4000 * (i + 1); code++)
            raw(utf8_of(code));
        json("'}},");
    }
    json("{'type':'WhitespaceSplit'}]}," BPE "}");
    write_out("tokenizer.json");
    tokenizer_load(arena, "tokenizer.json", 0);
}

// A tokenizer.json of a class that builds its own steps.
static void open_class(const char *config, const char *model) {
    json(config);
    write_out("tokenizer_config.json");
    json(
        "{'post_processor':{'type':'TemplateProcessing','single':[{'Sequence':{'id':'A'}}]},'model'"
        ":");
    json(model);
    json("}");
    write_out("tokenizer.json");
    tokenizer_load(arena, "tokenizer.json", 0);
}

#define UNIGRAM \
    "{'type':'Unigram','unk_id':0,'vocab':[['<unk>',0.0],['</s>',-1.0],['a',-2.0],['b',-3.0]]}"
static void class_value(void) {
    open_class("{'tokenizer_class':'BertTokenizer','strip_accents':'no'}",
               "{'type':'WordPiece','unk_token':'a','vocab':{'a':0}}");
}

static void class_extra_ids(void) {
    open_class("{'tokenizer_class':'T5Tokenizer','extra_ids':-1}", UNIGRAM);
}

static void class_around(void) {
    open_class("{'tokenizer_class':'MBartTokenizer','src_lang':'xx'}", UNIGRAM);
}

static void regex_too_long(void) {
    json("{'pre_tokenizer':{'type':'Split','behavior':'Isolated','pattern':{'String':'");
    for (int i = 0; i < 5000; i++) raw("a");
    json("'}}," BPE "}");
    write_out("tokenizer.json");
    tokenizer_load(arena, "tokenizer.json", 0);
}

static const BrokenCase broken_tokenizers[] = {CASE(vocabulary_no_model),
                                               CASE(vocabulary_kind),
                                               CASE(vocabulary_no_tokens),
                                               CASE(vocabulary_pieces_of_nothing),
                                               CASE(vocabulary_counts),
                                               CASE(vocabulary_types),
                                               CASE(vocabulary_scores),
                                               CASE(vocabulary_score_counts),
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
                                               CASE(bin_tokens_of_nothing),
                                               CASE(bin_unknown),
                                               CASE(folder_pickle),
                                               CASE(tokenizer_too_large),
                                               CASE(charsmap_grows),
                                               CASE(pretokenizers_too_many),
                                               CASE(pretokenizers_grow),
                                               CASE(normalizers_too_many),
                                               CASE(decoder_grows),
                                               CASE(decoders_too_many),
                                               CASE(decoder_makes_much),
                                               CASE(regex_many_sets),
                                               CASE(class_value),
                                               CASE(class_extra_ids),
                                               CASE(class_around),
                                               CASE(regex_too_long)};
#endif
