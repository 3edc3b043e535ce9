// The list of what burin wrote into a folder of C, and of what `make` makes there: a new build
// replaces that and nothing else.
#ifndef BURIN_MANIFEST_H
#define BURIN_MANIFEST_H
#include "build/build.h"

// Of all files that are in the folder now; the last to be written.
void write_manifest(const Build *, const char *folder);
// Ends the run unless all that is in the folder is listed there. A folder that is not there is
// fine.
void folder_check_ours(Arena *, const char *folder);
#endif
