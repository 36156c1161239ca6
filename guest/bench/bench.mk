# SPDX-License-Identifier: BSD-2-Clause
#
# Benchmark images: flat binaries build/$(ARCH)/guest/NAME.bin. They do without
# newlib and are compiled without FP, so that every instruction between two
# readings of the counter is one of the source. NAME-short has few samples:
# tools/profile records every instruction of a row.

bench-images := $(if $(filter arm64,$(ARCH)),ubench ubench-short own own-short)
bench-o-ubench := bench ubench nested
bench-o-own := bench own
bench-s := guest/bench/start.S
bench-ld := guest/bench/bench.ld

bench-codegen := -std=gnu23 -O2 -g -ffreestanding -fno-pie -fno-common \
	-fno-strict-aliasing -fno-stack-protector -fno-unwind-tables \
	-fno-asynchronous-unwind-tables -mgeneral-regs-only \
	$(guest-arch-$(ARCH)) -nostdinc -isystem $(gcc-inc) -Iabi
bench-link := -static -nostdlib -no-pie -Wl,--build-id=none \
	-Wl,-z,noexecstack -Wl,--no-warn-rwx-segments -T $(bench-ld)

bench-dir := $(B)/obj/guest/bench
bench-c := $(wildcard guest/bench/*.c)
bench-o := $(patsubst guest/bench/%.c,$(bench-dir)/%.o,$(bench-c)) \
	$(patsubst guest/bench/%.c,$(bench-dir)/short/%.o,$(bench-c))
bench-start := $(bench-dir)/start.o

$(bench-dir)/%.o: guest/bench/%.c Makefile guest/bench/bench.mk
	$(say) CC $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(bench-codegen) $(warnings) $(deps) -c -o $@ $<

$(bench-dir)/short/%.o: guest/bench/%.c Makefile guest/bench/bench.mk
	@mkdir -p $(@D)
	$(Q)$(CC) $(bench-codegen) $(warnings) -DSAMPLES=64 $(deps) -c -o $@ $<

$(bench-start): $(bench-s) Makefile guest/bench/bench.mk
	$(say) AS $<
	@mkdir -p $(@D)
	$(Q)$(CC) $(bench-codegen) -D__ASSEMBLY__ $(deps) -c -o $@ $<

define bench-rule
$(B)/guest/$(1).elf: $$(bench-start) $$(patsubst %,$(bench-dir)/%.o,\
		$$(bench-o-$(1))) $$(bench-ld)
	$$(say) LD $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(bench-link) -o $$@ $$(filter %.o,$$^)

$(B)/guest/$(1)-short.elf: $$(bench-start) \
		$$(patsubst %,$(bench-dir)/short/%.o,$$(bench-o-$(1))) \
		$$(bench-ld)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(bench-link) -o $$@ $$(filter %.o,$$^)
endef
$(foreach i,ubench own,$(eval $(call bench-rule,$(i))))

bench-bins := $(bench-images:%=$(B)/guest/%.bin)

$(bench-bins): %.bin: %.elf
	$(Q)$(OBJCOPY) -O binary $< $@

.PHONY: bench-images
bench-images: $(bench-bins)
all: $(bench-bins)

-include $(bench-o:.o=.d) $(bench-start:.o=.d)
