/* The grammar of a description. GRAMMAR.md teaches it; scan.l finds the ends of lines.
 *
 * Errors: the parser resumes after the next line end, so one run reports the errors of several lines. */
%code requires {
#include "frontend/dsl/ast.h"

typedef struct Span {
    uint32_t begin, end;  // bytes
} Span;
}
%code {
#include "frontend/dsl/foreign_syntax.h"
#include "scan.h"
#include "util/text.h"

#define YYLLOC_DEFAULT(result, rhs, n)                                                              \
    (result) = (n) ? (Span){YYRHSLOC(rhs, 1).begin, YYRHSLOC(rhs, n).end} : (Span){YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end}
#define YYMAXDEPTH 4000

static void dsl_error(Span *, void *scanner, Parser *, const char *message);

#define NEW(kind, span) ast_new(p, kind, (span).begin, (span).end)
#define UNARY(kind, span, x) ast_children(p, NEW(kind, span), x, NULL, NULL)
#define BINARY(kind, span, x, y) ast_children(p, NEW(kind, span), x, y, NULL)
#define LIST(kind, span, l) ast_with_list(p, NEW(kind, span), l)
#define ONE(n) ast_append((AstList){0}, n)

static Ast *named(Ast *n, const char *name) {
    n->name = name;
    return n;
}

static AstList ast_join(AstList a, AstList b) {
    if (!a.first) return b;
    if (b.first) a.last->next = b.first, a.last = b.last;
    return a;
}

// `for i in f(x) at "scope"`: the scope was taken by the call, and belongs to the loop.
static Ast *take_scope(Ast *bound) {
    Ast *scope = bound->kind == AST_CALL ? bound->b : NULL;
    if (scope) bound->b = NULL;
    return scope;
}
}
%define api.prefix {dsl_}
%define api.pure full
%define api.location.type {Span}
%define parse.error custom
%locations
%expect 0
%lex-param {void *scanner}
%parse-param {void *scanner} {Parser *p}

%union {
    const char *text;
    int64_t integer;
    double number;
    Ast *ast;
    AstList list;
}

%token NEWLINE "end of line"
%token MODEL "model" IMPORT "import" CONFIG "config" ALIAS "alias" BLOCK "block" GRAPH "graph" FOR "for" IN "in" AT "at"
%token IF "if" ELSE "else" RETURN "return" FAIL "fail" IGNORE "ignore" AND "and" OR "or" NOT "not" TRUE_ "true" FALSE_ "false" NULL_ "null"
%token EQ "==" NE "!=" LE "<=" GE ">=" FLOORDIV "//" COALESCE "??" ARROW "->" REST ".." TRANSPOSE "^T"
%token QUOTE "string" QUOTE_END "end of the string" INTERPOLATION "{ in a string" INTERPOLATION_END "}"
%token <text> NAME "name" TEXT_PIECE "text"
%token <integer> INT "integer"
%token <number> FLOAT "number"

%precedence CALL_ALONE
%precedence AT
%right '?' ':'
%right COALESCE
%left OR
%left AND
%precedence NOT
%nonassoc EQ NE '<' '>' LE GE IN
%left '+' '-'
%left '*' '/' '%' '@' FLOORDIV
%precedence SIGN
%right '^'
%precedence TRANSPOSE

%type <text> dotted
%type <ast> declaration block graph config alias import parameter result type dimension statement conditional target scope
%type <ast> expr primary string argument index range bound field
%type <list> imports configs aliases strings model_for parameters results dimensions body statements targets exprs pieces
%type <list> arguments indexes fields

%%
file: %empty | file declaration NEWLINE { p->declarations = ast_append(p->declarations, $2); }
    | file imports NEWLINE { p->declarations = ast_join(p->declarations, $2); }
    | file configs NEWLINE { p->declarations = ast_join(p->declarations, $2); }
    | file aliases NEWLINE { p->declarations = ast_join(p->declarations, $2); }
    | file error NEWLINE ;

declaration:
      MODEL NAME model_for { $$ = named(LIST(AST_MODEL, @2, $3), $2); }
    | block | graph
    | NAME '=' expr { $$ = named(UNARY(AST_DEFINITION, @1, $3), $1); }
    ;
model_for: %empty { $$ = (AstList){0}; } | FOR strings { $$ = $2; } ;
strings: string { $$ = ONE($1); } | strings ',' string { $$ = ast_append($1, $3); } ;

imports: IMPORT import { $$ = ONE($2); } | imports ',' import { $$ = ast_append($1, $3); } ;
import: NAME { $$ = named(NEW(AST_IMPORT, @1), $1); }
    | string { $$ = UNARY(AST_IMPORT, @1, $1); }
    ;

configs: CONFIG config { $$ = ONE($2); } | configs ',' config { $$ = ast_append($1, $3); } ;
config: dotted { $$ = named(NEW(AST_CONFIG, @1), $1); }
    | dotted '=' expr { $$ = named(UNARY(AST_CONFIG, @1, $3), $1); }
    ;
aliases: ALIAS alias { $$ = ONE($2); } | aliases ',' alias { $$ = ast_append($1, $3); } ;
alias: NAME '=' NAME { $$ = named(UNARY(AST_ALIAS, @$, named(NEW(AST_NAME, @3), $3)), $1); } ;
dotted: NAME | dotted '.' NAME { $$ = arena_printf(p->arena, "%s.%s", $1, $3); } ;

block: BLOCK NAME '(' parameters ')' body {
        $$ = named(LIST(AST_BLOCK, @2, $4), $2);
        $$->body = $6.first;
    }
    | BLOCK NAME '(' parameters ')' ARROW results body {
        $$ = named(LIST(AST_BLOCK, @2, $4), $2);
        $$->results = $7.first, $$->body = $8.first;
    }
    ;
graph: GRAPH NAME '(' parameters ')' ARROW results body {
        $$ = named(LIST(AST_GRAPH, @2, $4), $2);
        $$->results = $7.first, $$->body = $8.first;
    }
    ;

parameters: %empty { $$ = (AstList){0}; }
    | parameter { $$ = ONE($1); }
    | parameters ',' parameter { $$ = ast_append($1, $3); }
    ;
parameter: NAME { $$ = named(NEW(AST_PARAMETER, @$), $1); }
    | NAME ':' type { $$ = named(UNARY(AST_PARAMETER, @$, $3), $1); }
    | NAME '=' expr { $$ = named(BINARY(AST_PARAMETER, @$, NULL, $3), $1); }
    | NAME ':' type '=' expr { $$ = named(BINARY(AST_PARAMETER, @$, $3, $5), $1); }
    ;
results: result { $$ = ONE($1); } | results ',' result { $$ = ast_append($1, $3); } ;
result: type { $$ = UNARY(AST_RESULT, @$, $1); }
    | NAME ':' type { $$ = named(UNARY(AST_RESULT, @$, $3), $1); }
    ;

type: NAME { $$ = named(NEW(AST_TYPE, @$), $1); }
    | '[' dimensions ']' { $$ = LIST(AST_TYPE, @$, $2); $$->number = 1; }
    | NAME '[' dimensions ']' { $$ = named(LIST(AST_TYPE, @$, $3), $1); $$->number = 1; }
    ;
dimensions: %empty { $$ = (AstList){0}; }
    | dimension { $$ = ONE($1); }
    | dimensions ',' dimension { $$ = ast_append($1, $3); }
    ;
dimension: expr | REST { $$ = NEW(AST_REST, @1); } ;

body: '{' statements '}' { $$ = $2; }
    | '{' statements statement '}' { $$ = ast_append($2, $3); }
    ;
statements: %empty { $$ = (AstList){0}; }
    | statements statement NEWLINE { $$ = ast_append($1, $2); }
    | statements error NEWLINE { $$ = $1; }
    ;
statement:
      targets '=' expr { $$ = ast_children(p, LIST(AST_ASSIGN, @$, $1), $3, NULL, NULL); }
    | FOR NAME IN expr body { $$ = named(UNARY(AST_FOR, @2, $4), $2); $$->b = take_scope($4); $$->body = $5.first; }
    | FOR NAME IN expr AT scope body { $$ = named(BINARY(AST_FOR, @2, $4, $6), $2); $$->body = $7.first; }
    | conditional
    | AT scope body { $$ = BINARY(AST_AT, @2, NULL, $2); $$->body = $3.first; }
    | RETURN exprs { $$ = LIST(AST_RETURN, @$, $2); }
    | FAIL expr { $$ = UNARY(AST_FAIL, @$, $2); }
    | IGNORE exprs { $$ = LIST(AST_IGNORE, @$, $2); }
    ;
conditional:
      IF expr body { $$ = UNARY(AST_IF, @2, $2); $$->body = $3.first; }
    | IF expr body ELSE body { $$ = UNARY(AST_IF, @2, $2); $$->body = $3.first, $$->other = $5.first; }
    | IF expr body ELSE conditional { $$ = UNARY(AST_IF, @2, $2); $$->body = $3.first, $$->other = $5; }
    ;
targets: target { $$ = ONE($1); } | targets ',' target { $$ = ast_append($1, $3); } ;
target: NAME { $$ = named(NEW(AST_PARAMETER, @1), $1); }
    | NAME ':' type { $$ = named(UNARY(AST_PARAMETER, @1, $3), $1); }
    ;
scope: string | NAME { $$ = named(NEW(AST_NAME, @1), $1); } | '(' expr ')' { $$ = $2; } ;

exprs: expr { $$ = ONE($1); } | exprs ',' expr { $$ = ast_append($1, $3); } ;
expr: primary
    | expr '+' expr { $$ = BINARY(AST_ADD, @$, $1, $3); }
    | expr '-' expr { $$ = BINARY(AST_SUB, @$, $1, $3); }
    | expr '*' expr { $$ = BINARY(AST_MUL, @$, $1, $3); }
    | expr '/' expr { $$ = BINARY(AST_DIV, @$, $1, $3); }
    | expr '%' expr { $$ = BINARY(AST_MOD, @$, $1, $3); }
    | expr '@' expr { $$ = BINARY(AST_MATMUL, @$, $1, $3); }
    | expr FLOORDIV expr { $$ = BINARY(AST_FLOORDIV, @$, $1, $3); }
    | expr '^' expr { $$ = BINARY(AST_POWER, @$, $1, $3); }
    | expr TRANSPOSE { $$ = UNARY(AST_TRANSPOSE, @$, $1); }
    | '-' expr %prec SIGN { $$ = UNARY(AST_NEG, @$, $2); }
    | NOT expr { $$ = UNARY(AST_NOT, @$, $2); }
    | expr EQ expr { $$ = BINARY(AST_EQ, @$, $1, $3); }
    | expr NE expr { $$ = BINARY(AST_NE, @$, $1, $3); }
    | expr '<' expr { $$ = BINARY(AST_LT, @$, $1, $3); }
    | expr LE expr { $$ = BINARY(AST_LE, @$, $1, $3); }
    | expr '>' expr { $$ = BINARY(AST_GT, @$, $1, $3); }
    | expr GE expr { $$ = BINARY(AST_GE, @$, $1, $3); }
    | expr IN expr { $$ = BINARY(AST_IN, @$, $1, $3); }
    | expr AND expr { $$ = BINARY(AST_AND, @$, $1, $3); }
    | expr OR expr { $$ = BINARY(AST_OR, @$, $1, $3); }
    | expr COALESCE expr { $$ = BINARY(AST_COALESCE, @$, $1, $3); }
    | expr '?' expr ':' expr { $$ = ast_children(p, NEW(AST_CHOOSE, @$), $1, $3, $5); }
    ;
primary: NAME { $$ = named(NEW(AST_NAME, @1), $1); }
    | INT { $$ = NEW(AST_INT, @1); $$->integer = $1; }
    | FLOAT { $$ = NEW(AST_FLOAT, @1); $$->number = $1; }
    | string
    | TRUE_ { $$ = NEW(AST_TRUE, @1); }
    | FALSE_ { $$ = NEW(AST_FALSE, @1); }
    | NULL_ { $$ = NEW(AST_NULL, @1); }
    | '(' expr ')' { $$ = $2; }
    | '[' ']' { $$ = NEW(AST_LIST, @$); }
    | '[' exprs ']' { $$ = LIST(AST_LIST, @$, $2); }
    | '{' fields '}' { $$ = LIST(AST_RECORD, @$, $2); }
    | '[' expr FOR NAME IN expr ']' { $$ = named(BINARY(AST_EACH, @$, $2, $6), $4); }
    | NAME '(' arguments ')' %prec CALL_ALONE { $$ = named(LIST(AST_CALL, @$, $3), $1); }
    | NAME '(' arguments ')' AT scope { $$ = ast_children(p, named(LIST(AST_CALL, @$, $3), $1), NULL, $6, NULL); }
    | primary '.' NAME { $$ = named(UNARY(AST_FIELD, @$, $1), $3); }
    | primary '[' indexes ']' { $$ = ast_children(p, LIST(AST_INDEX, @$, $3), $1, NULL, NULL); }
    ;

arguments: %empty { $$ = (AstList){0}; } | argument { $$ = ONE($1); } | arguments ',' argument { $$ = ast_append($1, $3); } ;
argument: expr { $$ = UNARY(AST_ARGUMENT, @1, $1); }
    | NAME '=' expr { $$ = named(UNARY(AST_ARGUMENT, @$, $3), $1); }
    ;
fields: field { $$ = ONE($1); } | fields ',' field { $$ = ast_append($1, $3); } ;
field: NAME '=' expr { $$ = named(UNARY(AST_ARGUMENT, @$, $3), $1); } ;
indexes: index { $$ = ONE($1); } | indexes ',' index { $$ = ast_append($1, $3); } ;
index: expr | REST { $$ = NEW(AST_REST, @1); } | range ;
range: bound ':' bound { $$ = BINARY(AST_RANGE, @$, $1, $3); } ;
bound: %empty { $$ = NULL; } | expr ;

string: QUOTE pieces QUOTE_END { $$ = LIST(AST_STRING, @$, $2); } ;
pieces: %empty { $$ = (AstList){0}; }
    | pieces TEXT_PIECE { $$ = ast_append($1, named(NEW(AST_TEXT, @2), $2)); }
    | pieces INTERPOLATION expr INTERPOLATION_END { $$ = ast_append($1, $3); }
    ;
%%
enum { MOST_EXPECTED = 5 };

// Only called for what bison itself runs out of: its stack.
static void dsl_error(Span *at, void *scanner, Parser *p, const char *message) {
    (void)scanner, (void)message;
    dsl_syntax_error(p, at->begin, at->end, "this is nested too deeply\nhint: name its parts: a = ..., then use a");
}

// Lists up to five expected tokens by name, or else the constructs that they begin. Returns WANTS_ flags.
static unsigned add_expected(Text *t, const yypcontext_t *context) {
    yysymbol_kind_t expected[YYNTOKENS];
    int n = yypcontext_expected_tokens(context, expected, YYNTOKENS);
    bool has[YYNTOKENS] = {false};
    for (int i = 0; i < n; i++) has[expected[i]] = true;
    const char *begins = has[YYSYMBOL_BLOCK] ? "a declaration" : has[YYSYMBOL_RETURN] ? "a statement" : NULL;
    if (!begins && has[YYSYMBOL_INT]) begins = "an expression";
    if (begins) text_add(t, ", expected %s%s", begins, has[yytranslate['}']] ? " or '}'" : "");
    for (int i = 0; !begins && n <= MOST_EXPECTED && i < n; i++)
        text_add(t, "%s%s", i == 0 ? ", expected " : i == n - 1 ? " or " : ", ", yysymbol_name(expected[i]));
    return (has[YYSYMBOL_BLOCK] ? WANTS_DECLARATION : 0) | (has[YYSYMBOL_RETURN] ? WANTS_STATEMENT : 0) |
           (has[YYSYMBOL_INT] ? WANTS_EXPRESSION : 0) | (has[yytranslate['=']] ? WANTS_EQUALS : 0) |
           (has[YYSYMBOL_ARROW] ? WANTS_ARROW : 0) | (n == 1 && has[YYSYMBOL_NAME] ? WANTS_NAME : 0);
}

// After an error inside a body the parser may read the rest as declarations: these errors are suppressed.
static int yyreport_syntax_error(const yypcontext_t *context, void *scanner, Parser *p) {
    (void)scanner;
    const Span *at = yypcontext_location(context);
    SyntaxError error = {.p = p, .begin = at->begin, .end = at->end};
    Text t = {0};
    text_add(&t, "unexpected %s", yysymbol_name(yypcontext_token(context)));
    error.wants = add_expected(&t, context);
    bool follows = p->lost && error.wants & WANTS_DECLARATION;
    if (!follows) dsl_syntax_error(p, at->begin, at->end, "%s%-s", t.data, syntax_advice(&error));
    text_free(&t);
    p->lost = true;
    brackets_forget(p);
    return 0;
}

bool dsl_parse_file(Parser *p, Arena *arena, const Source *source) {
    enum { MAX_FILE = 4 << 20 };
    void *scanner;
    *p = (Parser){.arena = arena, .source = source};
    if (source->size > MAX_FILE) {
        dsl_syntax_error(p, 0, 0, "a description of %zu bytes is too large\nhint: at most %d", source->size, MAX_FILE);
        return false;
    }
    if (dsl_lex_init_extra(p, &scanner)) diag_fatal(NO_LOC, "out of memory (a scanner)");
    dsl__scan_bytes(source->text, (int)source->size, scanner);
    dsl_parse(scanner, p);
    dsl_lex_destroy(scanner);
    return !p->errors;
}
