// Random numbers: those of the compiled program under the same seed.
#include "ir/eval/eval_internal.h"
#include "kernels/random.h"

void eval_set_seed(EvalContext *c, uint64_t seed) { c->seed = seed; }

void eval_random(EvalContext *c, Node *n) {
    Value *out = eval_result(c, n);
    const Dim *round = attr_dim(n, "round");
    int64_t count = value_count(out), first = round ? eval_dim(c, n, round) * count : 0;
    uint64_t stream = (uint64_t)attr_int(n, "stream", 0);
    for (int64_t i = 0; i < count; i++)
        dtype_store(out->dtype, value_out(out), i,
                    burin_random_at(c->seed, stream, (uint64_t)(first + i)));
}
