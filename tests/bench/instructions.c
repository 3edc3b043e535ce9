// A plugin for qemu (7.2 and later, built with plugins): how many instructions the guest has
// executed, printed at the end.
//
//     gcc -shared -fPIC -O2 instructions.c -o instructions.so
//     qemu-aarch64 -plugin ./instructions.so PROGRAM
//
// Debian ships qemu without qemu-plugin.h; these are the functions of its interface, version 1,
// that this needs.
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct qemu_plugin_tb;
enum { ADD_U64 = 0 };
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, int operation, void *counter,
                                              uint64_t value);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
                                           void (*)(uint64_t id, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(uint64_t id, void (*)(uint64_t id, void *), void *context);
int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv);

int qemu_plugin_version = 1;
static uint64_t executed;  // of one thread; several may lose some

static void count_block(uint64_t id, struct qemu_plugin_tb *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &executed,
                                             qemu_plugin_tb_n_insns(block));
}

static void report(uint64_t id, void *context) {
    (void)id;
    (void)context;
    fprintf(stderr, "instructions %" PRIu64 "\n", executed);
}

int qemu_plugin_install(uint64_t id, const void *info, int argc, char **argv) {
    (void)info;
    (void)argc;
    (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, count_block);
    qemu_plugin_register_atexit_cb(id, report, NULL);
    return 0;
}
