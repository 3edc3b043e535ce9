// Tags of templates.
#include <string.h>

#include "frontend/template/parser.h"

static uint32_t parse_body(TemplateParser *, const char *const *ends);

static Loc loc_now(const TemplateParser *p) { return token_now(p)->loc; }

static void end_tag(TemplateParser *p) {
    if (token_now(p)->kind != TOKEN_TAG_END) token_unexpected(p, "%}");
    p->at++;
}

// The body up to the tag of one of these names (the last is NULL), which is taken up to its name.
static uint32_t parse_up_to(TemplateParser *p, const char *const *ends) {
    end_tag(p);
    uint32_t body = parse_body(p, ends);
    p->at++;
    return body;
}

static uint32_t parse_to_end(TemplateParser *p, const char *end) {
    const char *const ends[] = {end, NULL};
    uint32_t body = parse_up_to(p, ends);
    p->at++;
    end_tag(p);
    return body;
}

// A body with variables of its own.
static uint32_t parse_scope(TemplateParser *p, const char *end) {
    p->scopes++;
    uint32_t body = parse_to_end(p, end);
    p->scopes--;
    return body;
}

// ---- targets ----

static uint32_t parse_target_name(TemplateParser *p, bool attributes) {
    Token name = expect_name(p);
    uint32_t number = string_number(p, name.text, name.length);
    if (!attributes || !take_operator(p, ".")) return NODE(p, BURIN_T_TARGET, name.loc, number);
    Token attribute = expect_name(p);
    return NODE(p, BURIN_T_TARGET_ATTRIBUTE, name.loc, number,
                string_number(p, attribute.text, attribute.length));
}

static uint32_t parse_target(TemplateParser *p, bool attributes);

static uint32_t parse_target_item(TemplateParser *p, bool attributes) {
    if (!take_operator(p, "(")) return parse_target_name(p, attributes);
    parse_enter(p);
    uint32_t target = parse_target(p, attributes);
    p->depth--;
    expect_operator(p, ")");
    return target;
}

static uint32_t parse_target(TemplateParser *p, bool attributes) {
    Words items = {0};
    Loc loc = loc_now(p);
    uint32_t first = parse_target_item(p, attributes);
    if (!at_operator(p, ",")) return first;
    words_add(p, &items, 1);
    words_add(p, &items, first);
    while (take_operator(p, ",") &&
           (token_now(p)->kind == TOKEN_NAME ? !at_name(p, "in") : at_operator(p, "("))) {
        words_add(p, &items, parse_target_item(p, attributes));
        items.data[0]++;
    }
    return node_add(p, BURIN_T_TARGET_TUPLE, loc, items.data, items.n);
}

// ---- tags ----

static uint32_t parse_if(TemplateParser *p, Loc loc) {
    static const char *const ends[] = {"elif", "else", "endif", NULL};
    uint32_t condition = parse_list(p, parse_or), body = parse_up_to(p, ends), otherwise = 0;
    Loc next = loc_now(p);
    parse_enter(p);
    if (take_name(p, "elif")) {
        otherwise = parse_if(p, next);
    } else if (take_name(p, "else")) {
        otherwise = parse_to_end(p, "endif");
    } else {
        p->at++;
        end_tag(p);
    }
    p->depth--;
    return NODE(p, BURIN_T_IF, loc, condition, body, otherwise);
}

static uint32_t parse_for(TemplateParser *p, Loc loc) {
    static const char *const ends[] = {"else", "endfor", NULL};
    uint32_t target = parse_target(p, false);
    if (!take_name(p, "in")) token_unexpected(p, "in");
    uint32_t items = parse_list(p, parse_or), otherwise = 0;
    uint32_t condition = take_name(p, "if") ? parse_expression(p) : 0;
    bool recursive = take_name(p, "recursive");
    p->loops++, p->scopes++;
    uint32_t body = parse_up_to(p, ends);
    p->loops--, p->scopes--;
    if (take_name(p, "else")) {
        otherwise = parse_to_end(p, "endfor");
    } else {
        p->at++;
        end_tag(p);
    }
    return NODE(p, BURIN_T_FOR, loc, target, items, condition, body, otherwise, recursive);
}

static uint32_t capture(TemplateParser *p, Loc loc, uint32_t body) {
    return NODE(p, BURIN_T_CAPTURE, loc, body);
}

// {% set x = 1 %}, {% set a, b = 1, 2 %}, {% set ns.x = 1 %}, and {% set x %}...{% endset %} with
// filters. The filters come first in the text, but the body is parsed before them.
static uint32_t parse_set(TemplateParser *p, Loc loc) {
    uint32_t target = parse_target(p, true);
    if (take_operator(p, "=")) {
        uint32_t value = parse_list(p, parse_expression);
        end_tag(p);
        return NODE(p, BURIN_T_SET, loc, target, value);
    }
    int filters = p->at;
    while (token_now(p)->kind != TOKEN_TAG_END && token_now(p)->kind != TOKEN_END) p->at++;
    uint32_t body = parse_scope(p, "endset");
    int after = p->at;
    p->at = filters;
    uint32_t value = parse_filters(p, capture(p, loc, body));
    end_tag(p);
    p->at = after;
    return NODE(p, BURIN_T_SET, loc, target, value);
}

static uint32_t parse_filter_block(TemplateParser *p, Loc loc) {
    int filters = p->at;
    while (token_now(p)->kind != TOKEN_TAG_END && token_now(p)->kind != TOKEN_END) p->at++;
    uint32_t body = parse_scope(p, "endfilter");
    int after = p->at;
    p->at = filters;
    uint32_t value = parse_filters(p, parse_first_filter(p, capture(p, loc, body)));
    end_tag(p);
    p->at = after;
    return NODE(p, BURIN_T_PRINT, loc, value);
}

// name, body, use, n, then parameters and their defaults; up to `end`.
static uint32_t parse_macro_rest(TemplateParser *p, Loc loc, const Token *name, const char *end) {
    Words operands = {0};
    uint32_t use = 0, *outer = p->macro;
    int loops = p->loops;
    for (int i = 0; i < 4; i++) words_add(p, &operands, 0);
    if (take_operator(p, "(")) {
        while (!at_operator(p, ")")) {
            if (operands.data[3]++) expect_operator(p, ",");
            Token parameter = expect_name(p);
            words_add(p, &operands, string_number(p, parameter.text, parameter.length));
            words_add(p, &operands, take_operator(p, "=") ? parse_expression(p) : 0);
        }
        expect_operator(p, ")");
    }
    if (!name) return node_add(p, BURIN_T_MACRO, loc, operands.data, operands.n);
    p->macro = &use, p->loops = 0;
    operands.data[1] = parse_scope(p, end);
    p->macro = outer, p->loops = loops;
    operands.data[0] = string_number(p, name->text, name->length);
    operands.data[2] = use;
    return node_add(p, BURIN_T_MACRO, loc, operands.data, operands.n);
}

static uint32_t parse_macro(TemplateParser *p, Loc loc) {
    Token name = expect_name(p);
    uint32_t macro = parse_macro_rest(p, loc, &name, "endmacro");
    return NODE(p, BURIN_T_SET, loc,
                NODE(p, BURIN_T_TARGET, name.loc, string_number(p, name.text, name.length)), macro);
}

// {% call(a) f(x) %}...{% endcall %}: the body is the macro `caller`, given to f. The parameters
// come before f, the body after it: its node is filled in later.
static uint32_t parse_call_block(TemplateParser *p, Loc loc) {
    uint32_t caller = parse_macro_rest(p, loc, NULL, NULL), use = 0, *outer = p->macro;
    Loc callee_loc = loc_now(p);
    uint32_t callee = parse_primary(p);
    while (take_operator(p, ".")) {
        Token name = expect_name(p);
        callee =
            NODE(p, BURIN_T_ATTRIBUTE, name.loc, callee, string_number(p, name.text, name.length));
    }
    if (!at_operator(p, "("))
        template_fatal(p, callee_loc, "a call block calls a macro: expected its arguments");
    uint32_t call = parse_call(p, callee, caller);
    int loops = p->loops;
    p->macro = &use, p->loops = 0;
    uint32_t body = parse_scope(p, "endcall");
    p->macro = outer, p->loops = loops;
    uint32_t *operands = &p->words.data[caller + 2];
    operands[0] = string_number(p, "caller", 6), operands[1] = body, operands[2] = use;
    return NODE(p, BURIN_T_PRINT, loc, call);
}

static uint32_t parse_with(TemplateParser *p, Loc loc) {
    Words operands = {0};
    words_add(p, &operands, 0);
    words_add(p, &operands, 0);
    while (token_now(p)->kind != TOKEN_TAG_END) {
        if (operands.data[1]++) expect_operator(p, ",");
        words_add(p, &operands, parse_target(p, false));
        expect_operator(p, "=");
        words_add(p, &operands, parse_expression(p));
    }
    operands.data[0] = parse_scope(p, "endwith");
    return node_add(p, BURIN_T_WITH, loc, operands.data, operands.n);
}

// What transformers marks for training: its body.
static uint32_t parse_generation(TemplateParser *p, Loc loc) {
    return NODE(p, BURIN_T_PRINT, loc, capture(p, loc, parse_scope(p, "endgeneration")));
}

// {% block name %}...{% endblock %}: where no template inherits, its body. But for a `scoped` one,
// a block sees only variables of the whole template.
static uint32_t parse_block(TemplateParser *p, Loc loc) {
    static const char *const ends[] = {"endblock", NULL};
    Token name = expect_name(p);
    uint32_t number = string_number(p, name.text, name.length);
    int loops = p->loops;
    for (uint32_t i = 0; i < p->blocks.n; i++)
        if (p->blocks.data[i] == number)
            template_fatal(p, name.loc, "there are two blocks \"%.*s\"", (int)name.length,
                           name.text);
    words_add(p, &p->blocks, number);
    if (!take_name(p, "scoped") && p->scopes)
        template_fatal(p, loc,
                       "a block inside of a loop, a macro or another block that is not \"scoped\" "
                       "is not of the subset");
    p->loops = 0, p->scopes++;
    uint32_t body = parse_up_to(p, ends);
    p->loops = loops, p->scopes--;
    p->at++;
    take_name(p, arena_strndup(p->arena, name.text, name.length));
    end_tag(p);
    return NODE(p, BURIN_T_PRINT, loc, capture(p, loc, body));
}

static uint32_t parse_loop_control(TemplateParser *p, Loc loc, uint32_t op) {
    if (!p->loops)
        template_fatal(p, loc, "%s stands outside of a loop",
                       op == BURIN_T_BREAK ? "break" : "continue");
    end_tag(p);
    return node_add(p, op, loc, NULL, 0);
}

static uint32_t parse_break(TemplateParser *p, Loc loc) {
    return parse_loop_control(p, loc, BURIN_T_BREAK);
}
static uint32_t parse_continue(TemplateParser *p, Loc loc) {
    return parse_loop_control(p, loc, BURIN_T_CONTINUE);
}

static uint32_t parse_tag(TemplateParser *p) {
    static const struct {
        const char *name;
        uint32_t (*parse)(TemplateParser *, Loc);
    } tags[] = {{"if", parse_if},
                {"for", parse_for},
                {"set", parse_set},
                {"macro", parse_macro},
                {"call", parse_call_block},
                {"filter", parse_filter_block},
                {"with", parse_with},
                {"block", parse_block},
                {"break", parse_break},
                {"continue", parse_continue},
                {"generation", parse_generation}};
    Token name = expect_name(p);
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++)
        if (token_is(&name, TOKEN_NAME, tags[i].name)) return tags[i].parse(p, name.loc);
    bool end = name.length > 3 && !memcmp(name.text, "end", 3);
    template_fatal(p, name.loc,
                   end ? "the tag \"%.*s\" ends nothing" : "the tag \"%.*s\" is not of the subset",
                   (int)name.length, name.text);
}

static uint32_t parse_print(TemplateParser *p, Loc loc) {
    uint32_t value = parse_list(p, parse_expression);
    if (token_now(p)->kind != TOKEN_PRINT_END) token_unexpected(p, "}}");
    p->at++;
    return NODE(p, BURIN_T_PRINT, loc, value);
}

static bool at_end(const TemplateParser *p, const char *const *ends) {
    const Token *t = token_now(p);
    if (t->kind == TOKEN_END) return true;
    for (; ends && *ends; ends++)
        if (t->kind == TOKEN_TAG && token_is(t + 1, TOKEN_NAME, *ends)) return true;
    return false;
}

// Up to a tag of these names, which is not taken; NULL: up to the end of the template.
static uint32_t parse_body(TemplateParser *p, const char *const *ends) {
    Words statements = {0};
    Loc loc = loc_now(p);
    parse_enter(p);
    words_add(p, &statements, 0);
    while (!at_end(p, ends)) {
        Token t = p->tokens[p->at++];
        uint32_t node = t.kind == TOKEN_TEXT
                            ? NODE(p, BURIN_T_TEXT, t.loc, string_number(p, t.text, t.length))
                        : t.kind == TOKEN_PRINT ? parse_print(p, t.loc)
                                                : parse_tag(p);
        words_add(p, &statements, node);
        statements.data[0]++;
    }
    if (ends && token_now(p)->kind == TOKEN_END) {
        const char *last = *ends;
        while (ends[1]) last = *++ends;
        template_fatal(p, loc, "what begins here has no end, a tag \"%s\"", last);
    }
    p->depth--;
    return node_add(p, BURIN_T_BLOCK, loc, statements.data, statements.n);
}

uint32_t parse_template(TemplateParser *p) { return parse_body(p, NULL); }
