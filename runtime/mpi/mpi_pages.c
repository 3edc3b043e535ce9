// -v: how much of the weights each rank has mapped, by /proc/self/pagemap: that is its share, and
// what all ranks read.
#include <fcntl.h>
#include <unistd.h>

#include "mpi_world.h"
#include "program/output.h"

enum { ENTRIES = 4096 };

// -1: the system does not say.
static int64_t pages_present(uintptr_t first, uintptr_t end) {
    uint64_t entry[ENTRIES];
    int64_t n = 0;
    int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (file < 0) return -1;
    while (first < end) {
        size_t count = end - first < ENTRIES ? end - first : ENTRIES;
        ssize_t got = pread(file, entry, count * sizeof *entry, (off_t)(first * sizeof *entry));
        if (got <= 0) break;
        for (size_t i = 0; i < (size_t)got / sizeof *entry; i++) n += entry[i] >> 63;
        first += (size_t)got / sizeof *entry;
    }
    close(file);
    return first < end ? -1 : n;
}

void burin_tell_pages(const burin_model *m) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), start = (uintptr_t)m->weights();
    int64_t present = pages_present(start / page, (start + m->weight_bytes + page - 1) / page);
    if (present >= 0)
        burin_note("%s has mapped %.1f of %.1f MB of weights",
                   burin_rank_name(burin_all_ranks.ranks.rank),
                   (double)present * (double)page / 1e6, (double)m->weight_bytes / 1e6);
}
