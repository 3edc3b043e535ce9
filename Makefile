# burin: see `make help`.
BUILD ?= build
CC = gcc
CFLAGS ?= -O2 -g
WARN = -Wall -Wextra -Werror
INCLUDES = -Icompiler -I$(BUILD)/gen -Iruntime
DEFINES = -D_GNU_SOURCE
LIBS = -ljansson -lm
ifdef SAN
BUILD := build/san
CFLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
endif

SOURCES := $(shell find compiler -name '*.c' | sort)
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o)
GENERATED := $(if $(wildcard dsl/parse.y),$(BUILD)/gen/parse.c $(BUILD)/gen/scan.c)
OBJECTS += $(GENERATED:%.c=%.o)
LIBRARY_OBJECTS := $(filter-out $(BUILD)/compiler/main.o,$(OBJECTS))

all: $(BUILD)/burin

$(BUILD)/burin: $(OBJECTS)
	$(CC) $(CFLAGS) $^ $(LIBS) -o $@

$(BUILD)/%.o: %.c | $(GENERATED)
	@mkdir -p $(dir $@)
	$(CC) -std=gnu17 $(CFLAGS) $(WARN) $(DEFINES) $(INCLUDES) -MMD -MP -c $< -o $@

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c
	$(CC) -std=gnu17 $(CFLAGS) $(WARN) -Wno-sign-compare -Wno-unused-function $(DEFINES) $(INCLUDES) -MMD -MP -c $< -o $@

$(BUILD)/gen/parse.c: dsl/parse.y
	@mkdir -p $(dir $@)
	bison -Werror -d -o $@ $<

$(BUILD)/gen/scan.c: dsl/scan.l $(BUILD)/gen/parse.c
	@mkdir -p $(dir $@)
	flex -o $@ --header-file=$(BUILD)/gen/scan.h $<

# Unit tests: every tests/unit/NAME.c holds SUITE(NAME); the runner is made of them all (tests/unit/unit.h).
UNITS := $(wildcard tests/unit/*.c)
$(BUILD)/unit: $(UNITS:%.c=$(BUILD)/%.o) $(BUILD)/gen/unit_main.o $(LIBRARY_OBJECTS)
	$(CC) $(CFLAGS) $^ $(LIBS) -lcunit -o $@

$(BUILD)/gen/unit_main.c: $(UNITS) tests/unit/unit.h
	@mkdir -p $(dir $@)
	{ echo '#define UNIT_MAIN'; echo '#include "../../tests/unit/unit.h"'; \
	  for f in $(notdir $(UNITS:.c=)); do echo "void suite_$$f(void);"; done; \
	  echo 'void unit_suites(void) {'; for f in $(notdir $(UNITS:.c=)); do echo "    suite_$$f();"; done; echo '}'; } > $@

test: all $(BUILD)/unit
	$(BUILD)/unit

format:
	clang-format-19 -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf build

.PHONY: all test format clean
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
