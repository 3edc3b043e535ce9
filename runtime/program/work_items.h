// Items of work, independent of each other: the lines of a file, or the elements of a batch. With
// --over=mpi ranks take items in turn, and results are used in the items' order.
#ifndef BURIN_WORK_ITEMS_H
#define BURIN_WORK_ITEMS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct burin_work_item {
    int64_t index;
    const char *line;  // with a 0 after it; NULL for a batch
    size_t bytes;      // of the line
} burin_work_item;

typedef struct burin_work {
    void *context;
    const char
        *lines;  // a file, "-" is standard input: each line is an item; NULL: a batch of `count`
    int64_t count;
    uint64_t (*sum)(void *context,
                    int64_t index);  // over an element of a batch: which values it has
    // The item's result: its output, and the bytes given to burin_item_give.
    void (*compute)(void *context, const burin_work_item *);
    void (*rest)(
        // flush of buffered output at the end, and before the next line arrives; or NULL
        void *context);
    void (*take)(void *context, const burin_work_item *, const void *given,
                 size_t bytes);  // NULL: compute prints alone
} burin_work;

int64_t burin_items_run(const burin_work *);  // how many there were
// Ends the program if n is 0 and the lines came from standard input: it was empty.
void burin_check_lines(const burin_work *, int64_t n);
void burin_item_give(const burin_work *, const burin_work_item *, const void *,
                     size_t bytes);  // from `compute`, at most once
#endif
