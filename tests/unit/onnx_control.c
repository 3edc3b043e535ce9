// The ONNX reader's expansions: functions, branches, loops, scans, sequences; and forms of tensors.
// Each case is a model as text (tests/tools/onnx_text.h) without inputs, or with a given one; its
// outputs are compared as text.
#include "onnx_run.h"

static const char *run(const char *lines, int flag) { return onnx_run(20, lines, flag); }

#define TWO "tensor a f32 [2] raw 1 2\ntensor b f32 [2] raw 10 20\n"

static void functions_are_written_out(void) {
    CHECK_TEXT(
        run(TWO "opset 1 f\nfunction Twice f\ntakes v\ngives w\nopset 20\nnode Add v v -> w\nend\n"
                "node Twice a -> t : @domain=f\nnode Twice t -> y : @domain=f\noutput y f32 [2]\n",
            0),
        "f32[2] 4 8");
    // an attribute of the call, its default, an operand that is left out, an overload
    CHECK_TEXT(run(TWO "opset 1 f\nfunction F f one\ntakes v w\ngives z\nattribute axis\nopset 20\n"
                       "node Concat v v -> z : axis=ref:axis/2\nend\nfunction F f two\ntakes v "
                       "w\ngives z\ndefault to=7\nopset 20\n"
                       "node Cast v -> z : to=ref:to/2\nend\n"
                       "node F a -> y : axis=0 @domain=f @overload=one\nnode F a -> z : @domain=f "
                       "@overload=two\n"
                       "output y f32 [4]\noutput z i64 [2]\n",
                   0),
               "f32[4] 1 2 1 2 i64[2] 1 2");
}

#define BRANCHES                                                                                   \
    "graph A\nnode Add a b -> r\noutput r f32 [2]\nend\ngraph B\nnode Sub b a -> s\noutput s f32 " \
    "[2]\nend\n"

static void branches_are_chosen(void) {
    CHECK_TEXT(run(TWO BRANCHES "tensor c bool [] raw 0\nnode If c -> y : then_branch=graph:A "
                                "else_branch=graph:B\noutput y f32\n",
                   0),
               "f32[2] 9 18");
    const char *open = TWO BRANCHES
        "input c bool []\nnode If c -> y : then_branch=graph:A else_branch=graph:B\noutput y f32\n";
    CHECK_TEXT(run(open, 1), "f32[2] 11 22");
    CHECK_TEXT(run(open, 0), "f32[2] 9 18");
}

static void loops_run_as_often_as_told(void) {
    // v doubles; scanned results are the earlier v
    const char *body =
        "graph L\ninput i i64 []\ninput c bool []\ninput v f32 [2]\nnode Identity c -> d\nnode Add "
        "v v -> w\n"
        "node Identity v -> s\noutput d bool\noutput w f32\noutput s f32 [2]\nend\n";
    Text text = {0};
    text_add(&text,
             TWO
             "%stensor n i64 [] raw 3\nnode Loop n _ a -> y z : body=graph:L\noutput y f32\noutput "
             "z f32\n",
             body);
    CHECK_TEXT(run(text.data, 0), "f32[2] 8 16 f32[3x2] 1 2 2 4 4 8");
    text.length = 0;
    text_add(&text,
             TWO
             "%stensor n i64 [] raw 0\nnode Loop n _ a -> y z : body=graph:L\noutput y f32\noutput "
             "z f32\n",
             body);
    CHECK_TEXT(run(text.data, 0), "f32[2] 1 2 f32[0x2]");
    text_free(&text);
    // the condition ends it after two rounds
    CHECK_TEXT(
        run(TWO
            "tensor most i64 [] raw 1\ntensor n i64 [] raw 9\n"
            "graph L\ninput i i64 []\ninput c bool []\ninput v f32 [2]\nnode Less i most -> "
            "d\nnode Add v v -> w\n"
            "output d bool\noutput w f32\nend\nnode Loop n _ a -> y : body=graph:L\noutput y f32\n",
            0),
        "f32[2] 4 8");
    // only the run knows its condition: the earlier values are kept
    const char *open = TWO
        "input go bool []\ntensor n i64 [] raw 3\n"
        "graph L\ninput i i64 []\ninput c bool []\ninput v f32 [2]\nnode And c go -> d\nnode Add v "
        "v -> w\n"
        "output d bool\noutput w f32\nend\nnode Loop n _ a -> y : body=graph:L\noutput y f32\n";
    CHECK_TEXT(run(open, 1), "f32[2] 8 16");
    CHECK_TEXT(run(open, 0), "f32[2] 2 4");
}

// Results of the core's loop and if: beyond the reader's unrolling, or only known at run time.
static void bodies_run(void) {
    // twice or half of it, by branches that are worth a body
    const char *branches = TWO
        "input c bool []\ngraph A\nnode Add a b -> p\nnode Mul p p -> q\nnode Sub q a -> r\noutput "
        "r f32 [2]\nend\n"
        "graph B\nnode Sub b a -> s\nnode Mul s s -> t\nnode Add t b -> u\noutput u f32 [2]\nend\n"
        "node If c -> y : then_branch=graph:A else_branch=graph:B\noutput y f32\n";
    CHECK_TEXT(run(branches, 1), "f32[2] 120 482");
    CHECK_TEXT(run(branches, 0), "f32[2] 91 344");
    // 100 times one more
    CHECK_TEXT(run(TWO "tensor n i64 [] raw 100\ntensor one f32 [2] raw 1 1\ngraph L\ninput i i64 "
                       "[]\ninput c bool []\n"
                       "input v f32 [2]\nnode Identity c -> d\nnode Add v one -> w\noutput d "
                       "bool\noutput w f32\nend\n"
                       "node Loop n _ a -> y : body=graph:L\noutput y f32\n",
                   0),
               "f32[2] 101 102");
    // 1, 2, 4 ... while below 40: the scanned result has that many elements
    CHECK_TEXT(run("tensor a f32 [] raw 1\ntensor most f32 [] raw 40\ninput go bool []\ngraph "
                   "L\ninput i i64 []\n"
                   "input c bool []\ninput v f32 []\nnode Add v v -> w\nnode Less w most -> "
                   "d\nnode Identity v -> e\n"
                   "output d bool\noutput w f32\noutput e f32 []\nend\nnode Loop _ go a -> y z : "
                   "body=graph:L\n"
                   "output y f32\noutput z f32\n",
                   1),
               "f32 64 f32[6] 1 2 4 8 16 32");
}

static void scans_go_along_an_axis(void) {
    const char *body =
        "graph S\ninput s f32 [2]\ninput x f32 [2]\nnode Add s x -> t\nnode Mul t t -> o\noutput t "
        "f32 [2]\noutput o f32 "
        "[2]\nend\ntensor m f32 [3,2] raw 1 2 3 4 5 6\n";
    Text text = {0};
    text_add(
        &text,
        TWO "%snode Scan a m -> y z : body=graph:S num_scan_inputs=1\noutput y f32\noutput z f32\n",
        body);
    CHECK_TEXT(run(text.data, 0), "f32[2] 10 14 f32[3x2] 4 16 25 64 100 196");
    text.length = 0;
    text_add(&text,
             TWO
             "%snode Scan a m -> y z : body=graph:S num_scan_inputs=1 scan_input_directions=[1] "
             "scan_output_axes=[1]\n"
             "output z f32\n",
             body);
    CHECK_TEXT(run(text.data, 0), "f32[2x3] 36 81 100 64 144 196");
    text_free(&text);
}

static void sequences_are_lists(void) {
    CHECK_TEXT(run(TWO "tensor one i64 [] raw 1\nnode SequenceConstruct a b a -> s\nnode "
                       "SequenceErase s one -> t\n"
                       "node SequenceInsert t b -> u\nnode SequenceLength u -> n\nnode "
                       "ConcatFromSequence u -> y : axis=0 new_axis=1\n"
                       "output n i64\noutput y f32\n",
                   0),
               "i64 3 f32[3x2] 1 2 1 2 10 20");
    CHECK_TEXT(
        run("tensor m f32 [5] raw 1 2 3 4 5\ntensor two i64 [] raw 2\ntensor last i64 [] raw -1\n"
            "node SplitToSequence m two -> s\nnode SequenceAt s last -> y\noutput y f32\noutput s "
            "seq(f32)\n",
            0),
        "f32[1] 5 f32[2] 1 2 f32[2] 3 4 f32[1] 5");
    CHECK_TEXT(
        run(TWO "node Optional a -> o\nnode OptionalHasElement o -> h\nnode OptionalGetElement o "
                "-> y\nnode Optional -> e\n"
                "node OptionalHasElement e -> n\noutput h bool\noutput y f32\noutput n bool\n",
            0),
        "bool 1 f32[2] 1 2 bool 0");
}

// Only number-independent properties: bounds, counts, different streams, equal seeds.
static void numbers_are_drawn(void) {
    CHECK_TEXT(run("tensor low f32 [] raw 2\ntensor high f32 [] raw 3\nnode RandomUniform -> u : "
                   "low=2.0 high=3.0 shape=[50]\n"
                   "node Less u low -> a\nnode GreaterOrEqual u high -> b\nnode Or a b -> c\nnode "
                   "Cast c -> d : to=7\n"
                   "node ReduceSum d -> y : keepdims=0\noutput y i64\n",
                   0),
               "i64 0");
    CHECK_TEXT(run("node RandomNormal -> a : seed=3.0 shape=[4]\nnode RandomNormal -> b : seed=3.0 "
                   "shape=[4]\n"
                   "node RandomNormal -> c : shape=[4]\nnode RandomNormal -> d : shape=[4]\nnode "
                   "Equal a b -> y\n"
                   "node Equal c d -> z\noutput y bool\noutput z bool\n",
                   0),
               "bool[4] 1 1 1 1 bool[4] 0 0 0 0");
    CHECK_TEXT(run("tensor p f32 [4] raw 0 1 0 1\nnode Bernoulli p -> y\ntensor l f32 [1,3] raw "
                   "-100 0 -100\n"
                   "node Multinomial l -> z : sample_size=3\noutput y f32\noutput z i32\n",
                   0),
               "f32[4] 0 1 0 1 i32[1x3] 1 1 1");
    // others in every round of a loop
    CHECK_TEXT(
        run("tensor n i64 [] raw 100\ntensor one f32 [1] raw 1\ntensor first i64 [] raw 0\ntensor "
            "last i64 [] raw 99\n"
            "graph L\ninput i i64 []\ninput c bool []\ninput v f32 [1]\nnode Identity c -> d\n"
            "node RandomUniform -> u : shape=[1]\nnode Mul v u -> w\noutput d bool\noutput w f32\n"
            "output u f32 [1]\nend\nnode Loop n _ one -> x z : body=graph:L\nnode Gather z first "
            "-> a\n"
            "node Gather z last -> b\nnode Equal a b -> y\noutput y bool\n",
            0),
        "bool[1] 0");
}

static void tensors_come_in_every_form(void) {
    CHECK_TEXT(run("tensor a f16 [2] raw 1.5 -2\ntensor b bf16 [2] typed 3 0.5\ntensor c f64 [1] "
                   "typed 0.1\ntensor d i4 [3] "
                   "raw -8 7 1\n"
                   "tensor e u4 [3] typed 15 1 2\ntensor f i2 [5] raw -2 1 0 -1 1\ntensor g u2 [2] "
                   "raw 3 2\n"
                   "output a f16\noutput b bf16\noutput c f64\noutput d i4\noutput e u4\noutput f "
                   "i2\noutput g u2\n",
                   0),
               "f16[2] 1.5 -2 bf16[2] 3 0.5 f64[1] 0.1 i4[3] -8 7 1 u4[3] 15 1 2 i2[5] -2 1 0 -1 1 "
               "u2[2] 3 2");
    CHECK_TEXT(run("tensor a f8e4m3fn [2] raw 448 -0.5\ntensor b f8e5m2 [1] typed 3\ntensor c "
                   "f8e4m3fnuz [1] raw 240\n"
                   "tensor d f8e5m2fnuz [1] raw 8\ntensor e f8e8m0 [2] raw 4 0.5\ntensor f f4e2m1 "
                   "[3] raw 6 -0.5 1.5\n"
                   "output a f8e4m3fn\noutput b f8e5m2\noutput c f8e4m3fnuz\noutput d "
                   "f8e5m2fnuz\noutput e f8e8m0\noutput f f4e2m1\n",
                   0),
               "f8e4m3fn[2] 448 -0.5 f8e5m2[1] 3 f8e4m3fnuz[1] 240 f8e5m2fnuz[1] 8 f8e8m0[2] 4 0.5 "
               "f4e2m1[3] 6 -0.5 1.5");
    CHECK_TEXT(run("tensor a u64 [1] typed 18446744073709551615\ntensor b bool [2] typed 1 "
                   "0\ntensor c i16 [2] typed -3 4\n"
                   "tensor d string [2] text burin onnx\nsparse e f32 [2,2] values 5 6 at 1 "
                   "2\noutput a u64\noutput b bool\n"
                   "output c i16\noutput d string\noutput e f32\n",
                   0),
               "u64[1] 1.84467e+19 bool[2] 1 0 i16[2] -3 4 string[2] burin onnx f32[2x2] 0 5 6 0");
}

SUITE(onnx_control) {
    TEST(functions_are_written_out);
    TEST(branches_are_chosen);
    TEST(loops_run_as_often_as_told);
    TEST(bodies_run);
    TEST(scans_go_along_an_axis);
    TEST(sequences_are_lists);
    TEST(numbers_are_drawn);
    TEST(tensors_come_in_every_form);
}
