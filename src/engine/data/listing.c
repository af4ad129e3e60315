// Directories and list files.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "arrays.h"
#include "listing.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/log.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"

#define LIST_MAX ((size_t)64 << 20)
#define KINDS ".jpg, .png and the like, .npy .npz .pb .bin"

static bool is_foreign_image(const char *path)
{
	static const char *const extensions[] = {".gif", ".heic", ".heif", ".avif", ".jp2", ".jxl", ".dng", ".pbm"};
	size_t n = strlen(path);
	for (size_t i = 0; i < sizeof extensions / sizeof *extensions; i++)
		if (n > strlen(extensions[i]) && strcasecmp(path + n - strlen(extensions[i]), extensions[i]) == 0)
			return true;
	return false;
}

static bool is_data(const char *path)
{
	return image_is_name(path) || arrays_is_name(path);
}

void listing_done(struct listing *l)
{
	for (size_t i = 0; i < l->n_files * (size_t)l->n_parts; i++)
		free(l->path[i]);
	free(l->path);
	free(l->input);
	free(l->first_foreign);
	*l = (struct listing){0};
}

static void add(struct listing *l, char *path)
{
	l->path = xgrow(l->path, &l->cap, (l->n_files + 1) * (size_t)l->n_parts, sizeof(char *));
	l->path[l->n_files++] = path;
}

static enum status read_dir(struct listing *l, const char *dir, struct error *err)
{
	struct file_list files;
	size_t others = 0;
	enum status s = file_list_dir(&files, dir, err);
	if (s)
		return s;
	for (size_t i = 0; i < files.n; i++) {
		if (is_data(files.name[i]))
			add(l, file_join(dir, files.name[i]));
		else
			others++;
		if (is_foreign_image(files.name[i]) && !l->foreign++)
			l->first_foreign = file_join(dir, files.name[i]);
	}
	file_list_done(&files);
	if (others)
		log_info("%s: %zu file%s left out: neither image nor array", dir, others, plural(others));
	return STATUS_OK;
}

// Of a directory whose folders are these the samples are in the first; the second holds what is right of them.
static const char *const folders_of_truth[][2] = {{"images", "masks"}, {"images", "annotations"}, {"images", "labels"}, {"images", "depth"},
    {"images", "depths"}, {"JPEGImages", "SegmentationClass"}, {"leftImg8bit", "gtFine"}, {"rgb", "depth"}, {"image", "groundtruth_depth"},
    {"inputs", "targets"}, {"input", "target"}, {"input", "gt"}, {"LR", "HR"}, {"lr", "hr"}, {"lq", "gt"}, {"blur", "sharp"},
    {"noisy", "clean"}};

static const char *named(const struct file_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->name[i], name) == 0)
			return l->name[i];
	return NULL;
}

// The one of the folders that alone holds samples, since another has their truth; NULL: all do.
static const char *folder_of_samples(const struct file_list *l)
{
	for (size_t i = 0; i < sizeof folders_of_truth / sizeof *folders_of_truth; i++)
		if (named(l, folders_of_truth[i][0]) && named(l, folders_of_truth[i][1]))
			return named(l, folders_of_truth[i][0]);
	return NULL;
}

// A directory without data of its own: what its subdirectories hold (one a class, as classifiers are often given).
static enum status read_subdirs(struct listing *l, const char *dir, struct error *err)
{
	struct file_list subdirs;
	enum status s = file_list_subdirs(&subdirs, dir, err);
	if (s)
		return s;
	const char *only = folder_of_samples(&subdirs);
	for (size_t i = 0; i < subdirs.n && !s; i++) {
		if (only && strcmp(subdirs.name[i], only) != 0)
			continue;
		char *sub = file_join(dir, subdirs.name[i]);
		s = read_dir(l, sub, err);
		free(sub);
	}
	if (only)
		log_info("%s: the samples are those of %s", dir, only);
	file_list_done(&subdirs);
	return s;
}

// A line's path: as it is when absolute, else beside the list file, or in the working
// directory where the list comes through a pipe.
static enum status add_line(struct listing *l, const char *dir, const char *line, size_t n, struct error *err)
{
	enum status s = STATUS_OK;
	char *name;
	while (n && isspace((unsigned char)line[n - 1]))
		n--;
	while (n && isspace((unsigned char)*line))
		line++, n--;
	if (!n || *line == '#')
		return STATUS_OK;
	name = xmalloc(n + 1);
	memcpy(name, line, n);
	name[n] = '\0';
	if (is_data(name))
		add(l, name[0] == '/' ? xstrdup(name) : file_join(dir, name));
	else
		s = error_set(err, STATUS_FORMAT, "'%.120s' is not the path of an image or array (" KINDS ")", name);
	free(name);
	return s;
}

static bool has_data(const char *dir)
{
	struct file_list files;
	struct error ignored; // what cannot be read has none
	bool has = false;
	if (file_list_dir(&files, dir, &ignored) != STATUS_OK)
		return false;
	for (size_t i = 0; i < files.n && !has; i++)
		has = is_data(files.name[i]);
	file_list_done(&files);
	return has;
}

// The first directory below, at most so deep, that holds data itself; heap, NULL: none does.
static char *find_below(const char *dir, int depth)
{
	struct file_list subdirs;
	struct error ignored;
	char *found = NULL;
	if (depth == 0 || file_list_subdirs(&subdirs, dir, &ignored) != STATUS_OK)
		return NULL;
	for (size_t i = 0; i < subdirs.n && !found; i++) {
		char *sub = file_join(dir, subdirs.name[i]);
		found = has_data(sub) ? xstrdup(sub) : find_below(sub, depth - 1);
		free(sub);
	}
	file_list_done(&subdirs);
	return found;
}

static enum status refuse_empty(const char *path, struct error *err)
{
	enum { DEPTH_MAX = 5 };
	char *below = file_is_dir(path) ? find_below(path, DEPTH_MAX) : NULL;
	if (below)
		error_set(err, STATUS_NOTFOUND, "%s holds no samples in itself or in the folders in it: give one that does, as %s", path, below);
	else
		error_set(err, STATUS_NOTFOUND, "%s holds no samples (" KINDS ")", path);
	free(below);
	return err->status;
}

// A list of paths has no such ending: what has it says where samples lie, or what is on them.
static bool describes_data(const char *path)
{
	static const char *const endings[] = {".yaml", ".yml", ".json", ".jsonl", ".xml"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (str_has_suffix(path, endings[i]))
			return true;
	return false;
}

static enum status read_list(struct listing *l, const char *path, struct error *err)
{
	struct bytes b;
	char *dir;
	int number = 1;
	enum status s = file_read_text(&b, path, LIST_MAX, err);
	if (s)
		return s;
	dir = file_is_regular(path) ? file_dir(path) : xstrdup(".");
	if (memchr(b.data, '\0', b.size))
		s = error_set(err, STATUS_FORMAT, "%s is neither an image, nor an array, nor a list of paths", path);
	for (size_t at = 0; at < b.size && !s; number++) {
		const uint8_t *end = memchr(b.data + at, '\n', b.size - at);
		size_t n = end ? (size_t)(end - b.data) - at : b.size - at;
		s = add_line(l, dir, (const char *)b.data + at, n, err);
		if (s)
			error_prefix(err, "%s:%d", path, number);
		at += n + 1;
	}
	free(dir);
	bytes_done(&b);
	return s;
}

// The directory of an input: its name as it is, if that is there and below dir,
// else with everything outside [A-Za-z0-9._-] as '_'; heap.
static char *input_dir(const char *dir, const char *input)
{
	bool below = *input && !strchr("./", *input) && !strstr(input, "..");
	char *path = below ? file_join(dir, input) : NULL, *name;
	if (path && file_is_dir(path))
		return path;
	free(path);
	name = file_safe_name(input);
	path = file_join(dir, name);
	free(name);
	return path;
}

// The inputs that have a subdirectory. Returns how many.
static int find_parts(int *input, const char *dir, const struct graph *g)
{
	int n = 0;
	for (int i = 0; i < g->n_inputs; i++) {
		char *sub = input_dir(dir, g->value[g->input[i]].name);
		if (file_is_dir(sub))
			input[n++] = i;
		free(sub);
	}
	return n;
}

// One listing an input, then woven into one: sample i is file i of each.
static enum status read_parts(struct listing *l, const char *dir, const struct graph *g, struct error *err)
{
	struct listing *part = xcalloc((size_t)l->n_parts, sizeof *part);
	enum status s = STATUS_OK;
	for (int p = 0; p < l->n_parts && !s; p++) {
		char *sub = input_dir(dir, g->value[g->input[l->input[p]]].name);
		part[p].n_parts = 1;
		s = read_dir(&part[p], sub, err);
		if (!s && part[p].n_files != part[0].n_files)
			s = error_set(err, STATUS_FORMAT, "%s has %zu files, the directory of the first input %zu", sub,
			    part[p].n_files, part[0].n_files);
		free(sub);
	}
	for (size_t i = 0; !s && i < part[0].n_files; i++)
		for (int p = 0; p < l->n_parts; p++) {
			l->path = xgrow(l->path, &l->cap, (i + 1) * (size_t)l->n_parts, sizeof(char *));
			l->path[i * (size_t)l->n_parts + (size_t)p] = part[p].path[i];
			part[p].path[i] = NULL;
			l->n_files = i + 1;
		}
	for (int p = 0; p < l->n_parts; p++) {
		l->foreign += part[p].foreign;
		if (!l->first_foreign) {
			l->first_foreign = part[p].first_foreign;
			part[p].first_foreign = NULL;
		}
		listing_done(&part[p]);
	}
	free(part);
	return s;
}

static char *stem(const char *path)
{
	char *s = xstrdup(file_base(path)), *dot = strrchr(s, '.');
	if (dot)
		*dot = '\0';
	return s;
}

static struct namemap *stems(const struct listing *l, int part)
{
	struct namemap *m = namemap_new();
	for (size_t i = 0; i < l->n_files; i++) {
		char *name = stem(l->path[i * (size_t)l->n_parts + (size_t)part]);
		namemap_put(m, name, 1);
		free(name);
	}
	return m;
}

// How many names of the part are in `first`. *odd is the first of the rows that has two; n_files: none has.
static size_t count_shared(size_t *odd, const struct listing *l, const struct namemap *first, int part)
{
	size_t n = 0;
	*odd = l->n_files;
	for (size_t i = 0; i < l->n_files; i++) {
		char **row = l->path + i * (size_t)l->n_parts;
		char *name = stem(row[part]), *other = stem(row[0]);
		n += namemap_get(first, name) >= 0;
		if (*odd == l->n_files && strcmp(name, other) != 0)
			*odd = i;
		free(name);
		free(other);
	}
	return n;
}

void listing_misfit(const struct listing *l, size_t rows, const char **path, const char **with)
{
	struct namemap *first = l->n_parts > 1 ? stems(l, 0) : NULL;
	*path = *with = NULL;
	for (int part = 1; part < l->n_parts && !*with; part++) {
		size_t odd, shared = count_shared(&odd, l, first, part);
		if (odd < rows && 2 * shared > l->n_files) {
			*path = l->path[odd * (size_t)l->n_parts];
			*with = l->path[odd * (size_t)l->n_parts + (size_t)part];
		}
	}
	namemap_free(&first);
}

enum status listing_read(struct listing *out, const char *path, const struct graph *g, struct error *err)
{
	enum status s = STATUS_OK;
	*out = (struct listing){.n_parts = 1, .input = xmalloc(((size_t)g->n_inputs + 1) * sizeof(int))};
	out->input[0] = -1;
	if (!file_is_dir(path)) {
		if (is_data(path))
			add(out, xstrdup(path));
		else if (describes_data(path) && file_exists(path))
			s = error_set(err, STATUS_USAGE, "%s holds no samples: give the directory of images or arrays (labels beside it are found, others are "
			    "named with --labels)", path);
		else
			s = read_list(out, path, err);
	} else {
		int parts = find_parts(out->input, path, g);
		out->n_parts = parts ? parts : 1;
		out->input[0] = parts ? out->input[0] : -1;
		s = parts ? read_parts(out, path, g, err) : read_dir(out, path, err);
		if (!s && !parts && !out->n_files)
			s = read_subdirs(out, path, err);
	}
	if (!s && !out->n_files && out->foreign)
		s = error_set(err, STATUS_NOTFOUND, "%s holds no samples (" KINDS "): convert %s", path, out->first_foreign);
	else if (!s && !out->n_files)
		s = refuse_empty(path, err);
	else if (!s && out->foreign)
		log_warn("%zu images are left out, of formats that are not read (first: %s): convert them", out->foreign,
		    out->first_foreign);
	return s;
}
