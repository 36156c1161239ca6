# SPDX-License-Identifier: BSD-2-Clause
#
# The launcher's exit statuses of its own and the one exception that stands for
# a user's mistake. A mistake is one line that names the thing; no stack trace.

import os

USAGE = 2		# a user's mistake
DISAGREE = 122		# no usable status record, or QEMU says otherwise
TIMEOUT = 124		# the guests did not end in the time given
LEFT = 130		# the user left (Ctrl-] or SIGINT)


class Mistake(Exception):
    """A user's mistake; str() is the line to print without its prefix."""


def one_line(text):
    """The text with everything that is not printable made visible."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1]
                   for c in str(text))


def check_file(path, what):
    """A Mistake unless `path` is a readable regular file."""
    if not os.path.exists(path):
        raise Mistake(f"{what} {one_line(path)}: no such file")
    if not os.path.isfile(path):
        raise Mistake(f"{what} {one_line(path)}: not a regular file")
    if not os.access(path, os.R_OK):
        raise Mistake(f"{what} {one_line(path)}: cannot be read")
