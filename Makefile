# SPDX-License-Identifier: BSD-2-Clause
#
# The one entry point: `make help` lists what it can do. The host needs make,
# a shell and git; everything else comes from the tool root (tools/root), in
# which this Makefile runs itself again. All output goes below build/.

ARCH ?= arm64
B := build/$(ARCH)
SHELL := /bin/sh

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-builtin-variables

all:

help:
	@sed -n 's/^#: //p' Makefile

#: make all        hypervisor, guest images and libraries, under build/
#: make run        boot a Debian kernel and a small guest beside it
#: make test       all checks and tests; ends with a plain count
#: make soak       the same tests in their long forms
#: make check      static checks only: headers layers fpcheck format analyse
#: make bench      measure, and compare with the ceilings
#: make mutants    build hypervisors with one FP mistake each; tests must notice
#: make debug      boot under gdb
#: make deps       only fetch and build what the rest needs
#: make reformat   let the formatter rewrite the sources
#: make clean      delete build/ except third-party code; distclean: all of it
#:
#: Variables: ARCH=arm64 or loongarch, V=1 (show commands), NESTLING_MIRROR=URL
#: (a Debian mirror to use instead of the host's own), XDG_CACHE_HOME (where the
#: tool root and third-party builds are kept, below nestling/).

clean:
	rm -rf $(filter-out build/third build/guests,$(wildcard build/*))

distclean:
	rm -rf build

ifneq ($(NESTLING_ROOT),1)

# Outside the tool root: hand all goals over in one go. Variables of the
# command line and -j travel in MAKEFLAGS.
inner := $(filter-out help clean distclean,$(or $(MAKECMDGOALS),all))

.NOTPARALLEL:
.PHONY: help clean distclean enter $(inner)

enter:
	+@tools/root exec make --no-print-directory $(inner)

$(inner): enter
	@:

else

# --- what to build -----------------------------------------------------------

core-c := $(wildcard core/*.c core/freestanding/*.c)
arch-c := $(filter-out arch/$(ARCH)/offsets.c,$(wildcard arch/$(ARCH)/*.c))
arch-s := $(wildcard arch/$(ARCH)/*.S)
fdt-c := $(addprefix build/third/libfdt/,fdt.c fdt_addresses.c fdt_check.c \
	fdt_empty_tree.c fdt_ro.c fdt_rw.c fdt_strerror.c fdt_sw.c fdt_wip.c)
-include guest/images.mk
guest-c := $(filter-out $(only-arm64:%=guest/%.c),$(wildcard guest/*.c))
guest-c += $(if $(filter arm64,$(ARCH)),$(only-arm64:%=guest/%.c))
guest-arch-c := $(wildcard guest/$(ARCH)/*.c)
rt-c := $(wildcard guest/runtime/*.c guest/runtime/$(ARCH)/*.c)
rt-s := $(wildcard guest/runtime/*.S guest/runtime/$(ARCH)/*.S)
unit-c := $(wildcard tests/unit/*.c)
fake-c := $(wildcard tests/fake/*.c)

# --- tools and flags, in groups ----------------------------------------------

cross-arm64 := aarch64-linux-gnu-
cross-loongarch := loongarch64-linux-gnu-
CROSS := $(cross-$(ARCH))
CC := $(CROSS)gcc
LD := $(CROSS)ld
OBJCOPY := $(CROSS)objcopy
OBJDUMP := $(CROSS)objdump
NM := $(CROSS)nm
HOSTCC := gcc
gcc-inc := $(shell $(CC) -print-file-name=include)

warnings := -Wall -Wextra -Werror -Wshadow -Wundef -Wvla -Wconversion \
	-Wno-sign-conversion -Wcast-align=strict -Wcast-qual -Wpointer-arith \
	-Wwrite-strings -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wredundant-decls -Wnested-externs \
	-Wimplicit-fallthrough=5 -Wswitch-enum -Wformat=2 -Wunused-macros \
	-Wlogical-op -Wduplicated-cond -Wduplicated-branches \
	-Wnull-dereference
language := -std=gnu23 -ffreestanding -fno-common -fno-strict-aliasing
output := -O2 -g -ffunction-sections -fdata-sections -fno-stack-protector \
	-fno-asynchronous-unwind-tables -fno-unwind-tables \
	-fno-omit-frame-pointer -fno-stack-clash-protection
deps = -MMD -MP

# No vector register in any object: guest FP state stays live while the
# hypervisor runs.
arch-flags-arm64 := -march=armv8.1-a -mgeneral-regs-only -mstrict-align \
	-mbranch-protection=none
arch-flags-loongarch := -march=loongarch64 -mabi=lp64s -mfpu=none -msimd=none \
	-mstrict-align -mcmodel=normal

# On arm64 a static PIE that relocates itself. Hidden declarations keep the
# compiler from going through a GOT that is not relocated yet when the first C
# code runs. On LoongArch linked to its place.
place-arm64 := -fpie -fvisibility=hidden -include $(B)/hidden.h
place-loongarch := -fno-pie -mno-relax

codegen := $(language) $(output) $(arch-flags-$(ARCH)) $(place-$(ARCH))
core-inc := -nostdinc -iquote core -Icore/freestanding -Iabi \
	-Iarch/$(ARCH)/include -isystem build/third/libfdt \
	-isystem $(gcc-inc)
arch-inc := $(core-inc) -Iarch/$(ARCH) -I$(B)
core-flags := $(codegen) -Wframe-larger-than=1024 $(warnings) $(core-inc)
arch-flags := $(codegen) -Wframe-larger-than=1024 $(warnings) $(arch-inc)
fdt-flags := $(codegen) -w -DLIBFDT_BUILD -nostdinc -Ibuild/third/libfdt \
	-isystem $(gcc-inc)

link-arm64 := -pie --no-dynamic-linker -z text
link-loongarch := -static --no-relax --no-warn-rwx-segments
link-flags := $(link-$(ARCH)) -z norelro -z noexecstack --build-id=none \
	--gc-sections --fatal-warnings --orphan-handling=error

# Guests are ordinary C under newlib and may use FP.
newlib := build/third/newlib-$(ARCH)
guest-arch-arm64 := -march=armv8.1-a -mstrict-align -mbranch-protection=none
guest-arch-loongarch := -march=loongarch64 -mabi=lp64d -msimd=none \
	-mstrict-align -mno-relax
guest-inc := -nostdinc -isystem $(newlib)/include \
	-isystem $(gcc-inc) \
	-isystem build/third/libfdt -Iabi -Iguest/include \
	-Iguest/include/$(ARCH)
guest-codegen := -std=gnu23 -O2 -g -ffreestanding -fno-pie -fno-common \
	-fno-strict-aliasing -fno-stack-protector -fno-unwind-tables \
	-fno-asynchronous-unwind-tables -ffunction-sections -fdata-sections \
	$(guest-arch-$(ARCH)) $(guest-inc)
guest-flags := $(guest-codegen) $(warnings)
guest-link := -static -nostdlib -no-pie -Wl,--build-id=none \
	-Wl,-z,noexecstack -Wl,--gc-sections -Wl,--no-warn-rwx-segments

# Host unit tests: core objects on tests/fake, with sanitizers.
host-inc := -iquote core -Iabi -Itests/fake/include -Itests/fake \
	-isystem build/third/libfdt
host-codegen := -std=gnu23 -O1 -g -fno-common -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all \
	-DNESTLING_HOST_TEST=1

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-4s %s\n'
endif

# --- third-party code --------------------------------------------------------

fdt-stamp := build/third/libfdt/.stamp
newlib-stamp := $(newlib)/.stamp

$(fdt-c): $(fdt-stamp) ;

$(fdt-stamp): tools/deps third/libfdt_env.h
	$(Q)+tools/deps libfdt

$(newlib-stamp): tools/deps
	$(Q)+tools/deps newlib $(ARCH)

.PHONY: deps
deps: $(fdt-stamp) $(newlib-stamp)
	$(Q)tools/deps kernels

# --- hypervisor --------------------------------------------------------------

core-o := $(core-c:%.c=$(B)/obj/%.o)
arch-o := $(arch-c:%.c=$(B)/obj/%.o) $(arch-s:%.S=$(B)/obj/%.o)
fdt-o := $(patsubst build/third/%.c,$(B)/obj/%.o,$(fdt-c))
offsets-c := $(wildcard arch/$(ARCH)/offsets.c)
offsets-h := $(if $(offsets-c),$(B)/offsets.h)
offsets-o := $(if $(offsets-c),$(B)/obj/arch/$(ARCH)/offsets.o)
hyp-o := $(core-o) $(arch-o) $(offsets-o) $(fdt-o)
script := $(wildcard linker/$(ARCH).ld)

$(B)/hidden.h: Makefile
	@mkdir -p $(@D)
	@echo '#pragma GCC visibility push(hidden)' >$@

# Numbers for assembly come from C: the compiler prints them as lines that
# begin with @@, and the same file is then compiled again with the result as
# assertions, so that a stale header cannot be linked.
$(B)/offsets.h: arch/$(ARCH)/offsets.c $(B)/hidden.h $(fdt-stamp) Makefile
	$(say) GEN $@
	$(Q)$(CC) $(filter-out -g,$(arch-flags)) $(deps) -MT $@ -MF $@.d -S \
		-o $@.s $<
	$(Q)sed -n 's/^@@ \([A-Za-z0-9_]*\) [#$$]*\([-0-9a-fx]*\)$$/#define \1 \2/p' \
		$@.s >$@.tmp
	$(Q)mv $@.tmp $@

$(offsets-o): arch/$(ARCH)/offsets.c $(B)/offsets.h
	@mkdir -p $(@D)
	$(Q)$(CC) $(arch-flags) $(deps) -DCHECK -include $(B)/offsets.h -c -o $@ $<

$(core-o): $(B)/obj/%.o: %.c Makefile $(B)/hidden.h $(fdt-stamp)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(core-flags) $(deps) -c -o $@ $<

$(arch-c:%.c=$(B)/obj/%.o): $(B)/obj/%.o: %.c Makefile $(B)/hidden.h \
		$(fdt-stamp) $(offsets-h)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(arch-flags) $(deps) -c -o $@ $<

$(arch-s:%.S=$(B)/obj/%.o): $(B)/obj/%.o: %.S Makefile $(B)/hidden.h \
		$(offsets-h)
	$(say) AS $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(filter-out -include $(B)/hidden.h,$(arch-flags)) \
		-D__ASSEMBLY__ $(deps) -c -o $@ $<

$(fdt-o): $(B)/obj/libfdt/%.o: build/third/libfdt/%.c Makefile $(B)/hidden.h
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(fdt-flags) $(deps) -c -o $@ $<

# The ways of exits, interrupts and switches of vCPUs: no frame pointers, which a
# stack dump of these files can do without.
hot-arm64 := abort.o arm64fp.o ctx.o exit.o vgic.o vgic_hw.o vgic_state.o \
	vtimer.o
hot-loongarch := ctx.o exit.o hostirq.o inject.o lafp.o ldst.o memfault.o \
	refill.o shadow.o tables.o vcsr.o vintc.o vtimer.o vtlb.o
hot-core := account.o balance.o dev.o fair.o fp.o hcall.o ns16550.o run.o \
	runq.o sched.o timer.o vcpu.o vmram.o wake.o
$(addprefix $(B)/obj/arch/$(ARCH)/,$(hot-$(ARCH))): arch-flags += \
	-fomit-frame-pointer
$(addprefix $(B)/obj/core/,$(hot-core)): core-flags += -fomit-frame-pointer

# These functions are what the compiler makes of their own loops.
$(B)/obj/core/freestanding/string.o: core-flags += \
	-fno-tree-loop-distribute-patterns

# Linked through a response file of the objects, so that a deleted source is
# noticed.
$(B)/objects: FORCE
	@mkdir -p $(@D)
	@echo '$(hyp-o)' | cmp -s - $@ || echo '$(hyp-o)' >$@

$(B)/nestling.elf: $(hyp-o) $(script) $(B)/objects Makefile
	$(say) LD $@
	$(Q)$(LD) $(link-flags) -T $(script) -Map $(B)/nestling.map -o $@ \
		$(hyp-o)

# What the loader of the machine takes: an Image, or an ELF file.
binary-arm64 := -O binary
binary-loongarch := --strip-all

$(B)/nestling: $(B)/nestling.elf
	$(Q)$(OBJCOPY) $(binary-$(ARCH)) $< $@

$(B)/nestling.sym: $(B)/nestling.elf
	$(Q)$(NM) -n $< >$@

$(B)/nestling.lst: $(B)/nestling.elf
	$(Q)$(OBJDUMP) -d $< >$@

images := $(addprefix $(B)/nestling,$(if $(script),.elf .sym .lst))
images += $(if $(script),$(B)/nestling)

# --- guests ------------------------------------------------------------------

guest-script := $(wildcard linker/guest-$(ARCH).ld)
guest-o := $(guest-c:%.c=$(B)/obj/%.o)
rt-o := $(rt-c:%.c=$(B)/obj/%.o) $(rt-s:%.S=$(B)/obj/%.o)
guest-fdt-o := $(patsubst build/third/%.c,$(B)/obj/guest/%.o,$(fdt-c))
guest-elf := $(guest-c:guest/%.c=$(B)/guest/%.elf)
guest-arch-o := $(guest-arch-c:%.c=$(B)/obj/%.o)
guest-arch-elf := $(guest-arch-c:guest/$(ARCH)/%.c=$(B)/guest/%.elf)
guests := $(if $(guest-script),$(guest-elf) $(guest-arch-elf))

$(guest-o) $(guest-arch-o) $(rt-c:%.c=$(B)/obj/%.o): $(B)/obj/%.o: %.c Makefile \
		$(newlib-stamp) $(fdt-stamp) $(wildcard guest/images.mk)
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(guest-flags) $(cflags-$(basename $(<F))) $(deps) -c -o $@ $<

$(rt-s:%.S=$(B)/obj/%.o): $(B)/obj/%.o: %.S Makefile $(newlib-stamp)
	$(say) AS $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(guest-codegen) -D__ASSEMBLY__ $(deps) -c -o $@ $<

$(guest-fdt-o): $(B)/obj/guest/libfdt/%.o: build/third/libfdt/%.c Makefile \
		$(newlib-stamp)
	@mkdir -p $(@D)
	$(Q)$(CC) $(guest-codegen) -w -DLIBFDT_BUILD $(deps) -c -o $@ $<

$(guest-elf): $(B)/guest/%.elf: $(B)/obj/guest/%.o
$(guest-arch-elf): $(B)/guest/%.elf: $(B)/obj/guest/$(ARCH)/%.o

$(guests): $(B)/guest/%.elf: $(rt-o) $(guest-fdt-o) $(guest-script)
	$(say) LD $@
	@mkdir -p $(@D)
	$(Q)$(CC) $(guest-link) -T $(guest-script) -o $@ \
		$(filter $(B)/obj/guest/%,$^) $(ldflags-$*) -Wl,--start-group \
		$(newlib)/lib/libc.a $(newlib)/lib/libm.a -lgcc -Wl,--end-group

# A program for Linux, without a library.
linux-bin := $(if $(filter arm64,$(ARCH)),$(B)/guest/linux-pipe)

$(linux-bin): guest/linux/pipe.c Makefile
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu23 -O2 -ffreestanding -fno-stack-protector -static \
		-nostdlib -march=armv8.1-a -mgeneral-regs-only $(warnings) \
		-Wl,--build-id=none -o $@ $<

-include guest/bench/bench.mk

# --- host unit tests ---------------------------------------------------------

# tests/unit/NAME.c says on lines "// objs: core/a.c core/b.c" what it tests;
# tests/fake and libfdt come with it. A test with a line "// incs: DIR DIR" has
# its objects compiled for itself, with these directories searched first.
units := $(unit-c:tests/unit/%.c=build/unit/%)
words-of = $(shell sed -n 's,^// $(1):,,p' $(2))
host-fdt-o := $(patsubst build/third/%.c,build/unit/obj/%.o,$(fdt-c))

$(host-fdt-o): build/unit/obj/libfdt/%.o: build/third/libfdt/%.c Makefile
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) $(host-codegen) -w -Ibuild/third/libfdt -DLIBFDT_BUILD \
		$(deps) -c -o $@ $<

# $(call unit-rules,SOURCE,PROGRAM,OBJECT DIRECTORY)
define unit-rules
unit-o-$(2) := $(patsubst %.c,$(3)/%.o,$(1) $(call words-of,objs,$(1))) \
	$(fake-c:%.c=build/unit/obj/common/%.o)
host-o += $$(unit-o-$(2))

$(2): $$(unit-o-$(2)) $(host-fdt-o)
	$$(Q)$$(HOSTCC) $$(host-codegen) -o $$@ $$^ -lcmocka -lm
endef

# $(call unit-compile,OBJECT DIRECTORY,INCLUDE DIRECTORIES)
define unit-compile
$(1)/%.o: %.c Makefile $(fdt-stamp)
	$$(say) HOST $$<
	@mkdir -p $$(@D)
	$$(Q)$$(HOSTCC) $$(host-codegen) $$(warnings) $(addprefix -I,$(2)) \
		$$(host-inc) $$(deps) -c -o $$@ $$<
endef

unit-own := $(foreach u,$(unit-c),$(if $(call words-of,incs,$(u)),$(u)))
own-dir = build/unit/obj/$(basename $(notdir $(1)))

$(eval $(call unit-compile,build/unit/obj/common,))
$(foreach u,$(unit-own),$(eval $(call \
	unit-compile,$(call own-dir,$(u)),$(call words-of,incs,$(u)))))
$(foreach u,$(unit-c),$(eval $(call \
	unit-rules,$(u),$(u:tests/unit/%.c=build/unit/%),$(if \
	$(filter $(u),$(unit-own)),$(call own-dir,$(u)),build/unit/obj/common))))

# --- goals -------------------------------------------------------------------

.PHONY: all help clean distclean run test soak bench mutants debug check FORCE

all: $(hyp-o) $(images) $(guests) $(linux-bin)

ready: all $(units)
	$(Q)tools/deps kernels

.PHONY: ready

run: ready
	$(Q)tools/nestling demo --arch $(ARCH)

debug: ready
	$(Q)tools/nestling debug --arch $(ARCH)

bench: ready
	$(Q)python3 tools/bench --arch $(ARCH)
	$(Q)python3 tools/bench-fp --arch $(ARCH)

mutants: ready others
	$(Q)tools/mutants

# The tests run on both architectures, whichever was asked for.
others := $(filter-out $(ARCH),arm64 loongarch)

.PHONY: others $(others)
others: $(others)

$(others):
	$(Q)+$(MAKE) --no-print-directory ARCH=$@ all headers layers fpcheck \
		analyse

test: check ready others
	$(Q)python3 -m pytest tests

soak: check ready others
	$(Q)NESTLING_SOAK=1 python3 -m pytest tests

include tools/check.mk

-include $(patsubst %.o,%.d,$(hyp-o) $(guest-o) $(guest-arch-o) $(rt-o) \
	$(guest-fdt-o) $(host-o) $(host-fdt-o)) $(wildcard $(B)/offsets.h.d)

endif
