// The levels of x86-64 that tests/x86/clang emulates: what this CPU lacks runs wherever AVX2 does.
#define burin_cpu_x86_64_v3_vnni     burin_cpu_x86_64_v3_vnni_here
#define burin_cpu_x86_64_v4          burin_cpu_x86_64_v4_here
#define burin_cpu_x86_64_v4_vnni     burin_cpu_x86_64_v4_vnni_here
#define burin_cpu_x86_64_v4_bf16     burin_cpu_x86_64_v4_bf16_here
#define burin_cpu_x86_64_v4_amx      burin_cpu_x86_64_v4_amx_here
#define burin_cpu_x86_64_v4_amx_bf16 burin_cpu_x86_64_v4_amx_bf16_here
#include_next "engine/cpu.h"
#undef burin_cpu_x86_64_v3_vnni
#undef burin_cpu_x86_64_v4
#undef burin_cpu_x86_64_v4_vnni
#undef burin_cpu_x86_64_v4_bf16
#undef burin_cpu_x86_64_v4_amx
#undef burin_cpu_x86_64_v4_amx_bf16
#ifndef BURIN_CPU_EMULATED_H
#define BURIN_CPU_EMULATED_H
#if defined(__x86_64__)
static inline bool burin_cpu_x86_64_v3_vnni(void) { return burin_cpu_x86_64_v3(); }
static inline bool burin_cpu_x86_64_v4(void) { return burin_cpu_x86_64_v3(); }
static inline bool burin_cpu_x86_64_v4_vnni(void) { return burin_cpu_x86_64_v3(); }
static inline bool burin_cpu_x86_64_v4_bf16(void) { return burin_cpu_x86_64_v3(); }
// asks the system for tiles, where they are
static inline bool burin_cpu_x86_64_v4_amx(void) {
    return burin_cpu_x86_64_v4_amx_here() || burin_cpu_x86_64_v3();
}
static inline bool burin_cpu_x86_64_v4_amx_bf16(void) { return burin_cpu_x86_64_v4_amx(); }
#endif
#endif
