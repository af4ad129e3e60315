# qtui: `make` builds build/qtui; `make help` lists the rest.
VERSION := 0.9.0
MODE    ?= release
BUILD   ?= build/$(MODE)
PREFIX  ?= /usr/local
V       ?= 0
Q       := $(if $(filter 1,$(V)),,@)
CC      := $(if $(filter default,$(origin CC)),gcc,$(CC))

LAYERS  := base engine analysis interop cli tui
# Every Debian package that the project builds, tests or runs with; `make deps` installs those that are missing.
PACKAGES := pkg-config libncurses-dev libreadline-dev libprotobuf-c-dev protobuf-c-compiler libonnx-dev libcjson-dev \
            libopenblas-dev libdnnl-dev libjpeg-dev libpng-dev libwebp-dev libtiff-dev zlib1g-dev libzip-dev libxxhash-dev libmd-dev libyaml-dev libexpat1-dev \
            libcmocka-dev tmux procps libonnx-testdata
PKGS    := ncursesw panelw readline libprotobuf-c libcjson openblas libjpeg libpng libwebp libtiff-4 zlib libzip libxxhash libmd yaml-0.1 expat
# Nothing is installed for what needs none of it, nor where make is only asked what it would do (-n, -q: a shell that completes a target).
ASKED   := $(foreach letter,n q,$(findstring $(letter),$(firstword -$(MAKEFLAGS))))
MISSING := $(if $(strip $(filter deps help clean uninstall,$(MAKECMDGOALS)) $(ASKED)),,$(shell \
             pkg-config --exists $(PKGS) cmocka 2>/dev/null && test -e /usr/include/onnx/onnx.proto -a -e /usr/include/dnnl.h \
             && command -v protoc-c >/dev/null && command -v tmux >/dev/null && command -v pgrep >/dev/null || echo yes))
ifeq ($(MISSING),yes)
  $(info qtui: packages are missing; running "make deps")
  $(if $(filter 0,$(shell $(MAKE) --no-print-directory deps >&2; echo $$?)),,$(error "make deps" did not succeed: install $(PACKAGES)))
endif

WARN    := -Wall -Wno-psabi -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 -Wpointer-arith
# clang warns of each `omp simd` loop that it does not vectorise. A warning is an error, but not under flags of the user's: -O3 makes gcc see more.
WARN    += $(if $(findstring clang,$(CC)),-Wno-pass-failed) $(if $(CFLAGS),,-Werror)
# -ffp-contract=off: the same source gives the same bits on every machine; kernels that want FMA say so with intrinsics.
# -fno-trapping-math: nobody reads the exception flags, and loops with a choice in them can become SIMD code.
BASEFLAGS := -std=c11 -D_XOPEN_SOURCE=700 -D_DEFAULT_SOURCE -pthread -fopenmp -ffp-contract=off -fno-math-errno -fno-trapping-math -g $(WARN)
release_FLAGS := -O2 -DNDEBUG
debug_FLAGS   := -O0
# What the sanitizers add to the code makes gcc see faults that are not there.
SANE          := -Wno-maybe-uninitialized -Wno-format-truncation -Wno-stringop-overflow -Wno-array-bounds
asan_FLAGS    := -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer $(SANE)
tsan_FLAGS    := -O1 -fsanitize=thread $(SANE)
cov_FLAGS     := -O0 --coverage
# For libFuzzer (CC=clang): its warnings are not those that the code is held to.
fuzz_FLAGS    := -O1 -w -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
$(if $(filter undefined,$(origin $(MODE)_FLAGS)),$(error MODE=$(MODE) is unknown: use release, debug, asan, tsan, cov or fuzz))
DATADIR  := -DQTUI_DATADIR='"$(PREFIX)/share/qtui"'
RELEASE  := -DQTUI_VERSION='"$(VERSION)"'
# Only -I: ncursesw also defines an older _XOPEN_SOURCE.
override CPPFLAGS += -Iinclude -I$(BUILD)/gen $(shell pkg-config --cflags-only-I $(PKGS) 2>/dev/null)
# CFLAGS are the user's alone, and come last: what they took the place of would be missed, -ffp-contract=off in the figures.
FLAGS    := $(BASEFLAGS) $($(MODE)_FLAGS) $(CFLAGS)
LDLIBS   := $(shell pkg-config --libs $(PKGS) 2>/dev/null) -ldnnl -lm
override LDFLAGS += -pthread -fopenmp $(filter -fsanitize% --coverage,$(FLAGS))

# Files named *_avx2.c and so on are compiled for that processor level and are called only after a run-time check.
ARCH       := $(shell $(CC) -dumpmachine | cut -d- -f1)
ISA_avx2   := -mavx2 -mfma -mf16c -O3
ISA_avx512 := -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512vl -mavx512dq -mprefer-vector-width=512 -O3
ISA_vnni   := $(ISA_avx512) -mavx512vnni
ISA_vbmi   := $(ISA_vnni) -mavx512vbmi
isa_flags   = $(if $(filter x86_64,$(ARCH)),$(foreach i,avx2 avx512 vnni vbmi,$(if $(filter %_$(i).c,$(1)),$(ISA_$(i)))))

SRC     := $(sort $(shell find src -name '*.c'))
LIBS    := $(LAYERS:%=$(BUILD)/lib%.a)
PROTO   := $(BUILD)/gen/onnx.pb-c
# Tables of text files that are part of the program: $(BUILD)/gen/embed_NAME.c holds NAME_embedded[].
EMBED_target := $(wildcard targets/*.json)
EMBED_theme := $(wildcard themes/*.json)
embedded_engine := target
embedded_tui := theme
EMBEDDED := target theme
generated_engine := $(PROTO).o
objs     = $(patsubst %.c,$(BUILD)/%.o,$(filter src/$(1)/%,$(filter-out src/cli/main.c,$(SRC)))) \
           $(generated_$(1)) $(embedded_$(1):%=$(BUILD)/gen/embed_%.o)

all: build/qtui

# Always made anew: the link of another MODE would look up to date.
build/qtui: $(BUILD)/qtui
	$(Q)mkdir -p build && ln -sfnr $< $@

# From above to below, as a linker wants them.
STACK   := $(patsubst %,$(BUILD)/lib%.a,cli tui interop analysis engine base)
$(BUILD)/qtui: $(BUILD)/src/cli/main.o $(LIBS)
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(STACK) $(LDLIBS)

# What the outcome depends on and no file says: $(BUILD)/gen/is_NAME holds is_NAME, and is written here where that is another
# text. A rule that always ran would not do: what .SECONDARY names is as new as what it is made of. The rule is for `make clean all`.
is_flags := $(CC) $(FLAGS) $(CPPFLAGS)
is_datadir := $(DATADIR)
$(foreach l,$(LAYERS),$(eval is_$(l) := $(call objs,$(l))))
IS       := $(addprefix $(BUILD)/gen/is_,flags datadir $(LAYERS))
differ   = $(filter-out $(1),$(2))$(filter-out $(2),$(1))
$(foreach f,$(IS),$(if $(call differ,$(file <$(f)),$(is_$(f:$(BUILD)/gen/is_%=%))),\
  $(shell mkdir -p $(BUILD)/gen)$(file >$(f),$(is_$(f:$(BUILD)/gen/is_%=%)))))
$(IS): $(BUILD)/gen/is_%:
	@mkdir -p $(@D)
	$(file >$@,$(is_$*))

define layer_rule
$(BUILD)/lib$(1).a: $(call objs,$(1)) $(BUILD)/gen/is_$(1)
	@echo "  AR    $$@"
	$$(Q)rm -f $$@ && ar rcs $$@ $$(filter %.o,$$^)
endef
$(foreach l,$(LAYERS),$(eval $(call layer_rule,$(l))))

COMPILE  = $(CC) $(FLAGS) $(CPPFLAGS) $(call isa_flags,$<) -MMD -MP -c -o $@ $<
$(BUILD)/%.o: %.c $(BUILD)/gen/is_flags | $(PROTO).h
	@mkdir -p $(dir $@)
	@echo "  CC    $<"
	$(Q)$(COMPILE)

# It says the version.
$(BUILD)/src/cli/main.o: Makefile
$(BUILD)/src/cli/main.o: override CPPFLAGS += $(RELEASE)
# A session's figures say which sources computed them: those of others may be wrong, and are computed anew.
COMPUTE := $(sort $(EMBED_target) $(shell find $(addprefix src/,base engine analysis) include -name '*.[ch]' -o -name '*.def'))
$(BUILD)/gen/sources.h: $(COMPUTE)
	@mkdir -p $(@D)
	$(Q)printf '#define QTUI_SOURCES "%.32s"\n' "$$(cat $^ | sha256sum)" >$@
$(BUILD)/src/analysis/study/results.o: $(BUILD)/gen/sources.h
# It looks where the program is installed.
$(BUILD)/src/engine/plan/target/target.o: $(BUILD)/gen/is_datadir
$(BUILD)/src/engine/plan/target/target.o: override CPPFLAGS += $(DATADIR)

# Kernels and backends read no files, and are in gcc's dialect of vectors.
ifeq ($(MODE),fuzz)
$(BUILD)/src/engine/kernels/%.o $(BUILD)/src/engine/backend/%.o: override CC := gcc
$(BUILD)/src/engine/kernels/%.o $(BUILD)/src/engine/backend/%.o: FLAGS := $(BASEFLAGS) -O1 -w
endif

$(PROTO).c $(PROTO).h &: /usr/include/onnx/onnx.proto
	@mkdir -p $(BUILD)/gen
	$(Q)protoc-c -I$(<D) --c_out=$(BUILD)/gen $<
# Nobody mends what protoc-c writes: it is compiled without our warnings.
$(PROTO).o: FLAGS := $(filter-out $(WARN),$(FLAGS))
$(PROTO).o: $(PROTO).c $(BUILD)/gen/is_flags
	$(Q)$(COMPILE)

# The folder: of one file less the others are no newer.
$(BUILD)/gen/embed_target.c: $(EMBED_target) targets
$(BUILD)/gen/embed_theme.c: $(EMBED_theme) themes
$(EMBEDDED:%=$(BUILD)/gen/embed_%.c): $(BUILD)/gen/embed_%.c: tools/embed.awk
	@mkdir -p $(BUILD)/gen
	$(Q)awk -v table=$*_embedded -f tools/embed.awk $(EMBED_$*) >$@
$(EMBEDDED:%=$(BUILD)/gen/embed_%.o): %.o: %.c $(BUILD)/gen/is_flags
	$(Q)$(COMPILE)

# Tests: tests/LAYER/test_*.c is one program each, linked with the whole of its own layer and the ones below it, so that
# a call from a lower layer to a higher one does not link.
below_base     := base
below_engine   := engine base
below_analysis := analysis engine base
below_interop  := interop analysis engine base
below_cli      := cli interop analysis engine base
below_tui      := tui interop analysis engine base
# ONLY=base takes the programs of one layer and no scripts.
TESTSRC := $(shell find tests/$(ONLY) -name 'test_*.c')
# Every parser behind a function (tests/fuzz): replay runs the kept inputs through them, fuzz looks for new ones.
FUZZED  := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/fuzz/fuzz*.c))
FUZZ_TIME ?= 60
TESTS   := $(TESTSRC:%.c=$(BUILD)/%)

define test_rule
$(BUILD)/tests/$(1)/%: $(BUILD)/tests/$(1)/%.o $(BUILD)/tests/$(1)/%.main.o $(BUILD)/tests/support.o $(below_$(1):%=$(BUILD)/lib%.a)
	@echo "  LD    $$@"
	$$(Q)$$(CC) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) -Wl,--whole-archive $(BUILD)/lib$(1).a -Wl,--no-whole-archive \
	  $(patsubst %,$(BUILD)/lib%.a,$(wordlist 2,9,$(below_$(1)))) $$(LDLIBS) -lcmocka
endef
$(foreach l,$(LAYERS),$(eval $(call test_rule,$(l))))
$(BUILD)/tests/%.main.c: tests/%.c tests/registry.awk
	@mkdir -p $(dir $@)
	$(Q)awk -f tests/registry.awk $< >$@
$(BUILD)/tests/%.main.o: $(BUILD)/tests/%.main.c $(BUILD)/gen/is_flags
	$(Q)$(COMPILE)
# A test is declared in the generated main() only, and most ignore cmocka's state.
$(BUILD)/tests/%.o: override CPPFLAGS += -Itests -Wno-missing-prototypes -Wno-unused-parameter

$(BUILD)/replay: $(FUZZED) $(BUILD)/tests/fuzz/replay.o $(LIBS)
$(BUILD)/fuzz: $(FUZZED) $(BUILD)/tests/fuzz/libfuzzer.o $(LIBS)
$(BUILD)/fuzz: override LDFLAGS += -fsanitize=fuzzer
$(BUILD)/replay $(BUILD)/fuzz:
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(STACK) $(LDLIBS)

# make fuzz [FUZZ_TIME=60] [INPUTS="onnx npy"]: needs clang with libFuzzer. What is found lies in build/fuzz/.
fuzz:
	$(Q)$(MAKE) --no-print-directory MODE=fuzz CC=clang build/fuzz/fuzz
	$(Q)FUZZ_TIME=$(FUZZ_TIME) tests/fuzz/run.sh build/fuzz $(INPUTS)

BENCHES := $(addprefix $(BUILD)/bench/,kernels study latency)
tests: $(BUILD)/qtui $(BUILD)/replay $(TESTS) $(BENCHES)
check: tests
	$(Q)BUILD=$(BUILD) tests/run.sh $(TESTS) $(if $(ONLY),,$(sort $(wildcard tests/scripts/*.sh)))
check-asan check-tsan: check-%:
	$(Q)TEST_TIMEOUT=3600 $(MAKE) --no-print-directory MODE=$* check

deps:
	@need=; for p in $(PACKAGES); do dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || need="$$need $$p"; done; \
	if [ -z "$$need" ]; then echo "All packages are there: $(PACKAGES)"; exit 0; fi; \
	echo "Installing:$$need"; sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	$$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $$need

# In quotes: of a directory with a blank in its name `rm -rf` would take what is called like the first half.
PLACE   := "$(DESTDIR)$(PREFIX)"
install: all
	install -d $(addprefix $(PLACE)/,bin share/qtui/targets share/doc/qtui share/man/man1 share/bash-completion/completions)
	install -m755 $(BUILD)/qtui $(PLACE)/bin/qtui
	install -m644 $(wildcard targets/*.json) $(PLACE)/share/qtui/targets
	install -m644 man/qtui.1 $(PLACE)/share/man/man1
	cp --parents --no-preserve=mode README.md $(wildcard */*.md) $(PLACE)/share/doc/qtui
	install -m644 completions/qtui.bash $(PLACE)/share/bash-completion/completions/qtui
uninstall:
	rm -rf $(addprefix $(PLACE)/,bin/qtui share/qtui share/doc/qtui share/man/man1/qtui.1 share/bash-completion/completions/qtui)

demo: all
	$(Q)examples/demo.sh

bench: all $(BENCHES)
	$(Q)BUILD=$(BUILD) bench/run.sh
$(BUILD)/bench/%: $(BUILD)/bench/%.o $(BUILD)/libanalysis.a $(BUILD)/libengine.a $(BUILD)/libbase.a
	@echo "  LD    $@"
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# Nothing is linked: what another compiler says, with CFLAGS="-fsyntax-only -Werror" in no time (tests/scripts/compilers.sh).
objects: $(SRC:%.c=$(BUILD)/%.o)

# Every source file by the compiler of another processor. Its own headers come first; those of the libraries, which hardly depend on
# the processor, from this machine. With arm64 libraries installed, `make CC=$(CROSS)gcc BUILD=build/arm64` builds the program.
CROSS   ?= aarch64-linux-gnu-
portable: | $(PROTO).h
	$(Q)command -v $(CROSS)gcc >/dev/null || { echo "portable: $(CROSS)gcc is not installed (Debian: gcc-aarch64-linux-gnu)" >&2; exit 1; }
	$(Q)printf '%s\n' $(SRC) | xargs -P$$(nproc) -n1 $(CROSS)gcc $(BASEFLAGS) $(release_FLAGS) -fsyntax-only -Iinclude -I$(BUILD)/gen \
	  -idirafter /usr/include -idirafter /usr/include/$$($(CC) -dumpmachine) $(DATADIR) $(RELEASE)
	@echo "portable: $(words $(SRC)) files compile with $(CROSS)gcc"

clean:
	rm -rf build

help:
	@echo "make [MODE=release|debug|asan|tsan|cov]   build/qtui; V=1 shows the commands; CFLAGS= (warnings are no errors then), CPPFLAGS= and LDFLAGS= are added"; \
	echo "make demo       the program on the shipped model, or its batch analysis where there is no terminal"; \
	echo "make check      all tests (check-asan, check-tsan: under the sanitizers; ONLY=LAYER: those of one layer)"; \
	echo "make fuzz       every parser under libFuzzer for FUZZ_TIME seconds (needs clang); INPUTS=\"onnx npy\" for some"; \
	echo "make portable   compiles every file for arm64 with a cross compiler (CROSS=$(CROSS))"; \
	echo "make bench      speed, side by side with ONNX Runtime (MODELS=\"FILE ...\" CALIB=DIR: of those; RESULTS=FILE)"; \
	echo "make deps       installs the Debian packages: $(PACKAGES)"; \
	echo "make install    DESTDIR=, PREFIX=$(PREFIX); make uninstall; make clean"

.PHONY: all build/qtui tests check check-asan check-tsan deps install uninstall demo bench fuzz objects portable clean help
.SECONDARY:
.DELETE_ON_ERROR:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
