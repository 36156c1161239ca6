# SPDX-License-Identifier: BSD-2-Clause
#
# Entry point of `python3 tools/launch`, which is what tools/nestling runs.

import os
import sys

sys.path[0] = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

from launch import cli  # noqa: E402  pylint: disable=wrong-import-position

sys.exit(cli.main(sys.argv[1:]))
