// What the system could still give: the least of MemAvailable, of what every control group above us leaves, and of
// the address space limit. All is read from files below `root`, so that a test can show another system.
#include "qtui/base/mem.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// The names in the two versions of the interface.
struct cgroup_files {
	const char *mount, *limit, *usage, *reclaimable;
};
static const struct cgroup_files cgroup_v1 = {
    "/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
static const struct cgroup_files cgroup_v2 = {"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

// The number behind `word` at the start of a line ("" takes the first number); false when it is not there.
static bool number_in(const char *path, const char *word, unsigned long long *out)
{
	FILE *f = fopen(path, "re");
	char line[256];
	size_t n = strlen(word);
	bool found = false;
	while (f && !found && fgets(line, sizeof line, f))
		if (strncmp(line, word, n) == 0)
			found = sscanf(line + n, " %llu", out) == 1;
	if (f)
		fclose(f);
	return found;
}

static bool cgroup_number(const char *dir, const char *file, const char *word, unsigned long long *out)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/%s", dir, file) >= (int)sizeof path)
		return false;
	return number_in(path, word, out);
}

// "max" is no number, so a group without a limit leaves SIZE_MAX. Cached file pages that nobody uses can be had back.
static size_t cgroup_leaves(const char *dir, const struct cgroup_files *names)
{
	unsigned long long limit, usage = 0, cache = 0;
	if (!cgroup_number(dir, names->limit, "", &limit))
		return SIZE_MAX;
	cgroup_number(dir, names->usage, "", &usage);
	cgroup_number(dir, "memory.stat", names->reclaimable, &cache);
	usage -= cache < usage ? cache : usage;
	return usage < limit ? limit - usage : 0;
}

// Every ancestor limits too. In a container the path may name a directory of the host, which is skipped.
static size_t cgroup_chain(const char *root, const struct cgroup_files *names, const char *group)
{
	char dir[PATH_MAX];
	size_t have = SIZE_MAX, top = strlen(root) + strlen(names->mount);
	int n = snprintf(dir, sizeof dir, "%s%s%s", root, names->mount, group);
	if (n < 0 || n >= (int)sizeof dir)
		return have;
	for (;;) {
		char *slash;
		have = least(have, cgroup_leaves(dir, names));
		slash = strrchr(dir + top, '/');
		if (!slash)
			return have;
		*slash = '\0';
	}
}

// A line of /proc/self/cgroup is ID:CONTROLLERS:PATH; version 2 has no controllers.
static size_t cgroup_line(const char *root, char *line)
{
	char *controllers = strchr(line, ':');
	char *group = controllers ? strchr(controllers + 1, ':') : NULL;
	if (!group)
		return SIZE_MAX;
	*group++ = '\0';
	group[strcspn(group, "\n")] = '\0';
	controllers++;
	if (*controllers == '\0')
		return cgroup_chain(root, &cgroup_v2, group);
	if (strcmp(controllers, "memory") == 0)
		return cgroup_chain(root, &cgroup_v1, group);
	return SIZE_MAX;
}

static size_t cgroups_leave(const char *root)
{
	char line[PATH_MAX];
	size_t have = SIZE_MAX;
	FILE *f;
	if (snprintf(line, sizeof line, "%s/proc/self/cgroup", root) >= (int)sizeof line)
		return have;
	f = fopen(line, "re");
	while (f && fgets(line, sizeof line, f))
		have = least(have, cgroup_line(root, line));
	if (f)
		fclose(f);
	return have;
}

size_t mem_available_under(const char *root)
{
	char path[PATH_MAX];
	unsigned long long kib;
	size_t have = cgroups_leave(root);
	if (snprintf(path, sizeof path, "%s/proc/meminfo", root) < (int)sizeof path &&
	    number_in(path, "MemAvailable:", &kib))
		have = least(have, (size_t)kib * 1024);
	return have;
}

size_t mem_address_space_left(void)
{
	struct rlimit r;
	unsigned long long pages = 0;
	size_t used;
	if (getrlimit(RLIMIT_AS, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
		return SIZE_MAX;
	number_in("/proc/self/statm", "", &pages);
	used = (size_t)pages * (size_t)sysconf(_SC_PAGESIZE);
	return used < r.rlim_cur ? r.rlim_cur - used : 0;
}

size_t mem_available(void)
{
	return least(mem_available_under(""), mem_address_space_left());
}
