// Why a compiler or linker failed: it had no room for what it wrote.
#ifndef BURIN_ROOM_H
#define BURIN_ROOM_H
#include "driver/process.h"

// Ends the run when that is why the job failed, by what it said (the text of its log) and by what is free where it wrote.
void blame_full_disk(const Job *, const char *said);
#endif
