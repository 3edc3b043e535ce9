#include "program/ids.h"

#include <stdlib.h>

#include "base/allocate.h"
#include "program/output.h"

burin_tokens burin_parse_ids(const char *option, const char *text, int32_t vocabulary) {
    size_t most = 1;
    for (const char *c = text; *c; c++) most += *c == ',';
    burin_tokens tokens = {.id = burin_allocate(most, sizeof *tokens.id)};
    for (const char *c = text;;) {
        char *end;
        long id = strtol(c, &end, 10);
        if (end == c || (*end && *end != ','))
            burin_stop(BURIN_BAD_COMMAND_LINE,
                       "%s %.60s: expected ids with commas between them\nhint: %s 1,2,3", option,
                       text, option);
        if (id < 0 || id >= vocabulary)
            burin_stop(BURIN_USER_MISTAKE, "%s: token %ld is outside the vocabulary, 0 to %d",
                       option, id, vocabulary - 1);
        tokens.id[tokens.n++] = (int32_t)id;
        if (!*end) return tokens;
        c = end + 1;
    }
}
