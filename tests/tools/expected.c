// Reads values out of a model's expected.json: usage: expected FILE KEY [INDEX KEY]... | all KEY
// `all`: that value of every object of a list, a line each.
// Prints a string as it is, a list of numbers with commas between; status 1 when there is nothing
// there.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_number(const json_t *v) {
    if (json_is_integer(v)) printf("%lld", (long long)json_integer_value(v));
    if (json_is_real(v)) printf("%.17g", json_real_value(v));
}

static void print_value(const json_t *v) {
    if (json_is_string(v)) fwrite(json_string_value(v), 1, json_string_length(v), stdout);
    print_number(v);
    for (size_t i = 0; i < json_array_size(v); i++) {
        if (i) putchar(',');
        print_number(json_array_get(v, i));
    }
}

static int print_all(const json_t *list, const char *key) {
    for (size_t i = 0; i < json_array_size(list); i++) {
        print_value(json_object_get(json_array_get(list, i), key));
        putchar('\n');
    }
    return !json_array_size(list);
}

int main(int argc, char **argv) {
    json_error_t error;
    json_t *file = argc > 2 ? json_load_file(argv[1], 0, &error) : NULL;
    const json_t *v = file;
    if (v && argc == 4 && !strcmp(argv[2], "all")) return print_all(v, argv[3]);
    for (int i = 2; i < argc && v; i++)
        v = json_is_array(v) ? json_array_get(v, (size_t)atoi(argv[i]))
                             : json_object_get(v, argv[i]);
    if (!v) return 1;
    print_value(v);
    putchar('\n');
    json_decref(file);
    return 0;
}
