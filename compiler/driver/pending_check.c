// Until the interpreter knows its bounds.
#include "driver/commands.h"

int check(Build *b) { diag_fatal(NO_LOC, "burin check %s: there are no bounds yet", b->name); }
