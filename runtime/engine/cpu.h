// Features of this CPU and its operating system: one test for each level that code is emitted for.
// A variant named "x86-64-v4+vnni" is tested by burin_cpu_x86_64_v4_vnni: the name with every other
// character an underscore.
//
// The tests run in code compiled for the baseline, before any variant is entered: a CPU that is too
// old gets a message, not SIGILL.
#ifndef BURIN_CPU_H
#define BURIN_CPU_H
#include <stdbool.h>
#include <stdint.h>

static inline bool burin_cpu_generic(void) { return true; }

#if defined(__x86_64__)
#include <cpuid.h>

typedef struct burin_cpuid {
    uint32_t max, leaf1_ecx, leaf7_ebx, leaf7_ecx, leaf7_edx, leaf7_1_eax, extended_ecx;
    uint64_t saved;  // register state that the operating system saves (XCR0)
} burin_cpuid;

static inline burin_cpuid burin_cpuid_read(void) {
    burin_cpuid c = {0};
    uint32_t a = 0, b, d;
    c.max = (uint32_t)__get_cpuid_max(0, 0);
    __get_cpuid(1, &a, &b, &c.leaf1_ecx, &d);
    if (c.max >= 7) __get_cpuid_count(7, 0, &a, &c.leaf7_ebx, &c.leaf7_ecx, &c.leaf7_edx);
    if (c.max >= 7 && a >= 1) __get_cpuid_count(7, 1, &c.leaf7_1_eax, &b, &d, &a);
    __get_cpuid(0x80000001, &a, &b, &c.extended_ecx, &d);
    if (c.leaf1_ecx & bit_OSXSAVE) {
        uint32_t low, high;
        __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
        c.saved = low | (uint64_t)high << 32;
    }
    return c;
}

static inline bool burin_cpu_x86_64(void) { return true; }

static inline bool burin_cpu_x86_64_v3(void) {
    enum { XMM_YMM = 6, LZCNT = 1 << 5 };
    const uint32_t leaf1 =
        bit_SSSE3 | bit_FMA | bit_SSE4_1 | bit_SSE4_2 | bit_MOVBE | bit_POPCNT | bit_AVX | bit_F16C;
    const uint32_t leaf7 = bit_BMI | bit_AVX2 | bit_BMI2;
    burin_cpuid c = burin_cpuid_read();
    return (c.leaf1_ecx & leaf1) == leaf1 && (c.leaf7_ebx & leaf7) == leaf7 &&
           (c.extended_ecx & LZCNT) && (c.saved & XMM_YMM) == XMM_YMM;
}

static inline bool burin_cpu_x86_64_v3_vnni(void) {
    enum { AVXVNNI = 1 << 4 };
    return burin_cpu_x86_64_v3() && (burin_cpuid_read().leaf7_1_eax & AVXVNNI);
}

static inline bool burin_cpu_x86_64_v4(void) {
    enum { ZMM_AND_MASKS = 0xe6 };
    const uint32_t leaf7 = bit_AVX512F | bit_AVX512DQ | bit_AVX512CD | bit_AVX512BW | bit_AVX512VL;
    burin_cpuid c = burin_cpuid_read();
    return burin_cpu_x86_64_v3() && (c.leaf7_ebx & leaf7) == leaf7 &&
           (c.saved & ZMM_AND_MASKS) == ZMM_AND_MASKS;
}

static inline bool burin_cpu_x86_64_v4_vnni(void) {
    return burin_cpu_x86_64_v4() && (burin_cpuid_read().leaf7_ecx & bit_AVX512VNNI);
}

// Intel's vdpbf16ps has half the rate of its multiply-adds of f32: exact products are faster there.
static inline bool burin_cpu_x86_64_v4_bf16(void) {
    enum { AVX512_BF16 = 1 << 5 };
    uint32_t max, vendor = 0, c, d;
    __get_cpuid(0, &max, &vendor, &c, &d);
    return burin_cpu_x86_64_v4_vnni() && (burin_cpuid_read().leaf7_1_eax & AVX512_BF16) &&
           vendor != signature_INTEL_ebx;
}

// Linux gives a process the tiles' registers (8 KB a thread) when it asks, and may refuse.
static inline bool burin_tiles_permitted(void) {
#if defined(__linux__) && defined(__LP64__)
    enum { ARCH_PRCTL = 158, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    long status;
    __asm__ volatile("syscall"
                     : "=a"(status)
                     : "0"((long)ARCH_PRCTL), "D"((long)REQUEST_PERMISSION), "S"((long)TILE_DATA)
                     : "rcx", "r11", "memory");
    return status == 0;
#else
    return false;
#endif
}

// AMX needs the CPU's features and the system's support for its state; then it is requested.
static inline bool burin_has_tiles(const burin_cpuid *c, bool (*permitted)(void)) {
    enum { AMX_TILE = 1 << 24, AMX_INT8 = 1 << 25, TILES_SAVED = 3 << 17 };
    return (c->leaf7_edx & AMX_TILE) && (c->leaf7_edx & AMX_INT8) &&
           (c->saved & TILES_SAVED) == TILES_SAVED && permitted();
}

static inline bool burin_cpu_x86_64_v4_amx(void) {
    burin_cpuid c = burin_cpuid_read();
    return burin_cpu_x86_64_v4_vnni() && burin_has_tiles(&c, burin_tiles_permitted);
}

static inline bool burin_cpu_x86_64_v4_amx_bf16(void) {
    enum { AVX512_BF16 = 1 << 5, AMX_BF16 = 1 << 22 };
    burin_cpuid c = burin_cpuid_read();
    return (c.leaf7_1_eax & AVX512_BF16) && (c.leaf7_edx & AMX_BF16) && burin_cpu_x86_64_v4_amx();
}

#elif defined(__aarch64__)
#include <sys/auxv.h>

static inline bool burin_cpu_armv8_a(void) { return true; }

static inline bool burin_cpu_armv8_2_a_dotprod(void) {
    enum { ASIMDDP = 1 << 20 };  // HWCAP_ASIMDDP
    return getauxval(AT_HWCAP) & ASIMDDP;
}

static inline bool burin_cpu_armv8_2_a_i8mm(void) {
    enum { I8MM = 1 << 13 };  // HWCAP2_I8MM
    return burin_cpu_armv8_2_a_dotprod() && (getauxval(AT_HWCAP2) & I8MM);
}

#elif defined(__arm__) && defined(__linux__)
#include <sys/auxv.h>

static inline bool burin_cpu_armv7_a_vfpv4(void) {
    enum { VFPV4 = 1 << 16 };  // HWCAP_VFPv4
    return getauxval(AT_HWCAP) & VFPV4;
}

#elif defined(__ARM_ARCH_PROFILE) && __ARM_ARCH_PROFILE == 'M'
static inline bool burin_cpu_cortex_m4(void) { return true; }
static inline bool burin_cpu_cortex_m7(void) { return true; }
static inline bool burin_cpu_cortex_m33(void) { return true; }
static inline bool burin_cpu_cortex_m55(void) { return true; }

#elif defined(__riscv) && defined(__linux__)
#include <sys/auxv.h>

static inline bool burin_cpu_rv64gc(void) { return true; }

static inline bool burin_cpu_rv64gcv(void) {
    return getauxval(AT_HWCAP) >> ('V' - 'A') & 1;  // a bit a letter
}
#endif
#endif
