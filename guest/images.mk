# SPDX-License-Identifier: BSD-2-Clause
#
# Which guest images an architecture has beside guest/ARCH/*.c, and flags of
# single images: cflags-NAME, ldflags-NAME.

# Their topic is the architecture.
only-arm64 := deadlines fp gicbasic gicregs gicsmp hostile idregs \
	isolation psci psciraces resets sve sysregs timer uart wake

no-fp-arm64 := -mgeneral-regs-only
no-fp-loongarch := $(foreach n,0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 \
	19 20 21 22 23 24 25 26 27 28 29 30 31,-ffixed-f$(n))

# No compiled FP instruction may come between the patterns and the checks.
cflags-fp := $(no-fp-$(ARCH))
cflags-neighbour := $(no-fp-$(ARCH))
cflags-migrate := $(no-fp-$(ARCH))
cflags-fpcost := $(no-fp-$(ARCH))
cflags-sve := $(no-fp-$(ARCH))

# These must not use FP at all.
cflags-busy := $(no-fp-$(ARCH))
cflags-sleeper := $(no-fp-$(ARCH))
cflags-csrs := $(no-fp-$(ARCH))
cflags-exceptions := $(no-fp-$(ARCH))
cflags-tasks := $(no-fp-$(ARCH))
cflags-tlb := $(no-fp-$(ARCH))

# FP may be off where its exceptions are handled.
cflags-hostile := $(if $(filter loongarch,$(ARCH)),$(no-fp-loongarch))
