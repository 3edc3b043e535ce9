// Stacks that one thread switches between: how a run with more parts than CPUs keeps every CPU on
// one thread. A switch saves the registers that a called function must keep, and costs a few
// nanoseconds; the system takes microseconds to give a CPU to another.
#ifndef BURIN_FIBER_H
#define BURIN_FIBER_H
#include <stddef.h>
#include <stdint.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__CET__) && (__CET__ & 2)
#define BURIN_SHADOW_STACK 1  // returns only to where calls came from
#endif
#if !defined(BURIN_SHADOW_STACK) && (defined(__x86_64__) || defined(__aarch64__)) &&       \
    defined(__ELF__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
#define BURIN_HAS_FIBERS 1

// Leaves the running stack, storing it in *from, and resumes `to`.
__attribute__((visibility("hidden"))) void burin_fiber_switch(void **from, void *to);
// Where a new stack starts: calls the function with its argument.
__attribute__((visibility("hidden"))) void burin_fiber_begin(void);

#if defined(__x86_64__)
__asm__(
    ".text\n.local burin_fiber_switch\n.type burin_fiber_switch, @function\nburin_fiber_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq %rsi, %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
    ".size burin_fiber_switch, .-burin_fiber_switch\n"
    ".local burin_fiber_begin\n.type burin_fiber_begin, @function\nburin_fiber_begin:\n"
    "movq %r12, %rdi\ncallq *%r13\nud2\n"
    ".size burin_fiber_begin, .-burin_fiber_begin\n");
enum {
    BURIN_FIBER_SAVED = 7,
    BURIN_FIBER_ARGUMENT = 3,
    BURIN_FIBER_FUNCTION = 2,
    BURIN_FIBER_RETURN = 6
};
#else
__asm__(
    ".text\n.local burin_fiber_switch\n.type burin_fiber_switch, %function\nburin_fiber_switch:\n"
    "sub sp, sp, #160\n"
    "stp x19, x20, [sp]\nstp x21, x22, [sp, #16]\nstp x23, x24, [sp, #32]\nstp x25, x26, [sp, "
    "#48]\n"
    "stp x27, x28, [sp, #64]\nstp x29, x30, [sp, #80]\n"
    "stp d8, d9, [sp, #96]\nstp d10, d11, [sp, #112]\nstp d12, d13, [sp, #128]\nstp d14, d15, [sp, "
    "#144]\n"
    "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
    "ldp x19, x20, [sp]\nldp x21, x22, [sp, #16]\nldp x23, x24, [sp, #32]\nldp x25, x26, [sp, "
    "#48]\n"
    "ldp x27, x28, [sp, #64]\nldp x29, x30, [sp, #80]\n"
    "ldp d8, d9, [sp, #96]\nldp d10, d11, [sp, #112]\nldp d12, d13, [sp, #128]\nldp d14, d15, [sp, "
    "#144]\n"
    "add sp, sp, #160\nret\n"
    ".size burin_fiber_switch, .-burin_fiber_switch\n"
    ".local burin_fiber_begin\n.type burin_fiber_begin, %function\nburin_fiber_begin:\n"
    "mov x0, x19\nblr x20\nbrk #0\n"
    ".size burin_fiber_begin, .-burin_fiber_begin\n");
enum {
    BURIN_FIBER_SAVED = 20,
    BURIN_FIBER_ARGUMENT = 0,
    BURIN_FIBER_FUNCTION = 1,
    BURIN_FIBER_RETURN = 11
};
#endif

// A stack that will call function(argument), which must not return, when it is first switched to.
static inline void *burin_fiber_new(unsigned char *stack, size_t bytes, void (*function)(void *),
                                    void *argument) {
    uintptr_t top = ((uintptr_t)stack + bytes) & ~(uintptr_t)63;
    uintptr_t *saved = (uintptr_t *)top - BURIN_FIBER_SAVED;
    for (int i = 0; i < BURIN_FIBER_SAVED; i++) saved[i] = 0;
    saved[BURIN_FIBER_ARGUMENT] = (uintptr_t)argument;
    saved[BURIN_FIBER_FUNCTION] = (uintptr_t)function;
    saved[BURIN_FIBER_RETURN] = (uintptr_t)burin_fiber_begin;
    return saved;
}
#endif
#endif
