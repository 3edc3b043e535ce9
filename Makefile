# burin. `make help` says what there is.
CC := gcc
CLANG := clang-19
BUILD := build
CFLAGS := -O2 -g -fno-var-tracking
COLD := -O1
ifdef SAN  # gcc warns of variables that instrumented code only seems not to set
BUILD := build/san
CFLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -Wno-error=maybe-uninitialized
endif
# What reads, computes and packs weights or texts is compiled by CFLAGS, all else by -O1 too, in two thirds of the time, unless CFLAGS
# are given.
HOT := $(addsuffix /%,compiler/ir compiler/lower compiler/util compiler/frontend/checkpoint compiler/frontend/tokenizer \
	runtime/engine runtime/grammar runtime/sampler runtime/tokenizer)
cold = $(if $(filter file,$(origin CFLAGS)),$(if $(filter $(HOT),$1),,$(COLD)))
PREFIX := /usr/local
Q := $(if $(V),,@)
say = @$(if $(V),:,printf "  %-8s %s\n" $(1) $(2))
STD := -std=gnu17
WARN := -Wall -Wextra -Werror
DEFINES := -D_GNU_SOURCE
INCLUDES := -I. -Icompiler -Iruntime -I$(BUILD)/gen
COMPILE = $(STD) -ffp-contract=off $(CFLAGS) $(WARN) $(DEFINES) $(INCLUDES)
LIBS := -ljansson -lprotobuf-c -lz -lm -lpthread

SOURCES := $(sort $(shell find compiler -name '*.c' ! -name 'TEMPLATE*' ! -path '*/page/*'))
RUNTIME := $(filter-out runtime/main/main.c runtime/mpi/% runtime/editor/% runtime/server/% runtime/api/% runtime/codecs/% runtime/windows/% runtime/glibc/%,$(wildcard runtime/*/*.c))
UNITS := $(wildcard tests/unit/*.c)
SCRIPTS := $(filter-out $(wildcard tests/bench/* tests/errors/*),$(wildcard tests/*/*.sh)) $(wildcard tests/errors/run.sh)
SLOW := $(foreach s,$(SCRIPTS),$(if $(findstring /slow-,$s),$s))
QUICK := $(filter-out $(SLOW),$(SCRIPTS))

GENERATED := $(BUILD)/gen/parse.c $(BUILD)/gen/scan.c $(BUILD)/gen/onnx.pb-c.c
UNICODE_TABLES := $(BUILD)/gen/unicode_tables.h
TABLES := $(UNICODE_TABLES) $(BUILD)/gen/runtime_names.h $(BUILD)/gen/report_page.h $(BUILD)/gen/roofline_probe.h
OBJECTS := $(SOURCES:%.c=$(BUILD)/%.o) $(GENERATED:%.c=%.o)
LIBRARY := $(filter-out $(BUILD)/compiler/main.o,$(OBJECTS)) $(RUNTIME:%.c=$(BUILD)/%.o)

all: $(BUILD)/burin $(BUILD)/objects/stamp

help:
	@echo 'make                   build/burin; V=1: shows the commands'
	@echo 'make demo              installs what is missing, builds burin, compiles examples/austen and lets it write'
	@echo 'make test              installs what is missing, then runs every test; SAN=1: under AddressSanitizer and UBSan'
	@echo 'make check             the two-minute loop: units, golden graphs, messages, ONNX cases, one program'
	@echo 'make tests-of FILE=F   the tests of one file'
	@echo 'make test-all          the slow sweeps as well'
	@echo 'make bench [ONLY=part]  tables of speed as ratios to this machine'\''s limits and to peers: tests/bench/README.md'
	@echo 'make bench-goals [QUICK=1]  the goals of speed as one table in tests/bench/RESULTS.md, and plots'
	@echo 'make install PREFIX=   PREFIX/bin/burin, PREFIX/share/burin, completion, manual page, burin.pc (default /usr/local)'
	@echo 'make uninstall PREFIX= takes them away'
	@echo 'make setup             only installs what is missing to build and test'
	@echo 'make check-compilers   warnings of gcc and clang are errors'
	@echo 'make format            clang-format over every file of C and JavaScript but the golden texts'
	@echo 'make clean             removes build/'

# What the objects depend on beyond their headers: the flags, and the list of files for what is linked of them.
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)/gen
	@echo '$(CC) $(COMPILE) $(COLD) $(OBJECTS) $(UNITS)' | cmp -s - $@ || echo '$(CC) $(COMPILE) $(COLD) $(OBJECTS) $(UNITS)' > $@

$(BUILD)/burin: $(BUILD)/compiler/main.o $(BUILD)/libburin.a
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(LIBS) -o $@

# The runtime of text programs for this machine, so that the first program is built in a third of the time: burin finds these objects
# by the hash of their sources, flags and compiler. Without clang there are none.
$(BUILD)/objects/stamp: $(BUILD)/burin $(wildcard runtime/*/*.[chS])
	$(call say,objects,$(dir $@))
	@rm -rf $(dir $@) $(BUILD)/warm && mkdir -p $(dir $@) && mkdir -m 700 $(BUILD)/warm
	$(Q)env -u BURIN_OPTIMIZE XDG_CACHE_HOME=$(abspath $(BUILD))/warm $(BUILD)/burin build examples/austen --mcpu=native \
	    -o $(BUILD)/warm/austen > $(BUILD)/warm/log 2>&1 || true
	@for o in $(BUILD)/warm/burin/objects/*/runtime-*.o; do [ ! -f $$o ] || { d=$(dir $@)$$(basename $$(dirname $$o)); \
	    mkdir -p $$d && cp $$o $$d/; }; done
	@rm -rf $(BUILD)/warm && touch $@

$(BUILD)/libburin.a: $(LIBRARY) $(BUILD)/flags
	@rm -f $@
	$(call say,archive,$@)
	$(Q)ar rcsD $@ $(LIBRARY)

$(BUILD)/%.o: %.c $(BUILD)/flags | $(GENERATED) $(TABLES)
	@mkdir -p $(dir $@)
	$(call say,cc,$<)
	$(Q)$(CC) $(COMPILE) $(call cold,$<) -MMD -MP -c $< -o $@

$(BUILD)/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags | $(GENERATED) $(TABLES)
	$(call say,cc,$<)
	$(Q)$(CC) $(COMPILE) -Wno-sign-compare -Wno-unused-function -Wno-unused-but-set-variable -MMD -MP -c $< -o $@

$(BUILD)/gen/parse.c: dsl/parse.y
	@mkdir -p $(dir $@)
	$(call say,bison,$<)
	$(Q)bison -Werror -d -o $@ $<

$(BUILD)/gen/onnx.pb-c.c: compiler/frontend/onnx/file/onnx.proto
	@mkdir -p $(dir $@)
	$(Q)protoc-c --proto_path=$(dir $<) --c_out=$(dir $@) $<

$(BUILD)/gen/scan.c: dsl/scan.l $(BUILD)/gen/parse.c
	$(call say,flex,$<)
	$(Q)flex -o $@ --header-file=$(BUILD)/gen/scan.h $<

UNICODE := /usr/share/unicode
$(UNICODE_TABLES): compiler/frontend/tokenizer/unicode.awk $(UNICODE)/CompositionExclusions.txt $(UNICODE)/Scripts.txt $(UNICODE)/DerivedAge.txt \
		compiler/frontend/tokenizer/unicode_newer.txt $(UNICODE)/UnicodeData.txt
	@mkdir -p $(dir $@)
	$(call say,awk,$@)
	$(Q)awk -f $^ > $@.new && mv $@.new $@

# What the C of a model cannot be named: names of the runtime's files, quoted, each with a comma.
$(BUILD)/gen/runtime_names.h: Makefile $(wildcard runtime/*/*.[ch])
	@mkdir -p $(dir $@)
	@printf '"%s",\n' $(sort $(basename $(notdir $(wildcard runtime/*/*.[ch])))) > $@

# The page of `burin report`, as C strings.
PAGE := compiler/report/page
SCRIPT := $(addprefix $(PAGE)/,elements.js graph.js plan.js time.js)
quoted := sed 's/[\\"]/\\&/g; s/^/"/; s/$$/\\n"/'
$(BUILD)/gen/report_page.h: Makefile $(PAGE)/report.html $(PAGE)/report.css $(SCRIPT)
	@mkdir -p $(dir $@)
	@{ echo 'static const char page_html[] ='; $(quoted) $(PAGE)/report.html; echo '; static const char page_css[] ='; \
	   $(quoted) $(PAGE)/report.css; echo '; static const char page_js[] ='; cat $(SCRIPT) | $(quoted); echo ';'; } > $@

$(BUILD)/gen/roofline_probe.h: Makefile compiler/report/page/roofline_probe.c
	@mkdir -p $(dir $@)
	@{ echo 'static const char roofline_probe[] ='; $(quoted) compiler/report/page/roofline_probe.c; echo ';'; } > $@

# Unit tests: every tests/unit/NAME.c holds SUITE(NAME); one runner is made of them all (tests/unit/unit.h).
$(BUILD)/unit: $(UNITS:%.c=$(BUILD)/%.o) $(BUILD)/gen/unit_main.o $(BUILD)/libburin.a | $(BUILD)/fixtures/stamp
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS) $^ $(LIBS) -lcunit -o $@

$(BUILD)/gen/unit_main.c: tests/unit/unit.h $(UNITS) $(BUILD)/flags
	@{ echo '#define UNIT_MAIN'; echo '#include "tests/unit/unit.h"'; \
	  for f in $(notdir $(UNITS:.c=)); do echo "void suite_$$f(void);"; done; \
	  echo 'void unit_suites(void) {'; for f in $(notdir $(UNITS:.c=)); do echo "    suite_$$f();"; done; echo '}'; } > $@

# Small programs that test scripts use: tests/tools/NAME.c becomes $(BUILD)/tools/NAME. run_NAME.c is for a script to build.
TOOLS := $(patsubst tests/tools/%.c,$(BUILD)/tools/%,$(filter-out tests/tools/run_%,$(wildcard tests/tools/*.c)))
$(BUILD)/tools/%: tests/tools/%.c $(BUILD)/libburin.a
	@mkdir -p $(dir $@)
	$(call say,cc,$<)
	$(Q)$(CC) $(COMPILE) -MMD -MP $< $(BUILD)/libburin.a $(LIBS) -o $@

# Broken checkpoints and tokenizers meet their readers under AddressSanitizer and UBSan in every run of the tests.
ifndef SAN
SANITIZE := -O0 -g -fsanitize=address,undefined -fno-sanitize-recover=all
READERS := $(filter compiler/frontend/checkpoint/% compiler/frontend/tokenizer/% compiler/util/% compiler/ir/format.c,$(SOURCES))
SANITIZED := $(READERS:%.c=$(BUILD)/sanitized/%.o)
$(BUILD)/sanitized/%.o: %.c $(BUILD)/flags | $(GENERATED) $(TABLES)
	@mkdir -p $(dir $@)
	$(call say,cc,$<)
	$(Q)$(CC) $(COMPILE) $(SANITIZE) -MMD -MP -c $< -o $@
$(BUILD)/tools/broken: tests/tools/broken.c $(SANITIZED) $(BUILD)/libburin.a
	@mkdir -p $(dir $@)
	$(call say,cc,$<)
	$(Q)$(CC) $(COMPILE) $(SANITIZE) -MMD -MP $< $(SANITIZED) $(BUILD)/libburin.a $(LIBS) -o $@
endif

# libFuzzer targets: tests/fuzz/NAME.c becomes $(BUILD)/fuzz/NAME (tests/fuzz/slow-fuzz.sh says with which flags).
$(BUILD)/fuzz/%: tests/fuzz/%.c $(BUILD)/libburin.a
	@mkdir -p $(dir $@)
	$(call say,cc,$<)
	$(Q)$(CC) $(COMPILE) -fsanitize=fuzzer -Itests/tools -MMD -MP $< $(BUILD)/libburin.a $(LIBS) -o $@
$(BUILD)/fuzz/image: LIBS += $(if $(wildcard /usr/include/png.h),-lpng) $(if $(wildcard /usr/include/jpeglib.h),-ljpeg)
$(BUILD)/fuzz/wav: LIBS += $(if $(wildcard /usr/include/FLAC/stream_decoder.h),-lFLAC)
$(BUILD)/fuzz/server: LIBS += -levent

# Each file with each compiler, for its warnings alone; what the build compiles with gcc has been through that. Only clang compiles
# libFuzzer's targets.
UNBUILT := runtime/main/main.c $(wildcard tests/tools/run_*.c)
CHECKED := $(SOURCES) $(RUNTIME) $(UNITS) $(UNBUILT) $(filter-out $(UNBUILT),$(wildcard tests/tools/*.c))
BY_GCC := $(if $(filter gcc,$(CC)),$(UNBUILT),$(CHECKED))
TARGETS := $(filter-out $(if $(wildcard /usr/include/event2/http.h),,%/server.c),$(wildcard tests/fuzz/*.c))
build/check/$(CLANG)/tests/fuzz/%.ok: INCLUDES += -Itests/tools
CHECKS := $(BY_GCC:%.c=build/check/gcc/%.ok) $(CHECKED:%.c=build/check/$(CLANG)/%.ok) $(TARGETS:%.c=build/check/$(CLANG)/%.ok)
check-compilers: $(CHECKS)
build/check/gcc/%.ok: %.c $(BUILD)/flags | $(GENERATED) $(TABLES)
	@mkdir -p $(dir $@)
	$(call say,gcc,$<)
	$(Q)gcc $(STD) -O2 $(WARN) $(DEFINES) $(INCLUDES) -MMD -MP -MT $@ -MF $(@:.ok=.d) -c $< -o /dev/null && touch $@
build/check/$(CLANG)/%.ok: %.c $(BUILD)/flags | $(GENERATED) $(TABLES)
	@mkdir -p $(dir $@)
	$(call say,clang,$<)
	$(Q)$(CLANG) $(STD) -O2 $(WARN) $(DEFINES) $(INCLUDES) -MMD -MP -MT $@ -MF $(@:.ok=.d) -fsyntax-only $< && touch $@

setup:
	@.ci/setup test

demo:
	@.ci/setup build
	@$(MAKE) --no-print-directory -j2 all
	@examples/austen/demo.sh

# Fixtures that are committed in packs; scripts unpack them too when they are outdated.
$(BUILD)/fixtures/stamp: FORCE
	@BUILD=$(BUILD) tests/fixtures.sh unpack

run-tests: $(BUILD)/burin $(BUILD)/unit $(TOOLS) $(BUILD)/fixtures/stamp
	@BUILD=$(BUILD) tests/run $(BUILD)/unit $(QUICK) $(EXTRA)

test:
	@.ci/setup test
	@$(MAKE) --no-print-directory -j2 $(BUILD)/burin $(BUILD)/unit $(TOOLS)
	@$(MAKE) --no-print-directory run-tests

# The two-minute loop: units, golden graphs, messages, the ONNX suite in the interpreter, one program end to end.
CHECK := tests/errors/run.sh tests/conformance/run.sh tests/e2e/austen.sh
check:
	@.ci/setup build
	@$(MAKE) --no-print-directory -j2 $(BUILD)/burin $(BUILD)/unit $(TOOLS) $(BUILD)/fixtures/stamp
	@BUILD=$(BUILD) tests/run $(BUILD)/unit $(CHECK)

tests-of: $(BUILD)/burin $(BUILD)/unit $(TOOLS)
	@BUILD=$(BUILD) tests/of.sh $(FILE)

test-all:
	@BURIN_OPTIMIZE=3 $(MAKE) --no-print-directory test EXTRA='$(SLOW)'

# The table of families, from a run of their tests.
families: $(BUILD)/burin $(TOOLS)
	@BUILD=$(BUILD) tests/families/interpreter.sh | grep '^not ok - family' || true
	@awk -v table=$(BUILD)/families.md '/^<!-- end of families/ { inside = 0 } !inside { print } \
	    /^<!-- families/ { inside = 1; while ((getline line < table) > 0) print line }' dsl/FAMILIES.md > $(BUILD)/FAMILIES.md
	@cp $(BUILD)/FAMILIES.md dsl/FAMILIES.md

bench:
	@.ci/setup build
	@$(MAKE) --no-print-directory -j2 all
	@tests/bench/run.sh

bench-goals:
	@.ci/setup build
	@$(MAKE) --no-print-directory -j2 all
	@tests/bench/goals.sh

# What `make install` puts beside bin/burin and share/burin, and `make uninstall` takes away with them.
SHARE := $(DESTDIR)$(PREFIX)/share
COMPLETION_BASH := $(SHARE)/bash-completion/completions/burin
COMPLETION_ZSH := $(SHARE)/zsh/site-functions/_burin
MANUAL := $(SHARE)/man/man1/burin.1
PKGCONFIG := $(SHARE)/pkgconfig/burin.pc
VERSION := $(shell sed -n 's/.*BURIN_VERSION "\(.*\)"/\1/p' compiler/version.h)

install: $(BUILD)/burin
	install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/burin $(dir $(COMPLETION_BASH) $(COMPLETION_ZSH) $(MANUAL) $(PKGCONFIG))
	install $(BUILD)/burin $(DESTDIR)$(PREFIX)/bin/burin
	install tests/tools/record.py $(DESTDIR)$(PREFIX)/bin/burin-record
	cp -R runtime dsl LICENSE $(SHARE)/burin/
	if [ -d $(BUILD)/objects ]; then cp -R $(BUILD)/objects $(SHARE)/burin/; fi
	$(BUILD)/burin help bash > $(COMPLETION_BASH)
	$(BUILD)/burin help zsh > $(COMPLETION_ZSH)
	$(BUILD)/burin help man > $(MANUAL)
	printf '%s\n' 'prefix=$(PREFIX)' 'burin=$${prefix}/bin/burin' 'runtime=$${prefix}/share/burin/runtime' '' 'Name: burin' \
	    'Description: compiles one Transformer into one standalone program' 'Version: $(VERSION)' > $(PKGCONFIG)

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/burin $(DESTDIR)$(PREFIX)/bin/burin-record $(COMPLETION_BASH) $(COMPLETION_ZSH) $(MANUAL) $(PKGCONFIG)
	rm -rf $(SHARE)/burin

format:
	$(Q)clang-format-19 -i $(shell git ls-files '*.c' '*.h' '*.js' ':!tests/golden')

clean:
	rm -rf build

FORCE:
.PHONY: all help setup demo check tests-of test test-all run-tests families bench bench-goals install uninstall format clean check-compilers FORCE
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2> /dev/null)
