#include "passes/attempt.h"

#include "passes/pass.h"

bool attempt_broke(Attempt *a, const Node *n, const char *why) {
    a->broke = n;
    a->why = why;
    return true;
}

bool attempt_fails(Attempt *a, const Node *n, const char *why) { return !attempt_broke(a, n, why); }

bool recognise_all(Graph *g, PassContext *c, bool (*recogniser)(Node *, Attempt *)) {
    bool changed = false;
    EACH_NODE(n, g) {
        Attempt a = {0};
        if (!node_uses(n) || !recogniser(n, &a)) continue;
        fusion_site(c, a.pattern, n->loc, a.broke, a.why);
        fusion_path(c, n, a.broke);
        if (a.broke) continue;
        node_become(a.root, a.by);
        changed = true;
    }
    return changed;
}
