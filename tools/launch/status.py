# SPDX-License-Identifier: BSD-2-Clause
#
# The status records on the console. Only the hypervisor can send the byte 0x1e
# (it replaces it in everything a guest prints), and it does so only at the
# start of a line:
#     0x1e "nestling vm NAME status N reason WORD\n"    a VM ended; it may be
#                                                       started again
#     0x1e "nestling status N\n"                        the last line of all
# The line end may have the carriage return that terminals want. The decoder
# takes these two forms and nothing else, cuts them out of the stream, and
# remembers the first thing that was wrong.

import re

RECORD = 0x1e
LIMIT = 128		# longest record line; a name has at most 31 characters
VM_LINE = re.compile(rb"nestling vm ([a-z0-9_-]{1,31}) status "
                     rb"(0|[1-9][0-9]{0,2}) reason (off|exit|fault|killed)")
END_LINE = re.compile(rb"nestling status (0|[1-9][0-9]{0,2})")


class Decoder:
    """Splits a console stream into text for people and status records."""

    def __init__(self):
        self.vms = {}		# name: (status, reason) of its last end
        self.ends = []		# (name, status, reason), in order of ending
        self.status = None	# the machine's status once it was sent
        self.error = None	# what was wrong with the stream first
        self._record = None	# bytes of a record not yet complete
        self._line_start = True

    def _fail(self, text):
        self.error = self.error or text

    def _vm(self, match):
        name, number = match[1].decode(), int(match[2])
        if number > 255:
            self._fail(f"status {number} of VM {name} is above 255")
        self.vms[name] = (number, match[3].decode())
        self.ends.append((name, *self.vms[name]))

    def _take(self, line):
        """One complete record, without 0x1e and line feed."""
        line = line.removesuffix(b"\r")
        end = END_LINE.fullmatch(line)
        vm = VM_LINE.fullmatch(line)
        if self.status is not None:
            self._fail("a record after the last one")
        elif vm:
            self._vm(vm)
        elif not end:
            self._fail(f"not a status record: {ascii(line)[1:]}")
        elif int(end[1]) > 255:
            self._fail(f"status {int(end[1])} is above 255")
        else:
            self.status = int(end[1])

    def _record_byte(self, byte):
        if byte != 0x0a:
            self._record.append(byte)
            if len(self._record) > LIMIT:
                self._fail("a status record without an end")
                self._record = None
                self._line_start = False
            return
        self._take(bytes(self._record))
        self._record = None

    def feed(self, data):
        """The part of `data` that is text; records are taken in."""
        if self._record is None and RECORD not in data:
            self._text(data)
            return data
        text = bytearray()
        for byte in data:
            if self._record is not None:
                self._record_byte(byte)
            elif byte != RECORD:
                text.append(byte)
                self._text((byte,))
            elif self._line_start:
                self._record = bytearray()
            else:
                self._fail("byte 0x1e inside a line")
        return bytes(text)

    def _text(self, data):
        if not data:
            return
        self._line_start = data[-1] == 0x0a
        if self.status is not None:
            self._fail("output after the last record")

    def finish(self, qemu_status):
        """What is wrong with the end of the machine, or None. QEMU ends with
        0 after a power-off and with 1 after a panic event."""
        if self._record is not None:
            self._fail("the last status record is cut off")
        elif self.status is None:
            self._fail("the machine ended without a status record")
        elif qemu_status != (1 if self.status else 0):
            self._fail(f"QEMU ended with {qemu_status}, which does not fit "
                       f"status {self.status}")
        return self.error
