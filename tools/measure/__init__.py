# SPDX-License-Identifier: BSD-2-Clause
#
# What tools/bench and tools/profile are made of: the rows, the machine they
# are measured on, and QEMU's debugging interfaces. Depends on tools/launch.
