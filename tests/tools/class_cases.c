// class_cases FILE FOLDER: the cases of tests/tokenizers/class_rules.py, each written into the
// folder as tokenizer.json, tokenizer_config.json and config.json, read as burin reads them, and
// its ids compared. Prints the ones that differ. class_cases --expected FILE FOLDER: {"texts":
// [..], "ids": [..]} of a folder that is there.
#include <jansson.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "frontend/tokenizer.h"
#include "runtime/text/prompt.h"
#include "util/diag.h"

static void write_json(const char *name, const json_t *content) {
    if (json_object_size(content))
        json_dump_file(content, name, 0);
    else
        unlink(name);
}

// Returns how many texts have other ids.
static int compare(const void *blob, const json_t *texts, const json_t *expected) {
    int differ = 0;
    for (size_t i = 0; i < json_array_size(texts); i++) {
        const json_t *text = json_array_get(texts, i), *ids = json_array_get(expected, i);
        burin_tokens got =
            burin_encode_text(blob, &(burin_encoding){.text = json_string_value(text),
                                                      .bytes = json_string_length(text),
                                                      .special = true});
        bool same = (size_t)got.n == json_array_size(ids);
        for (int32_t k = 0; same && k < got.n; k++)
            same = got.id[k] == json_integer_value(json_array_get(ids, (size_t)k));
        differ += !same;
        free(got.id);
    }
    return differ;
}

static bool passes(const json_t *root, const json_t *one) {
    Arena *volatile arena = arena_new();
    volatile int differ = -1;
    write_json("tokenizer.json", json_object_get(json_object_get(root, "files"),
                                                 json_string_value(json_object_get(one, "kind"))));
    write_json("tokenizer_config.json", json_object_get(one, "config"));
    write_json("config.json", json_object_get(one, "model"));
    write_json("special_tokens_map.json", json_object_get(one, "map"));
    write_json("added_tokens.json", json_object_get(one, "added"));
    if (!setjmp(*diag_guard()))
        differ = compare(tokenizer_load(arena, "tokenizer.json", 0)->blob,
                         json_object_get(root, "texts"), json_object_get(one, "ids"));
    diag_unguard();
    arena_free(arena);
    if (!differ) return true;
    char *config = json_dumps(json_object_get(one, "config"), JSON_COMPACT),
         *model = json_dumps(json_object_get(one, "model"), JSON_COMPACT);
    char *map = json_dumps(json_object_get(one, "map"), JSON_COMPACT),
         *added = json_dumps(json_object_get(one, "added"), JSON_COMPACT);
    printf("%s of %s with %s, %s, %s: %d texts differ\n", config,
           json_string_value(json_object_get(one, "kind")), model, map ? map : "",
           added ? added : "", differ);
    free(config), free(model), free(map), free(added);
    return false;
}

static int compare_folder(const char *expected, const char *folder) {
    Arena *arena = arena_new();
    json_t *root = json_load_file(expected, JSON_ALLOW_NUL, NULL);
    int differ =
        compare(tokenizer_load(arena, arena_printf(arena, "%s/tokenizer.json", folder), 0)->blob,
                json_object_get(root, "texts"), json_object_get(root, "ids"));
    printf("%d of %zu texts differ\n", differ, json_array_size(json_object_get(root, "texts")));
    json_decref(root);
    arena_free(arena);
    return differ != 0;
}

int main(int argc, char **argv) {
    json_error_t error;
    if (argc == 4) return compare_folder(argv[2], argv[3]);
    json_t *root = argc == 3 ? json_load_file(argv[1], JSON_ALLOW_NUL, &error) : NULL;
    const json_t *cases = json_object_get(root, "cases");
    if (!root || chdir(argv[2])) return fprintf(stderr, "usage: class_cases FILE FOLDER\n"), 2;
    size_t failed = 0, n = json_array_size(cases);
    for (size_t i = 0; i < n; i++) failed += !passes(root, json_array_get(cases, i));
    printf("%zu of %zu cases have the ids of transformers\n", n - failed, n);
    json_decref(root);
    return failed || !n;
}
