// Further files in a folder of C: what builds it, and its licence.
#ifndef BURIN_OUTPUT_FOLDER_H
#define BURIN_OUTPUT_FOLDER_H
#include "build/build.h"

// The Makefile; for machines without an operating system CMakeLists.txt and a module of Zephyr,
// too.
void folder_build_files(const Build *, const char *folder);

// Begins every one of the folder, and of runtime/ in it, with the line of its licence; and puts the
// licence's text there.
void folder_licence(const Build *, const char *folder);
#endif
