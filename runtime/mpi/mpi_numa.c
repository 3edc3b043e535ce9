// --numa: on a machine with several memories (sockets) each rank runs on the CPUs of one of them,
// ranks in order: its threads stay there, so that memory they touch first (caches, buffers, its
// share of the weights when the system reads it) is local. The memories are those of
// /sys/devices/system/node, or of the folder in BURIN_NODES (tests).
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi_world.h"
#include "program/output.h"

enum { MOST_NODES = 256, LIST_BYTES = 4096 };

typedef struct node_cpus {
    char list[LIST_BYTES];  // "0-15,32-47"
    cpu_set_t set;
} node_cpus;

static void read_list(node_cpus *node) {
    CPU_ZERO(&node->set);
    node->list[strcspn(node->list, "\n")] = 0;
    for (char *at = node->list; *at;) {
        long first = strtol(at, &at, 10), last = *at == '-' ? strtol(at + 1, &at, 10) : first;
        for (long cpu = first; cpu <= last && cpu < CPU_SETSIZE; cpu++)
            CPU_SET((size_t)cpu, &node->set);
        at += *at == ',' ? 1 : strlen(at);
    }
}

// False: there is no such node, or it is a memory without CPUs.
static bool read_node(const char *folder, int number, node_cpus *node) {
    char path[512];
    snprintf(path, sizeof path, "%s/node%d/cpulist", folder, number);
    FILE *file = fopen(path, "r");
    if (!file) return false;
    if (!fgets(node->list, sizeof node->list, file)) *node->list = 0;
    fclose(file);
    read_list(node);
    return CPU_COUNT(&node->set) > 0;
}

static int find_nodes(const char *folder, int *numbers) {
    node_cpus node;
    int n = 0;
    for (int i = 0; i < MOST_NODES; i++)
        if (read_node(folder, i, &node)) numbers[n++] = i;
    return n;
}

static void run_on(const char *folder, const int *numbers, int nodes, bool verbose) {
    burin_world *w = &burin_all_ranks;
    const int own = nodes > w->here ? w->place : w->place * nodes / w->here;
    node_cpus node;
    w->beside = 0;
    for (int i = 0; i < w->here; i++)
        w->beside += (nodes > w->here ? i : i * nodes / w->here) == own;
    read_node(folder, numbers[own], &node);
    if (sched_setaffinity(0, sizeof node.set, &node.set))
        burin_note("--numa: %s cannot run on CPUs %s: it runs where it is",
                   burin_rank_name(w->ranks.rank), node.list);
    else if (verbose)
        burin_note("%s runs beside memory %d, on CPUs %s", burin_rank_name(w->ranks.rank),
                   numbers[own], node.list);
}

void burin_ranks_pin(bool verbose) {
    const char *folder = getenv("BURIN_NODES");
    const burin_world *w = &burin_all_ranks;
    int numbers[MOST_NODES];
    if (!folder) folder = "/sys/devices/system/node";
    int nodes = find_nodes(folder, numbers);
    if (!w->several) {
        burin_note(
            "--numa has no effect: this run has one rank\nhint: mpirun -n 2, for two memories");
    } else if (nodes > 1) {
        run_on(folder, numbers, nodes, verbose);
    } else if (!w->ranks.rank) {
        burin_note("--numa has no effect: this machine has one memory");
    }
}
