# SPDX-License-Identifier: MIT
# The only build file. `make help` lists the targets; variants (asan, tsan, cov) are flags plus a folder of
# their own under build/. The user's CFLAGS, CPPFLAGS and LDFLAGS come last and are never overridden.

B ?= build/release
SAN ?=
V ?= 0
PKG_CONFIG ?= pkg-config
INSTALL ?= install
prefix ?= /usr/local
bindir ?= $(prefix)/bin
libdir ?= $(prefix)/lib
includedir ?= $(prefix)/include
mandir ?= $(prefix)/share/man
datadir ?= $(prefix)/share

VERSION := $(shell sed -n 's/^.define SWT_VERSION *"\(.*\)".*/\1/p' include/swt.h 2>/dev/null)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))

Q := $(if $(filter 0,$(V)),@)
say = $(if $(filter 0,$(V)),@printf '  %-6s %s\n' '$(1)' '$(2)')

# --- flags --------------------------------------------------------------------------------------------------
CORE_PKGS := libisal libcjson
CODEC_PKGS := libavcodec libswresample libavutil
DEMUX_PKGS := libavformat libavdevice libavcodec libavutil sndfile

WARN := -Wall -Wextra -Wshadow -Wconversion -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wswitch-enum
SWT_CFLAGS := -std=c11 -O2 -g -fPIC -pthread $(WARN) $(if $(WERROR),-Werror)
SWT_CPPFLAGS := -D_GNU_SOURCE -Iinclude
SWT_LDFLAGS := -pthread -Wl,--as-needed
ifneq ($(SAN),)
SWT_CFLAGS += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined
SWT_LDFLAGS += -fsanitize=$(SAN)
endif
ifdef COV
SWT_CFLAGS += --coverage -O0
SWT_LDFLAGS += --coverage
endif
LIBS = $(CORE_LIBS) -lpthread -ldl -lm
COMPILE = $(CC) $(SWT_CPPFLAGS) $(SWT_CFLAGS)
USER_FLAGS = $(CPPFLAGS) $(CFLAGS)

# --- files: by room, sorted, never by hand ------------------------------------------------------------------
ROOMS := base format store media tensor session exchange api
src = $(sort $(wildcard $(1)/*.c))
objs = $(patsubst %.c,$(B)/%.o,$(1))
LIB_OBJS := $(call objs,$(foreach r,$(ROOMS),$(call src,src/$(r))))
BASE_OBJS := $(call objs,$(call src,src/base))
CODEC_OBJS := $(call objs,$(call src,src/media/codec))
DEMUX_OBJS := $(call objs,$(call src,src/media/demux))
CMD_OBJS := $(call objs,$(call src,cmd))
UNIT_SRCS := $(call src,tests/unit)
UNITS := $(patsubst tests/unit/%.c,$(B)/%,$(filter tests/unit/test_%,$(UNIT_SRCS)))
ALL_OBJS := $(LIB_OBJS) $(CODEC_OBJS) $(DEMUX_OBJS) $(CMD_OBJS) $(call objs,$(UNIT_SRCS)) $(call objs,$(call src,tests/crash))
MODULES := $(if $(CODEC_OBJS),$(B)/swt-codec.so) $(if $(DEMUX_OBJS),$(B)/swt-demux.so)
LIBRARY := $(B)/libswt.a $(B)/libswt.so
LINKS := build/swt build/swt-codec.so build/swt-demux.so
COMMANDS := $(patsubst man/%.in,man/%,$(sort $(wildcard man/*.in)))
GENERATED := $(COMMANDS) completions/swt.bash completions/_swt completions/swt.fish

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
.PHONY: all lib units crash gen format test check unit cli lint check-slow asan tsan cov bench demo deps deps-test fresh-check \
	install uninstall distcheck dist clean help FORCE

all: $(B)/swt $(MODULES) $(LIBRARY) $(if $(filter build/release,$(B)),$(LINKS)) ## the command (build/swt), its modules and the library

lib: $(LIBRARY) ## only libswt.a and libswt.so

build/%: build/release/% # where a person looks for it
	$(Q)ln -sfn release/$* $@

# --- asking for libraries: once, into a file; a missing one is named ----------------------------------------
NEEDS_NOTHING := help clean demo test deps deps-test fresh-check dist format asan tsan cov check-slow bench
ifneq ($(filter-out $(NEEDS_NOTHING),$(or $(MAKECMDGOALS),all)),)
include $(B)/config.mk
endif

$(B)/config.mk: Makefile
	$(Q)mkdir -p $(@D)
	$(Q)for p in $(sort $(CORE_PKGS) $(CODEC_PKGS) $(DEMUX_PKGS)); do $(PKG_CONFIG) --exists $$p || { \
	    echo "swt needs the library $$p ($(PKG_CONFIG) does not find it): 'make deps' installs what Debian has" >&2; exit 1; }; done
	$(Q)archive() { f=$$($(PKG_CONFIG) --variable=libdir $$1)/$$1.a; if [ -f "$$f" ]; then echo "$$f"; else $(PKG_CONFIG) --libs $$1; fi; }; \
	{ echo "CORE_CFLAGS := $$($(PKG_CONFIG) --cflags $(CORE_PKGS))"; \
	  echo "CORE_LIBS := $$(for p in $(CORE_PKGS); do archive $$p; done | tr '\n' ' ')"; \
	  echo "MEDIA_CFLAGS := $$($(PKG_CONFIG) --cflags $(CODEC_PKGS) $(DEMUX_PKGS))"; \
	  echo "CODEC_LIBS := $$($(PKG_CONFIG) --libs $(CODEC_PKGS))"; \
	  echo "DEMUX_LIBS := $$($(PKG_CONFIG) --libs $(DEMUX_PKGS))"; } > $@

# --- compiling: one rule, a room's extras by target variables; changed flags rebuild -----------------------
$(B)/flags: FORCE
	@mkdir -p $(@D); echo '$(COMPILE) $(CORE_CFLAGS) $(MEDIA_CFLAGS) $(USER_FLAGS) $(SWT_LDFLAGS) $(LDFLAGS) $(VERSION)' | cmp -s - $@ || \
	echo '$(COMPILE) $(CORE_CFLAGS) $(MEDIA_CFLAGS) $(USER_FLAGS) $(SWT_LDFLAGS) $(LDFLAGS) $(VERSION)' > $@

$(B)/src/%.o: EXTRA = -Isrc $(CORE_CFLAGS)
$(B)/src/media/codec/%.o $(B)/src/media/demux/%.o: EXTRA = -Isrc $(CORE_CFLAGS) $(MEDIA_CFLAGS)
$(B)/cmd/%.o: EXTRA = -Icmd
$(B)/tests/%.o: EXTRA = -Isrc -Itests/unit $(CORE_CFLAGS) $(MEDIA_CFLAGS)

$(B)/%.o: %.c $(B)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) $(EXTRA) $(USER_FLAGS) -MMD -MP -c $< -o $@

# --- linking ------------------------------------------------------------------------------------------------
# The archive is one object in which everything but swt_* is local, so that room prefixes cannot clash.
$(B)/libswt.a: $(LIB_OBJS)
	$(call say,AR,$@)
	$(Q)$(LD) -r $^ -o $(B)/libswt.o
	$(Q)objcopy --wildcard --keep-global-symbol='swt_*' $(B)/libswt.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(B)/libswt.o

$(B)/libswt.map:
	$(Q)mkdir -p $(@D) && echo '{ global: swt_*; local: *; };' > $@
$(B)/libswt.so: $(LIB_OBJS) $(B)/libswt.map
	$(call say,LINK,$@)
	$(Q)$(CC) -shared -Wl,-Bsymbolic -Wl,--version-script=$(B)/libswt.map -Wl,-soname,libswt.so.$(SOVERSION) \
	    $(SWT_LDFLAGS) $(LDFLAGS) $(LIB_OBJS) $(LIBS) -o $@
	$(Q)ln -sfn libswt.so $(B)/libswt.so.$(SOVERSION)

$(B)/swt: $(CMD_OBJS) $(B)/libswt.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SWT_LDFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

# Modules carry their own copy of base; the map keeps it, and everything but the one entry, to themselves.
$(B)/base.a: $(BASE_OBJS)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(B)/module.map:
	$(Q)mkdir -p $(@D) && echo '{ global: swt_media_module; local: *; };' > $@

link-module = $(CC) -shared -Wl,-Bsymbolic -Wl,--version-script=$(B)/module.map $(SWT_LDFLAGS) $(LDFLAGS) \
	$(filter %.o %.a,$^)
$(B)/swt-codec.so: $(CODEC_OBJS) $(B)/base.a $(B)/module.map
	$(call say,LINK,$@)
	$(Q)$(link-module) $(CODEC_LIBS) $(LIBS) -o $@

$(B)/swt-demux.so: $(DEMUX_OBJS) $(B)/base.a $(B)/module.map
	$(call say,LINK,$@)
	$(Q)$(link-module) $(DEMUX_LIBS) $(LIBS) -o $@

# Tests of a module's insides see its objects too.
$(filter $(B)/test_codec_%,$(UNITS)): $(CODEC_OBJS)
$(filter $(B)/test_codec_%,$(UNITS)): UNIT_LIBS = $(CODEC_LIBS)
$(filter $(B)/test_demux_%,$(UNITS)): $(DEMUX_OBJS)
$(filter $(B)/test_demux_%,$(UNITS)): UNIT_LIBS = $(DEMUX_LIBS)
$(B)/rooms.a: $(LIB_OBJS)
	$(Q)rm -f $@ && $(AR) rcs $@ $^
$(B)/test_%: $(B)/tests/unit/test_%.o $(B)/rooms.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SWT_LDFLAGS) $(LDFLAGS) $(filter %.o,$^) $(B)/rooms.a $(UNIT_LIBS) $(LIBS) -o $@

# Power cuts: the store's own objects, with the calls to libc caught (tests/crash/vfs.c).
CRASH_OBJS := $(call objs,$(call src,tests/crash))
CAUGHT := open openat close read write pread pwrite pwritev lseek ftruncate fallocate posix_fallocate fsync fdatasync \
	sync_file_range fstat fstatat faccessat access fchmod fchown readlink realpath mkdir mkdirat renameat unlink \
	unlinkat rmdir fdopendir readdir closedir fcntl mmap munmap clock_gettime getrandom pthread_create pthread_join
$(B)/crash-cuts: $(CRASH_OBJS) $(B)/rooms.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SWT_LDFLAGS) $(LDFLAGS) $(CAUGHT:%=-Wl,--wrap=%) $^ $(LIBS) -o $@
# The same with one fault each; a patch that does not apply is for seeded-bugs.t to report.
BUGS := $(if $(SAN)$(COV),,$(patsubst tests/crash/bugs/%.patch,$(B)/crash-bugs/%,$(sort $(wildcard tests/crash/bugs/*.patch))))
$(B)/crash-bugs/%: tests/crash/bugs/%.patch tests/crash/build-bug $(CRASH_OBJS) $(B)/rooms.a
	$(call say,BUG,$*)
	$(Q)mkdir -p $(@D)
	$(Q)COMPILE='$(COMPILE) -w -Isrc $(CORE_CFLAGS) $(USER_FLAGS)' LIBS='$(LIBS)' \
	    LINK='$(CC) $(SWT_LDFLAGS) $(LDFLAGS) $(CAUGHT:%=-Wl,--wrap=%)' \
	    tests/crash/build-bug $< $@ $(CRASH_OBJS) $(B)/rooms.a
crash: $(B)/crash-cuts $(BUGS) ## simulated power cuts of the store, and of stores with seeded bugs: CUTS=20000 SEED=1
	$(Q)B=$(B) CUTS=$(CUTS) SEED=$(SEED) tests/crash/cuts.t
	$(Q)B=$(B) MIXES=$(MIXES) tests/crash/exhaustive.t
	$(Q)B=$(B) CUTS=$(or $(BUG_CUTS),20000) STOP=$(STOP) WORKERS=2 tests/crash/seeded-bugs.t

units: $(UNITS) $(MODULES)

-include $(wildcard $(ALL_OBJS:.o=.d))

# --- generated, committed files -----------------------------------------------------------------------------
gen: $(B)/swt ## write man pages and completions anew from the option tables and the format structs
	$(Q)man/generate $(B)/swt .

format: ## clang-format 14 over all C files
	$(Q)find src cmd include tests/unit -name '*.[ch]' | xargs clang-format-14 -i

# --- tests: every suite speaks TAP; tests/lib/run-tests adds them up ----------------------------------------
RUN = B=$(B) SWT=$(CURDIR)/$(B)/swt VERSION=$(VERSION) tests/lib/run-tests
check: all units $(B)/crash-cuts $(BUGS) ## unit programs, power cuts, command-line tests and lint: what every commit must pass
	$(Q)$(RUN) crash unit cli lint
unit cli: all units ## one suite of check
	$(Q)$(RUN) $@
lint: all ## format, arrows, headers alone, symbols, banned calls, sizes, scripts, generated files
	$(Q)$(RUN) $@
test: ## install what tests need, build, run everything; ends with N passed, N failed, N skipped
	@$(MAKE) --no-print-directory deps-test
	@$(MAKE) --no-print-directory check
# Sanitizers make gcc warn of conversions that are not there: no -Werror under them.
asan: ## the tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory B=build/asan SAN=address,undefined WERROR= all units
	@$(MAKE) --no-print-directory B=build/asan SAN=address,undefined WERROR= unit-cli
tsan: ## the tests under ThreadSanitizer
	@$(MAKE) --no-print-directory B=build/tsan SAN=thread WERROR= all units
	@$(MAKE) --no-print-directory B=build/tsan SAN=thread WERROR= unit-cli
unit-cli: all units $(B)/crash-cuts
	$(Q)$(RUN) crash unit cli
check-slow: asan tsan ## sanitizers, millions of power cuts
	@$(MAKE) --no-print-directory crash CUTS=$(or $(CUTS),2000000) MIXES=10000000 STOP=20000
cov: ## line coverage of src and cmd by the tests
	@$(MAKE) --no-print-directory B=build/cov COV=1 unit-cli
	@find build/cov -name '*.gcda' | xargs gcov -n 2>/dev/null | tests/lib/coverage
bench: ## speed against plain C, numpy, h5py and zarr as ratios of one run; ARGS='--quick --only J1,J5'
	@$(MAKE) --no-print-directory all
	@B=$(B) tests/bench/bench $(ARGS)

# --- set-up -------------------------------------------------------------------------------------------------
deps: ## install Debian's packages that building needs
	@tests/lib/deps build
deps-test:
	@tests/lib/deps build test
demo: ## all set-up, then the main job; INPUT=file-or-URL records that instead of FFmpeg's test source
	@tests/lib/deps build
	@$(MAKE) --no-print-directory all
	@SWT=build/swt tests/lib/demo '$(INPUT)'
fresh-check: ## README's two commands in a bare Debian 12, in a folder made by debootstrap (root)
	@tests/lib/fresh-check

# --- install and uninstall: one list, mode:source:target; a link has mode `link` ----------------------------
MAN_LIST := $(foreach m,$(COMMANDS),644:$(m):$(mandir)/man$(patsubst .%,%,$(suffix $(m)))/$(notdir $(m)))
INSTALL_LIST = 755:$(B)/swt:$(bindir)/swt 755:$(B)/swt-codec.so:$(libdir)/swt/swt-codec.so \
	755:$(B)/swt-demux.so:$(libdir)/swt/swt-demux.so 755:$(B)/libswt.so:$(libdir)/libswt.so.$(VERSION) \
	link:libswt.so.$(VERSION):$(libdir)/libswt.so.$(SOVERSION) link:libswt.so.$(SOVERSION):$(libdir)/libswt.so \
	644:$(B)/libswt.a:$(libdir)/libswt.a 644:include/swt.h:$(includedir)/swt.h 644:$(B)/swt.pc:$(libdir)/pkgconfig/swt.pc \
	644:completions/swt.bash:$(datadir)/bash-completion/completions/swt 644:completions/_swt:$(datadir)/zsh/site-functions/_swt \
	644:completions/swt.fish:$(datadir)/fish/vendor_completions.d/swt.fish $(MAN_LIST)
each = for i in $(INSTALL_LIST); do m=$${i%%:*}; r=$${i\#*:}; s=$${r%%:*}; t="$(DESTDIR)$${r\#*:}"

install: all $(B)/swt.pc ## DESTDIR and prefix (default /usr/local) are respected
	$(Q)$(each); mkdir -p "$${t%/*}" && if [ $$m = link ]; then ln -sfn $$s "$$t"; \
	    else $(INSTALL) -m $$m $$s "$$t"; fi || exit 1; done
uninstall: ## removes what install put there
	$(Q)$(each); rm -f "$$t" || exit 1; done; rmdir "$(DESTDIR)$(libdir)/swt" 2>/dev/null || true

$(B)/swt.pc: swt.pc.in include/swt.h FORCE
	$(Q)sed -e 's|@prefix@|$(prefix)|' -e 's|@libdir@|$(libdir)|' -e 's|@includedir@|$(includedir)|' \
	    -e 's|@VERSION@|$(VERSION)|' $< > $@

distcheck: all ## install into an empty folder, use it from there, uninstall, expect nothing left
	$(Q)tests/lib/distcheck $(B)
dist: ## source archive of the last commit, build/swt-VERSION.tar.gz
	$(Q)mkdir -p build && git archive --prefix=swt-$(VERSION)/ -o build/swt-$(VERSION).tar.gz HEAD
clean: ## remove build/
	$(Q)rm -rf build
help: ## this list
	@sed -n 's/^\([a-z][a-z ./-]*\):[^#]*## */\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r t d; do printf '  %-12s %s\n' "$$t" "$$d"; done
