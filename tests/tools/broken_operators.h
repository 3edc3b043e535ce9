// One wrong node for each message of an operator: lines that are added to the valid model of
// broken_graphs.h, which has x f32 [T, 4], W f32 [4, 6], b f32 [6], shape i64 [3], r f32 [T, 2, 3].
// Its operator set is replaced by one of the case's own.
#ifndef BURIN_TEST_BROKEN_OPERATORS_H
#define BURIN_TEST_BROKEN_OPERATORS_H

#define MICROSOFT(call) "opset 1 com.microsoft\n" call " @domain=com.microsoft"
#define IMAGE           "input i f32 [1,4,8,8]\n"
#define HEADS           "input h f32 [1,2,3,4]\n"
#define ROWS            "input h f32 [1,3,8]\n"
#define LENGTHS         "tensor n i32 [1] raw 2\n"
#define TRUE            "tensor true bool [] raw 1\n"
#define TWICE           "tensor twice i64 [] raw 2\n"
#define RUNS            "node ReduceMax x -> m : keepdims=0\nnode Greater m m -> c\n"
#define SEQUENCE        "node SequenceConstruct x r -> s\n"

static const Operator OPERATORS[] = {
    // what operands are
    {"operand-list-for-number", 20, "tensor k i64 [2] raw 1 1\nnode Trilu r k -> z"},
    {"operand-sequence", 20, "node SequenceEmpty -> s\nnode Relu s -> z"},
    {"operand-nothing", 20, "node Optional -> o\nnode Relu o -> z"},
    {"operand-not-given", 20,
     "tensor g f32 [3] raw 1 1 1\n" MICROSOFT(
         "node SkipLayerNormalization r r g -> s mean :") "\nnode Relu mean -> z"},
    {"operand-rank", 20, "node Trilu b -> z"},
    {"broadcast-unless-one", 20, "input k f32 [B,N,4]\ninput m f32 [1,B,4]\nnode Add k m -> z"},
    {"results-none", 20, MICROSOFT("node FusedGemm x W -> : activation='Relu'")},
    {"operand-required-absent", 20, "input k f32 [1,1,3,3]\nnode Conv _ k -> z :"},
    {"attribute-word", 20, "node Gelu x -> z : approximate='fast'"},
    {"attribute-range", 20, "node ArgMax x -> z : keepdims=5"},
    {"attribute-without-name", 20, "node Relu x -> z : =1"},
    {"pads-too-many", 20,
     "tensor l i64 [17] raw 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\nnode Pad x l -> z"},
    {"resize-to-free-sizes", 20,
     "node Shape x -> n\nnode Add n n -> l\nnode Resize x _ _ l -> z : mode='linear' antialias=1"},
    {"pads-wrong-number", 20, "tensor l i64 [3] raw 0 0 0\nnode Pad x l -> z"},
    {"pads-reflect-empty", 20,
     "input e f32 [0,4]\ntensor l i64 [4] raw 1 0 1 0\nnode Pad e l -> z : mode='reflect'"},
    {"depth-unknown", 20,
     "tensor v f32 [2] raw 0 1\nnode ReduceMax x -> d : keepdims=0\nnode OneHot shape d v -> z"},
    {"depth-ranks", 20,
     "input e i64 [1,1,1,1,1,1,1,1]\ntensor v f32 [2] raw 0 1\ntensor d i64 [] raw 3\nnode OneHot "
     "e d v -> z"},
    {"identity-of-nothing", 20, "node Identity _ -> z"},
    // attention
    {"rotary-table", 23, HEADS "tensor c f32 [2] raw 1 2\nnode RotaryEmbedding h c c -> z"},
    {"rotary-part", 23,
     HEADS
     "tensor c f32 [3,1] raw 1 2 3\nnode RotaryEmbedding h c c -> z : rotary_embedding_dim=6"},
    {"attention-mode", 23, HEADS "node Attention h h h -> z _ _ w : qk_matmul_output_mode=4"},
    {"attention-no-heads", 23, "node Attention r r r -> z"},
    {"attention-groups", 23, "input k f32 [1,3,3,4]\n" HEADS "node Attention h k k -> z"},
    {"linear-attention-steps", 26,
     "input l f32 [1,70000,4]\nnode LinearAttention l l l -> z s : q_num_heads=1 kv_num_heads=1"},
    {"flex-attention-body", 23,
     HEADS "opset 1 ai.onnx.preview\ngraph G\ninput s f32\ninput t f32\nnode Add s t -> u\noutput "
           "u f32\nend\n"
           "node FlexAttention h h h -> z : score_mod=graph:G @domain=ai.onnx.preview"},
    {"flex-attention-type", 23,
     HEADS
     "opset 1 ai.onnx.preview\ngraph G\ninput s f32\nnode Cast s -> u : to=11\noutput u f64\nend\n"
     "node FlexAttention h h h -> z : prob_mod=graph:G @domain=ai.onnx.preview"},
    {"flex-attention-precision", 23,
     HEADS "opset 1 ai.onnx.preview\nnode FlexAttention h h h -> z : softmax_precision=77 "
           "@domain=ai.onnx.preview"},
    {"flex-attention-groups", 23,
     HEADS "input k f32 [1,3,3,4]\nopset 1 ai.onnx.preview\nnode FlexAttention h k k -> z : "
           "@domain=ai.onnx.preview"},
    // If, Loop, Scan
    {"if-not-bool", 20,
     "graph G\nnode Relu x -> t\noutput t f32 [T,4]\nend\nnode If m -> z : then_branch=graph:G "
     "else_branch=graph:G\n" RUNS},
    {"if-constant-not-bool", 20,
     "tensor c i64 [1] raw 1\n"
     "graph G\nnode Relu x -> t\noutput t f32 [T,4]\nend\nnode If c -> z : then_branch=graph:G "
     "else_branch=graph:G"},
    {"if-without-condition", 20,
     "graph G\nnode Relu x -> t\noutput t f32 [T,4]\nend\nnode If _ -> z : then_branch=graph:G "
     "else_branch=graph:G"},
    {"if-without-branch", 20,
     TRUE
     "graph G\nnode Relu x -> t\noutput t f32 [T,4]\nend\nnode If true -> z : else_branch=graph:G"},
    {"if-results", 20,
     TRUE "graph G\nnode Relu x -> t\noutput t f32 [T,4]\nend\nnode If true -> z z2 : "
          "then_branch=graph:G else_branch=graph:G"},
    {"if-branches-differ", 20,
     RUNS
     "graph G\nnode Relu x -> t\noutput t f32\nend\ngraph H\nnode Relu b -> u\noutput u f32\nend\n"
     "node If c -> z : then_branch=graph:G else_branch=graph:H"},
    {"if-branch-computes-nothing", 20,
     TRUE "graph G\noutput t f32 [T,4]\nend\nnode If true -> z : then_branch=graph:G "
          "else_branch=graph:G"},
    {"loop-carries", 20,
     TRUE TWICE "graph G\ninput i i64 []\ninput g bool []\ninput s f32\nnode Relu s -> t\n"
                "node Identity g -> h\noutput h bool []\noutput t f32\nend\nnode Loop twice true "
                "-> z : body=graph:G"},
    {"loop-body-input-twice", 20,
     TRUE TWICE "graph G\ninput i i64 []\ninput i bool []\ninput s f32\nnode Relu s -> t\n"
                "output i bool []\noutput t f32\nend\nnode Loop twice true x -> z : body=graph:G"},
    {"loop-operand-missing", 20,
     TRUE TWICE "graph G\ninput i i64 []\ninput g bool []\ninput s f32\nnode Relu s -> t\n"
                "node Identity g -> h\noutput h bool []\noutput t f32\nend\nnode Loop twice true _ "
                "-> z : body=graph:G"},
    {"loop-grows", 20,
     RUNS "graph G\ninput i i64 []\ninput g bool []\ninput s f32\nnode Concat s s -> t : axis=0\n"
          "node Identity g -> h\noutput h bool []\noutput t f32\nend\nnode Loop _ c x -> z : "
          "body=graph:G"},
    {"loop-endless", 20,
     TRUE "graph G\ninput i i64 []\ninput g bool []\ninput s f32 []\nnode Identity s -> t\n"
          "node Identity g -> h\noutput h bool []\noutput t f32 []\nend\ntensor one f32 [] raw "
          "1\nnode Loop _ true one -> z : "
          "body=graph:G"},
    {"loop-never-scans", 20,
     TRUE "tensor none i64 [] raw 0\ngraph G\ninput i i64 []\ninput g bool []\nnode Relu x -> t\n"
          "node Identity g -> h\noutput h bool []\noutput t f32\nend\nnode Loop none true -> z : "
          "body=graph:G"},
    {"loop-scans-rank-8", 20,
     TRUE TWICE
     "input e f32 [1,1,1,1,1,1,1,1]\ngraph G\ninput i i64 []\ninput g bool []\nnode Relu e -> t\n"
     "node Identity g -> h\noutput h bool []\noutput t f32\nend\nnode Loop twice true -> z : "
     "body=graph:G"},
    {"loop-doubles", 20,
     TRUE "tensor many i64 [] raw 100000\ngraph G\ninput i i64 []\ninput g bool []\ninput s f32\n"
          "node Add s s -> t1\nnode Mul t1 s -> t2\nnode Add t2 s -> t3\nnode Mul t3 s -> t4\nnode "
          "Concat t4 s -> t : axis=0\n"
          "node Identity g -> h\noutput h bool []\noutput t f32\nend\nnode Loop many true b -> z : "
          "body=graph:G"},
    {"loop-long", 20,
     TRUE SEQUENCE
     "tensor many i64 [] raw 1000000\ngraph G\ninput i i64 []\ninput g bool []\ninput s1 seq(f32)\n"
     "node Identity g -> k\noutput k bool []\noutput s1 seq(f32)\nend\nnode Loop many true s -> z "
     ": body=graph:G"},
    {"scan-inputs", 20,
     "graph G\ninput v f32 [4]\nnode Relu v -> w\noutput w f32 [4]\nend\nnode Scan x -> z : "
     "body=graph:G num_scan_inputs=2"},
    {"scan-results", 20,
     "graph G\ninput v f32 [4]\nnode Relu v -> w\noutput w f32 [4]\nend\nnode Scan x -> z z2 : "
     "body=graph:G num_scan_inputs=1"},
    {"scan-axes", 20,
     "graph G\ninput v f32 [4]\nnode Relu v -> w\noutput w f32 [4]\nend\n"
     "node Scan x -> z : body=graph:G num_scan_inputs=1 scan_input_axes=[0,1]"},
    {"scan-lengths", 20,
     "graph G\ninput v f32 [6]\ninput u f32 []\nnode Relu v -> w\noutput w f32 [6]\nend\n"
     "node Scan W b -> z : body=graph:G num_scan_inputs=2"},
    {"scan-batch-lengths", 8,
     "graph G\ninput v f32\nnode Relu v -> w\noutput w f32\nend\n"
     "tensor n i64 [4] raw 1 1 1 1\nnode Scan n W -> z : body=graph:G num_scan_inputs=1"},
    {"scan-batch-empty", 8,
     "graph G\ninput v f32\nnode Relu v -> w\noutput w f32\nend\n"
     "input e f32 [0,4,4]\nnode Scan _ e -> z : body=graph:G num_scan_inputs=1"},
    {"scan-batch-scalar", 8,
     "graph G\ninput u f32\ninput v f32\nnode Relu v -> w\noutput u f32\noutput w f32\nend\n"
     "tensor one f32 [] raw 1\nnode Scan _ W one -> z z2 : body=graph:G num_scan_inputs=1"},
    // Einsum
    {"einsum-equation", 20, "node Einsum W W -> z : equation='ij,j!->i'"},
    {"einsum-operands", 20, "node Einsum W W -> z : equation='ij,jkl->il'"},
    {"einsum-result", 20, "node Einsum W -> z : equation='ij->k'"},
    {"einsum-axes", 20,
     "input e f32 [2,2,2,2]\ninput f f32 [2,2,2,2,2]\ninput g f32 [2]\nnode Einsum e f g -> z : "
     "equation='abcd,efghi,i->abcdefgh'"},
    // images
    {"grid-sample-ranks", 20, IMAGE "input g f32 [1,2,2,2,3]\nnode GridSample i g -> z"},
    {"affine-grid-size", 20,
     "input t f32 [1,2,3]\ntensor s i64 [3] raw 1 1 4\nnode AffineGrid t s -> z"},
    {"roi-align-sampling", 20,
     IMAGE "input o f32 [1,4]\ntensor n i64 [1] raw 0\nnode RoiAlign i o n -> z : output_height=2 "
           "output_width=2"},
    {"roi-align-bins", 20,
     IMAGE "input o f32 [1,4]\ntensor n i64 [1] raw 0\n"
           "node RoiAlign i o n -> z : output_height=0 output_width=2 sampling_ratio=2"},
    {"deform-conv-strides", 20,
     IMAGE
     "input w f32 [4,4,1,1]\ninput o f32 [1,2,8,8]\nnode DeformConv i w o -> z : strides=[1,1,1]"},
    {"deform-conv-groups", 20,
     IMAGE "input w f32 [4,4,1,1]\ninput o f32 [1,2,8,8]\nnode DeformConv i w o -> z : group=3"},
    {"space-to-depth-block", 20, IMAGE "node SpaceToDepth i -> z : blocksize=0"},
    {"depth-to-space-block", 20, IMAGE "node DepthToSpace i -> z : blocksize=-2"},
    {"reverse-sequence-axes", 20,
     "tensor n i64 [4] raw 1 1 1 1\nnode ReverseSequence W n -> z : time_axis=0 batch_axis=0"},
    {"col-to-image-strides", 20,
     "input e f32 [1,4,4]\ntensor i i64 [2] raw 4 4\ntensor k i64 [2] raw 2 2\nnode Col2Im e i k "
     "-> z : strides=[1,0]"},
    {"attribute-huge", 20, "node Flatten x -> z : axis=9223372036854775807"},
    {"deform-conv-no-offset-groups", 20,
     IMAGE
     "input w f32 [4,4,1,1]\ninput o f32 [1,2,8,8]\nnode DeformConv i w o -> z : offset_group=0"},
    {"col-to-image-ranks", 20,
     "input e f32 [1,4,4]\ntensor i i64 [2] raw 4 4\ntensor k i64 [1] raw 2\nnode Col2Im e i k -> "
     "z"},
    // com.microsoft
    {"microsoft-simplified-norm-attribute", 20,
     MICROSOFT("node SimplifiedLayerNormalization W b -> z : axes=-1")},
    {"microsoft-concat-operands", 20, MICROSOFT("node QLinearConcat b b W b b b -> z : axis=0")},
    {"microsoft-fused-matmul-batch", 20, MICROSOFT("node FusedMatMul W W -> z : transBatchA=1")},
    {"microsoft-fused-matmul-vector", 20, MICROSOFT("node FusedMatMul b b -> z : transA=1")},
    {"microsoft-nbits-bits", 20,
     "tensor v u8 [1,1,2] raw 1 2\ntensor s f32 [1] raw 1\n" MICROSOFT(
         "node MatMulNBits x v s -> z : N=1 K=4 block_size=16 bits=3")},
    {"microsoft-nbits-sizes", 20,
     "tensor v u8 [1,1,2] raw 1 2\ntensor s f32 [1] raw 1\n" MICROSOFT(
         "node MatMulNBits x v s -> z : N=1 K=4 block_size=0")},
    {"microsoft-nbits-groups", 20,
     "tensor v u8 [1,1,2] raw 1 2\ntensor s f32 [1] raw 1\ntensor g i32 [4] raw 0 0 1 "
     "0\n" MICROSOFT("node MatMulNBits x v s _ g -> z : N=1 K=4 block_size=4")},
    {"microsoft-nbits-groups-open", 20,
     "input s f32 [1]\ntensor v u8 [1,1,2] raw 1 2\ntensor g i32 [4] raw 0 0 0 0\n" MICROSOFT(
         "node MatMulNBits x v s _ g -> z : N=1 K=4 block_size=4")},
    {"microsoft-nbits-groups-short", 20,
     "tensor v u8 [1,1,2] raw 1 2\ntensor s f32 [1] raw 1\ntensor g i32 [3] raw 0 0 0\n" MICROSOFT(
         "node MatMulNBits x v s _ g -> z : N=1 K=4 block_size=4")},
    {"microsoft-gated-norm-activation", 20,
     "tensor v f32 [2] raw 1 1\n" MICROSOFT("node GatedRMSNorm x v x -> z : activation='relu'")},
    {"microsoft-gated-norm-parts", 20,
     "tensor v f32 [3] raw 1 1 1\n" MICROSOFT("node GatedRMSNorm x v x -> z : epsilon=0.1")},
    {"microsoft-conv-form", 20,
     "tensor w f32 [4,1,2] raw 1 1 1 1 1 1 1 1\ninput v f32 [1,4,3]\n" MICROSOFT(
         "node CausalConvWithState v w -> z : channels_last=1")},
    {"microsoft-conv-dilation", 20,
     "tensor w f32 [4,1,2] raw 1 1 1 1 1 1 1 1\ninput v f32 [1,4,3]\n" MICROSOFT(
         "node CausalConvWithState v w -> z : dilation=2")},
    {"microsoft-rotary-sections", 20,
     "input v f32 [1,1,2,4]\ninput at i64 [3,1,2]\ntensor t f32 [2,2] raw 1 1 1 1\n" MICROSOFT(
         "node MRotaryEmbedding v at t t -> z : mrope_section=[1,1,1]")},
    {"microsoft-bnb4-sizes", 20,
     "tensor v u8 [2] raw 1 2\ntensor s f32 [1] raw 1\n" MICROSOFT(
         "node MatMulBnb4 x v s -> z : N=1 K=4 block_size=16 quant_type=2")},
    {"microsoft-bnb4-short", 20,
     "tensor v u8 [1] raw 1\ntensor s f32 [1] raw 1\n" MICROSOFT(
         "node MatMulBnb4 x v s -> z : N=1 K=4 block_size=16 quant_type=1")},
    {"microsoft-nbits-not-constant", 20,
     "input v u8 [1,1,2]\ntensor s f32 [1] raw 1\n" MICROSOFT(
         "node MatMulNBits x v s -> z : N=1 K=4 block_size=4")},
    {"microsoft-nbits-rows", 20,
     "tensor v u8 [1,1,2] raw 1 2\ntensor s f32 [1] raw 1\n" MICROSOFT(
         "node MatMulNBits x v s -> z : N=3 K=4 block_size=4")},
    {"microsoft-gather-axes", 20,
     "tensor v u8 [2,2] raw 1 2 3 4\ntensor s f32 [2,1] raw 1 1\ntensor n i64 [1] raw "
     "0\n" MICROSOFT("node GatherBlockQuantized v n s -> z : gather_axis=1 quantize_axis=0")},
    {"microsoft-gather-block", 20,
     "tensor v u8 [2,2] raw 1 2 3 4\ntensor s f32 [2,1] raw 1 1\ntensor n i64 [1] raw "
     "0\n" MICROSOFT("node GatherBlockQuantized v n s -> z : block_size=0")},
    {"microsoft-gather-rows", 20,
     "tensor v u8 [2,2] raw 1 2 3 4\ntensor s f32 [2,1] raw 1 1\ntensor n i64 [1] raw "
     "0\n" MICROSOFT("node GatherBlockQuantized v n s -> z : block_size=3")},
    {"microsoft-gather-scales", 20,
     "tensor v u8 [2,2] raw 1 2 3 4\ntensor s f32 [2] raw 1 1\ntensor n i64 [1] raw 0\n" MICROSOFT(
         "node GatherBlockQuantized v n s -> z : block_size=16")},
    {"microsoft-gather-zeros", 20,
     "tensor v u8 [2,3] raw 1 2 3 4 5 6\ntensor s f32 [2,3] raw 1 1 1 1 1 1\ntensor w u8 [2,1] raw "
     "1 1\ntensor n i64 [1] raw "
     "0\n" MICROSOFT("node GatherBlockQuantized v n s w -> z : block_size=2")},
    {"microsoft-gather-three", 20,
     "tensor v u8 [2,1,4] raw 1 2 3 4 5 6 7 8\ntensor s f32 [2,1,4] raw 1 1 1 1 1 1 1 1\ntensor w "
     "u8 [2,1,1] raw 1 1\n"
     "tensor n i64 [1] raw 0\n" MICROSOFT(
         "node GatherBlockQuantized v n s w -> z : block_size=2 quantize_axis=2")},
    {"microsoft-experts-mixer", 20,
     "input e f32 [2,4,4]\n" MICROSOFT("node MoE x x e _ e -> z : use_sparse_mixer=1")},
    {"microsoft-experts-router", 20,
     "input e f32 [2,4,4]\n" MICROSOFT("node MoE x r e _ e -> z :")},
    {"microsoft-experts-weights", 20,
     "input a f32 [T,2]\ninput e f32 [4,4]\n" MICROSOFT("node MoE x a e _ e -> z :")},
    {"microsoft-experts-bias", 20,
     "input a f32 [T,2]\ninput e f32 [2,4,4]\n" MICROSOFT("node MoE x a e b e -> z :")},
    {"microsoft-experts-activation", 20,
     "input a f32 [T,2]\ninput e f32 [2,4,4]\n" MICROSOFT(
         "node MoE x a e _ e -> z : activation_type='mish'")},
    {"microsoft-experts-swiglu", 20,
     "input a f32 [T,2]\ninput e f32 [2,4,4]\n" MICROSOFT(
         "node MoE x a e _ e -> z : activation_type='swiglu'")},
    {"microsoft-experts-quant-type", 20,
     "input a f32 [T,2]\ntensor e u8 [1,1,2] raw 1 2\ntensor s f32 [1,1] raw 1\n" MICROSOFT(
         "node QMoE x a e s _ e s -> z : quant_type='nf4'")},
    {"microsoft-experts-prepacked", 20,
     "input a f32 [T,2]\ntensor e u8 [1,1,2] raw 1 2\ntensor s f32 [1,1] raw 1\n" MICROSOFT(
         "node QMoE x a e s _ e s -> z : weights_prepacked=1")},
    {"microsoft-experts-operand", 20,
     "input a f32 [T,2]\ntensor e u8 [1,1,2] raw 1 2\ntensor s f32 [1,1] raw 1\n" MICROSOFT(
         "node QMoE x a e s _ e s _ _ _ _ _ _ _ _ s -> z :")},
    {"microsoft-experts-zeros", 20,
     "input a f32 [T,1]\ntensor e u8 [1,1,2] raw 1 2\ntensor s f32 [1,1] raw 1\n" MICROSOFT(
         "node QMoE x a e s _ e s _ _ _ _ e -> z :")},
    {"microsoft-experts-zeros-open", 20,
     "input a f32 [T,1]\ninput s f32 [1,1]\ntensor e u8 [1,1,2] raw 1 2\ntensor w u8 [1,1] raw "
     "1\n" MICROSOFT("node QMoE x a e s _ e s _ _ _ _ w -> z :")},
    {"dequantize-axes", 21,
     "tensor e u8 [1,1,1,1,1,1,1,2] raw 1 2\ntensor s f32 [1,1,1,1,1,1,1,1] raw 1\n"
     "node DequantizeLinear e s -> z : block_size=2 axis=7\n"},
    {"microsoft-experts-block", 20,
     "input a f32 [T,1]\ntensor e u8 [1,1,2] raw 1 2\ntensor s f32 [1,1] raw 1\n" MICROSOFT(
         "node QMoE x a e s _ e s -> z : block_size=3")},
    {"microsoft-embed-ids", 20,
     "tensor g f32 [6] raw 1 1 1 1 1 1\n" MICROSOFT(
         "node EmbedLayerNormalization shape _ W W _ g g -> z :")},
    {"microsoft-past-rank", 20,
     ROWS LENGTHS MICROSOFT(
         "node GroupQueryAttention h h h r r n n -> z : num_heads=2 kv_num_heads=2")},
    {"microsoft-group-heads", 20,
     ROWS LENGTHS MICROSOFT(
         "node GroupQueryAttention h h h _ _ n n -> z : num_heads=0 kv_num_heads=2")},
    {"microsoft-group-sinks", 20,
     ROWS LENGTHS "tensor a f32 [3] raw 1 2 3\n" MICROSOFT(
         "node GroupQueryAttention h h h _ _ n n _ _ _ _ a -> z : num_heads=2 kv_num_heads=2")},
    {"microsoft-group-quantized", 20,
     ROWS LENGTHS "tensor a f32 [1] raw 1\n" MICROSOFT(
         "node GroupQueryAttention h h h _ _ n n _ _ _ _ _ a a -> z : num_heads=2 kv_num_heads=2")},
    {"microsoft-group-window", 20,
     ROWS LENGTHS MICROSOFT("node GroupQueryAttention h h h _ _ n n -> z : num_heads=2 "
                            "kv_num_heads=2 sliding_window_cache=1")},
    {"microsoft-group-scores", 20,
     ROWS LENGTHS MICROSOFT(
         "node GroupQueryAttention h h h _ _ n n -> z : num_heads=2 kv_num_heads=2 qk_output=3")},
    {"microsoft-group-value", 20,
     ROWS LENGTHS MICROSOFT(
         "node GroupQueryAttention h h _ _ _ n n -> z : num_heads=2 kv_num_heads=2")},
    {"microsoft-group-lengths", 20,
     ROWS LENGTHS "tensor a i32 [] raw 1\n" MICROSOFT(
         "node GroupQueryAttention h h h _ _ a n -> z : num_heads=2 kv_num_heads=2")},
    {"microsoft-group-past-value", 20,
     ROWS LENGTHS "input k f32 [1,2,P,4]\n" MICROSOFT(
         "node GroupQueryAttention h h h k _ n n -> z : num_heads=2 kv_num_heads=2")},
    {"microsoft-group-tables", 20,
     ROWS LENGTHS MICROSOFT(
         "node GroupQueryAttention h h h _ _ n n -> z : num_heads=2 kv_num_heads=2 do_rotary=1")},
    {"microsoft-group-table-rank", 20,
     ROWS LENGTHS MICROSOFT("node GroupQueryAttention h h h _ _ n n b b -> z : num_heads=2 "
                            "kv_num_heads=2 do_rotary=1")},
    {"microsoft-group-table-width", 20,
     ROWS LENGTHS MICROSOFT("node GroupQueryAttention h h h _ _ n n W W -> z : num_heads=2 "
                            "kv_num_heads=2 do_rotary=1")},
    {"microsoft-group-groups", 20,
     ROWS LENGTHS "input k f32 [1,3,12]\n" MICROSOFT(
         "node GroupQueryAttention h k k _ _ n n -> z : num_heads=2 kv_num_heads=3")},
    {"microsoft-rotary-packed", 20,
     ROWS "tensor n i64 [1] raw 0\n" MICROSOFT(
         "node RotaryEmbedding h n W W -> z : is_packed_batching=1")},
    {"microsoft-mask-rank", 20,
     ROWS
     "input m i32 [1,1,1,3]\n" MICROSOFT("node MultiHeadAttention h h h _ m -> z : num_heads=2")},
    {"microsoft-mask-lengths", 20,
     ROWS "input m i32 [4]\n" MICROSOFT("node MultiHeadAttention h h h _ m -> z : num_heads=2")},
    {"microsoft-mask-buffer", 20,
     ROWS LENGTHS MICROSOFT("node MultiHeadAttention h h h _ _ _ h h n -> z : num_heads=2")},
    {"microsoft-mask-beams", 20,
     ROWS LENGTHS "input k f32 [1,2,P,4]\n" MICROSOFT(
         "node MultiHeadAttention h h h _ _ _ k k n n -> z : num_heads=2")},
    {"microsoft-attention-buffer", 20,
     ROWS "input w f32 [8,24]\n" MICROSOFT(
         "node Attention h w -> z : num_heads=2 past_present_share_buffer=1")},
    {"microsoft-attention-packed", 20,
     ROWS MICROSOFT("node MultiHeadAttention h -> z : num_heads=2")},
    {"microsoft-attention-bias", 20,
     ROWS MICROSOFT("node MultiHeadAttention h h h b -> z : num_heads=2")},
    {"microsoft-attention-past", 20,
     ROWS "input w f32 [8,24]\n" MICROSOFT("node Attention h w _ _ h -> z : num_heads=2")},
    {"microsoft-attention-rotary", 20,
     ROWS "input w f32 [8,24]\n" MICROSOFT("node Attention h w -> z : num_heads=2 do_rotary=1")},
    {"microsoft-attention-weights", 20, ROWS MICROSOFT("node Attention h h -> z : num_heads=2")},
    // shapes
    {"upsample-repeats", 20, "tensor n i64 [1] raw 2\nnode Tile r n -> z"},
    {"upsample-repeats-unknown", 20,
     "tensor o i64 [2] raw 1 1\nnode Cast m -> n : to=7\n" RUNS
     "node Mul o n -> k\nnode Tile x k -> z"},
    {"upsample-repeats-negative", 20, "tensor n i64 [3] raw 1 -2 1\nnode Tile r n -> z"},
    {"pads-unknown", 20,
     "node Cast m -> k : to=7\ntensor o i64 [4] raw 1 1 1 1\n" RUNS
     "node Mul o k -> l\nnode Pad x l -> z"},
    {"crop-negative", 20, "tensor n i64 [2] raw -3 4\nnode CenterCropPad x n -> z"},
    {"blocks-empty", 20,
     "input e f32 [1,4,4]\ntensor s i64 [2] raw 0 4\ntensor t i64 [2] raw 2 2\nnode Col2Im e s t "
     "-> z"},
    {"blocks-too-large", 20,
     "input e f32 [1,25,1]\ntensor s i64 [2] raw 2 2\ntensor t i64 [2] raw 5 5\nnode Col2Im e s t "
     "-> z"},
    {"depth-negative", 20,
     "tensor v f32 [2] raw 0 1\ntensor d i64 [] raw -1\nnode OneHot shape d v -> z"},
    {"boxes-most", 20,
     "input e f32 [1,5,4]\ninput f f32 [1,1,5]\ntensor k i64 [2] raw 1 1\nnode NonMaxSuppression e "
     "f k -> z"},
    {"resize-axes-many", 20, "tensor s f32 [3] raw 2 2 2\nnode Resize x _ s -> z : axes=[0,1,0]"},
    {"resize-empty", 20,
     "input e f32 [0,4]\ntensor n i64 [2] raw 2 3\nnode Resize e _ _ n -> z : mode='linear'"},
    {"resize-region", 20,
     "input e f32 [4,4]\ntensor region f32 [4] raw 0 0 1e30 1\ntensor n i64 [2] raw 2 3\nnode "
     "Resize e "
     "region _ n -> z : mode='linear' coordinate_transformation_mode='tf_crop_and_resize'"},
    {"mel-no-bins", 20,
     "tensor n i64 [] raw 0\ntensor t i64 [] raw 8000\ntensor u f32 [] raw 0\ntensor f f32 [] raw "
     "8\n"
     "node MelWeightMatrix n n t u f -> z"},
    {"linear-attention-no-steps", 26,
     "input l f32 [1,0,4]\nnode LinearAttention l l l -> z s : q_num_heads=1 kv_num_heads=1"},
    {"crop-dimensions", 20, "tensor n i64 [1] raw 2\nnode CenterCropPad r n -> z"},
    {"crop-too-many", 20, "tensor n i64 [9] raw 2 2 2 2 2 2 2 2 2\nnode CenterCropPad r n -> z"},
    {"reduce-axes-unknown", 20, "node Shape x -> n\nnode ReduceSum x n -> z"},
    {"reduce-axes-many", 20, "tensor n i64 [9] raw 0 0 0 0 0 0 0 0 0\nnode ReduceSum x n -> z"},
    {"unsqueeze-axes-unknown", 20, "node Shape x -> n\nnode Unsqueeze x n -> z"},
    {"unsqueeze-axes-many", 20, "tensor n i64 [7] raw 0 1 2 3 4 5 6\nnode Unsqueeze x n -> z"},
    {"expand-negative", 20, "tensor n i64 [2] raw -3 4\nnode Expand x n -> z"},
    {"constant-of-shape-value", 20,
     "data V f32 [2] raw 1 2\nnode ConstantOfShape shape -> z : value=tensor:V"},
    {"flatten-axis", 20, "node Flatten x -> z : axis=5"},
    {"slice-axes-unknown", 20,
     "tensor o i64 [1] raw 0\nnode Shape x -> n : end=1\nnode Slice x o o n -> z"},
    {"slice-bound-either", 20,
     "tensor o i64 [1] raw 0\ntensor f i64 [1] raw 5\nnode Shape x -> n : end=1\nnode Sub n f -> "
     "m\nnode Slice x m n o -> z"},
    {"split-parts", 20, "tensor s i64 [2] raw 1 1\nnode Split r s -> y1 y2 y3 : axis=1"},
    {"range-long", 20,
     "tensor o f32 [] raw 0\ntensor e f32 [] raw 1e20\ntensor s f32 [] raw 1\nnode Range o e s -> "
     "z"},
    {"range-step", 20,
     "tensor o i64 [] raw 1\ntensor s i64 [] raw -9223372036854775808\nnode Range o o s -> z"},
    {"range-lists", 20, "tensor o i64 [2] raw 0 0\nnode Range o o o -> z"},
    {"range-unknown", 20,
     "node Cast m -> n : to=7\ntensor o i64 [] raw 1\nnode Range o n o -> z\n" RUNS},
    // norms, order, quantization, random
    {"group-norm-groups", 21,
     IMAGE "tensor s f32 [4] raw 1 1 1 1\nnode GroupNormalization i s s -> z : num_groups=3"},
    {"top-k-list", 20, "tensor k i64 [2] raw 1 1\nnode TopK x k -> z z2"},
    {"eye-like-type", 20, "node EyeLike x -> z : dtype=99"},
    {"eye-like-rank", 20, "node EyeLike r -> z"},
    {"det-large", 20, "input e f32 [9,9]\nnode Det e -> z"},
    {"quantize-infinite-scale", 21,
     "tensor s f32 [] raw inf\nnode QuantizeLinear x s -> lost\nnode QuantizeLinear x s -> z : "
     "output_dtype=99"},
    {"quantize-output-type", 21,
     "tensor s f32 [] raw 1\nnode QuantizeLinear x s -> z : output_dtype=99"},
    {"dequantize-output-type", 23,
     "input e u8 [4]\ntensor s f32 [] raw 1\nnode DequantizeLinear e s -> z : output_dtype=99"},
    {"random-shape", 20, "node RandomNormal -> z : shape=[2,-3]"},
    {"random-axes", 20, "node RandomNormal -> z : shape=[1,1,1,1,1,1,1,1,1]"},
    {"random-type", 20, "node RandomNormal -> z : shape=[2] dtype=99"},
    {"multinomial-rank", 20, "node Multinomial b -> z"},
    {"recurrent-activation", 20,
     "input e f32 [2,1,4]\ninput w f32 [1,3,4]\ninput v f32 [1,3,3]\n"
     "node RNN e w v -> z : hidden_size=3 activations=['Swish']"},
    // sequences
    {"sequence-expected", 20, "node SequenceLength x -> z"},
    {"sequence-position", 20, SEQUENCE "tensor n i64 [] raw 2\nnode SequenceAt s n -> z"},
    {"sequence-operand", 20, "node SequenceConstruct x _ -> s"},
    {"sequence-insert-nothing", 20, SEQUENCE "node SequenceInsert s _ -> t"},
    {"sequence-erase-empty", 20, "node SequenceEmpty -> s\nnode SequenceErase s -> t"},
    {"sequence-join-empty", 20, "node SequenceEmpty -> s\nnode ConcatFromSequence s -> z : axis=0"},
    {"sequence-join-ranks", 20, SEQUENCE "node ConcatFromSequence s -> z : axis=0 new_axis=1"},
    {"sequence-join-rank-8", 20,
     "input e f32 [1,1,1,1,1,1,1,1]\nnode SequenceConstruct e e -> s\nnode ConcatFromSequence s -> "
     "z : axis=0 new_axis=1"},
    {"sequence-split-unknown", 20, "node Cast m -> n : to=7\nnode SplitToSequence W n -> s\n" RUNS},
    {"sequence-split-zero", 20, "tensor n i64 [] raw 0\nnode SplitToSequence W n -> s"},
    {"sequence-split-many", 20, "input e f32 [1000000]\nnode SplitToSequence e -> s"},
    {"sequence-split-beyond", 20, "tensor n i64 [2] raw 3 3\nnode SplitToSequence W n -> s"},
    {"sequence-split-short", 20, "tensor n i64 [2] raw 1 1\nnode SplitToSequence W n -> s"},
    {"sequence-split-dims", 20, "node Shape x -> n\nnode SplitToSequence W n -> s"},
    {"sequence-map-body", 20,
     SEQUENCE "graph G\ninput a f32\ninput c f32\nnode Add a c -> d\noutput d f32\nend\nnode "
              "SequenceMap s -> t : body=graph:G"},
    {"sequence-map-short", 20,
     SEQUENCE "node SequenceConstruct x -> u\ngraph G\ninput a f32\ninput c f32\nnode Add a c -> "
              "d\noutput d f32\nend\n"
              "node SequenceMap s u -> t : body=graph:G"},
    {"sequence-input-unknown", 20, "input q1 seq(f32) [4]\nnode SequenceLength q1 -> z"},
    {"optional-empty", 20, "node Optional -> o\nnode OptionalGetElement o -> z"},
    // signals
    {"dft-axis", 20, "input e f32 [1,8,2]\ntensor n i64 [] raw 2\nnode DFT e _ n -> z"},
    {"dft-length", 20, "input e f32 [1,8,2]\ntensor n i64 [] raw 0\nnode DFT e n -> z"},
    {"dft-long", 20, "input e f32 [1,100000,2]\nnode DFT e -> z"},
    {"stft-window", 20, "input e f32 [1,8,1]\ntensor n i64 [] raw 2\nnode STFT e n -> z"},
    {"window-size", 20, "tensor n i64 [] raw -2\nnode HannWindow n -> z"},
    {"mel-bins", 20,
     "tensor n i64 [] raw 0\ntensor f f32 [] raw 8\nnode MelWeightMatrix n n n f f -> z"},
    // windows
    {"pool-strides", 20, IMAGE "node MaxPool i -> z : kernel_shape=[2,2] strides=[1]"},
    {"pool-strides-negative", 20, IMAGE "node MaxPool i -> z : kernel_shape=[2,2] strides=[1,-1]"},
    {"pool-kernel-zero", 20, IMAGE "node MaxPool i -> z : kernel_shape=[2,0]"},
    {"pool-ranks", 20, "input e f32 [1,4,2,2,2,2]\nnode MaxPool e -> z : kernel_shape=[1,1,1,1]"},
    {"conv-groups", 20, IMAGE "input w f32 [4,3,1,1]\nnode Conv i w -> z"},
    {"conv-transpose-groups", 20,
     IMAGE "input w f32 [4,3,1,1]\nnode ConvTranspose i w -> z : group=3"},
    {"conv-transpose-no-groups", 20,
     IMAGE "input w f32 [4,3,1,1]\nnode ConvTranspose i w -> z : group=0"},
    {"conv-transpose-shape", 20,
     IMAGE "input w f32 [4,3,1,1]\nnode ConvTranspose i w -> z : output_shape=[1,3,8,8]"},
    {"unpool-shape", 20,
     IMAGE "input n i64 [1,4,8,8]\ntensor s i64 [2] raw 16 16\nnode MaxUnpool i n s -> z : "
           "kernel_shape=[2,2]"},
    {"conv-empty-image", 20, "input e f32 [1,4,1,1]\ninput w f32 [4,4,3,3]\nnode Conv e w -> z"},
};
#endif
