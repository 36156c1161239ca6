// SPDX-License-Identifier: BSD-2-Clause
/*
 * Parser of cpio newc archives over hostile bytes. One function steps from
 * entry to entry and is the only one that looks at headers. No state, no lock.
 */
#include "bundle.h"

#include <string.h>

#define HEADER_SIZE	110	/* "070701" and 13 fields of 8 hex digits */
#define FIELD_MODE	1
#define FIELD_FILESIZE	6
#define FIELD_NAMESIZE	11
#define NAME_LIMIT	4096	/* longer names are nonsense */
#define ENTRY_LIMIT	1024	/* bounds the search for equal names */
#define MODE_TYPE	0170000
#define MODE_FILE	0100000
#define TRAILER		"TRAILER!!!"

struct entry {
	uint32_t mode;
	const char *name;	/* terminated inside the blob */
	struct blob data;
	uint64_t next;		/* offset of the next header */
};

/* Field @i of the header; false: not eight hex digits. */
static bool header_field(const char *header, unsigned int i, uint32_t *out)
{
	const char *s = header + 6 + (size_t)i * 8;
	uint32_t v = 0;

	for (unsigned int k = 0; k < 8; k++) {
		char c = s[k];

		if (c >= '0' && c <= '9')
			v = v << 4 | (uint32_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			v = v << 4 | (uint32_t)(c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			v = v << 4 | (uint32_t)(c - 'A' + 10);
		else
			return false;
	}
	*out = v;
	return true;
}

static const char *plain_name(const char *name)
{
	return name[0] == '.' && name[1] == '/' ? name + 2 : name;
}

/* Reads the entry at @off; NULL or what is wrong with it. */
static const char *read_entry(const struct blob *b, uint64_t off,
			      struct entry *e)
{
	const char *base = b->data;
	uint32_t file_size, name_size;
	uint64_t data;

	if (!range_inside(off, HEADER_SIZE, b->size))
		return "ends without a trailer";
	if (memcmp(base + off, "070701", 6))
		return "is no cpio archive in newc format";
	if (!header_field(base + off, FIELD_MODE, &e->mode) ||
	    !header_field(base + off, FIELD_FILESIZE, &file_size) ||
	    !header_field(base + off, FIELD_NAMESIZE, &name_size))
		return "has a broken header";
	off += HEADER_SIZE;
	if (!name_size || name_size > NAME_LIMIT ||
	    !range_inside(off, name_size, b->size) ||
	    base[off + name_size - 1])
		return "has a broken file name";
	data = align_up(off + name_size, 4);
	if (!range_inside(data, file_size, b->size))
		return "is cut off inside a file";
	e->name = plain_name(base + off);
	e->data.data = base + data;
	e->data.size = file_size;
	e->next = align_up(data + file_size, 4);
	return NULL;
}

static bool is_file(const struct entry *e)
{
	return (e->mode & MODE_TYPE) == MODE_FILE;
}

/* Counts the entries called @name before the trailer; the last one in @out. */
static unsigned int count_name(const struct blob *b, const char *name,
			       struct entry *out)
{
	unsigned int n = 0;
	struct entry e;

	for (uint64_t off = 0; !read_entry(b, off, &e); off = e.next) {
		if (!strcmp(e.name, TRAILER))
			break;
		if (!is_file(&e) || strcmp(e.name, name))
			continue;
		*out = e;
		n++;
	}
	return n;
}

const char *bundle_check(const struct blob *bundle, uint64_t *where)
{
	struct entry e, same;
	unsigned int n = 0;
	const char *wrong;

	for (uint64_t off = 0;; off = e.next) {
		*where = min_u64(off, bundle->size);
		if (n++ > ENTRY_LIMIT)
			return "has more than 1024 entries";
		wrong = read_entry(bundle, off, &e);
		if (wrong)
			return wrong;
		if (!strcmp(e.name, TRAILER))
			return NULL;
		if (is_file(&e) && count_name(bundle, e.name, &same) > 1)
			return "has two files of the same name";
	}
}

bool bundle_find(const struct blob *bundle, const char *name, struct blob *out)
{
	struct entry e;

	if (count_name(bundle, name, &e) != 1)
		return false;
	*out = e.data;
	return true;
}
