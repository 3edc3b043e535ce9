// Block formats of weights: a row each. Value i of a block is (d scale[i / group]) q[i] + m
// minimum[i / group], q the stored integer, less `offset` or looked up in a table.
// compiler/ir/format.c decodes a file's block, blocks.h defines its form in panels. Included once
// for each use, with FORMAT defined.
//
//   block    values of one block, along k
//   bytes    of a block in a file
//   low      bits of q in the low plane; 5: five digits of base 3 in a byte
//   high     bits of q above those, in a plane of their own
//   group    values that share a scale
//   scales   ONE: d alone, an f16; FLOAT: an f32; 127TH: an f32, and (d q) / 127; EXPONENT: d is 2^(e - 128); BYTES, SIGNED:
//   integers of 8 bits; PAIRED: 4 bits, below the minimum's;
//            SIX: 6 bits of 16 groups in 12 bytes, less 32; NONE: q are integers themselves, whose products with rows of integers
//            are exact; sums of its columns follow a panel's blocks (blocks.h)
//            E4M3: floats of 8 bits, of which d, an f32, is a factor; E4M3_OVER: the same, divided by d. Both have one d for all
//            blocks of a row of weights, stored after a panel's blocks, 16 f32
//   minimum  NONE; ZERO: a zero point, an integer subtracted from each q of the block; ONE: m alone; BYTES, PAIRED: integers
//            as those of the scales; LINE: a zero point as of ZERO, and m alone, an f32; FRACTION: the same, but m is subtracted
//            from q, too: the value is d (q - zero point - m)
//   table    PLAIN, or the value of each q: SIGN, 0 for -1; IQ4, E2M1; floats, whose products take rows of floats: NF4, FP4,
//            E4M3
//   encode   the compiler's function that quantizes to it (compiler/ir/encode.h), or NULL
//
// Rows without a type of GGUF are for quantized folders (frontend/checkpoint/quantized): d, the
// zero point, q; those without scales the integers of ONNX's products (passes/fuse/integers.c), i9
// where they span more than -128 to 127.
//
// FORMAT(name, GGUF's type id or -1, block, bytes, low, high, group, scales, minimum, offset,
// table, encode)
FORMAT(q4_0, 2, 32, 18, 4, 0, 32, ONE, NONE, 8, PLAIN, encode_scale)
FORMAT(q4_1, 3, 32, 20, 4, 0, 32, ONE, ONE, 0, PLAIN, encode_line)
FORMAT(q5_0, 6, 32, 22, 4, 1, 32, ONE, NONE, 16, PLAIN, encode_scale)
FORMAT(q5_1, 7, 32, 24, 4, 1, 32, ONE, ONE, 0, PLAIN, encode_line)
FORMAT(q8_0, 8, 32, 34, 8, 0, 32, ONE, NONE, 128, PLAIN, encode_fine)
FORMAT(q2_k, 10, 256, 84, 2, 0, 16, PAIRED, PAIRED, 0, PLAIN, encode_groups)
FORMAT(q3_k, 11, 256, 110, 2, 1, 16, SIX, NONE, 4, PLAIN, encode_groups)
FORMAT(q4_k, 12, 256, 144, 4, 0, 32, BYTES, BYTES, 0, PLAIN, encode_groups)
FORMAT(q5_k, 13, 256, 176, 4, 1, 32, BYTES, BYTES, 0, PLAIN, encode_groups)
FORMAT(q6_k, 14, 256, 210, 4, 2, 16, SIGNED, NONE, 32, PLAIN, encode_groups)
FORMAT(iq4_nl, 20, 32, 18, 4, 0, 32, ONE, NONE, 128, IQ4, encode_scale)
FORMAT(iq4_xs, 23, 256, 136, 4, 0, 32, SIGNED, NONE, 128, IQ4, encode_groups)
FORMAT(tq1_0, 34, 256, 54, 5, 0, 32, ONE, NONE, 1, PLAIN, encode_scale)
FORMAT(tq2_0, 35, 256, 66, 2, 0, 32, ONE, NONE, 1, PLAIN, encode_scale)
FORMAT(mxfp4, 39, 32, 17, 4, 0, 32, EXPONENT, NONE, 12, E2M1, encode_exponent)
FORMAT(q1_0, 41, 128, 18, 1, 0, 32, ONE, NONE, 1, SIGN, NULL)
FORMAT(q2_0, 42, 64, 18, 2, 0, 32, ONE, NONE, 1, PLAIN, NULL)
FORMAT(nvfp4, -1, 64, 40, 4, 0, 16, E4M3, NONE, 12, E2M1, NULL)
FORMAT(nvfp4_d, -1, 64, 40, 4, 0, 16, E4M3_OVER, NONE, 12, E2M1, NULL)
FORMAT(z2_32, -1, 32, 11, 2, 0, 32, ONE, ZERO, 2, PLAIN, NULL)
FORMAT(z2_64, -1, 64, 19, 2, 0, 32, ONE, ZERO, 2, PLAIN, NULL)
FORMAT(z2_128, -1, 128, 35, 2, 0, 32, ONE, ZERO, 2, PLAIN, NULL)
FORMAT(z3_32, -1, 32, 15, 2, 1, 32, ONE, ZERO, 4, PLAIN, NULL)
FORMAT(z3_64, -1, 64, 27, 2, 1, 32, ONE, ZERO, 4, PLAIN, NULL)
FORMAT(z3_128, -1, 128, 51, 2, 1, 32, ONE, ZERO, 4, PLAIN, NULL)
FORMAT(z4_32, -1, 32, 19, 4, 0, 32, ONE, ZERO, 8, PLAIN, NULL)
FORMAT(z4_64, -1, 64, 35, 4, 0, 32, ONE, ZERO, 8, PLAIN, NULL)
FORMAT(z4_128, -1, 128, 67, 4, 0, 32, ONE, ZERO, 8, PLAIN, NULL)
FORMAT(z8_32, -1, 32, 35, 8, 0, 32, ONE, ZERO, 128, PLAIN, NULL)
FORMAT(z8_128, -1, 128, 131, 8, 0, 32, ONE, ZERO, 128, PLAIN, NULL)
FORMAT(zf2_32, -1, 32, 13, 2, 0, 32, FLOAT, ZERO, 2, PLAIN, NULL)
FORMAT(zf2_128, -1, 128, 37, 2, 0, 32, FLOAT, ZERO, 2, PLAIN, NULL)
FORMAT(zf4_32, -1, 32, 21, 4, 0, 32, FLOAT, ZERO, 8, PLAIN, NULL)
FORMAT(zf4_128, -1, 128, 69, 4, 0, 32, FLOAT, ZERO, 8, PLAIN, NULL)
FORMAT(zf8_32, -1, 32, 37, 8, 0, 32, FLOAT, ZERO, 128, PLAIN, NULL)
FORMAT(zf8_128, -1, 128, 133, 8, 0, 32, FLOAT, ZERO, 128, PLAIN, NULL)
FORMAT(l2_64, -1, 64, 25, 2, 0, 32, FLOAT, LINE, 2, PLAIN, NULL)
FORMAT(l3_64, -1, 64, 33, 2, 1, 32, FLOAT, LINE, 4, PLAIN, NULL)
FORMAT(l4_32, -1, 32, 25, 4, 0, 32, FLOAT, LINE, 8, PLAIN, NULL)
FORMAT(l4_64, -1, 64, 41, 4, 0, 32, FLOAT, LINE, 8, PLAIN, NULL)
FORMAT(l5_64, -1, 64, 49, 4, 1, 32, FLOAT, LINE, 16, PLAIN, NULL)
FORMAT(l6_32, -1, 32, 33, 4, 2, 32, FLOAT, LINE, 32, PLAIN, NULL)
FORMAT(l6_64, -1, 64, 57, 4, 2, 32, FLOAT, LINE, 32, PLAIN, NULL)
FORMAT(l8_32, -1, 32, 41, 8, 0, 32, FLOAT, LINE, 128, PLAIN, NULL)
FORMAT(l8_64, -1, 64, 73, 8, 0, 32, FLOAT, LINE, 128, PLAIN, NULL)
FORMAT(f2_64, -1, 64, 25, 2, 0, 32, FLOAT, FRACTION, 2, PLAIN, NULL)
FORMAT(f3_64, -1, 64, 33, 2, 1, 32, FLOAT, FRACTION, 4, PLAIN, NULL)
FORMAT(f4_32, -1, 32, 25, 4, 0, 32, FLOAT, FRACTION, 8, PLAIN, NULL)
FORMAT(f4_64, -1, 64, 41, 4, 0, 32, FLOAT, FRACTION, 8, PLAIN, NULL)
FORMAT(f8_32, -1, 32, 41, 8, 0, 32, FLOAT, FRACTION, 128, PLAIN, NULL)
FORMAT(f8_64, -1, 64, 73, 8, 0, 32, FLOAT, FRACTION, 128, PLAIN, NULL)
FORMAT(s8_128, -1, 128, 130, 8, 0, 32, ONE, NONE, 128, PLAIN, NULL)
FORMAT(b8_32, -1, 32, 36, 8, 0, 32, 127TH, NONE, 128, PLAIN, NULL)
FORMAT(b8_128, -1, 128, 132, 8, 0, 32, 127TH, NONE, 128, PLAIN, NULL)
FORMAT(i8_32, -1, 32, 32, 8, 0, 32, NONE, NONE, 128, PLAIN, encode_integers)
FORMAT(i9_32, -1, 32, 33, 8, 0, 32, NONE, ZERO, 128, PLAIN, encode_integers)
FORMAT(nf4_64, -1, 64, 36, 4, 0, 32, FLOAT, NONE, 0, NF4, NULL)
FORMAT(fp4_64, -1, 64, 36, 4, 0, 32, FLOAT, NONE, 0, FP4, NULL)
FORMAT(e4m3_32, -1, 32, 36, 8, 0, 32, FLOAT, NONE, 0, E4M3, NULL)
FORMAT(e4m3_128, -1, 128, 132, 8, 0, 32, FLOAT, NONE, 0, E4M3, NULL)
