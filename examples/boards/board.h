// What start.c offers to the examples.
#ifndef BOARD_H
#define BOARD_H
#include <stdint.h>

void board_write(const char *text);
void board_write_number(const char *before, uint32_t number, const char *behind);
void board_write_hash(uint64_t hash);
uint32_t board_stack_used(void);  // bytes, at its deepest so far
_Noreturn void board_exit(int status);
#endif
