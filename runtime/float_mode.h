// The floating-point mode of a thread: round to nearest even, subnormals kept, exceptions masked.
#ifndef BURIN_FLOAT_MODE_H
#define BURIN_FLOAT_MODE_H
#include <stdint.h>

#if defined(__x86_64__)
typedef uint32_t float_mode;
static inline float_mode float_mode_get(void) { return __builtin_ia32_stmxcsr(); }
static inline void float_mode_set(float_mode mode) { __builtin_ia32_ldmxcsr(mode); }
static const float_mode float_mode_default = 0x1f80;
#elif defined(__aarch64__)
typedef uint64_t float_mode;
static inline float_mode float_mode_get(void) {
    float_mode mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
static inline void float_mode_set(float_mode mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
static const float_mode float_mode_default = 0;
#elif defined(__ARM_FP)
typedef uint32_t float_mode;
static inline float_mode float_mode_get(void) {
    float_mode mode;
    __asm__ volatile("vmrs %0, fpscr" : "=r"(mode));
    return mode;
}
static inline void float_mode_set(float_mode mode) { __asm__ volatile("vmsr fpscr, %0" : : "r"(mode)); }
static const float_mode float_mode_default = 0;
#elif defined(__riscv_flen)
typedef unsigned long float_mode;
static inline float_mode float_mode_get(void) {
    float_mode mode;
    __asm__ volatile("frcsr %0" : "=r"(mode));
    return mode;
}
static inline void float_mode_set(float_mode mode) { __asm__ volatile("fscsr %0" : : "r"(mode)); }
static const float_mode float_mode_default = 0;
#else
typedef int float_mode;
static inline float_mode float_mode_get(void) { return 0; }
static inline void float_mode_set(float_mode mode) { (void)mode; }
static const float_mode float_mode_default = 0;
#endif
#endif
