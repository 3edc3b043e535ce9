// Operators whose meaning depends on the opset, or on the shape of an operand: cases that the
// conformance suite has not.
#include "onnx_run.h"

#define NEGATIVE                                                                                   \
    "tensor x f32 [1,2,2,2] raw -1 -2 -3 -4 -5 -6 -7 -8\ntensor s f32 [2] raw 10 100\nnode PRelu " \
    "x s -> y\noutput y f32\n"

// Until opset 6 a slope belongs to a channel; since 7 it broadcasts, to the last axis first.
static void slopes_of_prelu(void) {
    CHECK_TEXT(onnx_run(6, NEGATIVE, 0), "f32[1x2x2x2] -10 -20 -30 -40 -500 -600 -700 -800");
    CHECK_TEXT(onnx_run(7, NEGATIVE, 0), "f32[1x2x2x2] -10 -200 -30 -400 -50 -600 -70 -800");
    // what exporters of that time wrote although it does not broadcast
    CHECK_TEXT(onnx_run(9,
                        "tensor x f32 [1,2,3] raw -1 -2 -3 -4 -5 -6\ntensor s f32 [2] raw 10 "
                        "100\nnode PRelu x s -> y\n"
                        "output y f32\n",
                        0),
               "f32[1x2x3] -10 -20 -30 -400 -500 -600");
}

static void zero_points_of_filters(void) {
    CHECK_TEXT(
        onnx_run(20,
                 "tensor x u8 [1,1,2,2] raw 1 2 3 4\ntensor w u8 [2,1,2,2] raw 1 1 1 1 1 1 1 2\n"
                 "tensor xz u8 [] raw 0\ntensor wz u8 [2] raw 0 1\nnode ConvInteger x w xz wz -> "
                 "y\noutput y i32\n",
                 0),
        "i32[1x2x1x1] 10 4");
}

// Before opset 13 all axes from `axis` on are one.
static void softmax_over_several_axes(void) {
    const char *lines =
        "tensor x f32 [1,2,2] raw 3 3 3 3\nnode Softmax x -> y : axis=1\noutput y f32\n";
    CHECK_TEXT(onnx_run(12, lines, 0), "f32[1x2x2] 0.25 0.25 0.25 0.25");
    CHECK_TEXT(onnx_run(13, lines, 0), "f32[1x2x2] 0.5 0.5 0.5 0.5");
}

// PyTorch leaves out the last axis of a real signal.
static void spectrum_of_a_flat_signal(void) {
    CHECK_TEXT(
        onnx_run(17,
                 "tensor x f32 [1,4] raw 1 2 3 4\ntensor step i64 [] raw 2\ntensor n i64 [] raw 2\n"
                 "node STFT x step _ n -> s\nnode Abs s -> a\nnode Round a -> y\noutput y f32\n",
                 0),
        "f32[1x2x2x2] 3 0 1 0 7 0 1 0");
}

SUITE(onnx_ops) {
    TEST(spectrum_of_a_flat_signal);
    TEST(slopes_of_prelu);
    TEST(zero_points_of_filters);
    TEST(softmax_over_several_axes);
}
