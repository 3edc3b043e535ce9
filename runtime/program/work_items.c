#include "program/work_items.h"

#include <string.h>

#include "engine/ranks.h"
#include "program/lines.h"
#include "program/output.h"
#include "program/progress.h"

static int64_t run_lines(const burin_work *w) {
    burin_lines lines;
    burin_work_item item = {0};
    burin_lines_open(&lines, w->lines);
    for (; burin_next_line(&lines); item.index++) {
        item.line = lines.line;
        item.bytes = lines.bytes;
        w->compute(w->context, &item);
        burin_progress("lines", item.index + 1, 0, "");
        if (w->rest && !burin_line_is_here(&lines)) w->rest(w->context);
    }
    if (w->rest) w->rest(w->context);
    burin_lines_close(&lines);
    burin_progress_end();
    return item.index;
}

int64_t burin_items_run(const burin_work *w) {
    if (burin_ranks_share_items()) return burin_ranks_run_items(w);
    if (w->lines) return run_lines(w);
    for (int64_t i = 0; i < w->count; i++) w->compute(w->context, &(burin_work_item){.index = i});
    return w->count;
}

void burin_check_lines(const burin_work *w, int64_t n) {
    if (!n && !strcmp(w->lines, "-"))
        burin_stop(BURIN_USER_MISTAKE,
                   "nothing is given: standard input is empty\nhint: %s \"a text\", or a line for "
                   "each text",
                   burin_program_name);
}

void burin_item_give(const burin_work *w, const burin_work_item *item, const void *given,
                     size_t bytes) {
    if (burin_ranks_share_items())
        burin_ranks_give(given, bytes);
    else
        w->take(w->context, item, given, bytes);
}
