// Changes of a small valid model, each of which a reader must refuse: the graph, its tensors,
// names, types and versions. Those of single operators: broken_operators.h.
#ifndef BURIN_TEST_BROKEN_GRAPHS_H
#define BURIN_TEST_BROKEN_GRAPHS_H

static const char VALID[] =
    "ir 10\n"
    "opset 20\n"
    "input x f32 [T,4]\n"
    "output y f32 [T,2,3]\n"
    "value q f32 [T,6]\n"
    "tensor W f32 [4,6] raw 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24\n"
    "tensor b f32 [6] typed 1 2 3 4 5 6\n"
    "tensor shape i64 [3] raw 0 2 3\n"
    "node MatMul x W -> p : @name=project\n"
    "node Add p b -> q : @name=shift\n"
    "node Reshape q shape -> r : @name=split\n"
    "node Softmax r -> y : axis=-1 @name=normalise\n";

static const Change GRAPHS[] = {
    // versions
    {"ir-missing", "ir", ""},
    {"ir-zero", "ir", "ir 0"},
    {"ir-huge", "ir", "ir 9223372036854775807"},
    {"ir-negative", "ir", "ir -1"},
    {"opset-missing", "opset", ""},
    {"opset-zero", "opset", "opset 0"},
    {"opset-negative", "opset", "opset -7"},
    {"opset-too-new", "opset", "opset 99"},
    {"opset-of-other-domain", "opset", "opset 20 com.example"},
    {"opset-twice", NULL, "opset 19"},
    {"operator-newer-than-opset", "node Softmax", "node Swish r -> y"},
    // operators
    {"operator-unknown", "node Add", "node Frobnicate p b -> q : @name=shift"},
    {"operator-unknown-thrice", "node Add",
     "node Twist p -> q1\nnode Twist q1 -> q2\nnode Twist q2 -> q"},
    {"operators-unknown", "node Add", "node Twist p -> q1\nnode Shout q1 -> q"},
    {"operator-unknown-domain", NULL,
     "opset 3 com.example\nnode Add y y -> z : @domain=com.example"},
    {"operator-for-one-cpu", NULL,
     "opset 1 com.microsoft.nchwc\nnode ReorderInput y -> z : @domain=com.microsoft.nchwc"},
    {"operator-in-body-unknown", NULL,
     "graph G\nnode Twist x -> t\noutput t f32 [T,4]\nend\nnode If x -> z : then_branch=graph:G"},
    {"operator-missing", "node Add", "node - p b -> q : @name=shift"},
    {"operands-too-few", "node Add", "node Add p -> q : @name=shift"},
    {"operands-too-many", "node Add", "node Add p b b -> q : @name=shift"},
    {"operand-left-out", "node Add", "node Add p _ -> q : @name=shift"},
    {"results-too-many", "node Add", "node Add p b -> q q2 : @name=shift"},
    // attributes
    {"attribute-unknown", "node Softmax", "node Softmax r -> y : axes=-1"},
    {"attribute-wrong-type", "node Softmax", "node Softmax r -> y : axis=0.5"},
    {"attribute-text-for-integer", "node Softmax", "node Softmax r -> y : axis='last'"},
    {"attribute-list-for-integer", "node Softmax", "node Softmax r -> y : axis=[1,2]"},
    {"attribute-twice", "node Softmax", "node Softmax r -> y : axis=1 axis=2"},
    {"attribute-missing", "node Add", "node Concat p p -> q"},
    {"attribute-cast-missing", "node Add", "node Cast p -> q"},
    {"attribute-cast-unknown", "node Add", "node Cast p -> q : to=77"},
    {"attribute-reference-outside", "node Softmax", "node Concat r r -> y : axis=ref:a/2"},
    {"axis-too-large", "node Softmax", "node Softmax r -> y : axis=3"},
    {"axis-too-small", "node Softmax", "node Softmax r -> y : axis=-9223372036854775808"},
    {"constant-empty", "node Add", "node Constant -> c\nnode Add p c -> q"},
    {"constant-two-values", "node Add",
     "node Constant -> c : value='x' value_int=3\nnode Add p c -> q"},
    {"perm-too-short", "node Softmax", "node Transpose r -> y : perm=[0,1]"},
    {"perm-twice", "node Softmax", "node Transpose r -> y : perm=[0,1,1]"},
    {"perm-outside", "node Softmax", "node Transpose r -> y : perm=[0,1,7]"},
    // names and edges
    {"value-from-nowhere", "node Add", "node Add p nowhere -> q : @name=shift"},
    {"value-twice", "node Add", "node Add p b -> q : @name=shift\nnode Add p p -> q"},
    {"value-is-an-input", "node Add", "node Add p b -> x\nnode Add x b -> q"},
    {"value-is-an-initializer", "node Add", "node Add p b -> W\nnode Add p W -> q"},
    {"cycle-of-one", "node Add", "node Add p q -> q : @name=shift"},
    {"cycle-of-two", "node MatMul", "node Add q x -> p : @name=project"},
    {"output-from-nowhere", "output", "output z f32 [T,2,3]"},
    {"output-without-a-name", "output", "output - f32 [T,2,3]"},
    {"output-twice", NULL, "output y f32 [T,2,3]"},
    {"outputs-missing", "output", ""},
    {"input-missing", "input", ""},
    {"input-twice", NULL, "input x f32 [T,4]"},
    {"input-without-a-name", NULL, "input - f32 [T,4]"},
    {"input-without-a-type", "input", "input x"},
    {"input-without-a-shape", "input", "input x f32"},
    {"input-of-sequences", "input", "input x seq(f32) [T,4]"},
    {"input-of-no-type", "input", "input x t0 [T,4]"},
    {"input-complex", "input", "input x t14 [T,4]"},
    {"input-rank", "input", "input x f32 [1,1,1,1,1,1,1,1,4]"},
    {"input-huge", "input", "input x f32 [9223372036854775807,4]"},
    {"initializer-twice", NULL, "tensor W f32 [1] raw 1"},
    {"initializer-without-a-name", NULL, "tensor - f32 [1] raw 1"},
    // types and shapes
    {"types-differ", "tensor b", "tensor b f64 [6] typed 1 2 3 4 5 6"},
    {"shapes-do-not-broadcast", "tensor b", "tensor b f32 [5] typed 1 2 3 4 5"},
    {"depths-differ", "input", "input x f32 [T,5]"},
    {"declared-type-differs", "value q", "value q i64 [T,6]"},
    {"declared-shape-differs", "value q", "value q f32 [T,7]\noutput y f32 [T,2,3]"},
    {"declared-rank-differs", "value q", "value q f32 [T,2,3]"},
    {"declared-output-differs", "output", "output y f32 [T,6]"},
    {"shape-indivisible", "tensor shape", "tensor shape i64 [3] raw 0 4 -1"},
    {"shape-two-open", "tensor shape", "tensor shape i64 [3] raw 0 -1 -1"},
    {"shape-zero", "tensor shape", "tensor shape i64 [3] raw -1 0 0"},
    {"shape-negative", "tensor shape", "tensor shape i64 [3] raw 0 -2 -3"},
    {"shape-overflows", "tensor shape",
     "tensor shape i64 [3] raw 4611686018427387904 4 9223372036854775807"},
    {"shape-too-long", "tensor shape", "tensor shape i64 [9] raw 0 2 3 1 1 1 1 1 1"},
    {"shape-of-floats", "tensor shape", "tensor shape f32 [3] raw 0 2 3"},
    {"shape-is-a-matrix", "tensor shape", "tensor shape i64 [3,1] raw 0 2 3"},
    {"condition-is-a-float", "node Softmax", "node Where r r r -> y"},
    {"not-of-floats", "node Softmax", "node Not r -> y"},
    {"concat-of-types", "node Softmax", "node Concat r shape -> y : axis=0"},
    {"concat-of-ranks", "node Softmax", "node Concat r b -> y : axis=0"},
    {"gather-by-floats", "node Softmax", "node Gather r r -> y"},
    {"expand-to-nothing", "node Softmax", "node Expand r shape -> y"},
    {"slice-without-ends", "node Softmax", "node Slice r -> y : starts=[0]"},
    {"slice-step-zero", "node Softmax",
     "tensor z i64 [1] raw 0\ntensor one i64 [1] raw 1\nnode Slice r z one z z -> y"},
    {"split-sizes-wrong", "node Softmax",
     "tensor s i64 [2] raw 1 5\nnode Split r s -> y z : axis=1"},
    {"split-sizes-negative", "node Softmax",
     "tensor s i64 [2] raw -1 3\nnode Split r s -> y z : axis=1"},
    {"squeeze-not-one", "node Softmax", "tensor a i64 [1] raw 1\nnode Squeeze r a -> y"},
    {"unsqueeze-twice", "node Softmax", "tensor a i64 [2] raw 1 1\nnode Unsqueeze r a -> y"},
    {"range-endless", "node Softmax", "tensor z i64 [] raw 0\nnode Range z z z -> y"},
    {"gemm-of-rank-3", "node Softmax", "node Gemm r r -> y"},
    // tensors
    {"tensor-type-missing", "tensor W", "tensor W t0 [4,6] raw 1"},
    {"tensor-type-unknown", "tensor W", "tensor W t99 [4,6] raw 1"},
    {"tensor-complex", "tensor W", "tensor W t15 [4,6] raw 1"},
    {"tensor-short", "tensor b", "tensor b f32 [6] raw 1 2 3"},
    {"tensor-long", "tensor b", "tensor b f32 [6] raw 1 2 3 4 5 6 7"},
    {"tensor-typed-short", "tensor b", "tensor b f32 [6] typed 1 2 3"},
    {"tensor-without-data", "tensor b", "tensor b f32 [6]"},
    {"tensor-strings-short", NULL, "tensor s string [2] text a"},
    {"tensor-dim-negative", "tensor W", "tensor W f32 [-4,6] raw 1"},
    {"tensor-dims-overflow", "tensor W",
     "tensor W f32 [4611686018427387904,4611686018427387904] raw 1"},
    {"tensor-huge", "tensor W", "tensor W f32 [4000000000,4000000000] raw 1"},
    {"tensor-rank", "tensor W", "tensor W f32 [1,1,1,1,1,1,1,4,6] raw 1"},
    {"sparse-index-outside", NULL, "sparse S f32 [4] values 1 2 at 0 4"},
    {"sparse-index-negative", NULL, "sparse S f32 [4] values 1 2 at 0 -1"},
    {"sparse-without-a-name", NULL, "sparse - f32 [4] values 1 2 at 0 3"},
    {"sparse-counts-differ", NULL, "sparse S f32 [4] values 1 2 at 0"},
    {"sparse-huge", NULL, "sparse S f32 [1000000000000] values 1 2 at 0 1"},
    // external data
    {"external-above", "tensor b", "tensor b f32 [6] external location=../b.bin"},
    {"external-above-within", "tensor b", "tensor b f32 [6] external location=a/../../b.bin"},
    {"external-absolute", "tensor b", "tensor b f32 [6] external location=/etc/passwd"},
    {"external-link", "tensor b", "tensor b f32 [6] external location=link.bin"},
    {"external-nowhere", "tensor b", "tensor b f32 [6] external offset=0"},
    {"external-missing", "tensor b", "tensor b f32 [6] external location=missing.bin"},
    {"external-folder", "tensor b", "tensor b f32 [6] external location=folder"},
    {"external-empty-name", "tensor b", "tensor b f32 [6] external location="},
    {"external-short", "tensor b", "tensor b f32 [6] external location=four.bin"},
    {"external-offset-outside", "tensor b",
     "tensor b f32 [6] external location=many.bin offset=5000 length=24"},
    {"external-offset-wraps", "tensor b",
     "tensor b f32 [6] external location=many.bin offset=18446744073709551612 length=24"},
    {"external-offset-no-number", "tensor b",
     "tensor b f32 [6] external location=many.bin offset=0x10"},
    {"external-offset-negative", "tensor b",
     "tensor b f32 [6] external location=many.bin offset=-8"},
    {"external-length-wrong", "tensor b",
     "tensor b f32 [6] external location=many.bin offset=0 length=20"},
    {"external-strings", NULL, "tensor s string [3] external location=many.bin"},
    // functions and bodies
    {"function-recursive", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nopset 20\nnode F a -> z : @domain=f\nend\nnode F "
     "r -> y : @domain=f"},
    {"function-bomb", "node Softmax",
     "opset 1 f\n"
     "function A f\ntakes a\ngives z\nnode B a -> t : @domain=f\nnode B t -> z : @domain=f\nend\n"
     "function B f\ntakes a\ngives z\nnode C a -> t : @domain=f\nnode C t -> z : @domain=f\nend\n"
     "function C f\ntakes a\ngives z\nnode A a -> t : @domain=f\nnode A t -> z : "
     "@domain=f\nend\nnode A r -> y : @domain=f"},
    {"function-operands", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nnode Relu a -> z\nend\nnode F r r -> y : "
     "@domain=f"},
    {"function-result-missing", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nnode Relu a -> t\nend\nnode F r -> y : @domain=f"},
    {"function-sees-no-outside", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nnode Add a b -> z\nend\nnode F r -> y : "
     "@domain=f"},
    {"function-attribute-unknown", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nnode Relu a -> z\nend\nnode F r -> y : axis=1 "
     "@domain=f"},
    {"function-attribute-missing", "node Softmax",
     "opset 1 f\nfunction F f\ntakes a\ngives z\nattribute axis\nnode Softmax a -> z : "
     "axis=ref:axis/2\nend\n"
     "node F r -> y : @domain=f"},
    {"function-overload-unknown", "node Softmax",
     "opset 1 f\nfunction F f one\ntakes a\ngives z\nnode Relu a -> z\nend\nnode F r -> y : "
     "@domain=f @overload=two"},
};
#endif
