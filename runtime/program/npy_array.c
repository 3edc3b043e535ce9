// Whole .npy files. The header is a Python dict in text: {'descr': '<f4', 'fortran_order': False,
// 'shape': (2, 3), }, read by a small reader of exactly that.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "program/input.h"
#include "program/npy.h"
#include "program/output.h"

// ---- reading ----

typedef struct header {
    char text[65536 + 1];   // the dict
    const char *at;         // unread bytes
    char order, descr[16];  // '<', '>' or '|', and the rest
} header;

static char why[256];

static const char *not_npy(const char *what) {
    snprintf(why, sizeof why, "is no .npy file that can be read: %s", what);
    return why;
}

static bool read_bytes(int file, void *data, size_t bytes) {
    for (size_t done = 0; done < bytes;) {
        ssize_t n = read(file, (char *)data + done, bytes - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

// A file of another kind, by its first 8 bytes
static const char *kind_of_other(const unsigned char *start) {
    static const struct {
        const char *bytes;
        size_t n;
        const char *kind;
    } kinds[] = {
        {"\xff\xd8\xff", 3,
         "it is an image (JPEG)\nhint: numpy.save(\"x.npy\", ...) writes one from the pixels as "
         "the model takes them"},
        {"\x89PNG", 4,
         "it is an image (PNG)\nhint: numpy.save(\"x.npy\", ...) writes one from the pixels as the "
         "model takes them"},
        {"GIF8", 4,
         "it is an image (GIF)\nhint: numpy.save(\"x.npy\", ...) writes one from the pixels as the "
         "model takes them"},
        {"RIFF", 4,
         "it is a recording (WAV)\nhint: numpy.save(\"x.npy\", ...) writes one from the samples as "
         "the model takes them"},
        {"PK\3\4", 4,
         "it is an archive (.npz, .zip, .pt)\nhint: the name of an .npz ends with .npz; unzip "
         "others"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!memcmp(start, kinds[i].bytes, kinds[i].n)) return kinds[i].kind;
    return "it does not begin with \\x93NUMPY";
}

// The dict's text: after 8 bytes of magic and version, and its length in 2 or 4.
static const char *read_text(header *h, int file) {
    unsigned char start[12] = {0};
    if (!read_bytes(file, start, 8) || memcmp(start, "\x93NUMPY", 6))
        return not_npy(kind_of_other(start));
    int version = start[6], field = version == 1 ? 2 : 4;
    if (version < 1 || version > 3) return not_npy("its version is none of 1, 2 and 3");
    if (!read_bytes(file, start + 8, (size_t)field)) return not_npy("it ends inside of its header");
    size_t length = (size_t)start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 |
                    (size_t)start[11] << 24;
    if (length >= sizeof h->text) return not_npy("its header is too long");
    if (!read_bytes(file, h->text, length)) return not_npy("it ends inside of its header");
    h->text[length] = 0;
    h->at = h->text;
    return strlen(h->text) == length ? NULL : not_npy("its header is no text");
}

static bool take(header *h, const char *word) {
    h->at += strspn(h->at, " \n\t");
    size_t n = strlen(word);
    if (strncmp(h->at, word, n)) return false;
    h->at += n;
    return true;
}

static bool take_descr(header *h) {
    char quote[2] = {0};
    h->at += strspn(h->at, " ");
    if (*h->at != '\'' && *h->at != '"') return false;
    quote[0] = *h->at++;
    size_t n = strcspn(h->at, quote);
    if (n < 2 || n > sizeof h->descr || h->at[n] != quote[0]) return false;
    h->order = *h->at;
    memcpy(h->descr, h->at + 1, n - 1);
    h->descr[n - 1] = 0;
    h->at += n + 1;
    return true;
}

static bool take_shape(header *h, burin_array *a) {
    if (!take(h, "(")) return false;
    while (!take(h, ")")) {
        char *end;
        errno = 0;
        long long n = strtoll(h->at, &end, 10);
        if (end == h->at || errno || n < 0 || a->rank == BURIN_MAX_RANK) return false;
        a->dim[a->rank++] = n;
        h->at = end;
        if (!take(h, ",")) return take(h, ")");
    }
    return true;
}

static bool take_entry(header *h, burin_array *a) {
    if (take(h, "'descr'") || take(h, "\"descr\"")) return take(h, ":") && take_descr(h);
    if (take(h, "'fortran_order'") || take(h, "\"fortran_order\""))
        return take(h, ":") && ((a->fortran = take(h, "True")) || take(h, "False"));
    return (take(h, "'shape'") || take(h, "\"shape\"")) && take(h, ":") && take_shape(h, a);
}

static const char *read_header(header *h, burin_array *a, int file) {
    const char *error = read_text(h, file);
    if (error) return error;
    if (!take(h, "{")) return not_npy("its header is no dict");
    for (int i = 0; i < 3; i++)
        if (!take_entry(h, a) || (!take(h, ",") && i < 2))
            return not_npy("its header is not as numpy writes it");
    if (!take(h, "}") || !*h->descr) return not_npy("its header is not as numpy writes it");
    if (h->order == '>') return not_npy("its bytes are in big-endian order");
    a->element = burin_element_of_numpy(h->descr);
    if (a->element) return NULL;
    burin_format(why, sizeof why,
                 "has elements of the type %c%s\nhint: integers, floats and bool can be read",
                 h->order, h->descr);
    return why;
}

// How many elements and bytes; false on overflow.
static bool measure(burin_array *a, size_t *bytes) {
    a->count = 1;
    for (int i = 0; i < a->rank; i++)
        if (__builtin_mul_overflow(a->count, (size_t)a->dim[i], &a->count)) return false;
    return !__builtin_mul_overflow(a->count, (size_t)a->element->bytes, bytes) &&
           *bytes < SIZE_MAX / 2;
}

// Column-major values, whose first axis counts fastest, in row-major order.
static bool reorder(burin_array *a, size_t bytes) {
    size_t size = (size_t)a->element->bytes, index[BURIN_MAX_RANK] = {0}, from = 0;
    size_t stride[BURIN_MAX_RANK + 1] = {1};
    char *to = malloc(bytes + 1);
    if (!to) return false;
    for (int i = 0; i < a->rank; i++) stride[i + 1] = stride[i] * (size_t)a->dim[i];
    for (size_t i = 0; i < a->count; i++) {
        memcpy(to + i * size, (const char *)a->data + from * size, size);
        int axis = a->rank - 1;
        for (; axis >= 0 && ++index[axis] == (size_t)a->dim[axis]; axis--) {
            from -= stride[axis] * (index[axis] - 1);
            index[axis] = 0;
        }
        if (axis >= 0) from += stride[axis];
    }
    free(a->data);
    a->data = to;
    return true;
}

static const char *read_data(burin_array *a, int file) {
    size_t bytes;
    struct stat s;
    off_t at = lseek(file, 0, SEEK_CUR);
    bool known = !fstat(file, &s) && S_ISREG(s.st_mode) && at >= 0;  // a pipe has no size
    if (!measure(a, &bytes)) return not_npy("its shape is larger than any memory");
    if (known && (uint64_t)(s.st_size - at) < bytes)
        return not_npy("it is shorter than its shape says");
    if (!(a->data = malloc(bytes + 1))) return not_npy("there is not enough memory for it");
    if (!read_bytes(file, a->data, bytes)) {
        free(a->data);
        a->data = NULL;
        return not_npy("it is shorter than its shape says");
    }
    if (a->fortran && a->rank > 1 && !reorder(a, bytes))
        return not_npy("there is not enough memory for it");
    return NULL;
}

static const char *read_start(burin_array *a, int file) {
    header *h = calloc(1, sizeof *h);
    const char *error = h ? read_header(h, a, file) : not_npy("there is not enough memory for it");
    free(h);
    return error;
}

const char *burin_npy_open_array(burin_array *a, const char *path, int64_t offset, int *file) {
    const char *refused;
    *a = (burin_array){0};
    *file = burin_open_file(path, &refused);
    if (*file < 0) snprintf(why, sizeof why, "cannot be read: %s", refused);
    if (*file < 0) return why;
    bool there = !offset || lseek(*file, (off_t)offset, SEEK_SET) >= 0;
    const char *error = there ? read_start(a, *file) : not_npy("its archive is damaged");
    if (error) close(*file);
    return error;
}

const char *burin_npy_read_from(burin_array *a, int file) {
    *a = (burin_array){0};
    const char *error = read_start(a, file);
    return error ? error : read_data(a, file);
}

const char *burin_npy_read_array(burin_array *a, int file) {
    const char *error = read_data(a, file);
    close(file);
    return error;
}

const char *burin_npy_read(burin_array *a, const char *path) {
    int file;
    const char *error = burin_npy_open_array(a, path, 0, &file);
    return error ? error : burin_npy_read_array(a, file);
}

// ---- writing ----

static size_t header_of(const burin_array *a, const burin_element *e, char *text, size_t room) {
    int n = snprintf(text, room, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                     e->bytes == 1 ? '|' : '<', e->numpy);
    for (int i = 0; i < a->rank; i++)
        n += snprintf(text + n, room - (size_t)n, "%lld%s", (long long)a->dim[i],
                      a->rank == 1 || i + 1 < a->rank ? ", " : "");
    return (size_t)(n + snprintf(text + n, room - (size_t)n, "), }"));
}

static bool write_values(const burin_array *a, const burin_element *as, int file) {
    float part[1024];
    if (as == a->element) return burin_write_all(file, a->data, a->count * (size_t)as->bytes);
    for (size_t from = 0; from < a->count; from += 1024) {
        size_t n = a->count - from < 1024 ? a->count - from : 1024;
        const unsigned char *data =
            (const unsigned char *)a->data + from * (size_t)a->element->bytes;
        burin_convert(a->element, data, as, part, n);
        if (!burin_write_all(file, part, n * sizeof *part)) return false;
    }
    return true;
}

bool burin_npy_put(const burin_array *a, int file) {
    unsigned char start[512];
    char text[400];
    const burin_element *as = a->element->numpy ? a->element : burin_element_named("f32");
    size_t length = header_of(a, as, text, sizeof text), whole = (10 + length + 1 + 63) / 64 * 64;
    memset(start, ' ', whole);
    memcpy(start, "\x93NUMPY\x01\x00", 8);
    start[8] = (unsigned char)((whole - 10) & 255), start[9] = (unsigned char)((whole - 10) >> 8);
    memcpy(start + 10, text, length);
    start[whole - 1] = '\n';
    return burin_write_all(file, start, whole) && write_values(a, as, file);
}

const char *burin_npy_write(const burin_array *a, const char *path) {
    const char *why;
    int file = burin_create_file(path, &why);
    if (file < 0) return why;
    bool written = burin_npy_put(a, file);
    int error = errno;
    if (!close(file) && written) return NULL;
    if (written) error = errno;
    unlink(path);
    return strerror(error);
}
