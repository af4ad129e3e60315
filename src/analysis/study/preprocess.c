// How pictures are prepared: words, keys and JSON.
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/preprocess.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"

static const char *const resize_name[] = {
    [RESIZE_STRETCH] = "stretch", [RESIZE_LETTERBOX] = "letterbox", [RESIZE_CORNER] = "corner", [RESIZE_CROP] = "crop"};

// All of a side is a share of 0, so that "crop:1" is "crop".
bool resize_parse(struct preprocess *p, const char *text)
{
	const char *colon = text ? strchr(text, ':') : NULL;
	size_t length = colon ? (size_t)(colon - text) : text ? strlen(text) : 0;
	double share = 1;
	if (colon && (!str_to_double(colon + 1, &share) || !(share > 0 && share <= 1)))
		return false;
	for (size_t i = 0; text && i < sizeof resize_name / sizeof *resize_name; i++)
		if (strlen(resize_name[i]) == length && strncmp(text, resize_name[i], length) == 0 && (!colon || i == RESIZE_CROP)) {
			p->resize = (enum resize_mode)i;
			p->share = share < 1 ? share : 0;
			return true;
		}
	return false;
}

char *resize_text(const struct preprocess *p)
{
	struct str text = {0};
	char share[32];
	double again;
	str_add(&text, resize_name[p->resize]);
	if (p->share > 0) {
		snprintf(share, sizeof share, "%.15g", p->share);
		bool exact = str_to_double(share, &again) && again == p->share;
		str_addf(&text, exact ? ":%.15g" : ":%.17g", p->share);
	}
	return str_detach(&text);
}

// The number that `text` begins with, up to a comma or the end, as a float.
static bool leading_channel(float *out, const char *text)
{
	char word[64];
	double v;
	size_t length = strcspn(text, ",");
	if (length >= sizeof word)
		return false;
	memcpy(word, text, length);
	word[length] = '\0';
	if (!str_to_double(word, &v))
		return false;
	*out = (float)v;
	return isfinite(*out);
}

enum status channels_parse(float out[4], const char *text, bool divides, struct error *err)
{
	const char *at = text, *comma = text;
	int n = 0;
	for (; comma; n++, at = comma + 1) {
		if (n == 4 || !leading_channel(&out[n], at))
			return error_set(err, STATUS_USAGE, "%s: one number, or one a channel, like 123.7,116.3,103.5", text);
		if (divides && !(out[n] > 0))
			return error_set(err, STATUS_USAGE, "%s: what x is divided by must be above 0", text);
		comma = strchr(at, ',');
	}
	if (n == 2)
		return error_set(err, STATUS_USAGE, "%s: one number, or one a channel, like 123.7,116.3,103.5", text);
	for (int i = n; i < 4; i++)
		out[i] = n == 1 ? out[0] : divides;
	return STATUS_OK;
}

// One number where all channels have it, else those of three, or of four where the fourth says anything.
static void add_channels(struct str *out, const char *option, const float v[4], float rest)
{
	int n = v[0] == v[1] && v[0] == v[2] && v[0] == v[3] ? 1 : v[3] == rest ? 3 : 4;
	for (int i = 0; i < n; i++)
		str_addf(out, "%s%.9g", i ? "," : option, (double)v[i]);
}

void preprocess_add(struct str *out, const struct preprocess *p)
{
	if (p->mean_set)
		add_channels(out, " --mean ", p->mean, 0);
	if (p->std_set)
		add_channels(out, " --std ", p->std, 1);
	if (p->color_set)
		str_addf(out, " --color %s", p->bgr ? "bgr" : "rgb");
	if (p->resize_set) {
		char *text = resize_text(p);
		str_addf(out, " --resize %s", text);
		free(text);
	}
}

struct key preprocess_key(const struct preprocess *p)
{
	struct key k = key_add(key_add((struct key){0}, p->mean, sizeof p->mean), p->std, sizeof p->std);
	k = key_add_int(key_add_int(k, p->bgr), p->resize);
	return p->share > 0 ? key_add(k, &p->share, sizeof p->share) : k;
}

// ---- in a session

static cJSON *channels_json(const float *v)
{
	cJSON *a = cJSON_CreateArray();
	for (int i = 0; i < 4; i++)
		cJSON_AddItemToArray(a, json_float(v[i]));
	return a;
}

// What the user gave; the rest is guessed again from the same model.
cJSON *preprocess_json(const struct preprocess *p)
{
	cJSON *o = cJSON_CreateObject();
	if (p->mean_set)
		cJSON_AddItemToObject(o, "mean", channels_json(p->mean));
	if (p->std_set)
		cJSON_AddItemToObject(o, "std", channels_json(p->std));
	if (p->color_set)
		cJSON_AddStringToObject(o, "color", p->bgr ? "bgr" : "rgb");
	if (p->resize_set) {
		char *text = resize_text(p);
		cJSON_AddStringToObject(o, "resize", text);
		free(text);
	}
	json_add_text(o, "guessed", p->guess[0] ? p->guess : NULL);
	return o;
}

// One number for all channels or one a channel; those that are not given get `rest`.
static enum status read_channels(bool *set, const cJSON *obj, const char *key, float rest, float out[4], struct error *err)
{
	const cJSON *a = cJSON_GetObjectItemCaseSensitive(obj, key), *item;
	int i = 0;
	*set = a != NULL;
	cJSON_ArrayForEach(item, a)
	{
		if (i == 4 || !cJSON_IsNumber(item) || !(fabs(item->valuedouble) <= FLT_MAX))
			return error_set(err, STATUS_FORMAT, "\"%s\" must be a list of 1 to 4 numbers", key);
		out[i++] = (float)item->valuedouble;
	}
	for (int k = i; k < 4; k++)
		out[k] = i == 1 ? out[0] : rest;
	return !a || i > 0 ? STATUS_OK : error_set(err, STATUS_FORMAT, "\"%s\" must be a list of 1 to 4 numbers", key);
}

enum status preprocess_parse(struct preprocess *p, const cJSON *obj, struct error *err)
{
	static const struct json_member member[] = {
	    {NULL, "mean", cJSON_Array}, {NULL, "std", cJSON_Array}, {NULL, "color", cJSON_String}, {NULL, "resize", cJSON_String}};
	const char *color = json_text(obj, "color", NULL), *resize = json_text(obj, "resize", NULL);
	*p = (struct preprocess){0};
	if (json_check(obj, member, sizeof member / sizeof *member, false, err) != STATUS_OK)
		return err->status;
	if (read_channels(&p->mean_set, obj, "mean", 0, p->mean, err) || read_channels(&p->std_set, obj, "std", 1, p->std, err))
		return err->status;
	p->color_set = color != NULL;
	p->bgr = color && strcmp(color, "bgr") == 0;
	p->resize_set = resize_parse(p, resize);
	if (color && !p->bgr && strcmp(color, "rgb") != 0)
		return error_set(err, STATUS_FORMAT, "\"color\": %s is neither rgb nor bgr", color);
	if (resize && !p->resize_set)
		return error_set(err, STATUS_FORMAT, "\"resize\": %s is none of " RESIZE_SYNTAX, resize);
	for (int i = 0; i < 4 && p->std_set; i++)
		if (!(p->std[i] > 0))
			return error_set(err, STATUS_FORMAT, "\"std\": what x is divided by must be above 0");
	return STATUS_OK;
}

void way_add(cJSON *o, const struct way *w)
{
	if (w->prepared)
		cJSON_AddItemToObject(o, "preprocess", preprocess_json(&w->pre));
	if (w->samples > 0)
		cJSON_AddNumberToObject(o, "samples", w->samples);
}

enum status way_parse(struct way *w, const cJSON *o, struct error *err)
{
	static const struct json_member member[] = {{NULL, "preprocess", cJSON_Object}, {NULL, "samples", cJSON_Number}};
	const cJSON *pre = cJSON_GetObjectItemCaseSensitive(o, "preprocess");
	double samples = json_number(o, "samples", 0);
	*w = (struct way){.prepared = pre != NULL};
	enum status st = json_check(o, member, sizeof member / sizeof *member, false, err);
	if (st == STATUS_OK && !(samples >= 0 && samples <= INT_MAX))
		st = error_set(err, STATUS_FORMAT, "\"samples\" must be a number from 0 to %d", INT_MAX);
	if (st != STATUS_OK)
		return st;
	w->samples = (int)samples;
	if (!pre)
		return STATUS_OK;
	st = preprocess_parse(&w->pre, pre, err);
	if (st == STATUS_OK && !(w->pre.mean_set && w->pre.std_set && w->pre.color_set && w->pre.resize_set))
		st = error_set(err, STATUS_FORMAT, "mean, std, color or resize is missing or unknown");
	return st == STATUS_OK ? st : error_prefix(err, "\"preprocess\"");
}
