// Targets: finding, loading (with inheritance), and what the rest of the program may ask of one.
#include <stdlib.h>
#include <string.h>
#include "qtui/base/embed.h"
#include "qtui/base/file.h"
#include "qtui/base/json.h"
#include "qtui/base/order.h"
#include "qtui/base/str.h"
#include "target_impl.h"

#define TARGET_MAX_DEPTH 8 // "base" of a "base" ... Those that ship need four
#define TARGET_MAX_BYTES (1 << 20)
#define TARGET_MAX_RULES 4096

extern const struct embed target_embedded[];

const char *const target_calibrations[CALIB_COUNT + 1] = {
	[CALIB_MINMAX] = "minmax", [CALIB_PERCENTILE] = "percentile", [CALIB_KL] = "kl", [CALIB_MSE] = "mse",
};

const char *calib_name(enum calib_method m)
{
	return target_calibrations[m];
}

bool calib_parse(enum calib_method *out, const char *name)
{
	for (int i = 0; i < CALIB_COUNT; i++) {
		if (strcmp(target_calibrations[i], name) == 0) {
			*out = (enum calib_method)i;
			return true;
		}
	}
	return false;
}

const struct op_rule *target_rule(const struct target *t, const char *op_type)
{
	static const struct op_rule none = {.weight = {.axis = AXIS_TENSOR}};
	int i = namemap_get(t->rule_by_name, op_type);
	return i < 0 ? &none : &t->rule[i];
}

struct op_rule *target_rule_add(struct target *t, const char *op_type)
{
	static struct op_rule overflow; // hostile files: more types than exist are read and forgotten
	int i = namemap_get(t->rule_by_name, op_type);
	if (i >= 0)
		return &t->rule[i];
	if (t->n_rules >= TARGET_MAX_RULES) {
		overflow = (struct op_rule){0};
		return &overflow;
	}
	t->rule = xgrow(t->rule, &t->rule_cap, (size_t)t->n_rules + 1, sizeof *t->rule);
	t->rule[t->n_rules] = (struct op_rule){.weight = {.axis = AXIS_TENSOR}};
	namemap_put(t->rule_by_name, op_type, t->n_rules);
	return &t->rule[t->n_rules++];
}

static struct target *target_new(void)
{
	struct target *t = xcalloc(1, sizeof *t);
	t->arena = arena_new();
	t->rule_by_name = namemap_new();
	t->scale.range = ROUND_UP;
	t->scale.kl = ROUND_HALF_UP;
	t->scale.minimum = 1e-8;
	t->activation = t->weight = (struct scheme){.sign = true, .symmetric = true};
	t->calibration.rounded_weights = true;
	t->calibration.percentile = 0.9999;
	return t;
}

bool target_has_scales(const struct target *t, bool steps, bool zeros)
{
	return t->kind == TARGET_LINEAR && (!steps || !t->scale.pow2) && (!zeros || !t->activation.symmetric);
}

void target_free(struct target **t)
{
	if (!*t)
		return;
	namemap_free(&(*t)->rule_by_name);
	arena_free(&(*t)->arena);
	free((*t)->rule);
	free(*t);
	*t = NULL;
}

bool target_is_path(const char *name)
{
	return strchr(name, '/') || str_has_suffix(name, ".json");
}

// Directories with the user's own targets and the installed ones, in order of preference;
// the i-th, heap, NULL at the end.
static char *target_dir(int i)
{
	const char *env = getenv("QTUI_TARGETS");
	for (const char *at = env ? env : ""; *at;) {
		size_t n = strcspn(at, ":");
		if (n > 0 && i-- == 0) {
			struct str s = {0};
			str_addn(&s, at, n);
			return str_detach(&s);
		}
		at += n + (at[n] == ':');
	}
	return i == 0 ? xstrdup(QTUI_DATADIR "/targets") : NULL;
}

static char *target_file(const char *name)
{
	if (target_is_path(name))
		return xstrdup(name);
	struct str base = {0};
	str_addf(&base, "%s.json", name);
	char *found = NULL, *dir;
	for (int i = 0; !found && (dir = target_dir(i)); i++) {
		found = file_join(dir, str_text(&base));
		if (!file_exists(found)) {
			free(found);
			found = NULL;
		}
		free(dir);
	}
	str_done(&base);
	return found;
}

static const char *embedded_text(const char *name)
{
	for (const struct embed *e = target_embedded; e->name; e++)
		if (strcmp(e->name, name) == 0)
			return e->text;
	return NULL;
}

static enum status unknown_target(const char *name, struct error *err)
{
	int n;
	char **all = target_list(&n);
	struct nearest near = {.name = name};
	struct str known = {0};
	for (int i = 0; i < n; i++) {
		nearest_try(&near, all[i]);
		str_addf(&known, "%s%s", i ? ", " : "", all[i]);
	}
	error_set(err, STATUS_NOTFOUND, "target %.80s is not known%s%s; known are %.300s", name, near.best ? ", the nearest is " : "",
	    near.best ? near.best : "", str_text(&known));
	str_done(&known);
	for (int i = 0; i < n; i++)
		free(all[i]);
	free(all);
	return STATUS_NOTFOUND;
}

// The text of a target by name or path, and the file that it is from (NULL: it is part of the program); the caller frees both.
// Of a file that is gone by now what it said last.
static enum status target_text(struct str *out, char **from, const char *name, struct error *err)
{
	struct bytes b = {0};
	const char *path = *from = target_file(name);
	char *kept = path && !file_exists(path) ? target_kept(path) : NULL;
	enum status st = STATUS_OK;
	if (kept) {
		str_add(out, kept);
	} else if (path) {
		st = file_read_text(&b, path, TARGET_MAX_BYTES, err);
		if (!st)
			str_addn(out, (const char *)b.data, b.size);
		bytes_done(&b);
	} else if (embedded_text(name)) {
		str_add(out, embedded_text(name));
	} else {
		st = unknown_target(name, err);
	}
	free(kept);
	return st;
}

static enum status load_onto(struct target *t, const char *name, int depth, struct error *err);

// A path in a file begins where the file is.
char *target_base_path(const char *base, const char *from)
{
	char *dir = base[0] == '/' ? NULL : file_dir(from), *path = dir ? file_join(dir, base) : xstrdup(base);
	free(dir);
	return path;
}

// `from` NULL: the program's own name their bases.
static enum status load_base(struct target *t, const char *base, const char *from, int depth, struct error *err)
{
	char *path = from && target_is_path(base) ? target_base_path(base, from) : NULL;
	enum status st = load_onto(t, path ? path : base, depth, err);
	free(path);
	return st;
}

static enum status load_onto(struct target *t, const char *name, int depth, struct error *err)
{
	struct str text = {0};
	cJSON *json = NULL;
	char *from = NULL;
	enum status st = target_text(&text, &from, name, err);
	if (!st)
		st = json_parse(&json, str_text(&text), text.len, from ? from : name, err);
	if (st)
		goto out;
	if (target_is_path(name))
		target_keep(name, str_text(&text));
	const char *base = json_text(json, "base", NULL);
	if (base && depth + 1 >= TARGET_MAX_DEPTH)
		st = error_set(err, STATUS_FORMAT, "target %s: its chain of \"base\" targets is too long or a circle", name);
	else if (base)
		st = load_base(t, base, from, depth + 1, err);
	if (!st)
		st = target_read(t, json, from ? from : name, err);
out:
	free(from);
	cJSON_Delete(json);
	str_done(&text);
	return st;
}

// The whole is its name: one without the members is another target.
static void rename_target(struct target *t, const char *name, size_t base)
{
	char *own = arena_strdup(t->arena, name);
	t->name = own;
	t->members = own + base;
}

enum status target_load(struct target **out, const char *name, struct error *err)
{
	struct target *t = target_new();
	char *base;
	cJSON *members;
	enum status st = target_split(&base, &members, name, err);
	if (!st)
		st = load_onto(t, base, 0, err);
	if (!st && members && !(st = target_read(t, members, name, err)))
		rename_target(t, name, strlen(base));
	if (!st)
		st = target_validate(t, name, err);
	cJSON_Delete(members);
	free(base);
	if (st) {
		target_free(&t);
		return st;
	}
	if (t->scale.below <= 0)
		t->scale.below = t->scale.minimum;
	if (t->bias.headroom == 0) // a little, so that roundings do not take the bias beyond its bits again
		t->bias.headroom = 1.0001;
	t->refines = t->shift_limits != 0;
	for (int i = 0; i < t->n_rules; i++)
		t->refines |= t->rule[i].align == ALIGN_WHOLE || t->rule[i].align == ALIGN_COARSEST;
	*out = t;
	return STATUS_OK;
}

size_t target_path(const char *name)
{
	struct error ignored;
	cJSON *members = NULL;
	char *base = NULL;
	bool is = target_split(&base, &members, name, &ignored) == STATUS_OK && target_is_path(base);
	size_t n = is ? strlen(base) : 0;
	cJSON_Delete(members);
	free(base);
	return n;
}

char *target_absolute(const char *name)
{
	struct str full = {0}, path = {0};
	size_t n = target_path(name);
	str_addn(&path, name, n);
	char *real = n ? realpath(str_text(&path), NULL) : NULL;
	if (real)
		str_addf(&full, "%s%s", real, name + n);
	bool fits = real && full.len < TARGET_NAME;
	str_done(&path);
	free(real);
	if (fits)
		return str_detach(&full);
	str_done(&full);
	return xstrdup(name);
}

const char *target_name(const struct target *t)
{
	return t->name;
}

const char *target_title(const struct target *t)
{
	return t->title;
}

bool target_is_of(const struct target *t, const char *tool)
{
	return t->tool && strcmp(t->tool, tool) == 0;
}

int target_platform(const struct target *t, int bits)
{
	for (int i = 0; i < 2; i++)
		if (t->width[i].present && t->width[i].activation == bits)
			return t->width[i].platform;
	return 0;
}

bool target_pulls_all(const struct target *t)
{
	return t->pull_shared && t->pull_passive;
}

enum calib_method target_default_calibration(const struct target *t)
{
	return t->calibration.method;
}

double target_percentile(const struct target *t)
{
	return t->calibration.percentile;
}

bool target_splits_if_symmetric(const struct target *t)
{
	return t->only_asymmetric && !t->activation.symmetric;
}

bool target_has_precision(const struct target *t, int bits)
{
	for (int i = 0; i < 2; i++)
		if (t->width[i].present && t->width[i].activation == bits)
			return true;
	return false;
}

bool target_widens_weights(const struct target *t)
{
	return t->width[0].present && t->width[1].present && t->width[1].weight > t->width[0].weight;
}

int target_bias_room(const struct target *t)
{
	const struct width *narrow = &t->width[0], *wide = &t->width[1];
	if (!wide->present)
		return -1;
	return wide->bias - narrow->bias - (wide->weight - narrow->weight) - (wide->activation - narrow->activation);
}

bool target_has_trait(const struct target *t, enum target_trait trait)
{
	const bool has[] = {
	    [TRAIT_OWN_BIAS] = t->bias.quantized && t->bias.own_scale,
	    [TRAIT_ALL_TYPES] = t->all_types,
	    [TRAIT_HARD_SIGMOID] = target_rule(t, "Sigmoid")->becomes == BECOMES_HARD_SIGMOID,
	};
	return has[trait];
}

static void list_add(char ***list, size_t *cap, int *n, const char *name, size_t len)
{
	for (int i = 0; i < *n; i++)
		if (strlen((*list)[i]) == len && strncmp((*list)[i], name, len) == 0)
			return;
	*list = xgrow(*list, cap, (size_t)*n + 1, sizeof **list);
	struct str s = {0};
	str_addn(&s, name, len);
	(*list)[(*n)++] = str_detach(&s);
}

char **target_list(int *n)
{
	char **list = NULL, *dir;
	size_t cap = 0;
	*n = 0;
	for (const struct embed *e = target_embedded; e->name; e++)
		list_add(&list, &cap, n, e->name, strlen(e->name));
	for (int i = 0; (dir = target_dir(i)); i++) {
		struct file_list files = {0};
		struct error err = {0};
		if (!file_list_dir(&files, dir, &err)) // a directory that is not there has no targets
			for (size_t k = 0; k < files.n; k++)
				if (str_has_suffix(files.name[k], ".json"))
					list_add(&list, &cap, n, files.name[k], strlen(files.name[k]) - 5);
		file_list_done(&files);
		free(dir);
	}
	if (*n > 0)
		qsort(list, (size_t)*n, sizeof *list, order_texts);
	return list;
}
