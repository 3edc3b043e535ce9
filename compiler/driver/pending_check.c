// Until the interpreter is there.
#include "driver/commands.h"

int check(Build *b) { diag_fatal(NO_LOC, "burin check %s: there is no interpreter yet", b->name); }
int interpret(Build *b) { diag_fatal(NO_LOC, "burin run --interpret %s: there is no interpreter yet", b->name); }
