// A reader for the two forms of Python literal.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "names.h"
#include "qtui/base/mem.h"

enum { NAMES_MAX = 10000 }; // those behind are not read: the text is of a file

static const char *skip_blanks(const char *p)
{
	while (isspace((unsigned char)*p) || *p == ',')
		p++;
	return p;
}

// A quoted word; *p moves behind it. NULL when there is none. Heap.
static char *read_word(const char **p)
{
	char quote = **p;
	if (quote != '\'' && quote != '"')
		return NULL;
	const char *from = ++*p;
	while (**p && **p != quote)
		*p += **p == '\\' && (*p)[1] ? 2 : 1;
	if (!**p)
		return NULL;
	size_t n = (size_t)(*p - from);
	char *word = xmalloc(n + 1), *to = word;
	for (size_t i = 0; i < n; i++) {
		i += from[i] == '\\' && i + 1 < n;
		*to++ = from[i];
	}
	*to = '\0';
	++*p;
	return word;
}

// "12:" in front of a word of a dictionary.
static bool read_number(const char **p, long *out)
{
	char *end;
	*out = strtol(*p, &end, 10);
	while (isspace((unsigned char)*end))
		end++;
	if (end == *p || *end != ':' || *out < 0 || *out >= NAMES_MAX)
		return false;
	*p = skip_blanks(end + 1);
	return true;
}

static void put(struct names *names, size_t *cap, long i, char *word)
{
	names->at = xgrow(names->at, cap, (size_t)i + 1, sizeof *names->at);
	for (; names->n <= i; names->n++)
		names->at[names->n] = NULL;
	free(names->at[i]);
	names->at[i] = word;
}

void names_parse(struct names *out, const char *text)
{
	size_t cap = 0;
	*out = (struct names){0};
	if (!text || (*text != '{' && *text != '['))
		return;
	bool numbered = *text == '{';
	for (const char *p = skip_blanks(text + 1); *p && *p != '}' && *p != ']'; p = skip_blanks(p)) {
		long i = out->n;
		char *word = i < NAMES_MAX && (!numbered || read_number(&p, &i)) ? read_word(&p) : NULL;
		if (!word) {
			names_done(out);
			return;
		}
		put(out, &cap, i, word);
	}
}

// COCO's and Pascal VOC's, in their order.
static const char *const known[] = {
    "["
    "'person', 'bicycle', 'car', 'motorcycle', 'airplane', 'bus', 'train', 'truck', 'boat', 'traffic light', "
    "'fire hydrant', 'stop sign', 'parking meter', 'bench', 'bird', 'cat', 'dog', 'horse', 'sheep', 'cow', "
    "'elephant', 'bear', 'zebra', 'giraffe', 'backpack', 'umbrella', 'handbag', 'tie', 'suitcase', 'frisbee', "
    "'skis', 'snowboard', 'sports ball', 'kite', 'baseball bat', 'baseball glove', 'skateboard', 'surfboard', "
    "'tennis racket', 'bottle', 'wine glass', 'cup', 'fork', 'knife', 'spoon', 'bowl', 'banana', 'apple', "
    "'sandwich', 'orange', 'broccoli', 'carrot', 'hot dog', 'pizza', 'donut', 'cake', 'chair', 'couch', "
    "'potted plant', 'bed', 'dining table', 'toilet', 'tv', 'laptop', 'mouse', 'remote', 'keyboard', "
    "'cell phone', 'microwave', 'oven', 'toaster', 'sink', 'refrigerator', 'book', 'clock', 'vase', 'scissors', "
    "'teddy bear', 'hair drier', 'toothbrush'"
    "]",
    "['aeroplane', 'bicycle', 'bird', 'boat', 'bottle', 'bus', 'car', 'cat', 'chair', 'cow', 'diningtable', 'dog', "
    "'horse', 'motorbike', 'person', 'pottedplant', 'sheep', 'sofa', 'train', 'tvmonitor']",
};

void names_known(struct names *out, int n)
{
	*out = (struct names){0};
	for (size_t i = 0; i < sizeof known / sizeof *known && out->n != n; i++) {
		names_done(out);
		names_parse(out, known[i]);
	}
	if (out->n != n)
		names_done(out);
}

static char next_letter(const char **text)
{
	*text += strspn(*text, " -_");
	char c = (char)tolower((unsigned char)**text);
	*text += c != '\0';
	return c;
}

bool names_alike(const char *a, const char *b)
{
	for (;;) {
		char c = next_letter(&a), d = next_letter(&b);
		if (c != d || !c)
			return c == d;
	}
}

void names_done(struct names *names)
{
	for (int i = 0; i < names->n; i++)
		free(names->at[i]);
	free(names->at);
	*names = (struct names){0};
}
