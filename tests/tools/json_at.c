// Prints the values at a path of a JSON file, a line a value. usage: json_at FILE PATH
// programs.0.kernels.*.node: * is every element, # the number of elements; objects and arrays are
// printed as JSON, strings plainly. For a page of `burin report` its data.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"

static int found;

static void print(const json_t *v) {
    char *text = json_is_string(v) ? strdup(json_string_value(v))
                                   : json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
    puts(text);
    free(text);
    found = 1;
}

static void walk(const json_t *v, const char *path) {
    size_t length = strcspn(path, "."), i;
    const char *rest = path + length + (path[length] == '.'), *key;
    json_t *item;
    if (!*path) {
        if (v) print(v);
    } else if (!strcmp(path, "#")) {
        found = printf("%zu\n", json_is_array(v) ? json_array_size(v) : json_object_size(v));
    } else if (*path == '*' && json_is_array(v)) {
        json_array_foreach(v, i, item) walk(item, rest);
    } else if (*path == '*') {
        json_object_foreach((json_t *)v, key, item) walk(item, rest);
    } else if (json_is_array(v)) {
        walk(json_array_get(v, strtoul(path, NULL, 10)), rest);
    } else {
        char *name = strndup(path, length);
        walk(json_object_get(v, name), rest);
        free(name);
    }
}

int main(int argc, char **argv) {
    static const char MARK[] = "<script type=\"application/json\" id=\"data\">";
    json_error_t error;
    size_t size;
    if (argc != 3) return 2;
    char *text = read_text_file(argv[1], &size), *mark = strstr(text, MARK),
         *begin = mark ? mark + strlen(MARK) : text;
    char *end = mark ? strstr(begin, "</script>") : NULL;
    if (end) *end = 0;
    json_t *v = json_loads(begin, JSON_REJECT_DUPLICATES, &error);
    if (!v) fprintf(stderr, "%s: line %d: %s\n", argv[1], error.line, error.text);
    if (v) walk(v, argv[2]);
    json_decref(v);
    free(text);
    return !found;
}
