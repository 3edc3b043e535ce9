// Pictures in messages: parts of OpenAI's and Anthropic's form become parts that chat templates
// read.
//
//     {"type": "image_url", "image_url": {"url": "data:image/png;base64,..."}}
//     {"type": "image", "source": {"type": "base64", "data": "..."}}
//         -> {"type": "image", "picture": "0123456789abcdef-3x4"}
//
// A picture is a data URI, or a file below --media-path; nothing is read from the network.
#ifndef BURIN_PICTURE_PARTS_H
#define BURIN_PICTURE_PARTS_H
#include "text/run.h"

typedef struct burin_pictures {
    int32_t *number;  // [n] of the run's sights, in the order of the messages
    int32_t n, capacity;
    char *json;  // the messages with such parts alone
    size_t bytes;
} burin_pictures;

// NULL, or why a picture cannot be read (until the next call). The caller closes it in either case.
const char *burin_pictures_read(burin_pictures *, burin_run *, const char *json, size_t bytes);
// The file of a picture: a data URI, base64 alone, or a name below --media-path. NULL: *why has the
// reason, until the next call. The caller frees it.
uint8_t *burin_picture_bytes(burin_run *, const char *source, size_t n, bool base64, size_t *bytes,
                             const char **why);
void burin_pictures_close(burin_pictures *);
#endif
