// Tokenizers: the shared cases of Hugging Face's vocabularies, llama2.c's and GGUF's, and small
// ones written here.
#include "frontend/tokenizer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/text/prompt.h"
#include "runtime/tokenizer/tokenizer.h"
#include "tests/tools/charsmap.h"
#include "unit.h"
#include "util/diag.h"
#include "util/text.h"

#define SHARED "../shared/data/"

static bool absent(const char *path) {
    if (access(path, R_OK) == 0) return false;
    printf("# SKIP %s is not here\n", path);
    return true;
}

// ----------------------------------------------------------------------------------------- helpers
typedef struct {
    Arena *arena;
    const void *blob;
    int32_t *ids;
    size_t n;
} Run;

static Run load(const char *path, int vocab_size) {
    Run r = {.arena = arena_new()};
    r.blob = tokenizer_load(r.arena, path, vocab_size)->blob;
    return r;
}

enum { GUARD_BYTES = 64, GUARD = 0xa5 };

static bool guard_intact(const char *guard) {
    bool intact = true;
    for (int i = 0; i < GUARD_BYTES; i++) intact &= (unsigned char)guard[i] == GUARD;
    return intact;
}

static void encode(Run *r, const char *text, size_t bytes, bool special) {
    size_t needed = burin_encode_memory(r->blob, bytes);
    char *memory = malloc(needed + GUARD_BYTES);
    memset(memory + needed, GUARD, GUARD_BYTES);
    burin_encoding e = {
        .text = text, .bytes = bytes, .special = special, .whole = true, .memory = memory};
    e.capacity = burin_encode(r->blob, &e);
    r->ids = e.ids = ARENA_ARRAY(r->arena, int32_t, e.capacity + 1);
    r->n = burin_encode(r->blob, &e);
    CHECK(r->n == e.capacity && guard_intact(memory + needed));
    free(memory);
}

static const char *decode(Run *r) {
    burin_decoder d = {0};
    Text t = {0};
    char *bytes = arena_alloc(r->arena, burin_decode_max(r->blob));
    text_append(&t, "", 0);
    for (size_t i = 0; i < r->n; i++)
        text_append(&t, bytes, burin_decode(r->blob, &d, r->ids[i], bytes));
    const char *text = arena_strndup(r->arena, t.data, t.length);
    text_free(&t);
    return text;
}

static void check_ids(const Run *r, const int32_t *expected, size_t n, const char *what) {
    bool same = r->n == n && !memcmp(r->ids, expected, n * sizeof *expected);
    CHECK(same);
    if (same) return;
    printf("# %s: expected", what);
    for (size_t i = 0; i < n; i++) printf(" %d", expected[i]);
    printf("\n#   got");
    for (size_t i = 0; i < r->n; i++) printf(" %d", r->ids[i]);
    printf("\n");
}
#define CHECK_IDS(r, ...)                                                                         \
    check_ids(&(r), (int32_t[]){__VA_ARGS__}, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), \
              #__VA_ARGS__)

static void check_json_ids(Run *r, const json_t *expected, const char *what) {
    int32_t *ids = ARENA_ARRAY(r->arena, int32_t, json_array_size(expected) + 1);
    for (size_t i = 0; i < json_array_size(expected); i++)
        ids[i] = (int32_t)json_integer_value(json_array_get(expected, i));
    check_ids(r, ids, json_array_size(expected), what);
}

// ----------------------------------------------------------------------------- shared vocabularies
static void check_cases(const char *kind, const char *file) {
    char path[256], cases_path[256];
    snprintf(path, sizeof path, SHARED "tokenizers/%s/%s", kind, file);
    snprintf(cases_path, sizeof cases_path, SHARED "tokenizers/%s/cases.json", kind);
    if (absent(path)) return;
    Run r = load(path, 0);
    json_t *cases = json_load_file(cases_path, JSON_ALLOW_NUL, NULL), *c;
    const char *name;
    CHECK(json_object_size(cases) > 20);
    json_object_foreach(cases, name, c) {
        const json_t *text = json_object_get(c, "text");
        if (json_object_get(c, "text_pair")) continue;
        encode(&r, json_string_value(text), json_string_length(text), true);
        check_json_ids(&r, json_object_get(c, "ids"), name);
    }
    json_decref(cases);
    arena_free(r.arena);
}

static void encodes_like_falcon(void) { check_cases("falcon", "tokenizer.json"); }

static void encodes_like_gpt2(void) { check_cases("gpt2", "encoder.json"); }
static void encodes_like_bert(void) { check_cases("bert", "tokenizer.json"); }
static void encodes_like_t5(void) { check_cases("t5", "tokenizer.json"); }

static void sets_no_marks_on_control_characters(void) {
    const char *file = SHARED "tokenizers/t5/tokenizer.json";
    if (absent(file)) return;
    Run r = load(file, 0);
    encode(&r, "lit\u0301\ufeff\u200b\u0301@", 14, true);
    CHECK_IDS(r, 4996, 2, 3, 2, 1741, 1);
    encode(&r, "a\u00ad\u200d\u0301Dan", 11, true);
    CHECK_IDS(r, 3, 9, 575, 2744, 1);
    arena_free(r.arena);
}

static void encodes_like_clip(void) { check_cases("clip", "tokenizer.json"); }

static void encodes_austen(void) {
    Run r = load("examples/austen/tokenizer.json", 2048);
    json_t *expected = json_load_file("examples/austen/expected.json", 0, NULL),
           *greedy = json_object_get(expected, "greedy"), *g;
    size_t i, bytes;
    char *text = read_text_file("examples/austen/held_out.txt", &bytes);
    encode(&r, text, bytes, false);
    CHECK(r.n == (size_t)json_integer_value(json_object_get(expected, "tokens")));
    CHECK_TEXT(decode(&r), text);
    r.n = json_array_size(json_object_get(expected, "first_tokens"));
    check_json_ids(&r, json_object_get(expected, "first_tokens"), "held_out.txt");
    json_array_foreach(greedy, i, g) {
        const char *prompt = json_string_value(json_object_get(g, "prompt"));
        encode(&r, prompt, strlen(prompt), true);
        check_json_ids(&r, json_object_get(g, "ids"), prompt);
    }
    free(text);
    json_decref(expected);
    arena_free(r.arena);
}

static void encodes_like_llama2c(void) {
    const char *const files[] = {SHARED "stories260k/tok512.bin",
                                 SHARED "stories260k/stories260K.gguf"};
    for (int i = 0; i < 2 && !absent(files[i]); i++) {
        Run r = load(files[i], 512);
        encode(&r, "", 0, true);
        CHECK_IDS(r, 1);
        encode(&r, "Once upon a time, there was", 27, true);
        CHECK_TEXT(decode(&r), "Once upon a time, there was");
        CHECK_IDS(r, 1, 403, 407, 261, 378, 432, 383, 286);
        encode(&r, "a\n\xe2\x82\xac\xff z", 8, true);
        CHECK_TEXT(decode(&r), "a\n\xe2\x82\xac\xff z");
        CHECK(burin_tokenizer_bos(r.blob) == 1);
        arena_free(r.arena);
    }
}

// Models that ../shared/fetch-models brings.
static bool fetched(const char *file, char path[512]) {
    snprintf(path, 512, "%s/.cache/burin-models/%s", getenv("HOME") ? getenv("HOME") : "", file);
    return !absent(path);
}

static void encodes_like_smollm2(void) {
    char path[512];
    if (!fetched("smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", path) ||
        absent(SHARED "expected/smollm2.json"))
        return;
    Run r = load(path, 0);
    json_t *expected = json_load_file(SHARED "expected/smollm2.json", 0, NULL), *c;
    char *text = read_text_file(SHARED "text/wiki.test.raw", NULL);
    size_t i, n = json_array_size(json_object_get(expected, "first_ids"));
    for (char *from = text, *to = text; (*to = *from); from++)
        to += *from != '\r';  // expected with Python's universal newlines
    encode(&r, text, 1000, true);
    CHECK(r.n > n && n > 50);
    r.n = n;
    check_json_ids(&r, json_object_get(expected, "first_ids"), "wiki.test.raw");
    json_array_foreach(json_object_get(expected, "cases"), i, c) {
        encode(&r, json_string_value(json_object_get(c, "rendered")),
               json_string_length(json_object_get(c, "rendered")), true);
        check_json_ids(&r, json_object_get(c, "ids"), "a rendered template");
    }
    CHECK(i > 1);
    free(text);
    json_decref(expected);
    arena_free(r.arena);
}

static void encodes_like_minilm(void) {
    char path[512];
    if (!fetched("minilm/tokenizer.json", path) || absent(SHARED "expected/minilm.json")) return;
    Run r = load(path, 0);
    json_t *expected = json_load_file(SHARED "expected/minilm.json", 0, NULL), *c;
    size_t i;
    json_array_foreach(json_object_get(expected, "cases"), i, c) {
        encode(&r, json_string_value(json_object_get(c, "text")),
               json_string_length(json_object_get(c, "text")), true);
        if (json_array_size(json_object_get(c, "ids")) == 256)
            r.ids[255] = r.ids[r.n - 1], r.n = 256;  // cut by the model
        check_json_ids(&r, json_object_get(c, "ids"), "a sentence");
    }
    CHECK(i > 1);
    json_decref(expected);
    arena_free(r.arena);
}

// -------------------------------------------------------------------------------------- small ones
// Single quotes are read as double quotes.
static Run load_text(const char *text) {
    char path[] = "/tmp/burin-tokenizer-XXXXXX";
    int file = mkstemp(path);
    Text t = {0};
    for (; *text; text++) text_append(&t, *text == '\'' ? "\"" : text, 1);
    CHECK(write(file, t.data, t.length) == (ssize_t)t.length);
    close(file);
    text_free(&t);
    Run r = load(path, 0);
    unlink(path);
    return r;
}

#define LETTERS "'<s>':0,'<u>':1,'a':2,'b':3,'c':4,'ab':5,'abc':6,'\\u2581':7,'\\u2581ab':8,'bc':9"

static void encode_text(Run *r, const char *text) { encode(r, text, strlen(text), true); }

static void falls_back_to_bytes(void) {
    Run r = load_text(
        "{'normalizer':{'type':'Sequence','normalizers':[{'type':'Prepend','prepend':'\\u2581'},{'"
        "type':'Replace',"
        "'pattern':{'String':' "
        "'},'content':'\\u2581'}]},'decoder':{'type':'Sequence','decoders':[{'type':'Replace',"
        "'pattern':{'String':'\\u2581'},'content':' "
        "'},{'type':'ByteFallback'},{'type':'Fuse'},{'type':'Strip',"
        "'content':' "
        "','start':1,'stop':0}]},'model':{'type':'BPE','byte_fallback':true,'unk_token':'<u>','"
        "fuse_unk':true,"
        "'vocab':{" LETTERS ",'<0xC3>':10,'<0xA9>':11},'merges':['a b','\\u2581 ab','ab c']}}");
    encode_text(&r, "ab abc");
    CHECK_IDS(r, 8, 8, 4);
    CHECK_TEXT(decode(&r), "ab abc");
    encode_text(&r, "\xc3\xa9zzb");
    CHECK_IDS(r, 7, 10, 11, 1, 3);
    encode_text(&r, "");
    CHECK(r.n == 0);
    encode_text(&r, "\xa9");  // not UTF-8, but this byte has a token
    CHECK_IDS(r, 7, 11);
    arena_free(r.arena);
}

// "first" is what the text began with: not what stands first when something was taken away in front
// of it.
static void marks_the_first_word(void) {
    Run r = load_text(
        "{'normalizer':{'type':'Sequence','normalizers':[{'type':'Strip','strip_left':true,'strip_"
        "right':true},{'type':'"
        "Replace',"
        "'pattern':{'String':'cc'},'content':'ab'}]},'pre_tokenizer':{'type':'Metaspace','"
        "replacement':'\u2581',"
        "'prepend_scheme':'first'},'decoder':{'type':'Metaspace','replacement':'\u2581','prepend_"
        "scheme':'first'},"
        "'model':{'type':'WordLevel','unk_token':'<u>','vocab':{" LETTERS ",'\u2581\u2581':10}}}");
    encode_text(&r, "ab");
    CHECK_IDS(r, 8);
    encode_text(&r, " ab");
    CHECK_IDS(r, 5);
    encode_text(&r, "cc");
    CHECK_IDS(r, 5);
    r.ids = (int32_t[]){10, 8, 8}, r.n = 3;  // the first token's marks are no spaces
    CHECK_TEXT(decode(&r), " ab ab");
    arena_free(r.arena);
}

static void takes_whole_words_first(void) {
    Run r = load_text("{'model':{'type':'BPE','ignore_merges':true,'vocab':{" LETTERS
                      "},'merges':['b c']}}");
    encode_text(&r, "abc");
    CHECK_IDS(r, 6);
    encode_text(&r, "abcc");
    CHECK_IDS(r, 2, 9, 4);
    arena_free(r.arena);
}

static void finds_added_tokens(void) {
    Run r = load_text(
        "{'added_tokens':[{'id':0,'content':'<s>','special':true,'lstrip':true},{'id':10,'content':"
        "'<s>x','rstrip':true}],"
        "'pre_tokenizer':{'type':'WhitespaceSplit'},'post_processor':{'type':'TemplateProcessing','"
        "single':["
        "{'SpecialToken':{'id':'<s>'}},{'Sequence':{'id':'A'}}],'special_tokens':{'<s>':{'ids':[0]}"
        "}},'model':{'type':'"
        "WordLevel','unk_token':'<u>','vocab':"
        "{" LETTERS "}}}");
    encode_text(&r, "a  <s>b<s>x  c");
    CHECK_IDS(r, 0, 2, 0, 3, 10, 4);
    burin_encoding e = {.text = "a <s>", .bytes = 5, .plain = true, .ids = r.ids, .capacity = 6};
    e.memory = arena_alloc(r.arena, burin_encode_memory(r.blob, 5));
    r.n = burin_encode(r.blob, &e);
    CHECK_IDS(r, 2, 1);
    CHECK(burin_token_find(r.blob, "<s>x", 4) == 10 &&
          burin_token_find(r.blob, "nothing", 7) == -1);
    CHECK(burin_token_is_special(r.blob, 0) && !burin_token_is_special(r.blob, 10) &&
          !burin_token_text(r.blob, 15, &r.n));
    arena_free(r.arena);
}

static void normalizes(void) {
    Run r = load_text(
        "{'normalizer':{'type':'Sequence','normalizers':[{'type':'NFKC'},{'type':'Lowercase'}]},'"
        "pre_tokenizer':{'type':'Split'"
        ","
        "'pattern':{'Regex':''},'behavior':'Isolated'},'model':{'type':'WordLevel','unk_token':'u',"
        "'vocab':{'u':0,'\\u00e9':1,"
        "'f':2,'i':3,'\\uac01':4,'a':5,'\\u0307':6}}}");
    encode_text(&r, "E\xcc\x81\xef\xac\x81");  // E and an accent, the ligature fi
    CHECK_IDS(r, 1, 2, 3);
    encode_text(&r, "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8 \xc4\xb0");  // three jamo; I with a dot
    CHECK_IDS(r, 4, 0, 3, 6);
    arena_free(r.arena);
}

static const char *charsmap_json(Arena *arena, const char *text) {
    return arena_printf(arena,
                        "{'normalizer':{'type':'Precompiled','precompiled_charsmap':'%s'},'model':{"
                        "'type':'WordLevel',"
                        "'unk_token':'u','vocab':{'u':0,'xyz':1,'xyzxyz':2}}}",
                        charsmap_base64(arena, text));
}

static void measures_charsmaps_as_it_walks_them(void) {
    Arena *arena = arena_new();
    char *text = arena_alloc(arena, 1 << 16);
    Run r = load_text(charsmap_json(arena, "xyz"));
    encode_text(&r, "aa");
    CHECK_IDS(r, 2);
    encode(&r, "\0\0\0\0\0\0\0\0a\0", 10, true);
    CHECK_IDS(r, 0);
    arena_free(r.arena);
    memset(text, 'x', 1000);
    r = load_text(charsmap_json(arena, text));
    encode_text(&r, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    CHECK_IDS(r, 0);
    arena_free(r.arena);
    arena_free(arena);
}

// U+1D160 becomes three characters by NFC.
static void encodes_texts_that_grow(void) {
    Run r = load_text(
        "{'normalizer':{'type':'NFC'},'model':{'type':'WordLevel','unk_token':'u','vocab':{'u':0}},"
        "'pre_tokenizer':{'type':'FixedLength','length':1}}");
    char text[400];
    for (int i = 0; i < 100; i++) memcpy(text + 4 * i, "\xf0\x9d\x85\xa0", 4);
    burin_tokens tokens =
        burin_encode_text(r.blob, &(burin_encoding){.text = text, .bytes = sizeof text});
    CHECK(tokens.n == 300 && tokens.id[299] == 0);
    free(tokens.id);
    CHECK(burin_encode_memory(r.blob, SIZE_MAX / 2) == SIZE_MAX &&
          burin_encode_memory(r.blob, (size_t)UINT32_MAX) == SIZE_MAX);
    arena_free(r.arena);
}

static void normalizes_as_nmt(void) {
    Run r = load_text(
        "{'normalizer':{'type':'Nmt'},'model':{'type':'WordLevel','unk_token':'u','vocab':{'u':0,'"
        "a b':1,'ab':2,' ':3}}}");
    encode_text(&r, "a\ufeffb");
    CHECK_IDS(r, 1);
    encode_text(&r,
                "a\x01\x7f\x08"
                "b");
    CHECK_IDS(r, 2);
    arena_free(r.arena);
}

static void finds_added_tokens_after_normalization(void) {
    Run r = load_text(
        "{'added_tokens':[{'id':3,'content':'FI','normalized':true}],'normalizer':{'type':'"
        "Sequence','normalizers':[{'type':'"
        "NFKC'},"
        "{'type':'Lowercase'}]},'model':{'type':'WordLevel','unk_token':'u','vocab':{'u':0,'a':1,'"
        "b':2}}}");
    encode_text(&r,
                "a\xef\xac\x81"
                "B");  // the ligature fi
    CHECK_IDS(r, 1, 3, 2);
    encode_text(&r, "FIfiA");
    CHECK_IDS(r, 3, 3, 1);
    CHECK(burin_token_find(r.blob, "fi", 2) == 3 && burin_tokenizer_size(r.blob) == 4 &&
          !burin_token_text(r.blob, 4, &r.n));
    arena_free(r.arena);
}

static void splits_by_patterns(void) {
    static const struct {
        const char *regex, *pieces;
    } cases[] = {{"(?i:'S)|b+", "a|'s|bb|c"},  {"bb(?=c)", "a's|bb|c"},
                 {"bb(?!c)", "a'sbbc"},        {"[a-b&&[^a]]{1}", "a's|b|b|c"},
                 {"[^\\\\w]s?", "a|'s|bbc"},   {"\\\\p{Ll}$", "a'sbb|c"},
                 {"b++b", "a'sbbc"},           {"(a|')?s", "a|'s|bbc"},
                 {"(?:b{2})+", "a's|bb|c"},    {"(b{3})*c", "a'sbb|c"},
                 {"bb\\\\b|c\\\\b", "a'sbb|c"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024], got[64] = "";
        snprintf(text, sizeof text,
                 "{'pre_tokenizer':{'type':'Split','behavior':'Isolated','pattern':{'Regex':'%s'}},"
                 "'model':{'type':'WordLevel','unk_"
                 "token':'u',"
                 "'vocab':{'u':0,'a':1,'b':2,'c':3,'bb':4,'bbc':5,'\\u0027s':6,'a\\u0027s':7,'"
                 "a\\u0027sbb':8,'a\\u0027sbbc':9}}}",
                 cases[i].regex);
        for (char *q = strstr(text, "'Regex':'") + 9; *q && strncmp(q, "'}}", 3); q++)
            if (*q == '\'') *q = 1;
        for (char *q = text; *q; q++)
            if (*q == 1) memmove(q + 6, q + 1, strlen(q)), memcpy(q, "\\u0027", 6);
        Run r = load_text(text);
        encode_text(&r, "a'sbbc");
        for (size_t k = 0; k < r.n; k++) {
            size_t n;
            const char *piece = burin_token_text(r.blob, r.ids[k], &n);
            snprintf(got + strlen(got), sizeof got - strlen(got), "%s%.*s", k ? "|" : "", (int)n,
                     piece);
        }
        CHECK_TEXT(got, cases[i].pieces);
        arena_free(r.arena);
    }
}

// A damaged file is refused or read; a read one encodes any bytes and decodes any ids.
static void try_file(const char *path) {
    static const char text[] = "Once <s> upon\xff 12 \xe4\xb8\xad e\xcc\x81\xef\xac\x81";
    Run r = {.arena = arena_new()};
    if (setjmp(*diag_guard()) == 0) {
        r.blob = tokenizer_load(r.arena, path, 0)->blob;
        encode(&r, text, sizeof text - 1, true);
        for (size_t i = 0; i < r.n; i++)
            CHECK(r.ids[i] >= 0 && r.ids[i] < burin_tokenizer_size(r.blob));
        decode(&r);
        r.ids = (int32_t[]){-1, INT32_MAX, 0, 1}, r.n = 4;
        decode(&r);
    }
    diag_unguard();
    arena_free(r.arena);
}

// Patterns that fail in exponentially many ways, in the open and inside of look-around and atomic
// groups.
static void matches_in_bounded_time(void) {
    static const char *const patterns[] = {
        "b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?b?c",
        "(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|"
        "b)(?:b|b)(?:b|b)(?:b|b)(?:b|"
        "b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:"
        "b|b)(?:b|b)(?:b|b)c",
        "(?:b*b*b*b)*c",
        "(?:(?:b|b)(?=b*)(?:b|b))+c",
        "(?=(?:b|bb)*c)b",
        "(?>(?:b|bb)+c)",
        "(?<!(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?"
        ":b|b)(?:b|b)(?:b|b)(?:b|b)(?"
        ":b|"
        "b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)(?:b|b)c)c",
    };
    static const size_t pieces_left[] = {1, 1, 0, 1, 1, 0, 1};
    char text[400];
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        Arena *arena = arena_new();
        Run r = load_text(arena_printf(arena,
                                       "{'pre_tokenizer':{'type':'Split','behavior':'Removed','"
                                       "pattern':{'Regex':'%s'}},'model':{"
                                       "'type':'WordLevel','unk_token':'u','vocab':{'u':0}}}",
                                       patterns[i]));
        memset(text, 'b', sizeof text);
        encode(&r, text, 400, true);
        CHECK_IDS(r, 0);
        text[399] = 'c';  // found after all failures
        encode(&r, text, 400, true);
        CHECK(r.n == pieces_left[i]);
        arena_free(r.arena);
        arena_free(arena);
    }
}

// Searches whose sets take all of a long text from every place, and end with one character: in time
// that grows with the text, not with its square or cube.
static void matches_long_texts_in_linear_time(void) {
    static const struct {
        const char *pattern;
        bool found;  // each character is a match
    } cases[] = {
        {"b*b*b*b*c|b", true},    {"(?>b*b*b*b*c|b)", true},   {"b*?b*?b*?c|b", true},
        {"b(?=.*c)|b", true},     {"(?!(?:b+)+c)b", true},     {"(?=b*b)b", true},
        {"(.*)(.*)(.*)c", false}, {"b*+c|b{2,}c|b", true},     {"(?:b+)+c|b", true},
        {"b*c", false},           {"b{0,9}b{0,9}b*c|b", true}, {"[^c]*?c|b", true},
    };
    enum { LENGTH = 10000 };
    static char text[LENGTH];
    memset(text, 'b', LENGTH);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_new();
        Run r = load_text(arena_printf(
            arena,
            "{'pre_tokenizer':{'type':'Split','behavior':'Isolated','pattern':{'Regex':'%s'}},"
            "'model':{'type':'WordLevel','unk_token':'u','vocab':{'u':0}}}",
            cases[i].pattern));
        encode(&r, text, LENGTH, true);
        CHECK(r.n == (cases[i].found ? LENGTH : 1));
        text[LENGTH - 1] = 'c', text[LENGTH / 2] = '\n';
        encode(&r, text, LENGTH, true);
        CHECK(r.n > 0);
        text[LENGTH - 1] = text[LENGTH / 2] = 'b';
        arena_free(r.arena);
        arena_free(arena);
    }
}

// A long search marks what failed: the pieces after it are those of each text alone. The first
// pattern alternative fails over the letters z.
static void splits_after_long_searches_alike(void) {
    static const char *const patterns[] = {
        "(?:a|ab)+c|b",      "(?:a+b?)+c|a",     "(?>a|ab)+c",           "(?:ab*?)+?c|[ab]",
        "(?=(?:a|b)+c)a|bc", "a{1,3}b{0,2}c|a",  "(?:[ab]{2,3})+c|ab?",  "(?:(?:ab?)+c?)+b|c",
        "(?:a*b)*c|a",       "(?:a*?b)+?a?c|b+", "(?<!ba)(?:b+a?)+c|a+", "(?:a?b?){0,9}c|(?!bb)b",
    };
    enum { PREFIX = 9000, TEXTS = 200, LENGTH = 24 };
    static char text[PREFIX + TEXTS * (LENGTH + 1)];
    uint32_t random = 7;
    for (size_t i = 0; i < sizeof text; i++) {
        random = random * 1664525 + 1013904223;
        bool line = i >= PREFIX && (i - PREFIX) % (LENGTH + 1) == 0;
        text[i] = i < PREFIX ? 'z' : line ? '\n' : "abc"[(random >> 24) * 3 >> 8];
    }
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        Arena *arena = arena_new();
        Run r = load_text(arena_printf(
            arena,
            "{'pre_tokenizer':{'type':'Sequence','pretokenizers':[{'type':'Split','behavior':"
            "'Isolated','pattern':{'Regex':'(?:z|zz)+y|\\n|%s'}},{'type':'ByteLevel',"
            "'add_prefix_space':true,'use_regex':false}]},'model':{'type':'BPE','merges':[],'vocab'"
            ":"
            "{'a':0,'b':1,'c':2,'z':3,'\u0120':4,'\u010a':5}}}",
            patterns[i]));
        encode(&r, text, sizeof text, false);
        Run all = r;
        size_t at = r.n;
        for (int k = TEXTS; k-- > 0; at -= r.n) {
            encode(&r, text + PREFIX + k * (LENGTH + 1), LENGTH + 1, false);
            bool same = r.n <= at && !memcmp(all.ids + at - r.n, r.ids, r.n * sizeof *r.ids);
            CHECK(same);
            if (!same) break;
        }
        CHECK(at == PREFIX + 1);
        arena_free(r.arena);
        arena_free(arena);
    }
}

// The memory that a search may touch is bounded by the text's length.
static void refuses_texts_that_need_far_more_memory(void) {
    Run r = load_text(
        "{'normalizer':{'type':'Replace','pattern':{'String':'a'},'content':'"
        "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
        "bbbbbbbbbbbbbbbbbbbbb'},'pre_tokenizer':{'type':'Split','behavior':'Isolated',"
        "'pattern':{'Regex':'(?:ab?c?){1000}'}},'model':{'type':'WordLevel','unk_token':"
        "'u','vocab':{'u':0}}}");
    CHECK(burin_encode_memory(r.blob, 1 << 10) < 256 << 20);
    CHECK(burin_encode_memory(r.blob, 1 << 20) == SIZE_MAX);
    arena_free(r.arena);
}

static void survives_wrong_bytes(void) {
    static const struct {
        const char *path;
        int rounds;
    } files[] = {{"examples/austen/tokenizer.json", 150},
                 {SHARED "stories260k/tok512.bin", 400},
                 {SHARED "stories260k/stories260K.gguf", 400},
                 {SHARED "tokenizers/t5/tokenizer.json", 10}};
    uint32_t random = 7;
    int saved = dup(STDERR_FILENO);
    if (!freopen("/dev/null", "w", stderr)) return;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[] = "/tmp/burin-tokenizer-XXXXXX";
        size_t size, range;
        if (absent(files[i].path)) continue;
        char *data = read_text_file(files[i].path, &size);
        close(mkstemp(path));
        range = size < 30000 ? size
                : i == 3     ? size / 4
                             : 30000;  // a quarter of t5's is its charsmap
        for (int round = 0; round < files[i].rounds; round++) {
            random = random * 1664525u + 1013904223u;
            size_t at = (random >> 8) % range;
            char before = data[at];
            data[at] =
                round % 2 ? (char)(random >> 24) : "0123456789\"[]{},: "[(random >> 24) % 19];
            write_file(path, data, size);
            data[at] = before;
            try_file(path);
        }
        unlink(path);
        free(data);
    }
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
}

static void counts_whole_characters(void) {
    CHECK(burin_utf8_whole("a\xe2\x82", 3) == 1);
    CHECK(burin_utf8_whole("a\xe2\x82\xac", 4) == 4);
    CHECK(burin_utf8_whole("\xf0\x9f\x98", 3) == 0);
    CHECK(burin_utf8_whole("\xff", 1) == 1 && burin_utf8_whole("\x80\x80\x80\x80", 4) == 4 &&
          burin_utf8_whole("", 0) == 0);
}

SUITE(tokenizer) {
    TEST(encodes_austen);
    TEST(encodes_like_llama2c);

    TEST(encodes_like_gpt2);
    TEST(encodes_like_falcon);
    TEST(encodes_like_bert);
    TEST(encodes_like_t5);
    TEST(encodes_like_clip);
    TEST(sets_no_marks_on_control_characters);
    TEST(encodes_like_smollm2);
    TEST(encodes_like_minilm);
    TEST(falls_back_to_bytes);
    TEST(marks_the_first_word);
    TEST(takes_whole_words_first);
    TEST(finds_added_tokens);
    TEST(normalizes);
    TEST(measures_charsmaps_as_it_walks_them);
    TEST(encodes_texts_that_grow);
    TEST(normalizes_as_nmt);
    TEST(finds_added_tokens_after_normalization);
    TEST(splits_by_patterns);
    TEST(matches_in_bounded_time);
    TEST(matches_long_texts_in_linear_time);
    TEST(splits_after_long_searches_alike);
    TEST(refuses_texts_that_need_far_more_memory);
    TEST(survives_wrong_bytes);
    TEST(counts_whole_characters);
}
