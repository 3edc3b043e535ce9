// A share of rows, panels, heads or iterations: [first, last).
#ifndef BURIN_RANGE_H
#define BURIN_RANGE_H

typedef struct burin_range {
    int first, last;
} burin_range;
#endif
