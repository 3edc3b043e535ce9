// What a folder of C has beside the emitted text: a Makefile, and its licence.
#ifndef BURIN_DRIVER_FOLDER_H
#define BURIN_DRIVER_FOLDER_H
#include "driver/build.h"

void folder_makefile(const Build *, Text *);
// A source, or what sources include: .c, .h, .S, .def.
bool folder_is_c(const char *name);

// Begins every one of the folder, and of runtime/ in it, with the line of its licence; and puts the licence's text
// there.
void folder_licence(const Build *, const char *folder);
#endif
