// Words of the rows in format_rows.h.
#ifndef BURIN_FORMATS_H
#define BURIN_FORMATS_H
typedef enum {
    SCALES_NONE,
    SCALES_ONE,
    SCALES_FLOAT,
    SCALES_127TH,
    SCALES_EXPONENT,
    SCALES_BYTES,
    SCALES_SIGNED,
    SCALES_PAIRED,
    SCALES_SIX,
    SCALES_E4M3,
    SCALES_E4M3_OVER
} format_scales;
typedef enum {
    MINIMUM_NONE,
    MINIMUM_ZERO,
    MINIMUM_ONE,
    MINIMUM_BYTES,
    MINIMUM_PAIRED,
    MINIMUM_LINE,
    MINIMUM_FRACTION
} format_minimum;
typedef enum {
    TABLE_PLAIN,
    TABLE_SIGN,
    TABLE_IQ4,
    TABLE_E2M1,
    TABLE_NF4,
    TABLE_FP4,
    TABLE_E4M3
} format_table;

// Values of TABLE_NF4's codes
static const float nf4_table[16] = {-1.0f,
                                    -0.6961928009986877f,
                                    -0.5250730514526367f,
                                    -0.39491748809814453f,
                                    -0.28444138169288635f,
                                    -0.18477343022823334f,
                                    -0.09105003625154495f,
                                    0.0f,
                                    0.07958029955625534f,
                                    0.16093020141124725f,
                                    0.24611230194568634f,
                                    0.33791524171829224f,
                                    0.44070982933044434f,
                                    0.5626170039176941f,
                                    0.7229568362236023f,
                                    1.0f};

// Values of TABLE_FP4's codes
static const float fp4_table[16] = {
    0.0f,  0.00520833333f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
    -0.0f, -0.00520833333f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f};

// 1 / 127, as bitsandbytes has it
static const float one_127th = 7.874015718698502e-3f;
#endif
