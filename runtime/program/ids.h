// Token ids on the command line.
#ifndef BURIN_IDS_H
#define BURIN_IDS_H
#include <stdint.h>

typedef struct burin_tokens {
    int32_t *id, n;
} burin_tokens;

// Ids with commas between them; `option` names the place in messages.
burin_tokens burin_parse_ids(const char *option, const char *text, int32_t vocabulary);
#endif
