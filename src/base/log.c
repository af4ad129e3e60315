#include "qtui/base/log.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "qtui/base/str.h"

#define LINES 1024 // that are kept

static struct {
	pthread_mutex_t lock;
	int first, count; // the oldest kept, how many
	int warnings;     // that were said
	unsigned added;   // lines, ever
	int to_stderr;
	enum log_level min;
	struct {
		enum log_level level;
		bool said; // it went to standard error
		char text[LOG_WIDTH];
	} line[LINES];
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

// Needs the lock.
static bool was_said(enum log_level level, const char *text)
{
	for (int i = 0; i < ring.count; i++)
		if (ring.line[i].said && ring.line[i].level == level && strcmp(ring.line[i].text, text) == 0)
			return true;
	return false;
}

// The slot of the line: a new one, unless it only says the latest once more. Needs the lock.
static int slot_of(enum log_level level, const char *text)
{
	int latest = (ring.first + ring.count - 1) % LINES;
	if (ring.count > 0 && ring.line[latest].level == level && strcmp(ring.line[latest].text, text) == 0)
		return latest;
	int slot = next_slot();
	ring.line[slot].level = level;
	ring.line[slot].said = false;
	snprintf(ring.line[slot].text, LOG_WIDTH, "%s", text);
	ring.warnings += level >= LOG_WARN;
	ring.added++;
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
	bool says = ring.to_stderr && level >= ring.min && !was_said(level, text);
	if (says)
		fprintf(stderr, "qtui: %s%s\n", level_word[level], text);
	ring.line[slot_of(level, text)].said |= says;
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
