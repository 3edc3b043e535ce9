// What a program needs before main on a Cortex-M: the vector table, the FPU switched on, data and
// zeros in place; and a way out for text, here qemu's (and most debuggers') semihosting. On real
// hardware put a UART into board_write.
#include <stdint.h>
#include <string.h>

#include "board.h"

extern uint32_t stack_top, data_start, data_end, data_load, bss_start, bss_end, stack_bottom;
int main(void);

enum {
    SYS_WRITE0 = 4,
    SYS_EXIT = 24,
    ADP_APPLICATION_EXIT = 0x20026,
    ADP_ERROR = 0x20023,
    PAINT = 0x5ac35ac3
};

static int semihost(int operation, const void *argument) {
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void board_write(const char *text) { semihost(SYS_WRITE0, text); }

_Noreturn void board_exit(int status) {
    semihost(SYS_EXIT, (const void *)(uintptr_t)(status ? ADP_ERROR : ADP_APPLICATION_EXIT));
    for (;;) {}
}

void board_write_number(const char *before, uint32_t number, const char *behind) {
    char digits[11], *at = digits + 10;
    *at = 0;
    do *--at = (char)('0' + number % 10);
    while (number /= 10);
    board_write(before), board_write(at), board_write(behind);
}

void board_write_hash(uint64_t hash) {
    char text[17] = {0};
    for (int i = 0; i < 16; i++) text[i] = "0123456789abcdef"[hash >> (60 - 4 * i) & 15];
    board_write(text), board_write("\n");
}

uint32_t board_stack_used(void) {
    const uint32_t *p = &stack_bottom;
    while (*p == PAINT) p++;
    return (uint32_t)((const char *)&stack_top - (const char *)p);
}

_Noreturn void board_start(void) {
    *(volatile uint32_t *)0xe000ed88 |= 0xf << 20;  // CPACR: the FPU may be used
    __asm__ volatile("dsb\nisb" : : : "memory");
    for (volatile uint32_t *p = &stack_bottom, *end = (uint32_t *)__builtin_frame_address(0) - 16;
         p < end; p++)
        *p = PAINT;
    memcpy(&data_start, &data_load, (size_t)((char *)&data_end - (char *)&data_start));
    memset(&bss_start, 0, (size_t)((char *)&bss_end - (char *)&bss_start));
    board_exit(main());
}

static void fault(void) {
    board_write("fault\n");
    board_exit(1);
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top,    (void *)board_start, (void *)fault, (void *)fault,
    (void *)fault, (void *)fault,       (void *)fault,
};
