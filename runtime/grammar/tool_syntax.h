// The syntax of tool calls in an answer: the text before, between and after names and arguments. A
// chat template shows it: it renders calls of made-up tools, and the text around their names and
// arguments is the syntax.
//
//     begin  call NAME name_end ARGUMENTS call_end  between  call NAME ... call_end  end
//     ARGUMENTS, tagged:  key KEY key_end VALUE value_end  key KEY ...
//
// White space in these texts matches any, including none; BURIN_SHAPE_WORD is a number or an
// identifier.
#ifndef BURIN_TOOL_SHAPE_H
#define BURIN_TOOL_SHAPE_H
#include <stdbool.h>
#include <stddef.h>

enum { BURIN_SHAPE_WORD = 1 };

typedef enum burin_tool_kind {
    BURIN_SHAPE_NONE,
    BURIN_SHAPE_JSON,    // the arguments are an object
    BURIN_SHAPE_TAGGED,  // each between tags of its own; texts without quotes
    BURIN_SHAPE_PYTHON,  // key=value, ...
    BURIN_SHAPE_BRACED,  // {key:value,...}, sorted by keys, texts between quotes of their own,
                         // which are key_end
} burin_tool_kind;

typedef struct burin_tool_syntax {
    burin_tool_kind kind;
    const char *begin, *call, *name_end, *key, *key_end,
        *other_key_end;  // key_end: of texts; other_key_end: of other values
    const char *value_end, *call_end, *between, *end;  // between: NULL: an answer has one call
    bool alone;     // calls that are required have no text around them
    bool prompted;  // a prompt for an answer ends with what begins a call
    // memory of the texts; NULL: they are constant
    char *memory;
} burin_tool_syntax;

// The syntax that a compiled chat template shows. False: it renders no calls, or in no known
// syntax.
bool burin_tool_syntax_find(burin_tool_syntax *, const void *template_blob);
void burin_tool_syntax_free(burin_tool_syntax *);

// The next part of such a text, from *at on, which then is after it: WORD, SPACE, or literal
// characters, *bytes long.
typedef enum burin_shape_piece {
    BURIN_PIECE_END,
    BURIN_PIECE_WORD,
    BURIN_PIECE_SPACE,
    BURIN_PIECE_TEXT
} burin_shape_piece;
burin_shape_piece burin_shape_next(const char **at, size_t *bytes);

// The end of this text if it is at `from`; NULL: it is not.
const char *burin_shape_match(const char *text, const char *from, const char *end);
#endif
