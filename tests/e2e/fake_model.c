#include "fake_model.h"

const burin_model burin_model_this = FAKE_MODEL;
