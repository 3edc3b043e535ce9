// Bands of 64 bytes after each buffer of a program that was emitted guarded (LowerOptions.guarded):
// AddressSanitizer reports whoever reads or writes one. For tests; nothing else includes this.
#ifndef BURIN_GUARD_H
#define BURIN_GUARD_H
#include <sanitizer/asan_interface.h>
#include <stddef.h>

// The buffer has `room` bytes, of which this run uses the first `bytes`. Every thread calls this
// with the same numbers.
static inline void burin_guard(const void *buffer, size_t bytes, size_t room) {
    ASAN_UNPOISON_MEMORY_REGION(buffer, room);
    ASAN_POISON_MEMORY_REGION((const unsigned char *)buffer + bytes, room - bytes);
}

static inline void burin_unguard(const void *buffer, size_t room) {
    ASAN_UNPOISON_MEMORY_REGION(buffer, room);
}
#endif
