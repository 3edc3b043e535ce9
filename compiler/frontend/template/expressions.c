// Expressions of templates, by Jinja's precedence, straight into nodes: operands are written before
// what uses them.
#include <string.h>

#include "frontend/template/parser.h"

enum { MOST_DEPTH = 300 };

// ---- tokens ----

bool token_is(const Token *t, TokenKind kind, const char *text) {
    return t->kind == kind && t->length == strlen(text) && !memcmp(t->text, text, t->length);
}

bool at_operator(const TemplateParser *p, const char *text) {
    return token_is(token_now(p), TOKEN_OPERATOR, text);
}
bool at_name(const TemplateParser *p, const char *text) {
    return token_is(token_now(p), TOKEN_NAME, text);
}

bool take_operator(TemplateParser *p, const char *text) {
    bool there = at_operator(p, text);
    p->at += there;
    return there;
}

bool take_name(TemplateParser *p, const char *text) {
    bool there = at_name(p, text);
    p->at += there;
    return there;
}

void token_unexpected(TemplateParser *p, const char *expected) {
    const Token *t = token_now(p);
    template_fatal(p, t->loc, "expected %s, found %.*s", expected, (int)t->loc.length,
                   p->source->text + t->loc.offset);
}

void expect_operator(TemplateParser *p, const char *text) {
    if (!take_operator(p, text)) token_unexpected(p, text);
}

Token expect_name(TemplateParser *p) {
    if (token_now(p)->kind != TOKEN_NAME) token_unexpected(p, "a name");
    return p->tokens[p->at++];
}

void parse_enter(TemplateParser *p) {
    if (++p->depth > MOST_DEPTH)
        template_fatal(p, token_now(p)->loc, "the template is nested too deeply");
}

// ---- operands that are collected before their node is written ----

static uint32_t node_of(TemplateParser *p, uint32_t op, Loc loc, Words *operands) {
    uint32_t node = node_add(p, op, loc, operands->data, operands->n);
    return node;
}

static uint32_t name_number(TemplateParser *p, const Token *t) {
    return string_number(p, t->text, t->length);
}

// ---- primaries ----

static uint32_t parse_variable(TemplateParser *p) {
    Token t = p->tokens[p->at++];
    static const struct {
        const char *name;
        uint32_t op;
    } constants[] = {{"true", BURIN_T_TRUE},   {"True", BURIN_T_TRUE}, {"false", BURIN_T_FALSE},
                     {"False", BURIN_T_FALSE}, {"none", BURIN_T_NONE}, {"None", BURIN_T_NONE}};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (token_is(&t, TOKEN_NAME, constants[i].name))
            return node_add(p, constants[i].op, t.loc, NULL, 0);
    if (p->macro) {
        if (token_is(&t, TOKEN_NAME, "varargs")) *p->macro |= BURIN_T_VARARGS;
        if (token_is(&t, TOKEN_NAME, "kwargs")) *p->macro |= BURIN_T_KWARGS;
        if (token_is(&t, TOKEN_NAME, "caller")) *p->macro |= BURIN_T_CALLER;
    }
    return NODE(p, BURIN_T_NAME, t.loc, name_number(p, &t));
}

// Strings side by side are one.
static uint32_t parse_string(TemplateParser *p) {
    Text *joined = &p->scratch;
    Loc loc = token_now(p)->loc;
    joined->length = 0;
    while (token_now(p)->kind == TOKEN_STRING) {
        text_append(joined, token_now(p)->text, token_now(p)->length);
        p->at++;
    }
    uint32_t number = string_number(p, joined->data, joined->length);
    return NODE(p, BURIN_T_STRING, loc, number);
}

static uint32_t parse_number(TemplateParser *p) {
    Token t = p->tokens[p->at++];
    uint64_t bits = (uint64_t)t.integer;
    if (t.kind == TOKEN_FLOAT) memcpy(&bits, &t.real, sizeof bits);
    return NODE(p, t.kind == TOKEN_FLOAT ? BURIN_T_FLOAT : BURIN_T_INTEGER, t.loc, (uint32_t)bits,
                (uint32_t)(bits >> 32));
}

static uint32_t parse_brackets(TemplateParser *p, Loc loc) {
    Words items = {0};
    words_add(p, &items, 0);
    while (!at_operator(p, "]")) {
        if (items.data[0]) expect_operator(p, ",");
        if (at_operator(p, "]")) break;
        words_add(p, &items, parse_expression(p));
        items.data[0]++;
    }
    expect_operator(p, "]");
    return node_of(p, BURIN_T_LIST, loc, &items);
}

static uint32_t parse_braces(TemplateParser *p, Loc loc) {
    Words items = {0};
    words_add(p, &items, 0);
    while (!at_operator(p, "}")) {
        if (items.data[0]) expect_operator(p, ",");
        if (at_operator(p, "}")) break;
        words_add(p, &items, parse_expression(p));
        expect_operator(p, ":");
        words_add(p, &items, parse_expression(p));
        items.data[0]++;
    }
    expect_operator(p, "}");
    return node_of(p, BURIN_T_DICT, loc, &items);
}

static uint32_t parse_parentheses(TemplateParser *p, Loc loc) {
    if (take_operator(p, ")")) return NODE(p, BURIN_T_TUPLE, loc, 0);
    uint32_t node = parse_list(p, parse_expression);
    expect_operator(p, ")");
    return node;
}

uint32_t parse_primary(TemplateParser *p) {
    const Token *t = token_now(p);
    Loc loc = t->loc;
    if (t->kind == TOKEN_NAME) return parse_variable(p);
    if (t->kind == TOKEN_STRING) return parse_string(p);
    if (t->kind == TOKEN_INTEGER || t->kind == TOKEN_FLOAT) return parse_number(p);
    if (take_operator(p, "(")) return parse_parentheses(p, loc);
    if (take_operator(p, "[")) return parse_brackets(p, loc);
    if (take_operator(p, "{")) return parse_braces(p, loc);
    token_unexpected(p, "an expression");
}

// ---- suffixes of a primary ----

static void parse_argument(TemplateParser *p, Words *values, Words *named) {
    const Token *t = token_now(p);
    if (take_operator(p, "*")) {
        words_add(p, values, NODE(p, BURIN_T_UNPACK, t->loc, parse_expression(p)));
        return;
    }
    if (take_operator(p, "**")) {
        words_add(p, named, (uint32_t)BURIN_T_UNPACKED);
        words_add(p, named, parse_expression(p));
        return;
    }
    if (t->kind == TOKEN_NAME && token_is(t + 1, TOKEN_OPERATOR, "=")) {
        p->at += 2;
        words_add(p, named, name_number(p, t));
        words_add(p, named, parse_expression(p));
        return;
    }
    if (named->n)
        template_fatal(p, t->loc, "an argument without a name stands behind one with a name");
    words_add(p, values, parse_expression(p));
}

// Adds to operands: their number, the number of named ones, positional ones, named ones. `caller`:
// one more, or 0.
static void parse_arguments(TemplateParser *p, Words *operands, uint32_t caller) {
    Words values = {0}, named = {0};
    expect_operator(p, "(");
    for (bool first = true; !at_operator(p, ")"); first = false) {
        if (!first) expect_operator(p, ",");
        if (at_operator(p, ")")) break;
        parse_argument(p, &values, &named);
    }
    expect_operator(p, ")");
    if (caller) {
        words_add(p, &named, string_number(p, "caller", 6));
        words_add(p, &named, caller);
    }
    words_add(p, operands, values.n);
    words_add(p, operands, named.n / 2);
    for (uint32_t i = 0; i < values.n; i++) words_add(p, operands, values.data[i]);
    for (uint32_t i = 0; i < named.n; i++) words_add(p, operands, named.data[i]);
}

uint32_t parse_call(TemplateParser *p, uint32_t callee, uint32_t caller) {
    Words operands = {0};
    Loc loc = token_now(p)->loc;
    words_add(p, &operands, callee);
    parse_arguments(p, &operands, caller);
    return node_of(p, BURIN_T_CALL, loc, &operands);
}

static uint32_t parse_slice(TemplateParser *p, uint32_t of, uint32_t first, Loc loc) {
    uint32_t bounds[3] = {first, 0, 0};
    for (int i = 1; i < 3 && take_operator(p, ":"); i++)
        if (!at_operator(p, ":") && !at_operator(p, "]")) bounds[i] = parse_expression(p);
    expect_operator(p, "]");
    return NODE(p, BURIN_T_SLICE, loc, of, bounds[0], bounds[1], bounds[2]);
}

static uint32_t parse_item(TemplateParser *p, uint32_t of, Loc loc) {
    uint32_t index = at_operator(p, ":") ? 0 : parse_expression(p);
    if (at_operator(p, ":")) return parse_slice(p, of, index, loc);
    expect_operator(p, "]");
    return NODE(p, BURIN_T_ITEM, loc, of, index);
}

static uint32_t parse_attribute(TemplateParser *p, uint32_t of) {
    Token t = *token_now(p);
    if (t.kind == TOKEN_INTEGER) return NODE(p, BURIN_T_ITEM, t.loc, of, parse_number(p));
    t = expect_name(p);
    return NODE(p, BURIN_T_ATTRIBUTE, t.loc, of, name_number(p, &t));
}

static uint32_t parse_postfix(TemplateParser *p, uint32_t node) {
    for (;;) {
        Loc loc = token_now(p)->loc;
        if (take_operator(p, "."))
            node = parse_attribute(p, node);
        else if (take_operator(p, "["))
            node = parse_item(p, node, loc);
        else if (at_operator(p, "("))
            node = parse_call(p, node, 0);
        else
            return node;
    }
}

// "a.b" before a filter's or test's arguments.
static Token parse_dotted(TemplateParser *p) {
    Token t = expect_name(p);
    while (take_operator(p, ".")) {
        Token part = expect_name(p);
        t.text =
            arena_printf(p->arena, "%.*s.%.*s", (int)t.length, t.text, (int)part.length, part.text);
        t.length += part.length + 1;
    }
    return t;
}

uint32_t parse_first_filter(TemplateParser *p, uint32_t value) {
    Words operands = {0};
    Token name = parse_dotted(p);
    template_check_builtin(p, &name, true);
    words_add(p, &operands, name_number(p, &name));
    words_add(p, &operands, value);
    if (at_operator(p, "(")) {
        parse_arguments(p, &operands, 0);
    } else {
        words_add(p, &operands, 0);
        words_add(p, &operands, 0);
    }
    return node_of(p, BURIN_T_FILTER, name.loc, &operands);
}

uint32_t parse_filters(TemplateParser *p, uint32_t value) {
    while (take_operator(p, "|")) value = parse_first_filter(p, value);
    return value;
}

// `is divisibleby 3` takes a primary without parentheses.
static bool begins_operand(const TemplateParser *p) {
    const Token *t = token_now(p);
    if (t->kind == TOKEN_NAME)
        return !at_name(p, "else") && !at_name(p, "or") && !at_name(p, "and") &&
               !at_name(p, "is") && !at_name(p, "if") && !at_name(p, "in") && !at_name(p, "not");
    return t->kind == TOKEN_STRING || t->kind == TOKEN_INTEGER || t->kind == TOKEN_FLOAT ||
           at_operator(p, "[") || at_operator(p, "{");
}

static uint32_t parse_test(TemplateParser *p, uint32_t value) {
    Words operands = {0};
    bool negated = take_name(p, "not");
    Token name = parse_dotted(p);
    template_check_builtin(p, &name, false);
    words_add(p, &operands, name_number(p, &name));
    words_add(p, &operands, value);
    if (at_operator(p, "(")) {
        parse_arguments(p, &operands, 0);
    } else {
        bool operand = begins_operand(p);
        words_add(p, &operands, operand);
        words_add(p, &operands, 0);
        if (operand) words_add(p, &operands, parse_postfix(p, parse_primary(p)));
    }
    uint32_t node = node_of(p, BURIN_T_TEST, name.loc, &operands);
    return negated ? NODE(p, BURIN_T_NOT, name.loc, node) : node;
}

static uint32_t parse_filters_and_tests(TemplateParser *p, uint32_t node) {
    for (;;) {
        if (take_operator(p, "|"))
            node = parse_first_filter(p, node);
        else if (take_name(p, "is"))
            node = parse_test(p, node);
        else if (at_operator(p, "("))
            node = parse_call(p, node, 0);
        else
            return node;
    }
}

// ---- operators, the strongest first ----

static uint32_t parse_unary(TemplateParser *p, bool with_filters) {
    Loc loc = token_now(p)->loc;
    uint32_t node;
    parse_enter(p);
    if (take_operator(p, "-"))
        node = NODE(p, BURIN_T_NEGATIVE, loc, parse_unary(p, false));
    else if (take_operator(p, "+"))
        node = NODE(p, BURIN_T_POSITIVE, loc, parse_unary(p, false));
    else
        node = parse_primary(p);
    node = parse_postfix(p, node);
    p->depth--;
    return with_filters ? parse_filters_and_tests(p, node) : node;
}

typedef struct {
    const char *text;
    uint32_t op;
} BinaryOperator;

static uint32_t parse_binary(TemplateParser *p, uint32_t (*operand)(TemplateParser *),
                             const BinaryOperator *operators) {
    uint32_t left = operand(p);
    for (const BinaryOperator *o = operators; o->text;) {
        Loc loc = token_now(p)->loc;
        if (!take_operator(p, o->text)) {
            o++;
            continue;
        }
        left = NODE(p, o->op, loc, left, operand(p));
        o = operators;
    }
    return left;
}

static uint32_t parse_operand(TemplateParser *p) { return parse_unary(p, true); }

static uint32_t parse_power(TemplateParser *p) {
    return parse_binary(p, parse_operand, (const BinaryOperator[]){{"**", BURIN_T_POWER}, {0}});
}

static uint32_t parse_product(TemplateParser *p) {
    static const BinaryOperator operators[] = {{"*", BURIN_T_MULTIPLY},
                                               {"/", BURIN_T_DIVIDE},
                                               {"//", BURIN_T_FLOOR_DIVIDE},
                                               {"%", BURIN_T_MODULO},
                                               {0}};
    return parse_binary(p, parse_power, operators);
}

static uint32_t parse_concatenation(TemplateParser *p) {
    Words operands = {0};
    Loc loc = token_now(p)->loc;
    uint32_t first = parse_product(p);
    if (!at_operator(p, "~")) return first;
    words_add(p, &operands, 1);
    words_add(p, &operands, first);
    while (take_operator(p, "~")) {
        words_add(p, &operands, parse_product(p));
        operands.data[0]++;
    }
    return node_of(p, BURIN_T_CONCATENATE, loc, &operands);
}

static uint32_t parse_sum(TemplateParser *p) {
    static const BinaryOperator operators[] = {{"+", BURIN_T_ADD}, {"-", BURIN_T_SUBTRACT}, {0}};
    return parse_binary(p, parse_concatenation, operators);
}

static bool take_comparison(TemplateParser *p, uint32_t *how) {
    static const char *const texts[] = {"==", "!=", "<", "<=", ">", ">="};
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (take_operator(p, texts[i])) return *how = i, true;
    if (take_name(p, "in")) return *how = BURIN_T_IN, true;
    if (!at_name(p, "not") || !token_is(token_now(p) + 1, TOKEN_NAME, "in")) return false;
    p->at += 2;
    return *how = BURIN_T_NOT_IN, true;
}

static uint32_t parse_comparison(TemplateParser *p) {
    Words operands = {0};
    Loc loc = token_now(p)->loc;
    uint32_t how, first = parse_sum(p);
    if (!take_comparison(p, &how)) return first;
    words_add(p, &operands, first);
    words_add(p, &operands, 0);
    do {
        words_add(p, &operands, how);
        words_add(p, &operands, parse_sum(p));
        operands.data[1]++;
    } while (take_comparison(p, &how));
    return node_of(p, BURIN_T_COMPARE, loc, &operands);
}

static uint32_t parse_not(TemplateParser *p) {
    Loc loc = token_now(p)->loc;
    if (!take_name(p, "not")) return parse_comparison(p);
    parse_enter(p);
    uint32_t node = NODE(p, BURIN_T_NOT, loc, parse_not(p));
    p->depth--;
    return node;
}

static uint32_t parse_and(TemplateParser *p) {
    uint32_t left = parse_not(p);
    for (Loc loc = token_now(p)->loc; take_name(p, "and"); loc = token_now(p)->loc)
        left = NODE(p, BURIN_T_AND, loc, left, parse_not(p));
    return left;
}

uint32_t parse_or(TemplateParser *p) {
    parse_enter(p);
    uint32_t left = parse_and(p);
    for (Loc loc = token_now(p)->loc; take_name(p, "or"); loc = token_now(p)->loc)
        left = NODE(p, BURIN_T_OR, loc, left, parse_and(p));
    p->depth--;
    return left;
}

uint32_t parse_expression(TemplateParser *p) {
    uint32_t value = parse_or(p);
    for (Loc loc = token_now(p)->loc; take_name(p, "if"); loc = token_now(p)->loc) {
        uint32_t condition = parse_or(p), otherwise = 0;
        parse_enter(p);
        if (take_name(p, "else")) otherwise = parse_expression(p);
        p->depth--;
        value = NODE(p, BURIN_T_CHOOSE, loc, condition, value, otherwise);
    }
    return value;
}

static bool ends_list(const TemplateParser *p) {
    const Token *t = token_now(p);
    return t->kind == TOKEN_TAG_END || t->kind == TOKEN_PRINT_END || at_operator(p, ")") ||
           at_name(p, "recursive") || at_name(p, "if");
}

uint32_t parse_list(TemplateParser *p, uint32_t (*item)(TemplateParser *)) {
    Words items = {0};
    Loc loc = token_now(p)->loc;
    uint32_t first = item(p);
    if (!at_operator(p, ",")) return first;
    words_add(p, &items, 1);
    words_add(p, &items, first);
    while (take_operator(p, ",") && !ends_list(p)) {
        words_add(p, &items, item(p));
        items.data[0]++;
    }
    return node_of(p, BURIN_T_TUPLE, loc, &items);
}
