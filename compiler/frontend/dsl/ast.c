// Building the syntax tree: nodes in the arena, chains, and the bound on nesting.
#include "frontend/dsl/ast.h"

#include <stdio.h>

void dsl_syntax_error(Parser *p, uint32_t begin, uint32_t end, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *message = arena_vmessage(p->arena, format, args);
    va_end(args);
    p->errors++;
    diag_error((Loc){.source = p->source, .offset = begin, .length = end - begin}, "%-s", message);
}

Ast *ast_new(Parser *p, AstKind kind, uint32_t begin, uint32_t end) {
    Ast *n = ARENA_NEW(p->arena, Ast);
    n->kind = kind;
    n->loc = (Loc){.source = p->source, .offset = begin, .length = end - begin};
    n->depth = 1;
    return n;
}

static void deepen(Parser *p, Ast *n, const Ast *child) {
    if (!child || child->depth < n->depth) return;
    n->depth = child->depth + 1;
    if (n->depth <= MAX_AST_DEPTH || p->too_deep) return;
    p->too_deep = true;
    dsl_syntax_error(p, n->loc.offset, n->loc.offset + n->loc.length,
                     "this is nested more than %d deep\nhint: name its parts: a = ..., then use a",
                     MAX_AST_DEPTH);
}

Ast *ast_children(Parser *p, Ast *n, Ast *a, Ast *b, Ast *c) {
    n->a = a;
    n->b = b;
    n->c = c;
    deepen(p, n, a);
    deepen(p, n, b);
    deepen(p, n, c);
    return n;
}

Ast *ast_with_list(Parser *p, Ast *n, AstList list) {
    n->list = list.first;
    for (Ast *i = list.first; i; i = i->next) deepen(p, n, i);
    return n;
}

AstList ast_append(AstList list, Ast *n) {
    if (!n) return list;
    if (!list.first) return (AstList){n, n};
    list.last->next = n;
    list.last = n;
    return list;
}

int ast_count(const Ast *list) {
    int n = 0;
    for (; list; list = list->next) n++;
    return n;
}
