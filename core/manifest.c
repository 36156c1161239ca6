// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads the manifest. Every property of a VM is a row of one table with its own
 * parse function; a property without a row is an error. All errors end the
 * boot by config_error(). No lock: boot CPU only.
 */
#include "manifest.h"

#include <string.h>

#include <libfdt.h>

#include "arch.h"
#include "bundle.h"
#include "cpu.h"
#include "fdtcheck.h"
#include "page.h"
#include "print.h"
#include "vm.h"

#define MANIFEST_FILE	"manifest.dtb"
#define COMPATIBLE	"nestling,manifest"
#define VERSION		1
#define MEMORY_UNIT	(2 * MiB)
#define MEMORY_DEFAULT	(128 * MiB)
#define FLAT_OFFSET	0x80000

/* The VM whose node is being read. */
struct reader {
	const struct blob *bundle;
	const void *fdt;
	const char *vm;		/* name of the node */
	const char *prop;	/* name of the property */
	const void *val;
	int len;		/* bytes of val */
	uint32_t seen;		/* rows of the table that were there */
	bool flat_offset;	/* load-offset was given */
	bool length;		/* sve-vl was given */
	uint32_t budget_us, period_us;
	struct vm_config *cfg;
};

[[noreturn, gnu::format(printf, 2, 3)]]
static void bad(const struct reader *r, const char *fmt, ...)
{
	char text[128];
	va_list ap;

	va_start(ap, fmt);
	kvsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	config_error("manifest: /vms/%.40s: %.40s: %s", r->vm, r->prop, text);
}

/* ---- values ------------------------------------------------------------ */

static bool is_string(const char *p, int len)
{
	return len > 0 && strnlen(p, (size_t)len) == (size_t)len - 1;
}

static const char *get_string(const struct reader *r)
{
	if (!is_string(r->val, r->len))
		bad(r, "must be one string");
	return r->val;
}

static uint32_t get_u32(const struct reader *r, uint32_t min, uint32_t max)
{
	uint32_t v;

	if (r->len != sizeof(fdt32_t))
		bad(r, "must be one 32-bit number, it has %d bytes", r->len);
	v = fdt32_ld(r->val);
	if (v < min || v > max)
		bad(r, "%u is not in %u..%u", v, min, max);
	return v;
}

/* One of the two words. */
static bool get_choice(const struct reader *r, const char *yes, const char *no)
{
	const char *s = get_string(r);

	if (strcmp(s, yes) && strcmp(s, no))
		bad(r, "'%.40s' is neither '%s' nor '%s'", s, yes, no);
	return !strcmp(s, yes);
}

static struct blob get_file(const struct reader *r)
{
	const char *name = get_string(r);
	struct blob b;

	if (!bundle_find(r->bundle, name, &b))
		bad(r, "file %.60s is not in the bundle", name);
	return b;
}

static struct blob get_filled_file(const struct reader *r)
{
	struct blob b = get_file(r);

	if (!b.size)
		bad(r, "file %.60s is empty", (const char *)r->val);
	return b;
}

/* ---- properties of a VM ------------------------------------------------ */

static void parse_kernel(struct reader *r)
{
	r->cfg->kernel = get_filled_file(r);
}

static void parse_ramdisk(struct reader *r)
{
	r->cfg->ramdisk = get_file(r);
}

static void parse_dtb(struct reader *r)
{
	r->cfg->dtb = get_filled_file(r);
}

static void parse_bootargs(struct reader *r)
{
	r->cfg->bootargs = get_string(r);
}

static void parse_format(struct reader *r)
{
	const char *s = get_string(r);

	if (!strcmp(s, "image"))
		r->cfg->format = IMAGE_LINUX;
	else if (!strcmp(s, "elf"))
		r->cfg->format = IMAGE_ELF;
	else if (!strcmp(s, "flat"))
		r->cfg->format = IMAGE_FLAT;
	else
		bad(r, "'%.40s' is neither 'image' nor 'elf' nor 'flat'", s);
}

static void parse_load_offset(struct reader *r)
{
	r->cfg->load_offset = get_u32(r, 0, UINT32_MAX);
	r->flat_offset = true;
}

static void parse_vcpus(struct reader *r)
{
	r->cfg->nr_vcpus = get_u32(r, 1, MAX_VCPUS);
}

static void parse_memory(struct reader *r)
{
	uint64_t v;

	if (r->len != sizeof(fdt64_t))
		bad(r, "must be one 64-bit number (/bits/ 64 <...>), it has "
		    "%d bytes", r->len);
	v = fdt64_ld(r->val);
	if (!v || v % MEMORY_UNIT)
		bad(r, "%lu bytes is not a multiple of 2 MiB", v);
	if (v > arch_ram_max())
		bad(r, "%lu bytes is more than a VM can have here, %lu", v,
		    arch_ram_max());
	r->cfg->memory = v;
}

static void parse_weight(struct reader *r)
{
	r->cfg->sched.weight = get_u32(r, SCHED_WEIGHT_MIN, SCHED_WEIGHT_MAX);
}

static void parse_affinity(struct reader *r)
{
	const uint8_t *p = r->val;
	uint64_t mask = 0;

	if (!r->len || r->len % (int)sizeof(fdt32_t))
		bad(r, "must be a list of 32-bit pCPU numbers");
	for (int i = 0; i < r->len; i += (int)sizeof(fdt32_t)) {
		uint32_t cpu = fdt32_ld((const void *)(p + i));

		if (cpu >= nr_cpus)
			bad(r, "pCPU %u is not there, the machine has %u", cpu,
			    nr_cpus);
		mask |= BIT(cpu);
	}
	r->cfg->sched.affinity = mask;
}

static void parse_autostart(struct reader *r)
{
	r->cfg->autostart = get_choice(r, "yes", "no");
}

static void parse_hypercalls(struct reader *r)
{
	r->cfg->hypercalls = get_choice(r, "all", "none");
}

/* Index of the word in @words, which ends with NULL. */
static unsigned int get_word(const struct reader *r, const char *const *words)
{
	const char *s = get_string(r);
	char list[64] = "";
	int n = 0;

	for (unsigned int i = 0; words[i]; i++) {
		if (!strcmp(s, words[i]))
			return i;
		n += ksnprintf(list + n, sizeof(list) - (size_t)n, "%s%s",
			       i ? ", " : "", words[i]);
	}
	bad(r, "'%.40s' is none of: %s", s, list);
}

static void parse_fp(struct reader *r)
{
	r->cfg->fp.policy = (enum fp_policy)get_word(r, fp_policy_words);
}

static void parse_fpwidth(struct reader *r)
{
	r->cfg->fp.width = (enum fp_width)get_word(r, fp_width_words);
}

/* One of the types that this machine has, beginning with the narrowest. */
static void parse_fp_max(struct reader *r)
{
	const char *words[FP_LEVELS + 1] = { NULL };
	enum fp_level level[FP_LEVELS];
	unsigned int n = 0;

	for (enum fp_level l = FP_NONE + 1; l <= arch_fp_max(); l++) {
		if (!arch_fp_name(l))
			continue;
		words[n] = arch_fp_name(l);
		level[n++] = l;
	}
	if (!n)
		bad(r, "this machine has no FP registers");
	r->cfg->fp.max = level[get_word(r, words)];
}

static void parse_sve_vl(struct reader *r)
{
	uint32_t bits = get_u32(r, 1, UINT32_MAX);

	if (!arch_fp_length(0))
		bad(r, "this machine has no SVE");
	if (arch_fp_length(bits) != bits)
		bad(r, "%u bits is no vector length of this machine, whose "
		    "longest has %u", bits, arch_fp_length(0));
	r->cfg->fp.length = bits;
	r->length = true;
}

static void parse_budget(struct reader *r)
{
	r->budget_us = get_u32(r, 1, UINT32_MAX);
}

static void parse_period(struct reader *r)
{
	r->period_us = get_u32(r, 1, UINT32_MAX);
}

// clang-format off
static const struct {
	const char *name;
	void (*parse)(struct reader *r);
} props[] = {
	{ "kernel",		parse_kernel },
	{ "format",		parse_format },
	{ "load-offset",	parse_load_offset },
	{ "ramdisk",		parse_ramdisk },
	{ "dtb",		parse_dtb },
	{ "bootargs",		parse_bootargs },
	{ "vcpus",		parse_vcpus },
	{ "memory",		parse_memory },
	{ "weight",		parse_weight },
	{ "affinity",		parse_affinity },
	{ "autostart",		parse_autostart },
	{ "hypercalls",		parse_hypercalls },
	{ "fp",			parse_fp },
	{ "fpwidth",		parse_fpwidth },
	{ "fp-max",		parse_fp_max },
	{ "sve-vl",		parse_sve_vl },
	{ "rt-budget",		parse_budget },
	{ "rt-period",		parse_period },
};
// clang-format on

static_assert(ARRAY_SIZE(props) <= 32, "bits of seen");

static void parse_property(struct reader *r)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(props); i++) {
		if (strcmp(props[i].name, r->prop))
			continue;
		if (r->seen & BIT(i))
			bad(r, "is given twice");
		r->seen |= (uint32_t)BIT(i);
		props[i].parse(r);
		return;
	}
	bad(r, "unknown property");
}

/* ---- a VM -------------------------------------------------------------- */

static void check_name(const char *name)
{
	size_t len = strlen(name);

	if (!len || len >= VM_NAME_MAX)
		config_error("manifest: /vms/%.40s: a VM's name has 1 to %d "
			     "characters", name, VM_NAME_MAX - 1);
	for (const char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_", *c))
			config_error("manifest: /vms/%s: a VM's name is made "
				     "of a-z, 0-9, - and _", name);
}

static void finish_realtime(struct reader *r)
{
	struct sched_params *par = &r->cfg->sched;

	if (!r->budget_us && !r->period_us)
		return;
	r->prop = "rt-budget";
	if (!r->budget_us || !r->period_us)
		bad(r, "needs rt-period, and the other way round");
	if (r->budget_us > r->period_us)
		bad(r, "%u us is more than the rt-period of %u us",
		    r->budget_us, r->period_us);
	par->rt_budget = max_u64(r->budget_us * arch_time_hz() / 1000000, 1);
	par->rt_period = max_u64(r->period_us * arch_time_hz() / 1000000, 1);
}

/* What needs more than one property. */
static void finish(struct reader *r)
{
	r->prop = "kernel";
	if (!r->cfg->kernel.size)
		bad(r, "is missing");
	r->prop = "load-offset";
	if (r->flat_offset && r->cfg->format != IMAGE_FLAT)
		bad(r, "is only for format = \"flat\"");
	if (!r->flat_offset && r->cfg->format == IMAGE_FLAT)
		r->cfg->load_offset = FLAT_OFFSET;
	r->prop = "sve-vl";
	if (r->length && r->cfg->fp.max != FP_SVE)
		bad(r, "is only for fp-max = \"sve\"");
	finish_realtime(r);
}

static struct fp_params default_fp(void)
{
	return (struct fp_params){
		.max = arch_fp_max(),
		.length = arch_fp_length(0),
		.policy = fp_policy,
		.width = fp_width,
	};
}

static void parse_vm(struct reader *r, int node)
{
	int p;

	*r->cfg = (struct vm_config){
		.name = r->vm,
		.format = IMAGE_AUTO,
		.nr_vcpus = 1,
		.memory = MEMORY_DEFAULT,
		.sched = { .weight = SCHED_WEIGHT_DEFAULT,
			   .affinity = BITS(nr_cpus - 1, 0) },
		.fp = default_fp(),
		.autostart = true,
		.hypercalls = true,
	};
	check_name(r->vm);
	fdt_for_each_property_offset(p, r->fdt, node) {
		r->val = fdt_getprop_by_offset(r->fdt, p, &r->prop, &r->len);
		if (!r->val)
			config_error("manifest: /vms/%s: broken property",
				     r->vm);
		parse_property(r);
	}
	if (fdt_first_subnode(r->fdt, node) >= 0)
		config_error("manifest: /vms/%s/%.40s: unknown node", r->vm,
			     fdt_get_name(r->fdt,
					  fdt_first_subnode(r->fdt, node),
					  NULL));
	finish(r);
}

/* ---- the tree ---------------------------------------------------------- */

static void check_bundle(const struct blob *bundle)
{
	uint64_t where;
	const char *wrong = bundle_check(bundle, &where);

	if (wrong)
		config_error("bundle: %s (at byte %lu of %lu)", wrong, where,
			     bundle->size);
}

/* The manifest at an address that suits libfdt, checked to be a tree. */
static const void *load_tree(const struct blob *bundle)
{
	struct blob file;
	void *fdt;
	int err;

	if (!bundle_find(bundle, MANIFEST_FILE, &file))
		config_error("bundle: there is no " MANIFEST_FILE);
	fdt = file.size ? page_zalloc(file.size) : NULL;
	if (!fdt)
		config_error("bundle: " MANIFEST_FILE ": %lu bytes do not fit "
			     "into memory", file.size);
	memcpy(fdt, file.data, file.size);
	err = fdtcheck(fdt, file.size);
	if (err)
		config_error("bundle: " MANIFEST_FILE ": is no device tree: %s",
			     fdt_strerror(err));
	return fdt;
}

static void check_version(const void *fdt)
{
	int len;
	const void *p = fdt_getprop(fdt, 0, "compatible", &len);

	if (!p || !is_string(p, len) || strcmp(p, COMPATIBLE))
		config_error("manifest: /: compatible: is not '" COMPATIBLE
			     "'");
	p = fdt_getprop(fdt, 0, "version", &len);
	if (!p || len != sizeof(fdt32_t))
		config_error("manifest: /: version: must be one 32-bit number");
	if (fdt32_ld(p) != VERSION)
		config_error("manifest: /: version: %u is not supported, only "
			     "%d", fdt32_ld(p), VERSION);
}

/* Nothing at the top but what belongs there; returns the node /vms. */
static int check_top(const void *fdt)
{
	int vms_node = -1, node, p;

	fdt_for_each_property_offset(p, fdt, 0) {
		const char *name = "?";

		fdt_getprop_by_offset(fdt, p, &name, NULL);
		if (strcmp(name, "compatible") && strcmp(name, "version"))
			config_error("manifest: /: %.40s: unknown property",
				     name);
	}
	fdt_for_each_subnode(node, fdt, 0) {
		const char *name = fdt_get_name(fdt, node, NULL);

		if (strcmp(name, "vms"))
			config_error("manifest: /%.40s: unknown node", name);
		if (vms_node >= 0)
			config_error("manifest: /vms: is there twice");
		vms_node = node;
	}
	if (vms_node < 0)
		config_error("manifest: /vms: is missing");
	fdt_for_each_property_offset(p, fdt, vms_node) {
		const char *name = "?";

		fdt_getprop_by_offset(fdt, p, &name, NULL);
		config_error("manifest: /vms: %.40s: unknown property", name);
	}
	return vms_node;
}

static void check_unique(const struct vm_config *cfg, unsigned int n,
			 const char *name)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(cfg[i].name, name))
			config_error("manifest: /vms/%s: the name is there "
				     "twice", name);
}

unsigned int manifest_load(const struct blob *bundle, struct vm_config *out,
			   unsigned int max)
{
	unsigned int n = 0;
	const void *fdt;
	int node, parent;

	check_bundle(bundle);
	fdt = load_tree(bundle);
	check_version(fdt);
	parent = check_top(fdt);
	fdt_for_each_subnode(node, fdt, parent) {
		struct reader r = {
			.bundle = bundle,
			.fdt = fdt,
			.vm = fdt_get_name(fdt, node, NULL),
		};

		if (n == max)
			config_error("manifest: /vms: more than %u VMs", max);
		check_unique(out, n, r.vm);
		r.cfg = &out[n++];
		parse_vm(&r, node);
	}
	if (!n)
		config_error("manifest: /vms: there is no VM");
	return n;
}
