#define FAKE_MODES &burin_modes_text
#include "fake_model.h"

#include "text/modes.h"

const burin_model burin_model_this = FAKE_MODEL;
