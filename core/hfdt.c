// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the host device tree. No state of its own, no lock: boot CPU only.
 * Lengths of properties are checked before anything is taken from them.
 */
#include "hfdt.h"

#include <string.h>

#include <libfdt.h>

#include "fdtcheck.h"
#include "host.h"
#include "print.h"

static uint64_t cells(const fdt32_t *p, int n)
{
	return n == 1 ? fdt32_to_cpu(p[0]) :
	       (uint64_t)fdt32_to_cpu(p[0]) << 32 | fdt32_to_cpu(p[1]);
}

static const char *node_name(int node)
{
	const char *name = fdt_get_name(host_fdt(), node, NULL);

	return name ? name : "?";
}

void hfdt_append(struct hfdt_list *list, paddr_t base, uint64_t size,
		 const char *what)
{
	if (!size)
		return;
	if (base + size < base)
		config_error("host device tree: %s: range wraps around", what);
	if (list->n == HFDT_RANGES)
		config_error("host device tree: %s: more than %d ranges", what,
			     HFDT_RANGES);
	list->r[list->n++] = (struct hfdt_range){ base, size };
}

void hfdt_check(void)
{
	int err = -FDT_ERR_BADMAGIC;

	if (host_fdt())
		err = fdt_check_header(host_fdt());
	if (!err)
		err = fdtcheck(host_fdt(), fdt_totalsize(host_fdt()));
	if (err)
		config_error("no usable host device tree: %s",
			     fdt_strerror(err));
}

/* #address-cells and #size-cells of @node: 1 or 2 each. */
static void cell_sizes(int node, int *na, int *ns)
{
	*na = fdt_address_cells(host_fdt(), node);
	*ns = fdt_size_cells(host_fdt(), node);
	if (*na < 1 || *na > 2 || *ns < 1 || *ns > 2)
		config_error("host device tree: %s: #address-cells or "
			     "#size-cells is not 1 or 2",
			     node ? node_name(node) : "/");
}

/* Appends every range of the reg property of @node, a child of @parent. */
static void append_reg(struct hfdt_list *out, int node, int parent)
{
	int na, ns, len;
	const fdt32_t *reg = fdt_getprop(host_fdt(), node, "reg", &len);

	if (!reg)
		return;
	cell_sizes(parent, &na, &ns);
	if (len % ((na + ns) * (int)sizeof(*reg)))
		config_error("host device tree: %s: reg has an odd size",
			     node_name(node));
	for (int left = len / (int)sizeof(*reg); left; left -= na + ns) {
		hfdt_append(out, cells(reg, na), cells(reg + na, ns),
			    node_name(node));
		reg += na + ns;
	}
}

static bool prop_is(int node, const char *prop, const char *value)
{
	int len;
	const char *p = fdt_getprop(host_fdt(), node, prop, &len);

	return p && len == (int)strlen(value) + 1 &&
	       !memcmp(p, value, (size_t)len);
}

static bool enabled(int node)
{
	return !fdt_getprop(host_fdt(), node, "status", NULL) ||
	       prop_is(node, "status", "okay") || prop_is(node, "status", "ok");
}

void hfdt_ram(struct hfdt_list *out)
{
	int node;

	out->n = 0;
	fdt_for_each_subnode(node, host_fdt(), 0)
		if (prop_is(node, "device_type", "memory") && enabled(node))
			append_reg(out, node, 0);
	if (!out->n)
		config_error("host device tree: no memory node");
}

void hfdt_reserved(struct hfdt_list *out)
{
	const void *fdt = host_fdt();
	int parent = fdt_path_offset(fdt, "/reserved-memory");
	int node;

	out->n = 0;
	hfdt_append(out, (uintptr_t)fdt, fdt_totalsize(fdt), "the tree");
	for (int i = 0; i < fdt_num_mem_rsv(fdt); i++) {
		uint64_t base, size;

		if (!fdt_get_mem_rsv(fdt, i, &base, &size))
			hfdt_append(out, base, size, "reservation block");
	}
	if (parent < 0)
		return;
	fdt_for_each_subnode(node, fdt, parent)
		if (enabled(node))
			append_reg(out, node, parent);
}

void hfdt_no_map(struct hfdt_list *out)
{
	const void *fdt = host_fdt();
	int parent = fdt_path_offset(fdt, "/reserved-memory");
	int node;

	out->n = 0;
	if (parent < 0)
		return;
	fdt_for_each_subnode(node, fdt, parent)
		if (enabled(node) && fdt_getprop(fdt, node, "no-map", NULL))
			append_reg(out, node, parent);
}

/* The range of @used that ends behind @at and begins first, or NULL. */
static const struct hfdt_range *next_used(const struct hfdt_list *used,
					  paddr_t at)
{
	const struct hfdt_range *best = NULL;

	for (unsigned int i = 0; i < used->n; i++) {
		const struct hfdt_range *r = &used->r[i];

		if (r->base + r->size > at && (!best || r->base < best->base))
			best = r;
	}
	return best;
}

static void piece(paddr_t from, paddr_t to,
		  void (*fn)(paddr_t base, uint64_t size))
{
	from = align_up(from, PAGE_SIZE);
	to = align_down(to, PAGE_SIZE);
	if (from < to)
		fn(from, to - from);
}

void hfdt_rest(const struct hfdt_list *ram, const struct hfdt_list *used,
	       void (*fn)(paddr_t base, uint64_t size))
{
	for (unsigned int i = 0; i < ram->n; i++) {
		paddr_t at = ram->r[i].base, end = at + ram->r[i].size;

		while (at < end) {
			const struct hfdt_range *u = next_used(used, at);

			if (!u || u->base >= end) {
				piece(at, end, fn);
				break;
			}
			if (u->base > at)
				piece(at, u->base, fn);
			at = u->base + u->size;
		}
	}
}

static int chosen(void)
{
	return fdt_path_offset(host_fdt(), "/chosen");
}

const char *hfdt_bootargs(void)
{
	int len;
	const char *p = fdt_getprop(host_fdt(), chosen(), "bootargs", &len);

	if (!p)
		return NULL;
	if (!len || p[len - 1])
		config_error("host device tree: /chosen: bootargs is no "
			     "string");
	return p;
}

/* A 32 or 64-bit property of /chosen; false: it is not there. */
static bool chosen_number(const char *prop, uint64_t *v)
{
	int len;
	const fdt32_t *p = fdt_getprop(host_fdt(), chosen(), prop, &len);

	if (!p)
		return false;
	if (len != 4 && len != 8)
		config_error("host device tree: /chosen: %s has %d bytes", prop,
			     len);
	*v = cells(p, len / 4);
	return true;
}

bool hfdt_initrd(struct blob *out)
{
	uint64_t start, end;

	if (!chosen_number("linux,initrd-start", &start) ||
	    !chosen_number("linux,initrd-end", &end) || start == end)
		return false;
	if (start > end)
		config_error("host device tree: /chosen: initrd ends before it "
			     "begins");
	out->data = (const void *)(uintptr_t)start;
	out->size = end - start;
	return true;
}
