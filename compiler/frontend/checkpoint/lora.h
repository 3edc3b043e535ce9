// Adapters in a checkpoint's weights (lora.c).
#ifndef BURIN_CHECKPOINT_LORA_H
#define BURIN_CHECKPOINT_LORA_H
#include "frontend/checkpoint/reader.h"

// The tensor's values with what adapters add to them: once, when somebody asks for it.
void lora_present(const Checkpoint *, StoredTensor *);
#endif
