#include "mpi_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/allocate.h"
#include "engine/hash.h"
#include "program/output.h"

typedef struct journal_head {
    char magic[8], identity[16];
    uint64_t command;
} journal_head;

// Before a result's bytes; `check` covers the following fields and the bytes.
typedef struct record {
    uint64_t check;
    int64_t index;
    uint64_t sum, printed, given;
} record;

_Static_assert(sizeof(journal_head) == 32 && sizeof(record) == 40, "no padding");

typedef struct kept {
    record head;
    off_t at;  // of the bytes
} kept;

struct burin_journal {
    const char *path;
    int file;
    off_t end;
    kept *results;  // by index, ascending
    size_t n, capacity;
};

static _Noreturn void journal_fails(const burin_journal *j) {
    burin_stop(BURIN_USER_MISTAKE, "--resume %s: %s", j->path, strerror(errno));
}

static uint64_t check_of(const record *r, const char *data) {
    uint64_t sum =
        burin_hash_bytes(burin_hash_start, &r->index, sizeof *r - offsetof(record, index));
    return burin_hash_bytes(sum, data, r->printed + r->given);
}

static bool read_at(int file, void *data, size_t bytes, off_t at) {
    for (char *to = data; bytes;) {
        ssize_t n = pread(file, to, bytes, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        to += n, at += n, bytes -= (size_t)n;
    }
    return true;
}

// The place of an index: that of its result, or where it belongs.
static size_t place_of_result(const burin_journal *j, int64_t index) {
    size_t low = 0, high = j->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (j->results[middle].head.index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void keep_result(burin_journal *j, const record *r, off_t at) {
    size_t place = place_of_result(j, r->index);
    bool again = place < j->n && j->results[place].head.index == r->index;
    if (j->n == j->capacity) {
        kept *larger = burin_allocate(j->capacity = 2 * j->capacity + 64, sizeof *larger);
        if (j->n) memcpy(larger, j->results, j->n * sizeof *larger);
        free(j->results);
        j->results = larger;
    }
    if (!again)
        memmove(j->results + place + 1, j->results + place, (j->n++ - place) * sizeof *j->results);
    j->results[place] = (kept){*r, at};
}

static void read_results(burin_journal *j, off_t size) {
    record r;
    while (size - j->end >= (off_t)sizeof r && read_at(j->file, &r, sizeof r, j->end)) {
        uint64_t room = (uint64_t)(size - j->end) - sizeof r;
        if (r.printed > room || r.given > room - r.printed) break;
        char *data = burin_allocate(1, r.printed + r.given);
        bool whole = read_at(j->file, data, r.printed + r.given, j->end + (off_t)sizeof r) &&
                     check_of(&r, data) == r.check;
        free(data);
        if (!whole) break;
        keep_result(j, &r, j->end + (off_t)sizeof r);
        j->end += (off_t)(sizeof r + r.printed + r.given);
    }
    if (ftruncate(j->file, j->end)) journal_fails(j);
}

static journal_head head_of(const burin_model *m, uint64_t command) {
    journal_head h = {.magic = "burin\nR1", .command = command};
    memcpy(h.identity, m->identity, strnlen(m->identity, sizeof h.identity));
    return h;
}

static void write_at_end(burin_journal *j, const void *data, size_t bytes) {
    if (!burin_write_all(j->file, data, bytes)) journal_fails(j);
    j->end += (off_t)bytes;
}

burin_journal *burin_journal_open(const char *path, const burin_model *m, uint64_t command) {
    burin_journal *j = burin_allocate(1, sizeof *j);
    const journal_head own = head_of(m, command);
    journal_head there;
    struct stat status;
    *j = (burin_journal){
        .path = path,
        .file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666)};
    if (j->file < 0 || fstat(j->file, &status)) journal_fails(j);
    if (!status.st_size) {
        write_at_end(j, &own, sizeof own);
        return j;
    }
    if (!read_at(j->file, &there, sizeof there, 0) ||
        memcmp(there.magic, own.magic, sizeof own.magic))
        burin_stop(BURIN_USER_MISTAKE,
                   "--resume %s: it does not hold results\nhint: name a file that is not there yet",
                   path);
    if (memcmp(&there, &own, sizeof own))
        burin_stop(BURIN_USER_MISTAKE,
                   "--resume %s: it holds results of another program, or of other options\nhint: "
                   "name a file that is not there "
                   "yet",
                   path);
    j->end = sizeof own;
    read_results(j, status.st_size);
    return j;
}

bool burin_journal_find(const burin_journal *j, int64_t index, uint64_t sum, burin_result *result) {
    size_t place = j ? place_of_result(j, index) : 0;
    if (!j || place == j->n) return false;
    const kept *k = &j->results[place];
    if (k->head.index != index || k->head.sum != sum) return false;
    *result = (burin_result){k->head.printed, k->head.given, NULL};
    result->data = burin_allocate(1, result->printed + result->given);
    return read_at(j->file, result->data, result->printed + result->given, k->at);
}

void burin_journal_add(burin_journal *j, int64_t index, uint64_t sum, const burin_result *result) {
    if (!j) return;
    record r = {.index = index, .sum = sum, .printed = result->printed, .given = result->given};
    r.check = check_of(&r, result->data);
    write_at_end(j, &r, sizeof r);
    off_t at = j->end;
    write_at_end(j, result->data, r.printed + r.given);
    keep_result(j, &r, at);
}

void burin_journal_close(burin_journal *j) {
    if (!j) return;
    close(j->file);
    free(j->results);
    free(j);
}
