// The processors that this process may use. A library has it as well, with functions of its own
// file alone.
#include "posix.h"
#include "wide.h"

// One processor of each core, where it is known which these are: a core's others would wait for the
// same arithmetic.
static uint64_t one_of_each_core(uint64_t allowed) {
    static SYSTEM_LOGICAL_PROCESSOR_INFORMATION parts[1024];
    DWORD bytes = sizeof parts;
    uint64_t mask = 0;
    if (!GetLogicalProcessorInformation(parts, &bytes)) return allowed;
    for (DWORD i = 0; i < bytes / sizeof *parts; i++) {
        uint64_t core =
            parts[i].Relationship == RelationProcessorCore ? parts[i].ProcessorMask & allowed : 0;
        mask |= core & -core;
    }
    return mask ? mask : allowed;
}

BURIN_LINKAGE int sched_getaffinity(int process, size_t bytes, cpu_set_t *set) {
    DWORD_PTR allowed, there;
    (void)process;
    (void)bytes;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &allowed, &there)) return -1;
    set->mask = one_of_each_core(allowed);
    return 0;
}

BURIN_LINKAGE long sysconf(int name) {
    SYSTEM_INFO system;
    GetSystemInfo(&system);
    return (long)(name == _SC_PAGESIZE ? system.dwPageSize : system.dwNumberOfProcessors);
}
