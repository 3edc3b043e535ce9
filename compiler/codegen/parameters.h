// Parameters of kernel functions (codegen/parameters.c).
#ifndef BURIN_PARAMETERS_H
#define BURIN_PARAMETERS_H
#include "codegen/emit.h"

typedef struct Parameter {
    const char *type, *name;  // "const float *", "x"
    const char *argument;     // of this kernel's call
} Parameter;

// In order. Those that a function's lines do not name are left out of its signature and of its
// calls.
struct Parameters {
    const Program *program;
    const Kernel *kernel;
    int n;
    Parameter *list;
};

enum { RANGE_PARAMETER = 0 };   // of a kernel that threads share: its part comes first
enum { OTHER_PARAMETERS = 9 };  // at most as many besides operands and results

void take(Parameters *, const char *type, const char *name, const char *argument);
void take_view(Parameters *, const char *type, const char *name,
               // offset of its first element; empty for values without memory
               const View *);
void take_operand(Parameters *, const char *name, const View *);  // const, of its element type
void take_result(Parameters *, const char *name, const View *);
void take_range(Parameters *, const char *name);  // the share of a thread
void take_count(Parameters *, const char *name, const Dim *);
// The product of all but the last dimension, and the program's rows where they are others.
void take_rows(Parameters *, const Type *);
void take_step(Parameters *);  // s

bool has_word(const char *text,
              const char *name);  // outside of comments and strings, and not as a field of a struct
Parameters parameters_of(const Program *, const Kernel *);
void write_signature(Text *, const Parameters *, const char *kind, const char *name,
                     const char *body);
void write_arguments(Text *, const Parameters *, const char *body);
#endif
