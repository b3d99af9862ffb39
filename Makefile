# planetd. `make help` lists the targets.
#
# Nothing here needs a compiler or pkg-config while make reads this file: `make run` and `make test` work on a machine
# that has only make, because they first install what is missing and then start make again.
MAKEFLAGS += --no-builtin-rules --no-print-directory
.SUFFIXES:
.DELETE_ON_ERROR:
# Objects of test programs are kept: else the second `make test` compiles them again.
.SECONDARY:
.DEFAULT_GOAL := all

# ---- What can be set -----------------------------------------------------------------------------------------------

ifeq ($(origin CC),default)
CC := cc
endif
# Sanitized objects never mix with plain ones: each combination has its own folder.
comma := ,
ifdef SANITIZE
BUILD ?= build-$(subst $(comma),-,$(SANITIZE))
endif
BUILD ?= build
PREFIX ?= /usr/local
RUN_LISTEN ?= 0.0.0.0:8080
CROSS ?= aarch64-linux-gnu-
# Jobs of the inner make, unless the outer one was told.
JOBS = $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

# ---- Flags ---------------------------------------------------------------------------------------------------------

PKGS := libmicrohttpd egl glesv2 libpng libdeflate jansson nettle
# The daemon builds without these; what needs them then says so when it is asked for.
OPTIONAL := hiredis libseccomp libwebp
WARN := -Wall -Wextra -Wshadow -Wvla -Wmissing-prototypes -Wstrict-prototypes -Wswitch-enum -Wpointer-arith \
        -Wwrite-strings -Wundef -Wno-psabi
ifdef WERROR
WARN += -Werror
endif
# -ffp-contract=off: a fused multiply-add rounds once where the kernels mean twice.
# The empty _GNU_SOURCE agrees with files that define it themselves. xxHash is taken from its header: no library to carry.
BASE_FLAGS := -std=gnu11 -D_GNU_SOURCE= -DXXH_INLINE_ALL= -O2 -g -ffp-contract=off -fno-math-errno -pthread -I.
FLAGS := $(BASE_FLAGS) -I$(BUILD)/gen
ifdef SANITIZE
FLAGS += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
# Every program has it, and all of them need the library.
KEEP_MODULES := $(BUILD)/obj/tests/sanitize/keep_modules.o
LDFLAGS += $(KEEP_MODULES)
endif
# Asked once, and only when a recipe needs it.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(call pkg_config,--cflags) $$(PKGS_THERE:%=-DWITH_%))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(call pkg_config,--libs) -lgif -lm)$(PKG_LIBS)
PKGS_THERE = $(eval PKGS_THERE := $$(shell for p in $(OPTIONAL); do \
                 pkg-config --exists $$$$p && echo $$$$p; done))$(PKGS_THERE)
pkg_config = $(or $(shell pkg-config $(1) $(PKGS) $(PKGS_THERE) && echo -pthread),$(error Packages are missing: \
             try `make packages`))
COMPILE = $(CC) $(FLAGS) $(WARN) $(CFLAGS) $(PKG_CFLAGS) -MMD -MP

# FLAGS_<path without .c> are the flags of one file. One kernel source is compiled once for each instruction set.
KERNEL_FLAGS := -O3 -ffp-contract=off -fno-builtin-floor
ifdef SANITIZE
KERNEL_FLAGS += -O1 # inlined vector code at -O3 under a sanitizer compiles for minutes
endif
FLAGS_renderer/cpu/kernels_sse2 := $(KERNEL_FLAGS) -msse2
FLAGS_renderer/cpu/kernels_avx2 := $(KERNEL_FLAGS) -mavx2
FLAGS_renderer/cpu/kernels_avx512 := $(KERNEL_FLAGS) -mavx512f -mavx512dq -mavx512bw -mavx512vl \
                                     -mprefer-vector-width=512
FLAGS_renderer/cpu/kernels_neon := $(KERNEL_FLAGS)
ARCH := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null)))
KERNELS_x86_64 := sse2 avx2 avx512
KERNELS_aarch64 := neon
# $(call without_kernels_of_others,ARCH,SOURCES)
without_kernels_of_others = $(filter-out $(filter-out $(KERNELS_$(1):%=renderer/cpu/kernels_%.c), \
                            $(wildcard renderer/cpu/kernels_*.c)),$(2))

# ---- Generated sources -----------------------------------------------------------------------------------------------

# Shaders are read by the kernels as C and by the GL backend as text. A new file in shaders/bodies/ needs no line here.
SHADERS := $(sort $(wildcard shaders/*.glsl shaders/bodies/*.glsl))
GENERATED := $(BUILD)/gen/shaders_embedded.h $(BUILD)/gen/body_kernels.h

$(BUILD)/gen/shaders_embedded.h: shaders/embed.sh $(SHADERS)
	@mkdir -p $(@D)
	sh shaders/embed.sh $(SHADERS) > $@

$(BUILD)/gen/body_kernels.h: $(filter shaders/bodies/%,$(SHADERS))
	@mkdir -p $(@D)
	for f in $^; do echo "#include \"$$f\""; done > $@

# The page's engine: what the server does around the kernels, as WebAssembly. With Debian's clang, lld and wasi-libc
# it is built; without them the page shows the server's pictures, and says so. Encoders have a stand-in there, and what
# needs JSON is left out.
WASM := $(BUILD)/wasm
WASM_SRC := $(wildcard api/wasm/*.c) tests/golden/no_encoders.c renderer/encode/sheet_layout.c \
            $(filter-out renderer/renderer.c renderer/self_test.c,$(wildcard renderer/*.c)) \
            renderer/base/angle.c renderer/base/err.c renderer/base/blob.c \
            $(addprefix api/,code.c contact.c fault.c find.c glyphs.c key.c params.c request.c request_accept.c \
            request_finish.c text.c)
WASM_CC := clang --target=wasm32-wasi
WASM_FLAGS := -mexec-model=reactor -std=gnu11 -D_GNU_SOURCE= -DXXH_INLINE_ALL= -DNDEBUG -Os -ffp-contract=off \
              -fno-math-errno -ffunction-sections -fdata-sections -I. -I$(BUILD)/gen
WASM_THERE := $(if $(shell command -v wasm-ld),$(if $(shell command -v clang),$(wildcard \
              /usr/include/wasm32-wasi/stdio.h)))

# Compiled as one: it is small, and the linker then drops what is not called. xxHash alone of the system's headers.
$(WASM)/planetd.wasm: $(WASM_SRC) $(wildcard api/*.h api/*.def renderer/*.h renderer/*.def renderer/*/*.h shaders/*.glsl)
	@mkdir -p $(WASM)/include
	cp $(wildcard /usr/include/xxhash.h /usr/include/xxh3.h) $(WASM)/include
	$(WASM_CC) $(WASM_FLAGS) $(WARN) -idirafter $(WASM)/include $(WASM_SRC) -o $@ -Wl,--gc-sections,--strip-all

# The daemon serves these as they are. A new file in server/viewer/ needs no line here; one that is built is named in
# VIEWER_EXTRA. The list of names is there so that a file that goes is noticed too.
VIEWER_EXTRA := $(if $(WASM_THERE),$(WASM)/planetd.wasm)
PAGE_FILES := $(sort $(wildcard server/viewer/*)) $(SHADERS) $(VIEWER_EXTRA)

$(BUILD)/gen/page_files.def: server/embed_viewer.sh $(BUILD)/gen/page_names $(PAGE_FILES)
	@mkdir -p $(@D)
	sh server/embed_viewer.sh $(PAGE_FILES) > $@

# The compiler does not tell what the assembler takes in.
$(BUILD)/obj/server/page.o $(BUILD)/tidy/server/page: $(BUILD)/gen/page_files.def

$(BUILD)/gen/page_names: FORCE
	@mkdir -p $(@D)
	@echo '$(PAGE_FILES)' | cmp -s - $@ || echo '$(PAGE_FILES)' > $@

# ---- The daemon ----------------------------------------------------------------------------------------------------

ALL_SRC := $(wildcard renderer/*.c renderer/*/*.c api/*.c server/*.c)
LIB_SRC := $(filter-out server/main.c,$(call without_kernels_of_others,$(ARCH),$(ALL_SRC)))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/obj/%.o)

all: $(BUILD)/planetd $(BUILD)/planet ## build the daemon and the command (default)

$(BUILD)/planetd: $(BUILD)/obj/server/main.o $(BUILD)/libplanetd.a
	$(CC) $(FLAGS) $(LDFLAGS) $^ -o $@ $(PKG_LIBS)

CLIENT_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard api/client/*.c))
$(BUILD)/planet: $(CLIENT_OBJ) $(BUILD)/libplanetd.a
	$(CC) $(FLAGS) $(LDFLAGS) $^ -o $@ -Wl,--as-needed $(PKG_LIBS)

$(BUILD)/libplanetd.a: $(LIB_OBJ) $(KEEP_MODULES)
	rm -f $@
	ar rcs $@ $(LIB_OBJ)

$(BUILD)/obj/%.o: %.c $(BUILD)/flags | $(GENERATED)
	@mkdir -p $(@D)
	$(COMPILE) $(FLAGS_$*) -c $< -o $@

# Other flags or another compiler: everything is compiled again.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(FLAGS) $(WARN) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(FLAGS) $(WARN) $(CFLAGS)' > $@

packages: ## install the Debian packages that `make` and `make run` need
	@sh deploy/install-packages.sh build run page

# The printed lines are for this machine, whatever address is listened on.
RUN_AT = localhost:$(lastword $(subst :, ,$(RUN_LISTEN)))

run: ## install what is missing, build, serve on port 8080
	@sh deploy/install-packages.sh build run page
	@+$(MAKE) $(JOBS) all
	@echo
	@echo "Try these from another terminal (Ctrl-C here stops the daemon):"
	@echo "  curl '$(RUN_AT)/planet?type=gas&seed=3' -o gas.png"
	@echo "  curl '$(RUN_AT)/planet.gif?type=terrestrial&seed=7&rings=on' -o world.gif"
	@echo "  curl $(RUN_AT)/planet -H 'Content-Type: application/json'" \
	     "-d '{\"type\":\"lava\",\"seed\":\"my save file\",\"zoom\":8}' -o lava.png"
	@echo
	@exec $(BUILD)/planetd --listen $(RUN_LISTEN)

install: all ## install the daemon under $(DESTDIR)$(PREFIX)
	install -D -m 755 $(BUILD)/planetd $(DESTDIR)$(PREFIX)/bin/planetd
	install -D -m 755 $(BUILD)/planet $(DESTDIR)$(PREFIX)/bin/planet
	install -D -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/planetd/LICENSE

# ---- Tests ---------------------------------------------------------------------------------------------------------

# tests/unit/test_*.c are test programs; other .c files there are programs that scripts of tests/ use.
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/unit/test_*.c)))
HELPERS := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c)))
# Each tests/fuzz/fuzz_*.c is a target; replay_* runs its inputs without a fuzzer.
FUZZ := $(patsubst tests/fuzz/fuzz_%.c,%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
REPLAY := $(FUZZ:%=$(BUILD)/tests/replay_%)
TOOLS := $(addprefix $(BUILD)/,golden files docs sheet)

$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/libplanetd.a
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(LDFLAGS) $^ -o $@ $(PKG_LIBS) -lcmocka

$(TOOLS): $(BUILD)/libplanetd.a
# Links nothing but EGL and GLES, so that it can be carried to a machine with a GPU and no libraries (tests/README.md).
$(BUILD)/golden: $(addprefix $(BUILD)/obj/tests/golden/,golden.o no_encoders.o)
$(BUILD)/files: $(BUILD)/obj/tests/golden/files.o
$(BUILD)/docs: $(BUILD)/obj/tests/docs/docs.o
$(BUILD)/sheet: $(BUILD)/obj/tests/sheet/sheet.o
$(TOOLS):
	$(CC) $(FLAGS) $(LDFLAGS) $(filter %.o,$^) $(BUILD)/libplanetd.a -o $@ -Wl,--as-needed $(PKG_LIBS)

$(BUILD)/tests/replay_%: $(addprefix $(BUILD)/obj/tests/fuzz/,fuzz_%.o replay.o) $(BUILD)/libplanetd.a
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(LDFLAGS) $^ -o $@ $(PKG_LIBS)

programs: all $(UNIT) $(HELPERS) $(REPLAY) $(TOOLS) ## build the daemon and all test programs, run nothing

test: ## install what is missing, build and run every test (SANITIZE=address,undefined or thread: sanitized)
	@sh deploy/install-packages.sh build run page test
	@+$(MAKE) $(JOBS) programs $(if $(SANITIZE),,neon)
	@BUILD=$(BUILD) SANITIZE=$(SANITIZE) sh tests/run.sh $(UNIT)

unit: $(UNIT) ## build and run the unit tests only
	@BUILD=$(BUILD) SANITIZE=$(SANITIZE) ONLY=unit sh tests/run.sh $(UNIT)

# NEON, without a machine that has it: what draws is cross-compiled and run under an emulator. No library is linked:
# xxHash is used from its header, stand-ins take the place of GL and encoders, and what needs JSON stays in the archive.
NEON := $(BUILD)/aarch64
NEON_SRC := $(call without_kernels_of_others,aarch64,$(wildcard renderer/*.c renderer/base/*.c renderer/cpu/*.c \
            renderer/null/*.c api/*.c) renderer/encode/sheet_layout.c renderer/gl/absent.c)
NEON_OBJ := $(NEON_SRC:%.c=$(NEON)/obj/%.o)
NEON_CC = $(CROSS)gcc $(BASE_FLAGS) $(WARN) -I$(BUILD)/gen -DWITHOUT_GL

# Without a cross-compiler (or on ARM itself, where `golden` draws with NEON anyway) there is nothing to build, and
# tests/run.sh says so.
neon: $(if $(filter-out aarch64,$(ARCH)),$(if $(shell command -v $(CROSS)gcc),$(NEON)/golden))

neon-parity: neon ## cross-build the NEON kernels and compare their pictures under qemu-user
	@BUILD=$(BUILD) ONLY=neon sh tests/run.sh

$(NEON)/golden: $(NEON)/obj/tests/golden/golden.o $(NEON)/obj/tests/golden/no_encoders.o $(NEON)/libcore.a
	$(CROSS)gcc -static -pthread $^ -o $@ -lm

$(NEON)/libcore.a: $(NEON_OBJ)
	rm -f $@
	$(CROSS)ar rcs $@ $^

$(NEON)/obj/%.o: %.c $(BUILD)/flags | $(GENERATED)
	@mkdir -p $(@D)
	$(NEON_CC) $(FLAGS_$*) -MMD -MP -c $< -o $@

# ---- Lint ----------------------------------------------------------------------------------------------------------

C_FILES = $(ALL_SRC) $(wildcard api/client/*.c tests/*/*.c)
H_FILES = $(wildcard renderer/*.h renderer/*/*.h api/*.h api/*/*.h server/*.h tests/*/*.h)
SH_FILES = $(wildcard .ci/run deploy/*.sh server/*.sh shaders/*.sh tests/*.sh tests/*/*.sh)
# One build of the kernels is enough for the analysers: the source is the same.
TIDY_SRC = $(filter-out renderer/cpu/kernels_avx2.c renderer/cpu/kernels_avx512.c,$(call \
           without_kernels_of_others,$(ARCH),$(C_FILES)))

lint: ## check format, layers, and what clang-tidy, cppcheck and shellcheck find
	@sh deploy/install-packages.sh build run page lint
	@+$(MAKE) $(JOBS) --keep-going lint-layers lint-format lint-cppcheck lint-sh lint-tidy

lint-layers:
	@sh tests/lint/layers.sh

lint-format:
	clang-format --dry-run -Werror $(C_FILES) $(H_FILES)

# A tool for what clang-tidy misses, so only its checks of substance. Library headers are not looked into. It takes
# vector types for arrays, so the kernels are left out. Its idea of what is initialised is often wrong; that question is
# left to both compilers and to clang's analyser.
lint-cppcheck:
	cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability --inline-suppr \
	    --suppress=missingIncludeSystem --suppress=uninitvar --suppress=legacyUninitvar \
	    --error-exitcode=1 -j$(shell nproc) -I. $(filter-out renderer/cpu/kernels_%,$(TIDY_SRC))

lint-sh:
	shellcheck $(SH_FILES)

lint-tidy: $(TIDY_SRC:%.c=$(BUILD)/tidy/%)

$(BUILD)/tidy/%: %.c $(H_FILES) .clang-tidy | $(GENERATED)
	@mkdir -p $(@D)
	clang-tidy --quiet $< -- $(filter-out -fsanitize%,$(FLAGS)) $(filter-out -mprefer%,$(FLAGS_$*)) $(PKG_CFLAGS)
	@touch $@

# ---- Pictures and tables that are committed -----------------------------------------------------------------------

docs: $(BUILD)/docs ## write the README's tables and api/openapi.json anew from the tables of the code
	sh tests/docs/docs.sh $(BUILD)/docs

sheet: $(BUILD)/sheet ## draw the README's pictures anew (tests/pictures/)
	sh tests/sheet/sheets.sh $(BUILD)/sheet tests/pictures

golden: $(BUILD)/golden $(BUILD)/files ## write the golden hashes anew: only with a reason, and say it in the commit
	$(BUILD)/golden -u tests/golden/golden.tsv
	$(BUILD)/files -u tests/golden/files.tsv

# ---- Bench ---------------------------------------------------------------------------------------------------------

BENCHES := $(patsubst tests/bench/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/bench/bench_*.c)))

$(BUILD)/tests/bench_%: $(BUILD)/obj/tests/bench/bench_%.o $(BUILD)/libplanetd.a
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(LDFLAGS) $^ -o $@ $(PKG_LIBS)

bench-programs: all $(BENCHES)

bench: ## measure speed and size, beside nginx, libpng and gifsicle
	@sh deploy/install-packages.sh build run page bench
	@+$(MAKE) $(JOBS) bench-programs
	@BUILD=$(BUILD) sh tests/bench/run.sh

# ---- Image ---------------------------------------------------------------------------------------------------------

image-test: ## build deploy/Dockerfile without Docker (buildah, debootstrap; root) and try the image
	@sh deploy/install-packages.sh image-test
	@sh tests/image/image_test.sh

# ---- Fuzzing --------------------------------------------------------------------------------------------------------

# libFuzzer is clang's, so all is built once more, for coverage and with sanitizers.
fuzz: ## run each fuzz target for a minute (FUZZ_SECONDS=60); one alone: make fuzz FUZZ=query
	@sh deploy/install-packages.sh build run page fuzz
	@+$(MAKE) $(JOBS) CC=clang SANITIZE=address,undefined CFLAGS=-fsanitize=fuzzer-no-link BUILD=$(BUILD)-fuzz \
	    fuzz-programs
	@BUILD=$(BUILD)-fuzz sh tests/fuzz/run.sh $(FUZZ)

fuzz-programs: $(FUZZ:%=$(BUILD)/fuzz_%)

$(BUILD)/fuzz_%: $(BUILD)/obj/tests/fuzz/fuzz_%.o $(BUILD)/libplanetd.a
	$(CC) $(FLAGS) -fsanitize=fuzzer $(LDFLAGS) $^ -o $@ $(PKG_LIBS)

# ---- Soak ----------------------------------------------------------------------------------------------------------

SOAK_SECONDS ?= 600
soak: ## ten minutes of good, bad and broken requests while caches and contexts are lost (SOAK_SECONDS=600)
	@sh deploy/install-packages.sh build run page test
	@+$(MAKE) $(JOBS) all
	@/usr/bin/python3 tests/soak/soak.py $(BUILD)/planetd $(SOAK_SECONDS)

# --------------------------------------------------------------------------------------------------------------------

clean: ## remove what was built
	rm -rf build build-*/

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "  make %-13s %s\n", $$1, $$2 }'
	@echo "Variables: CC CFLAGS LDFLAGS BUILD PREFIX DESTDIR SANITIZE WERROR=1 RUN_LISTEN"

FORCE:
.PHONY: all packages docs sheet golden bench run install programs test unit neon neon-parity lint lint-layers lint-format \
        lint-cppcheck lint-sh lint-tidy bench-programs image-test fuzz fuzz-programs soak clean help FORCE

# ARCH is a build's, so objects of other architectures never get here.
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
