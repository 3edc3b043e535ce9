// A wheel: the library of a model and its Python package in a file that pip installs.
#ifndef BURIN_WHEEL_H
#define BURIN_WHEEL_H
#include "ir.h"
#include "toolchain/machine.h"

typedef struct Wheel {
    const char *name;      // of the package: [a-z][a-z0-9_]*
    const char *identity;  // of the model: 16 hex digits
    const char *library;   // path of the linked library
    const char *file;      // its name in the package: NAME.so or NAME.dll
    const char *module;    // text of __init__.py
    const Machine *machine;
} Wheel;

// NAME-1.0+iIDENTITY-py3-none-PLATFORM.whl; the platform has the version of glibc that the library
// needs.
const char *wheel_name(Arena *, const Wheel *);
// Writes the file, but for the mark of burin's outputs, which must follow.
void wheel_write(Arena *, const Wheel *, const char *path);
#endif
