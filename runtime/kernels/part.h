// A share of rows, panels, heads or iterations: [first, last).
#ifndef BURIN_PART_H
#define BURIN_PART_H

typedef struct burin_part {
    int first, last;
} burin_part;
#endif
