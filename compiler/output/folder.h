// Further files in a folder of C: a Makefile, and its licence.
#ifndef BURIN_OUTPUT_FOLDER_H
#define BURIN_OUTPUT_FOLDER_H
#include "build/build.h"

void folder_makefile(const Build *, Text *);

// Begins every one of the folder, and of runtime/ in it, with the line of its licence; and puts the
// licence's text there.
void folder_licence(const Build *, const char *folder);
#endif
