// A slot as bytes: its rows so far, to resume from later, in another process or on another machine.
// The bytes are those of its states up to its length, so the continuation has the bits that it
// would have had.
#ifndef BURIN_SAVED_H
#define BURIN_SAVED_H
#include "forward.h"

BURIN_LINKAGE size_t burin_saved_bytes(const burin_session *, int32_t slot);  // 0: no such slot
BURIN_LINKAGE burin_status burin_slot_save(const burin_session *, int32_t slot, void *memory,
                                           size_t bytes);
// The slot's old contents are lost, unless the status is not BURIN_OK: then nothing has changed.
BURIN_LINKAGE burin_status burin_slot_load(burin_session *, int32_t slot, const void *memory,
                                           size_t bytes);
#endif
