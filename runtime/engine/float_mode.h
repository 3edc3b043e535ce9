// The floating-point mode of a thread: round to nearest even, subnormals kept, exceptions masked.
#ifndef BURIN_FLOAT_MODE_H
#define BURIN_FLOAT_MODE_H
#include <stdint.h>

// A register, how it is read and written, its value, and the bits of it that are no floating-point
// mode.
#if defined(__x86_64__)
typedef uint32_t float_mode;
#define FLOAT_MODE_GET   "stmxcsr %0"
#define FLOAT_MODE_SET   "ldmxcsr %0"
#define FLOAT_MODE_PLACE "m"
enum { FLOAT_MODE_DEFAULT = 0x1f80, FLOAT_MODE_KEPT = 0 };
#elif defined(__aarch64__)
typedef uint64_t float_mode;
#define FLOAT_MODE_GET   "mrs %0, fpcr"
#define FLOAT_MODE_SET   "msr fpcr, %0"
#define FLOAT_MODE_PLACE "r"
enum { FLOAT_MODE_DEFAULT = 0, FLOAT_MODE_KEPT = 0 };
#elif defined(__ARM_FP)
typedef uint32_t float_mode;
#define FLOAT_MODE_GET   "vmrs %0, fpscr"
#define FLOAT_MODE_SET   "vmsr fpscr, %0"
#define FLOAT_MODE_PLACE "r"
enum {
    FLOAT_MODE_DEFAULT = 0,
    FLOAT_MODE_KEPT = 7 << 16
};  // LTPSIZE: without it ARMv8.1-M's loop instructions fault
#elif defined(__riscv_flen)
typedef unsigned long float_mode;
#define FLOAT_MODE_GET   "frcsr %0"
#define FLOAT_MODE_SET   "fscsr %0"
#define FLOAT_MODE_PLACE "r"
enum { FLOAT_MODE_DEFAULT = 0, FLOAT_MODE_KEPT = 0 };
#else
typedef int float_mode;
#define FLOAT_MODE_GET   ""
#define FLOAT_MODE_SET   ""
#define FLOAT_MODE_PLACE "r"
enum { FLOAT_MODE_DEFAULT = 0, FLOAT_MODE_KEPT = 0 };
#endif

static inline void float_mode_restore(float_mode mode) {
    __asm__ volatile(FLOAT_MODE_SET : : FLOAT_MODE_PLACE(mode));
}

// Sets the mode that all numbers are computed in. Returns the one before, for float_mode_restore.
static inline float_mode float_mode_begin(void) {
    float_mode before = 0;
    __asm__ volatile(FLOAT_MODE_GET : "=" FLOAT_MODE_PLACE(before));
    float_mode_restore((float_mode)FLOAT_MODE_DEFAULT | (before & (float_mode)FLOAT_MODE_KEPT));
    return before;
}
#endif
