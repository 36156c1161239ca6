// SPDX-License-Identifier: BSD-2-Clause
/*
 * What newlib wants from an operating system: output to the console, no files,
 * no input, and an end. A failing guest call never returns to the caller of
 * exit.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>
#include "guest.h"
#include "hcall.h"
#include "runtime.h"

int _close(int fd);
int _fstat(int fd, struct stat *st);
int _getpid(void);
int _isatty(int fd);
int _kill(int pid, int signal);
_off_t _lseek(int fd, _off_t offset, int whence);
_READ_WRITE_RETURN_TYPE _read(int fd, void *buffer, size_t length);
_READ_WRITE_RETURN_TYPE _write(int fd, const void *buffer, size_t length);

_READ_WRITE_RETURN_TYPE _write([[maybe_unused]] int fd, const void *buffer,
			       size_t length)
{
	const char *text = buffer;

	for (size_t i = 0; i < length; i++)
		console_putc(text[i]);
	return (_READ_WRITE_RETURN_TYPE)length;
}

_READ_WRITE_RETURN_TYPE _read([[maybe_unused]] int fd,
			      [[maybe_unused]] void *buffer,
			      [[maybe_unused]] size_t length)
{
	return 0;
}

int _close([[maybe_unused]] int fd)
{
	errno = EBADF;
	return -1;
}

int _fstat([[maybe_unused]] int fd, struct stat *st)
{
	st->st_mode = S_IFCHR;
	return 0;
}

int _isatty([[maybe_unused]] int fd)
{
	return 1;
}

_off_t _lseek([[maybe_unused]] int fd, [[maybe_unused]] _off_t offset,
	      [[maybe_unused]] int whence)
{
	return 0;
}

int _getpid(void)
{
	return 1;
}

int _kill([[maybe_unused]] int pid, [[maybe_unused]] int signal)
{
	guest_exit(EXIT_CRASH);
}

void _exit(int status)
{
	guest_exit(status);
}
