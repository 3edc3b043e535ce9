#include "pair_prompt.h"

#include <stdbool.h>
#include <string.h>

#include "base/allocate.h"

static bool is_place(const char *s, const char *name) { return !strncmp(s, name, strlen(name)); }

// Appends the bytes, or counts them where there is no text yet.
static void put(char *text, size_t *at, const char *bytes, size_t n) {
    if (text) memcpy(text + *at, bytes, n);
    *at += n;
}

static size_t fill(char *text, const char *prompt, const burin_pair_text *p) {
    static const char first[] = "{query}", second[] = "{document}";
    size_t at = 0;
    while (*prompt) {
        if (is_place(prompt, first))
            put(text, &at, p->first, p->first_bytes), prompt += sizeof first - 1;
        else if (is_place(prompt, second))
            put(text, &at, p->second, p->second_bytes), prompt += sizeof second - 1;
        else
            put(text, &at, prompt++, 1);
    }
    return at;
}

char *burin_pair_prompt(const char *prompt, const burin_pair_text *p, size_t *bytes) {
    *bytes = fill(NULL, prompt, p);
    char *text = burin_allocate(1, *bytes + 1);
    fill(text, prompt, p);
    return text;
}

void burin_pair_cut(burin_pair_text *p, int32_t most, int32_t tokens) {
    size_t left = (size_t)((double)p->second_bytes * most / tokens);
    if (left >= p->second_bytes) left = p->second_bytes - 1;
    while (left && ((unsigned char)p->second[left] & 0xC0) == 0x80) left--;
    p->second_bytes = left;
}
