// How calls of tools look in an answer: what stands before, between and behind names and arguments. A chat template shows it:
// it is asked to render calls of made-up tools, and what it puts around their names and arguments is the shape.
//
//     begin  call NAME name_end ARGUMENTS call_end  between  call NAME ... call_end  end
//     ARGUMENTS, tagged:  key KEY key_end VALUE value_end  key KEY ...
//
// White space in these texts stands for any, also none; BURIN_SHAPE_WORD for a number or an identifier.
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
    BURIN_SHAPE_BRACED,  // {key:value,...}, sorted by keys, texts between quotes of their own, which are key_end
} burin_tool_kind;

typedef struct burin_tool_syntax {
    burin_tool_kind kind;
    const char *begin, *call, *name_end, *key, *key_end, *other_key_end;  // key_end: of texts; other_key_end: of other values
    const char *value_end, *call_end, *between, *end;                     // between: NULL: an answer has one call
    bool prompted;                                                        // a prompt for an answer ends with what begins a call
    char *memory;                                                         // that they lie in; NULL: they are constant
} burin_tool_syntax;

// What a compiled chat template shows. False: it renders no calls, or in no shape that is known.
bool burin_tool_syntax_find(burin_tool_syntax *, const void *template_blob);
void burin_tool_syntax_free(burin_tool_syntax *);

// The next piece of such a text, from *at on, which it moves behind it: WORD, SPACE, or characters as they are, of *bytes.
typedef enum burin_shape_piece { BURIN_PIECE_END, BURIN_PIECE_WORD, BURIN_PIECE_SPACE, BURIN_PIECE_TEXT } burin_shape_piece;
burin_shape_piece burin_shape_next(const char **at, size_t *bytes);

// The end of this text where it stands at `from`; NULL: it does not.
const char *burin_shape_match(const char *text, const char *from, const char *end);
#endif
