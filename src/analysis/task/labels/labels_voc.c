// Pascal VOC: a directory of XML files, NAME.xml for NAME.jpg, whose objects have a name and a bndbox of pixels that are
// counted from 1, the last included. Numbers of classes are those of the names in order. What is "difficult" counts
// neither for nor against, as in VOC's figures.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <expat.h>
#include "labels.h"
#include "qtui/base/file.h"
#include "qtui/base/mem.h"

#define VOC_FILE_MAX ((size_t)16 << 20)
enum { TEXT_MAX = 256, DEPTH_MAX = 8 };

// Elements that are looked at, by the path that leads to them.
enum element { OTHER, OBJECT, NAME, DIFFICULT, XMIN, YMIN, XMAX, YMAX };
static const struct {
	const char *path;
	enum element is;
} elements[] = {
    {"annotation/object", OBJECT},
    {"annotation/object/name", NAME},
    {"annotation/object/difficult", DIFFICULT},
    {"annotation/object/bndbox/xmin", XMIN},
    {"annotation/object/bndbox/ymin", YMIN},
    {"annotation/object/bndbox/xmax", XMAX},
    {"annotation/object/bndbox/ymax", YMAX},
};

struct voc {
	const struct named_file *file;
	XML_Parser parser;
	char where[TEXT_MAX];    // elements that are open: "annotation/object/name"
	size_t length[DEPTH_MAX]; // of it, before each of them
	int depth;
	char text[TEXT_MAX];     // of the innermost one
	size_t n;
	char name[TEXT_MAX];     // of the object
	double side[4];          // NAN: not given
	bool difficult;
	struct error err;
};

static void fail(struct voc *v, const char *what)
{
	if (v->err.status == STATUS_OK)
		(void)error_set(&v->err, STATUS_FORMAT, "%s:%d: %s", v->file->path, (int)XML_GetCurrentLineNumber(v->parser), what);
	XML_StopParser(v->parser, XML_FALSE);
}

static enum element element_of(const struct voc *v)
{
	for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
		if (strcmp(elements[i].path, v->where) == 0)
			return elements[i].is;
	return OTHER;
}

static void XMLCALL begin(void *arg, const XML_Char *name, const XML_Char **attributes)
{
	struct voc *v = arg;
	size_t n = strlen(v->where);
	(void)attributes;
	if (v->err.status != STATUS_OK)
		return;
	if (v->depth == DEPTH_MAX || n + strlen(name) + 2 > sizeof v->where) {
		fail(v, "elements lie too deep for Pascal VOC");
		return;
	}
	v->length[v->depth++] = n;
	snprintf(v->where + n, sizeof v->where - n, "%s%s", n ? "/" : "", name);
	v->n = 0;
	if (element_of(v) != OBJECT)
		return;
	v->name[0] = '\0';
	v->difficult = false;
	for (int i = 0; i < 4; i++)
		v->side[i] = NAN;
}

static void XMLCALL add_text(void *arg, const XML_Char *text, int n)
{
	struct voc *v = arg;
	if (v->n + (size_t)n >= TEXT_MAX) {
		v->n = TEXT_MAX; // longer than anything that is read: said where it is asked for
		return;
	}
	memcpy(v->text + v->n, text, (size_t)n);
	v->n += (size_t)n;
}

// The text without the blanks around it.
static const char *trimmed(struct voc *v)
{
	if (v->n >= TEXT_MAX) {
		fail(v, "a text is too long");
		return "";
	}
	char *from = v->text;
	while (v->n && strchr(" \t\r\n", v->text[v->n - 1]))
		v->n--;
	v->text[v->n] = '\0';
	return from + strspn(from, " \t\r\n");
}

static double number(struct voc *v)
{
	const char *text = trimmed(v);
	char *end;
	double x = strtod(text, &end);
	if (v->err.status == STATUS_OK && (end == text || *end || !isfinite(x)))
		fail(v, "a number is needed");
	return x;
}

static int class_of(struct voc *v)
{
	int class = labels_class_named(v->file, v->name);
	if (class < 0)
		fail(v, "there are too many classes");
	return class < 0 ? 0 : class;
}

static void add_object(struct voc *v)
{
	const double *s = v->side;
	if (!v->name[0] || isnan(s[0]) || isnan(s[1]) || isnan(s[2]) || isnan(s[3])) {
		fail(v, "an object has a name, and a bndbox of xmin, ymin, xmax and ymax");
		return;
	}
	if (s[2] < s[0] || s[3] < s[1]) {
		fail(v, "its bndbox ends before it begins");
		return;
	}
	struct coco_truth t = {.class = class_of(v), .crowd = v->difficult, .box = {s[0] - 1, s[1] - 1, s[2] - s[0] + 1, s[3] - s[1] + 1}};
	t.area = t.box.w * t.box.h;
	struct error err;
	if (labels_add_box(v->file->l, v->file->sample, &t, &err) != STATUS_OK)
		fail(v, err.text);
}

static void XMLCALL end(void *arg, const XML_Char *name)
{
	struct voc *v = arg;
	enum element is = element_of(v);
	(void)name;
	if (v->err.status != STATUS_OK)
		return;
	if (is == OBJECT)
		add_object(v);
	else if (is == NAME)
		snprintf(v->name, sizeof v->name, "%s", trimmed(v));
	else if (is == DIFFICULT)
		v->difficult = number(v) != 0;
	else if (is >= XMIN)
		v->side[is - XMIN] = number(v);
	v->n = 0;
	v->where[v->length[--v->depth]] = '\0';
}

// Definitions are no part of the format, and can grow without end.
static void XMLCALL refuse(void *arg, const XML_Char *name, const XML_Char *system, const XML_Char *public, int internal)
{
	(void)name, (void)system, (void)public, (void)internal;
	fail(arg, "a document type is no part of Pascal VOC");
}

static enum status read_file(const struct named_file *f, struct error *err)
{
	struct bytes b;
	if (file_read_text(&b, f->path, VOC_FILE_MAX, err) != STATUS_OK)
		return err->status;
	struct voc v = {.file = f, .parser = XML_ParserCreate(NULL)};
	XML_SetUserData(v.parser, &v);
	XML_SetElementHandler(v.parser, begin, end);
	XML_SetCharacterDataHandler(v.parser, add_text);
	XML_SetStartDoctypeDeclHandler(v.parser, refuse);
	bool whole = XML_Parse(v.parser, (const char *)b.data, (int)b.size, 1) == XML_STATUS_OK;
	if (!whole)
		fail(&v, XML_ErrorString(XML_GetErrorCode(v.parser)));
	*err = v.err;
	XML_ParserFree(v.parser);
	bytes_done(&b);
	return err->status;
}

bool labels_are_voc(const char *dir, const struct labels_samples *s)
{
	return labels_lie_in(dir, s, ".xml") >= 0;
}

enum status labels_read_voc(struct labels *l, const char *dir, const struct labels_samples *s, struct error *err)
{
	return labels_read_named(l, dir, ".xml", s, read_file, err);
}
