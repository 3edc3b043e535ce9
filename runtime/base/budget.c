// Messages of budgets.
#include "budget.h"

#include "escape.h"

void burin_budget_text(const burin_budget *b, char *out, size_t room) {
    const char *name = b->name ? b->name : "", *colon = b->name ? ": " : "";
    if (burin_is_spent(b->levels, b->max_levels))
        burin_format(out, room, "%s%-snested too deeply: more than %u levels", name, colon,
                     b->max_levels);
    else if (burin_is_spent(b->bytes, b->max_bytes))
        burin_format(out, room, "%s%-sthis takes more than %llu MB", name, colon,
                     (unsigned long long)b->max_bytes >> 20);
    else
        burin_format(out, room, "%s%-sthis takes more than %llu steps", name, colon,
                     (unsigned long long)b->max_steps);
}
