// The cost model of `burin plan`, for decoding one sequence over ranks that are machines of one
// kind:
//
//   a token = reading + gathering
//   reading   = bytes of the rank with most units, over the rate at which a machine reads memory: decoding is bound by it
//   gathering = for each gather, the network's latency and the bytes that a rank receives over its rate
//
// A gather is an exchange between all pairs: with n ranks each receives (n - 1) / n of the columns,
// 4 bytes each (rows of int8: 44 bytes for 32), and sends its own n - 1 times, over a full-duplex
// link. Left out: computing, sampling, norms, barriers and switches; so a prediction is a bound,
// meant for ratios between columns of the table.
#include "lower/rank_cost.h"

#include <stddef.h>
#include <string.h>

// Ethernet by TCP, and at 100G an adapter with RDMA: usual rates and latencies between neighbours,
// taken and not measured. local: ranks of one machine; a gather of a few KB took 2.4 us by messages
// over two ranks of Open MPI 4.1 (Zen 5), and takes less through the memory that they share. Such
// ranks also share the rate of the memory, which the model gives to each.
static const Network networks[] = {
    {"1G", 118e6, 50e-6}, {"10G", 1.18e9, 20e-6}, {"100G", 12e9, 3e-6}, {"local", 4e9, 2.4e-6}};

// Before a build the machines are unknown: memory of 30 GB/s; and the ranks' barriers before and
// after a gather.
static const double USUAL_READ = 30e9, WAITING = 1e-6;

const Network *network_find(const char *name) {
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        if (!strcmp(networks[i].name, name)) return &networks[i];
    return NULL;
}

double gather_in_bytes(void) { return (network_find("local")->latency + WAITING) * USUAL_READ; }

RankCost rank_cost(const RankModel *m, int ranks, const Network *network, double read_rate) {
    RankCost c = {.memory = m->whole_bytes + m->own_memory +
                            m->shared_state * rank_share_largest(&m->heads, ranks)};
    double bytes = 0, gathering = 0;
    for (int i = 0; i < m->n; i++) {
        const RankStep *s = &m->steps[i];
        double part = rank_share_largest(&s->ranks, ranks),
               received = 4 * s->columns * (ranks - 1) / ranks;
        bytes += (s->weight_bytes + s->cache_bytes) * part;
        c.memory += s->held_bytes * part;
        if (ranks == 1 || !s->columns) continue;
        gathering += network->latency + received / network->bytes;
        c.sent += 4 * s->columns * part * (ranks - 1);
    }
    c.reading = bytes / read_rate;
    c.seconds = c.reading + gathering;
    return c;
}
