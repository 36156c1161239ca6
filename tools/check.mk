# SPDX-License-Identifier: BSD-2-Clause
#
# The static checks of `make check`, each a goal of its own. Included by the
# Makefile, whose flags they share.

.PHONY: headers layers fpcheck format reformat analyse scripts

# offsets.c is a table that two kinds of compilation read.
source-dirs := abi core core/freestanding arch/$(ARCH) \
	arch/$(ARCH)/include/arch guest guest/bench guest/linux guest/include \
	guest/include/$(ARCH) guest/$(ARCH) \
	guest/runtime guest/runtime/$(ARCH) tests/fake tests/fake/include \
	tests/fake/include/arch tests/mini tests/sim tests/sim/include/arch \
	tests/unit tests/vgic third
sources := $(filter-out %/offsets.c,$(sort $(wildcard \
	$(addsuffix /*.[ch],$(source-dirs)))))

# Every header compiles alone, with the flags of those who may include it.
header-dirs := $(wildcard abi core core/freestanding arch/$(ARCH) \
	arch/$(ARCH)/include/arch guest/include guest/include/$(ARCH))
headers-in = $(wildcard $(1)/*.h)
alone = $(addprefix $(B)/alone/,$(addsuffix .ok,$(1)))
core-headers := $(foreach d,abi core core/freestanding \
	arch/$(ARCH)/include/arch,$(call headers-in,$(d)))
arch-headers := $(call headers-in,arch/$(ARCH))
guest-headers := $(call headers-in,guest/include) \
	$(call headers-in,guest/include/$(ARCH))
all-headers := $(core-headers) $(arch-headers) $(guest-headers)

$(call alone,$(core-headers)): alone-flags = $(core-flags)
$(call alone,$(arch-headers)): alone-flags = $(arch-flags)
$(call alone,$(guest-headers)): alone-flags = $(guest-flags)

# What defines macros for others to use may leave them unused here.
$(call alone,$(all-headers)): $(B)/alone/%.ok: % Makefile tools/check.mk \
		$(B)/hidden.h $(offsets-h) $(fdt-stamp) $(newlib-stamp)
	@mkdir -p $(@D)
	$(Q)echo '#include "$*"' | $(CC) $(alone-flags) -Wno-unused-macros \
		-I. $(deps) -MT $@ -MF $@.d -x c -c -fsyntax-only -
	@touch $@

headers: $(call alone,$(all-headers))

-include $(addsuffix .d,$(call alone,$(all-headers)))

# Symbols that cross the line between core and arch.
layers: $(hyp-o)
	$(if $(wildcard tools/layers),$(Q)python3 tools/layers --arch $(ARCH))

# No vector register in any C object.
fpcheck: $(hyp-o)
	$(if $(wildcard tools/fpcheck),$(Q)python3 tools/fpcheck --arch $(ARCH))

# Only what changed since it was last found good.
format-rules := .clang-format tools/format tools/check.mk
format: $(B)/format.ok

$(B)/format.ok: $(sources) $(format-rules)
	$(say) CHK "format"
	@mkdir -p $(@D)
	$(Q)tools/format --check \
		$(if $(filter $(format-rules),$?),$(sources),$?)
	@touch $@

reformat:
	$(Q)tools/format $(sources)

cpu-macro-arm64 := __aarch64__
cpu-macro-loongarch := __loongarch__

# Only what the compiler does not find: tools/cppcheck.txt says what is off.
analyse: $(fdt-stamp) $(offsets-h)
	@mkdir -p $(B)/cppcheck
	$(say) CHK "cppcheck core arch/$(ARCH)"
	$(Q)cppcheck --quiet --error-exitcode=1 --std=c23 --language=c \
		--platform=unix64 --enable=warning,portability,performance \
		--check-level=exhaustive --inline-suppr -j2 \
		--suppressions-list=tools/cppcheck.txt \
		--cppcheck-build-dir=$(B)/cppcheck \
		-D$(cpu-macro-$(ARCH))=1 -D__GNUC__=14 -D__STDC_VERSION__=202311L \
		-D__ORDER_LITTLE_ENDIAN__=1234 -D__BYTE_ORDER__=1234 \
		-Icore -Icore/freestanding -Iabi -Iarch/$(ARCH)/include \
		-Iarch/$(ARCH) -I$(B) -Ibuild/third/libfdt \
		$(core-c) $(arch-c)

# Shell scripts are told by their first line.
shell-scripts = $(shell grep -lE '^\#!/bin/(sh|bash)' tools/* .ci/* \
	2>/dev/null)
python-scripts = $(shell grep -lE '^\#!.*python3' tools/* 2>/dev/null) \
	$(wildcard tools/*.py tools/*/*.py tests/*.py)

scripts:
	$(say) CHK "scripts"
	$(Q)shellcheck -x $(shell-scripts)
	$(Q)python3 -W error -c 'import pathlib, sys; \
		[compile(pathlib.Path(f).read_text(), f, "exec") \
		 for f in sys.argv[1:]]' \
		$(sort $(python-scripts))

check: headers layers fpcheck format analyse scripts
