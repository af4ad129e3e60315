// A directory of pictures, for each sample the one that the network should make of it.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"
#include "qtui/engine/data.h"

// What the names of samples and of their pictures end in.
static const struct {
	const char *sample, *picture;
} endings[] = {
    {"", ""},
    {"_LR", "_HR"}, // Set5, Set14: img_001_SRF_4_LR.png
    {"x2", ""},     // DIV2K: 0801x4.png
    {"x3", ""},
    {"x4", ""},
    {"x8", ""},
};
enum { FEW = 8 }; // numbers in a mask

static bool is_itself(const char *dir, const char *file)
{
	char *own = file_dir(file);
	bool same = file_is_same(own, dir);
	free(own);
	return same;
}

// The picture of the sample's name in which one ending takes another's place.
static char *with_ending(const char *dir, const char *file, const char *ending, const char *picture)
{
	char *path = NULL;
	for (int i = 0; image_extensions[i / 2] && !path; i++) {
		char as[16];
		snprintf(as, sizeof as, "%s%s", picture, image_extensions[i / 2]);
		for (char *c = as + strlen(picture); i % 2 && *c; c++)
			*c = (char)toupper((unsigned char)*c);
		path = labels_partner(dir, file, ending, as);
	}
	return path;
}

static char *picture_path(const char *dir, const char *file, const struct labels_samples *s)
{
	char *path = NULL;
	for (size_t i = 0; i < sizeof endings / sizeof *endings && !path; i++)
		path = with_ending(dir, file, endings[i].sample, endings[i].picture);
	if (!path && s->pictures == PICTURES_SURE && is_itself(dir, file))
		path = xstrdup(file);
	return path;
}

// Networks that may as well make pictures have three classes at the most.
static bool is_of_few_numbers(const struct mask *m)
{
	uint16_t number[FEW];
	int n = 0;
	for (size_t i = 0; i < (size_t)m->w * (size_t)m->h; i++) {
		int k = 0;
		while (k < n && number[k] != m->number[i])
			k++;
		if (k == FEW)
			return false;
		if (k == n)
			number[n++] = m->number[i];
	}
	return true;
}

static bool is_mask(const char *dir, const char *path)
{
	struct mask m = {0};
	struct error ignored; // whoever reads it will tell
	char *names = file_join(dir, "classes.txt");
	bool mask = mask_read(&m, path, &ignored) == STATUS_OK && (file_exists(names) || is_of_few_numbers(&m));
	free(names);
	mask_done(&m);
	return mask;
}

// The first sample that has one decides.
bool labels_are_pictures(const char *dir, const struct labels_samples *s)
{
	char *path = NULL;
	for (int i = 0; s->pictures != PICTURES_NONE && i < s->n && !path; i++)
		path = s->file[i] ? picture_path(dir, s->file[i], s) : NULL;
	bool pictures = path && (s->pictures == PICTURES_SURE || !is_mask(dir, path));
	free(path);
	return pictures;
}

void labels_read_pictures(struct labels *l, const char *dir, const struct labels_samples *s)
{
	l->kind = LABELS_PICTURES;
	l->source = xstrdup(dir);
	for (int i = 0; i < s->n; i++) {
		l->label[i].file = s->file[i] ? picture_path(dir, s->file[i], s) : NULL;
		l->label[i].known = l->label[i].file;
	}
}
