#include "network/pair_prompt.h"

#include <stdbool.h>
#include <string.h>

#include "base/allocate.h"

static bool is_place(const char *s, const char *name) { return !strncmp(s, name, strlen(name)); }

// A prompt so far; `text` and `marks` are NULL while its bytes are counted.
typedef struct filled_prompt {
    char *text;
    uint8_t *marks;
    size_t bytes;
} filled_prompt;

static void put(filled_prompt *to, const char *bytes, size_t n, bool marked) {
    if (to->text) memcpy(to->text + to->bytes, bytes, n);
    if (to->text) memset(to->marks + to->bytes, marked, n);
    to->bytes += n;
}

static void fill(filled_prompt *to, const char *prompt, const burin_pair_text *p) {
    static const char first[] = "{query}", second[] = "{document}";
    to->bytes = 0;
    while (*prompt) {
        if (is_place(prompt, first)) {
            put(to, p->first, p->first_bytes, true);
            prompt += sizeof first - 1;
        } else if (is_place(prompt, second)) {
            put(to, p->second, p->second_bytes, true);
            prompt += sizeof second - 1;
        } else
            put(to, prompt++, 1, false);
    }
}

char *burin_pair_prompt(const char *prompt, const burin_pair_text *p, uint8_t **marks,
                        size_t *bytes) {
    filled_prompt to = {0};
    fill(&to, prompt, p);
    to.text = burin_allocate(1, to.bytes + 1);
    to.marks = burin_allocate(1, to.bytes + 1);
    fill(&to, prompt, p);
    *marks = to.marks;
    *bytes = to.bytes;
    return to.text;
}

void burin_pair_cut(burin_pair_text *p, int32_t most, int32_t tokens) {
    size_t left = (size_t)((double)p->second_bytes * most / tokens);
    if (left >= p->second_bytes) left = p->second_bytes - 1;
    while (left && ((unsigned char)p->second[left] & 0xC0) == 0x80) left--;
    p->second_bytes = left;
}
