# SPDX-License-Identifier: BSD-2-Clause
#
# Benchmark images: flat binaries build/$(ARCH)/guest/NAME.bin. They do without
# newlib and are compiled without FP and without padding, so that every
# instruction between two readings of the counter is one of the source.
# NAME-short has few samples: tools/profile records every instruction of a row.
# NAME-xen is the image for Xen's first domain, made only when it is asked for.

bench-names := $(if $(filter arm64,$(ARCH)),ubench own)
bench-of-ubench := bench ubench nested
bench-of-own := bench own
bench-ld := guest/bench/bench.ld
bench-dir := $(B)/obj/guest/bench

bench-codegen := -std=gnu23 -O2 -g -ffreestanding -fno-pie -fno-common \
	-fno-strict-aliasing -fno-stack-protector -fno-unwind-tables \
	-fno-asynchronous-unwind-tables -mgeneral-regs-only -fno-align-loops \
	-fno-align-jumps -fno-align-labels \
	$(guest-arch-$(ARCH)) -nostdinc -isystem $(gcc-inc) -Iabi
bench-link := -static -nostdlib -no-pie -Wl,--build-id=none \
	-Wl,-z,noexecstack -Wl,--no-warn-rwx-segments -T $(bench-ld)

# $(call bench-compile,SUFFIX,DEFINES)
define bench-compile
$(bench-dir)$(1)/%.o: guest/bench/%.c Makefile guest/bench/bench.mk
	$$(say) CC $$<
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(bench-codegen) $$(warnings) $(2) $$(deps) -c -o $$@ $$<

$(bench-dir)$(1)/%.o: guest/bench/%.S Makefile guest/bench/bench.mk
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(bench-codegen) -D__ASSEMBLY__ $$(deps) -c -o $$@ $$<
endef

# $(call bench-image,NAME,SUFFIX)
define bench-image
$(B)/guest/$(1)$(2).elf: $(addprefix $(bench-dir)$(2)/,\
		$(addsuffix .o,start $(bench-of-$(1)))) $(bench-ld)
	$$(say) LD $$@
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(bench-link) -o $$@ $$(filter %.o,$$^)

$(B)/guest/$(1)$(2).bin: $(B)/guest/$(1)$(2).elf
	$$(Q)$$(OBJCOPY) -O binary $$< $$@
endef

$(eval $(call bench-compile,,))
$(eval $(call bench-compile,-short,-DSAMPLES=64))
$(eval $(call bench-compile,-xen,-DBENCH_XEN))
$(foreach i,$(bench-names),$(eval $(call bench-image,$(i),))$(foreach \
	s,-short -xen,$(eval $(call bench-image,$(i),$(s)))))

bench-bins := $(foreach i,$(bench-names),$(addprefix $(B)/guest/$(i),.bin \
	-short.bin))

.PHONY: bench-images
bench-images: $(bench-bins)
all: $(bench-bins)

-include $(wildcard $(addsuffix /*.d,$(addprefix $(bench-dir),/ -short -xen)))
