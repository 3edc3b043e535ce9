// Words of the rows in format_rows.h.
#ifndef BURIN_FORMATS_H
#define BURIN_FORMATS_H
typedef enum { SCALES_ONE, SCALES_EXPONENT, SCALES_BYTES, SCALES_SIGNED, SCALES_PAIRED, SCALES_SIX } format_scales;
typedef enum { MINIMUM_NONE, MINIMUM_ONE, MINIMUM_BYTES, MINIMUM_PAIRED } format_minimum;
typedef enum { TABLE_PLAIN, TABLE_IQ4, TABLE_E2M1 } format_table;
#endif
