// --profile: where the time went, largest first.
#include "profile.h"

#include "output.h"
#include "run.h"

static double milliseconds(const burin_account *a) { return (double)a->nanoseconds / 1e6; }

// The largest account that has not been printed, or NULL.
static burin_account *largest(burin_account *account, int n) {
    burin_account *best = NULL;
    for (int i = 0; i < n; i++)
        if (account[i].calls && (!best || account[i].nanoseconds > best->nanoseconds)) best = &account[i];
    return best;
}

void burin_profile_print(const burin_model *model, const burin_profile *profile) {
    burin_profile left = *profile;
    int n = 1 + (model->n_kernels < BURIN_MAX_KERNELS ? model->n_kernels : BURIN_MAX_KERNELS);
    double total = 0;
    for (int i = 0; i < n; i++) total += milliseconds(&left.account[i]);
    burin_note("time of thread 0 in each kernel, %.1f ms in all", total);
    for (burin_account *a; (a = largest(left.account, n)); a->calls = 0) {
        int kernel = (int)(a - left.account) + BURIN_WAITING;
        const char *name = kernel == BURIN_WAITING ? "(waiting for other threads)" : model->kernels[kernel].name;
        const char *place = kernel == BURIN_WAITING ? "" : model->kernels[kernel].location;
        burin_note("%5.1f %%  %9.2f ms  %8llu calls  %-40s %s", 100 * milliseconds(a) / total, milliseconds(a),
                   (unsigned long long)a->calls, name, place ? place : "");
    }
}
