# SPDX-License-Identifier: BSD-2-Clause
#
# The launcher: makes bundles, starts QEMU with the hypervisor, carries the
# console and turns the status records into an exit status. tools/nestling is
# the command; the test harness in tests/ uses the same modules.
