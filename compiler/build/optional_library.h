// Libraries that a program is linked with only where its options ask for one: a static archive of
// this machine with its header.
#ifndef BURIN_BUILD_OPTIONAL_LIBRARY_H
#define BURIN_BUILD_OPTIONAL_LIBRARY_H
#include "build/build.h"

typedef struct OptionalLibrary {
    const char *option;    // of the command line: "--with=server"
    const char *header;    // "histedit.h"
    const char *archive;   // "libedit.a"
    const char *probe;     // a program in C that links when the library works
    const char *lists[5];  // words for the linker, tried one after the other; ends with NULL
    const char *package;   // of Debian
    const char *name;      // for messages: "libedit"
    const char *without;   // the hint of a message where a program cannot have it
} OptionalLibrary;

// Ends the run where `output` cannot have the library, or where this machine has none.
void optional_library_check(const Build *, const OptionalLibrary *, const char *output);
// The words that link it, or NULL: this machine has none, or the program cannot have it.
const char *optional_library_words(const Build *, const OptionalLibrary *);
// The path of the archive, or NULL: the key of a program changes when the library is installed or
// removed.
const char *optional_library_path(const Build *, const OptionalLibrary *);
#endif
