# SPDX-License-Identifier: BSD-2-Clause
#
# Writing results.

import json
import os

from launch.errors import Mistake, one_line


def write_json(path, result):
    """The results, one a line."""
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    body = ",\n".join(json.dumps(one) for one in result)
    try:
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"[\n{body}\n]\n")
    except OSError as error:
        raise Mistake(f"{one_line(path)}: {error.strerror}") from None
