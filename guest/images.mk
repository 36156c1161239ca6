# SPDX-License-Identifier: BSD-2-Clause
#
# Flags of single guest images: cflags-NAME, ldflags-NAME.

# No compiled FP instruction may come between the patterns and the checks.
cflags-fp := -mgeneral-regs-only
cflags-neighbour := -mgeneral-regs-only
cflags-migrate := -mgeneral-regs-only

# These must not use FP at all.
cflags-busy := -mgeneral-regs-only
cflags-sleeper := -mgeneral-regs-only
