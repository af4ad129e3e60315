// Which sample a file is that labels name, and which file lies beside a sample.
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/hash.h"
#include "qtui/base/mem.h"
#include "qtui/base/str.h"
#include "qtui/engine/data.h"

struct sample_index {
	const struct labels_samples *s;
	struct namemap *first; // sample of a base name
	int *next;             // the next of the same base name, or -1
	struct namemap *stem;  // sample of a base name without its ending, or ALIKE
	struct claim {
		char *file, *other; // as labels name it, and a second one whose folders agree as far; NULL: none
		int shared;
		bool torn; // what is said of the two differs
	} *claim; // [s->n]
};
enum { ALIKE = -2 }; // several samples differ in their endings or folders alone

static bool is_separator(char c)
{
	return c == '/' || c == '\\'; // labels may have been made on Windows
}

static const char *base_of(const char *file)
{
	const char *base = file;
	for (const char *p = file; *p; p++)
		if (is_separator(*p))
			base = p + 1;
	return base;
}

static void add_stem(struct namemap *stem, const char *file, int sample)
{
	char *name = xstrdup(file_base(file)), *dot = strrchr(name, '.');
	if (dot && dot != name)
		*dot = '\0';
	namemap_put(stem, name, namemap_get(stem, name) == -1 ? sample : ALIKE);
	free(name);
}

struct sample_index *sample_index_new(const struct labels_samples *s)
{
	struct sample_index *x = xmalloc(sizeof *x);
	*x = (struct sample_index){.s = s, .first = namemap_new(), .next = xcalloc((size_t)s->n + 1, sizeof *x->next), .stem = namemap_new(),
	    .claim = xcalloc((size_t)s->n + 1, sizeof *x->claim)};
	for (int i = s->n - 1; i >= 0; i--) {
		if (!s->file[i])
			continue;
		x->next[i] = namemap_get(x->first, file_base(s->file[i]));
		namemap_put(x->first, file_base(s->file[i]), i);
		add_stem(x->stem, s->file[i], i);
	}
	return x;
}

void sample_index_free(struct sample_index **xp)
{
	struct sample_index *x = *xp;
	*xp = NULL;
	namemap_free(&x->first);
	namemap_free(&x->stem);
	for (int i = 0; i < x->s->n; i++) {
		free(x->claim[i].file);
		free(x->claim[i].other);
	}
	free(x->claim);
	free(x->next);
	free(x);
}

// How many components of the two paths agree, from the last on.
static int components_shared(const char *a, const char *b)
{
	const char *p = a + strlen(a), *q = b + strlen(b);
	int n = 0;
	while (p > a && q > b && (p[-1] == q[-1] || (is_separator(p[-1]) && is_separator(q[-1])))) {
		n += is_separator(p[-1]);
		p--;
		q--;
	}
	return n + ((p == a || is_separator(p[-1])) && (q == b || is_separator(q[-1])));
}

// By its name without an ending: it is an id, or the pictures are in another format than when they were labelled, or their ending
// is spelt otherwise.
static int find_stem(const struct sample_index *x, const char *base)
{
	int found = namemap_get(x->stem, base);
	if (found != -1 || !image_is_name(base))
		return found;
	char *stem = xstrdup(base);
	*strrchr(stem, '.') = '\0';
	found = namemap_get(x->stem, stem);
	free(stem);
	return found;
}

// Of several samples of that base name the one whose folders agree farthest; two that agree alike are none.
int sample_index_find(const struct sample_index *x, const char *file)
{
	int found = namemap_get(x->first, base_of(file)), most = 0;
	if (found < 0)
		found = find_stem(x, base_of(file));
	if (found < 0)
		return -1;
	if (x->next[found] < 0)
		return found;
	for (int i = found; i >= 0; i = x->next[i]) {
		int n = components_shared(x->s->file[i], file);
		if (n < most)
			continue;
		found = n > most ? i : -1;
		most = n;
	}
	return found;
}

// ---- several files of one name, which are frames of several scenes

static bool is_same_path(const char *a, const char *b)
{
	while (*a && (*a == *b || (is_separator(*a) && is_separator(*b)))) {
		a++;
		b++;
	}
	return *a == *b;
}

int sample_index_claim(struct sample_index *x, const char *file, bool *better)
{
	int sample = sample_index_find(x, file);
	*better = false;
	if (sample < 0)
		return sample;
	struct claim *c = &x->claim[sample];
	if (c->file && is_same_path(c->file, file))
		return sample;
	int shared = components_shared(x->s->file[sample], file);
	if (c->file && shared < c->shared)
		return -1;
	if (c->file && shared == c->shared) {
		c->other = c->other ? c->other : xstrdup(file);
		return sample;
	}
	*better = c->file != NULL;
	free(c->file);
	free(c->other);
	*c = (struct claim){.file = xstrdup(file), .shared = shared};
	return sample;
}

bool sample_index_is_claim(const struct sample_index *x, int sample, const char *file)
{
	const struct claim *c = &x->claim[sample];
	return is_same_path(c->file, file) || (c->other && is_same_path(c->other, file));
}

bool sample_index_tear(struct sample_index *x, int sample)
{
	return x->claim[sample].torn = x->claim[sample].other != NULL;
}

enum status sample_index_check(const struct sample_index *x, const char *path, bool torn, struct error *err)
{
	for (int i = 0; i < x->s->n; i++)
		if (x->claim[i].other && (x->claim[i].torn || !torn))
			return error_set(err, STATUS_FORMAT, "%s: %.120s and %.120s may both be %s: give the samples in folders that are called as there",
			    path, x->claim[i].file, x->claim[i].other, x->s->file[i]);
	return STATUS_OK;
}

// ---- files beside samples

// A directory may hold samples and what goes with them: none goes with itself.
static char *if_there(char *path, const char *file)
{
	if (file_exists(path) && !file_is_same(path, file))
		return path;
	free(path);
	return NULL;
}

char *labels_partner(const char *dir, const char *file, const char *ending, const char *as)
{
	const char *base = file_base(file), *dot = strrchr(base, '.');
	size_t stem = dot ? (size_t)(dot - base) : strlen(base), end = strlen(ending);
	if (stem < end || strncmp(base + stem - end, ending, end) != 0)
		return NULL;
	struct str name = {0};
	str_addn(&name, base, stem - end);
	str_add(&name, as);
	char *path = if_there(file_join(dir, str_text(&name)), file);
	if (!path) {
		char *folder = file_dir(file), *below = file_join(dir, file_base(folder));
		path = if_there(file_join(below, str_text(&name)), file);
		free(folder);
		free(below);
	}
	str_done(&name);
	return path;
}

// The file with so many folders that it is in; NULL: it is in fewer.
static const char *with_folders(const char *file, int folders)
{
	const char *from = file_base(file);
	for (; folders && from > file; folders--)
		for (from--; from > file && from[-1] != '/'; from--)
			;
	return folders || *from == '/' || strstr(from, "../") ? NULL : from; // from the root on, or upwards, it would lead elsewhere
}

char *labels_beside(const char *dir, const char *file, const char *ending)
{
	enum { FOLDERS_MAX = 4 };
	const char *base = file_base(file), *dot = strrchr(base, '.');
	char *path = NULL;
	for (int n = FOLDERS_MAX; n >= 0; n--) {
		const char *from = with_folders(file, n);
		struct str name = {0};
		if (!from || (path && file_exists(path)))
			continue;
		free(path);
		str_addn(&name, from, (size_t)((dot ? dot : base + strlen(base)) - from));
		str_add(&name, ending);
		path = file_join(dir, str_text(&name));
		str_done(&name);
	}
	return path;
}

int labels_lie_in(const char *dir, const struct labels_samples *s, const char *ending)
{
	for (int i = 0; i < s->n; i++) {
		char *path = s->file[i] ? labels_beside(dir, s->file[i], ending) : NULL;
		bool there = path && file_exists(path);
		free(path);
		if (there)
			return i;
	}
	return -1;
}
