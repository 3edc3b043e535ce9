// Memory that comes as pages, and files as memory.
#include <errno.h>

#include "posix.h"
#include "wide.h"

static void *map_file(int file, size_t bytes, off_t offset) {
    HANDLE mapping =
        CreateFileMappingW((HANDLE)_get_osfhandle(file), NULL, PAGE_READONLY, 0, 0, NULL);
    if (!mapping) return NULL;
    void *memory = MapViewOfFile(mapping, FILE_MAP_READ, (DWORD)((uint64_t)offset >> 32),
                                 (DWORD)offset, bytes);
    CloseHandle(mapping);  // the view keeps it
    return memory;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
    (void)address;
    (void)protection;
    void *memory = flags & MAP_ANONYMOUS
                       ? VirtualAlloc(NULL, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE)
                       : map_file(file, bytes, offset);
    if (!memory) errno = burin_windows_error();
    return memory ? memory : MAP_FAILED;
}

int munmap(void *memory, size_t bytes) {
    MEMORY_BASIC_INFORMATION what;
    (void)bytes;
    if (!VirtualQuery(memory, &what, sizeof what)) return -1;
    bool freed =
        what.Type == MEM_MAPPED ? UnmapViewOfFile(memory) : VirtualFree(memory, 0, MEM_RELEASE);
    return freed ? 0 : -1;
}

int madvise(void *memory, size_t bytes, int advice) {
    WIN32_MEMORY_RANGE_ENTRY range = {memory, bytes};
    (void)advice;
    return PrefetchVirtualMemory(GetCurrentProcess(), 1, &range, 0) ? 0 : -1;
}
