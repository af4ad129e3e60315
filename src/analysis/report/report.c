// Tables for people: Markdown with the columns of xquant's report, CSV and HTML. Worst node first.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "qtui/analysis/cost.h"
#include "qtui/analysis/report.h"
#include "qtui/analysis/story.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/engine/op.h"
#include "report_parts.h"

enum { REPORT_BINS = 32 };

// Nodes by their output's figures, worst first; nodes without last, in order.
struct ranked {
	int node;
	const struct figures *figures;
};

static int by_figures(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int order = figures_order(x->figures, y->figures);
	return order ? order : x->node - y->node;
}

static struct ranked *rank(const struct snapshot *s)
{
	static const struct figures none;
	struct ranked *r = xcalloc((size_t)s->n_rows + 1, sizeof *r);
	for (int n = 0; n < s->n_rows; n++) {
		const struct site *site = snapshot_made(s, n);
		r[n] = (struct ranked){n, site ? &site->graphwise : &none};
	}
	qsort(r, (size_t)s->n_rows, sizeof *r, by_figures);
	return r;
}

struct line { // what every format prints of a site
	const char *op, *type, *tensor;
	bool constant;
	const struct site *site;
};

struct format {
	const char *suffix;
	void (*head)(struct str *out, const struct study *st, const struct snapshot *s);
	void (*row)(struct str *out, int index, const struct line *l);
	void (*tail)(struct str *out);
	void (*story)(struct str *out, int index, const struct story_line *l); // likewise
	void (*refused)(struct str *out, int index, const char *node, const char *reason); // behind the tail; NULL: none
	void (*finding)(struct str *out, int index, const struct finding *f); // likewise
	void (*task)(struct str *out, const struct snapshot *s);              // likewise
	void (*cost)(struct str *out, const struct snapshot *s);              // likewise
};

// Nothing when it is not known.
static void add_fixed(struct str *out, int digits, double v)
{
	if (isfinite(v))
		str_addf(out, "%.*f", digits, v);
}

static void add_short(struct str *out, int digits, double v)
{
	if (isfinite(v))
		str_addf(out, "%.*g", digits, v);
}

static void add_snr(struct str *out, const struct figures *f)
{
	if (f->known && f->pooled.exact)
		str_add(out, "exact");
	else if (f->known)
		add_fixed(out, 2, f->pooled.snr_db);
}

static void add_hist(struct str *out, const struct hist *h, const char *separator)
{
	uint64_t bin[REPORT_BINS];
	if (!h)
		return;
	hist_shrink(h, bin, REPORT_BINS);
	for (int i = 0; i < REPORT_BINS; i++)
		str_addf(out, "%s%llu", i ? separator : "", (unsigned long long)bin[i]);
}

// ---- Markdown

static void md_head(struct str *out, const struct study *st, const struct snapshot *s)
{
	const struct preprocess *p = dataset_preprocess(study_dataset(st));
	char samples[64];
	str_addf(
	    out, "# %s: %s, %s, %s\n\n", file_base(s->g->path), s->target, calib_name(s->method), snapshot_samples(s, samples, sizeof samples));
	str_add(out, "SNR here is PPQ's and xquant's: noise over signal, LOWER is better (0.1 = 10 dB). SNR dB is 10 log10(signal/noise), "
	    "higher is better. All figures are graphwise: everything upstream is quantized too; layer dB is the node alone.\n");
	str_addf(out, "Red: SNR above 0.1 or cosine below 0.99.%s%s\n\n", p->guess[0] ? " Preprocessing: " : "", p->guess);
	str_add(out, "|    | Op | Var | SNR | MSE | Cosine | Q.MinMax | F.MinMax | F.Hist | SNR dB | layer dB | bits | scale |\n"
	    "|---:|:---|:----|----:|----:|-------:|:---------|:---------|:-------|-------:|---------:|-----:|:------|\n");
}

static void md_marked(struct str *out, double v, bool bad)
{
	if (bad)
		str_add(out, "<font color=\"red\">");
	add_fixed(out, 4, v);
	if (bad)
		str_add(out, "</font>");
}

static void md_scale(struct str *out, const struct site *s)
{
	char text[SCALE_TEXT];
	if (s->n_scale != 1)
		str_addf(out, "%d channels", s->n_scale);
	else
		str_add(out, scale_text(text, s->scale[0], 6));
}

static void md_row(struct str *out, int index, const struct line *l)
{
	const struct metrics *m = &l->site->graphwise.pooled;
	str_addf(out, "| %d | ", index);
	report_md_text(out, l->op);
	str_addf(out, "[%s] | ", l->type);
	report_md_text(out, l->tensor);
	str_addf(out, "%s | ", l->constant ? "[Constant]" : "");
	md_marked(out, m->nsr, m->nsr > 0.1);
	str_add(out, " | ");
	add_short(out, 4, m->mse); // of any size: those of weights are 1e-6, those of pixels thousands
	str_add(out, " | ");
	md_marked(out, m->cosine, m->cosine < 0.99);
	str_addf(out, " | %.4g, %.4g | %.4g, %.4g | ", l->site->graphwise.min, l->site->graphwise.max, l->site->range.min, l->site->range.max);
	add_hist(out, l->site->hist_float, ",");
	str_add(out, " | ");
	add_snr(out, &l->site->graphwise);
	str_add(out, " | ");
	add_snr(out, &l->site->layerwise);
	str_addf(out, " | %d | ", l->site->bits);
	md_scale(out, l->site);
	str_add(out, " |\n");
}

static void md_refused(struct str *out, int index, const char *node, const char *reason)
{
	str_add(out, index ? "- " : "\n## Refused edits\n\n- ");
	report_md_text(out, node);
	str_add(out, ": ");
	report_md_text(out, reason);
	str_add(out, "\n");
}

static void md_story(struct str *out, int index, const struct story_line *l)
{
	str_add(out, index ? "" : "\n## Why\n\n");
	str_addf(out, "- **%s", story_part_name(l->part));
	if (l->chapter)
		str_addf(out, " %d", l->chapter);
	str_add(out, "**: ");
	report_md_text(out, l->text);
	str_add(out, "\n");
}

static void md_finding(struct str *out, int index, const struct finding *f)
{
	str_addf(out, "%s%d. **%s**: ", index ? "" : "\n## Findings\n\n", index + 1, finding_name(f->rule));
	report_md_text(out, f->text);
	if (f->advice) {
		str_add(out, " Remedy: ");
		report_md_text(out, f->advice);
		str_add(out, ".");
	}
	if (f->edit) {
		str_add(out, " Edit: `");
		report_md_text(out, f->edit);
		str_add(out, "`");
	}
	str_add(out, "\n");
}

// ---- CSV

static void csv_field(struct str *out, const char *text)
{
	str_add(out, "\"");
	for (; *text; text++)
		str_addf(out, *text == '"' ? "\"\"" : "%c", *text);
	str_add(out, "\"");
}

static void csv_head(struct str *out, const struct study *st, const struct snapshot *s)
{
	(void)st, (void)s;
	str_add(out, "op,type,tensor,constant,bits,nsr,snr_db,mse,cosine,max_error,clipped,layerwise_snr_db,q_min,q_max,f_min,f_max,samples\n");
}

static void csv_row(struct str *out, int index, const struct line *l)
{
	const struct figures *f = &l->site->graphwise;
	const double v[] = {f->pooled.nsr, f->pooled.snr_db, f->pooled.mse, f->pooled.cosine, f->pooled.max_error, f->pooled.clipped,
	    l->site->layerwise.known ? l->site->layerwise.pooled.snr_db : NAN, f->min, f->max, l->site->range.min, l->site->range.max};
	(void)index;
	csv_field(out, l->op);
	str_add(out, ",");
	csv_field(out, l->type);
	str_add(out, ",");
	csv_field(out, l->tensor);
	str_addf(out, ",%d,%d", l->constant, l->site->bits);
	for (size_t i = 0; i < sizeof v / sizeof *v; i++) {
		str_add(out, ",");
		add_short(out, 9, v[i]);
	}
	str_addf(out, ",%d\n", f->known);
}

// ---- HTML

static void html_head(struct str *out, const struct study *st, const struct snapshot *s)
{
	char samples[64];
	(void)st;
	str_add(out, "<!doctype html><meta charset=\"utf-8\"><title>");
	report_html_text(out, file_base(s->g->path));
	str_add(out, "</title><style>body{font:14px sans-serif}td,th{padding:2px 8px;text-align:right}td:nth-child(-n+2){text-align:left}"
	    ".bad{color:#b00;font-weight:bold}svg{vertical-align:middle}</style>\n<h1>");
	report_html_text(out, file_base(s->g->path));
	str_addf(out, "</h1><p>%s, %s, %s. Graphwise: everything upstream is quantized too. Higher dB is better; N/S is noise over "
	    "signal, lower is better.</p>\n<table><tr><th>Op<th>Tensor<th>SNR dB<th>N/S<th>Cosine<th>MSE<th>layer dB<th>bits<th>float\n",
	    s->target, calib_name(s->method), snapshot_samples(s, samples, sizeof samples));
}

static void html_hist(struct str *out, const struct hist *h)
{
	uint64_t bin[REPORT_BINS], top = 1;
	if (!h)
		return;
	hist_shrink(h, bin, REPORT_BINS);
	for (int i = 0; i < REPORT_BINS; i++)
		top = bin[i] > top ? bin[i] : top;
	str_add(out, "<svg width=\"96\" height=\"20\">");
	for (int i = 0; i < REPORT_BINS; i++) {
		double height = 20 * log1p((double)bin[i]) / log1p((double)top);
		str_addf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"3\" height=\"%.1f\"/>", 3 * i, 20 - height, height);
	}
	str_add(out, "</svg>");
}

static void html_row(struct str *out, int index, const struct line *l)
{
	const struct metrics *m = &l->site->graphwise.pooled;
	(void)index;
	str_addf(out, "<tr%s><td>", m->nsr > 0.1 || m->cosine < 0.99 ? " class=\"bad\"" : "");
	report_html_text(out, l->op);
	str_add(out, "<td>");
	report_html_text(out, l->tensor);
	str_add(out, "<td>");
	add_snr(out, &l->site->graphwise);
	str_add(out, "<td>");
	add_short(out, 4, m->nsr);
	str_add(out, "<td>");
	add_fixed(out, 5, m->cosine);
	str_add(out, "<td>");
	add_short(out, 4, m->mse);
	str_add(out, "<td>");
	add_snr(out, &l->site->layerwise);
	str_addf(out, "<td>%d<td>", l->site->bits);
	html_hist(out, l->site->hist_float);
	str_add(out, "\n");
}

static void html_tail(struct str *out)
{
	str_add(out, "</table>\n");
}

static void html_refused(struct str *out, int index, const char *node, const char *reason)
{
	str_add(out, index ? "<p>" : "<h2>Refused edits</h2>\n<p>");
	report_html_text(out, node);
	str_add(out, ": ");
	report_html_text(out, reason);
	str_add(out, "\n");
}

static void html_story(struct str *out, int index, const struct story_line *l)
{
	str_add(out, index ? "<p><b>" : "<h2>Why</h2>\n<p><b>");
	str_add(out, story_part_name(l->part));
	if (l->chapter)
		str_addf(out, " %d", l->chapter);
	str_add(out, "</b>: ");
	report_html_text(out, l->text);
	str_add(out, "\n");
}

static void html_finding(struct str *out, int index, const struct finding *f)
{
	str_add(out, index ? "<p><b>" : "<h2>Findings</h2>\n<p><b>");
	str_add(out, finding_name(f->rule));
	str_add(out, "</b>: ");
	report_html_text(out, f->text);
	if (f->advice) {
		str_add(out, " Remedy: ");
		report_html_text(out, f->advice);
	}
	if (f->edit) {
		str_add(out, ". <code>");
		report_html_text(out, f->edit);
		str_add(out, "</code>");
	}
	str_add(out, "\n");
}

// ----

static const struct format formats[] = {
    {".md", md_head, md_row, NULL, md_story, md_refused, md_finding, report_task_md, report_cost_md},
    {".csv", csv_head, csv_row, NULL, NULL, NULL, NULL, NULL, NULL},
    {".html", html_head, html_row, html_tail, html_story, html_refused, html_finding, report_task_html, report_cost_html}};

static void rows(struct str *out, const struct format *f, const struct snapshot *s)
{
	struct ranked *order = rank(s);
	int index = 0;
	for (int i = 0; i < s->n_rows; i++) {
		const struct node *n = &s->g->node[order[i].node];
		const struct node_row *r = &s->row[order[i].node];
		for (int k = r->first_site; k < r->first_site + r->n_sites; k++) {
			const struct site *site = &s->site[k];
			struct line l = {n->name, n->op->name, s->g->value[site->value].name, site->kind == SITE_WEIGHT, site};
			if (site->graphwise.known)
				f->row(out, index++, &l);
		}
	}
	free(order);
}

static void add_findings(struct str *out, const struct format *f, const struct snapshot *s)
{
	struct story *story = story_new(s, s->findings);
	for (int i = 0; i < story->n; i++)
		f->story(out, i, &story->at[i]);
	story_drop(&story);
	for (int i = 0; s->findings && i < s->findings->n; i++)
		f->finding(out, i, &s->findings->at[i]);
}

// Of edits that came from a session, perhaps of another target: who reads the report has not seen the warning.
static void add_refused(struct str *out, const struct format *f, const struct snapshot *s)
{
	int index = 0;
	for (int n = 0; n < s->n_rows; n++)
		if (s->row[n].refused)
			f->refused(out, index++, s->g->node[n].name, s->row[n].refused);
}

static enum status find_format(const struct format **out, const char *path, struct error *err)
{
	*out = strcmp(path, "-") == 0 ? &formats[0] : NULL;
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (str_has_suffix(path, formats[i].suffix))
			*out = &formats[i];
	return *out ? STATUS_OK : error_set(err, STATUS_USAGE, "%s: a report ends in .md, .csv or .html", path);
}

enum status report_check(const char *path, struct error *err)
{
	const struct format *f;
	return find_format(&f, path, err);
}

bool report_has_findings(const char *path)
{
	const struct format *f;
	struct error ignored; // report_check tells
	return find_format(&f, path, &ignored) == STATUS_OK && f->finding;
}

enum status report_write(const struct study *st, const struct snapshot *s, const char *path, struct error *err)
{
	const struct format *f;
	struct str out = {0};
	if (find_format(&f, path, err) != STATUS_OK)
		return err->status;
	f->head(&out, st, s);
	rows(&out, f, s);
	if (f->tail)
		f->tail(&out);
	if (f->refused)
		add_refused(&out, f, s);
	if (f->task && s->task)
		f->task(&out, s);
	if (f->cost && s->costs->latency)
		f->cost(&out, s);
	if (f->finding)
		add_findings(&out, f, s);
	enum status status = file_write(path, str_text(&out), out.len, err);
	str_done(&out);
	return status;
}
