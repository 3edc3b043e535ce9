// Checks every kernel against its reference on the target this was compiled for. usage: check
// [--accuracy | --matmul |
// --target]
#include "check.h"

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (!strcmp(mode, "--accuracy")) {
        test_accuracy();
    } else if (!strcmp(mode, "--matmul")) {
        test_matmul();
    } else if (!strcmp(mode, "--target")) {
        puts(VEC_TARGET);
    } else {
        test_functions();
        test_conversions();
        test_quantize();
        test_convolution();
        test_depthwise();
        test_matmul();
        test_rows();
        test_attention();
        test_mutation();
    }
    return suites_failed != 0;
}
