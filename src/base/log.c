#include "qtui/base/log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "qtui/base/str.h"

#define LINES 1024 // that are kept

struct line {
	enum log_level level;
	bool said; // it went to standard error
	char text[LOG_WIDTH];
};
static struct {
	pthread_mutex_t lock;
	int first, count; // the oldest kept, how many
	int warnings;     // that were said
	unsigned added;   // lines that were added or moved, ever
	int to_stderr;
	enum log_level min;
	struct line line[LINES];
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const level_word[] = {[LOG_INFO] = "", [LOG_WARN] = "warning: ", [LOG_ERROR] = "error: "};

// The slot of a new line, the oldest one's when the ring is full. Needs the lock.
static int next_slot(void)
{
	int slot = (ring.first + ring.count) % LINES;
	if (ring.count < LINES)
		ring.count++;
	else
		ring.first = (ring.first + 1) % LINES;
	return slot;
}

// Where the ring has such a line, from 0 for the oldest; -1: nowhere. Needs the lock.
static int find_line(enum log_level level, const char *text)
{
	for (int i = ring.count - 1; i >= 0; i--) {
		const struct line *l = &ring.line[(ring.first + i) % LINES];
		if (l->level == level && strcmp(l->text, text) == 0)
			return i;
	}
	return -1;
}

// Brings line `i` behind all others. Needs the lock.
static void move_to_end(int i)
{
	struct line l = ring.line[(ring.first + i) % LINES];
	for (; i < ring.count - 1; i++)
		ring.line[(ring.first + i) % LINES] = ring.line[(ring.first + i + 1) % LINES];
	ring.line[(ring.first + i) % LINES] = l;
}

// The slot of the line, the last. What is said once more moves there: what is opened again warns again. Needs the lock.
static int slot_of(enum log_level level, const char *text)
{
	int at = find_line(level, text);
	if (at < 0 || at < ring.count - 1) {
		ring.warnings += level >= LOG_WARN;
		ring.added++;
	}
	if (at >= 0) {
		move_to_end(at);
		return (ring.first + ring.count - 1) % LINES;
	}
	int slot = next_slot();
	ring.line[slot].level = level;
	ring.line[slot].said = false;
	snprintf(ring.line[slot].text, LOG_WIDTH, "%s", text);
	return slot;
}

void log_add(enum log_level level, const char *fmt, ...)
{
	char text[LOG_WIDTH];
	va_list ap;
	va_start(ap, fmt);
	str_vfit(text, sizeof text, fmt, ap);
	va_end(ap);
	str_oneline(text);
	pthread_mutex_lock(&ring.lock);
	struct line *line = &ring.line[slot_of(level, text)];
	if (ring.to_stderr && level >= ring.min && !line->said) {
		fprintf(stderr, "qtui: %s%s\n", level_word[level], text);
		line->said = true;
	}
	pthread_mutex_unlock(&ring.lock);
}

void log_to_stderr(bool enabled, enum log_level min)
{
	pthread_mutex_lock(&ring.lock);
	ring.to_stderr = enabled;
	ring.min = min;
	pthread_mutex_unlock(&ring.lock);
}

int log_line(int i, char *out, int size)
{
	int level = -1;
	pthread_mutex_lock(&ring.lock);
	if (i >= 0 && i < ring.count && size > 0) {
		int slot = (ring.first + i) % LINES;
		snprintf(out, (size_t)size, "%s", ring.line[slot].text);
		level = (int)ring.line[slot].level;
	}
	pthread_mutex_unlock(&ring.lock);
	return level;
}

unsigned log_additions(void)
{
	pthread_mutex_lock(&ring.lock);
	unsigned n = ring.added;
	pthread_mutex_unlock(&ring.lock);
	return n;
}

int log_warnings(void)
{
	pthread_mutex_lock(&ring.lock);
	int n = ring.warnings;
	pthread_mutex_unlock(&ring.lock);
	return n;
}
