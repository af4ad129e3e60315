// The times of a board in a report for people: the sum, and the nodes that take the most.
#include <stdlib.h>
#include "qtui/analysis/cost.h"
#include "qtui/base/mem.h"
#include "qtui/engine/op.h"
#include "report_parts.h"

enum { NODES = 20 }; // the dearest, which are listed

struct cost_format {
	const char *title, *after_title, *columns, *row, *cell, *row_end, *table_end;
	void (*text)(struct str *out, const char *text);
};
static const struct cost_format md_cost = {"\n## Time on the board\n\n", "\n\n",
    "| node that takes most | operator | bits | us | known by |\n|:---|:---|---:|---:|:---|\n", "| ", " | ", " |\n", "", report_md_text};
static const struct cost_format html_cost = {"<h2>Time on the board</h2>\n<p>", "\n",
    "<table><tr><th>node that takes most<th>operator<th>bits<th>us<th>known by\n", "<tr><td>", "<td>", "\n", "</table>\n", report_html_text};

struct dear {
	int node;
	double us;
};

static int by_time(const void *a, const void *b)
{
	const struct dear *x = a, *y = b;
	return x->us != y->us ? (x->us > y->us ? -1 : 1) : x->node - y->node;
}

static void add_nodes(struct str *out, const struct cost_format *f, const struct snapshot *s)
{
	struct dear *d = xcalloc((size_t)s->n_rows + 1, sizeof *d);
	for (int n = 0; n < s->n_rows; n++)
		d[n] = (struct dear){n, s->costs->node[n].at[s->row[n].precision]};
	qsort(d, (size_t)s->n_rows, sizeof *d, by_time);
	for (int i = 0; i < s->n_rows && i < NODES && d[i].us > 0; i++) {
		enum precision p = s->row[d[i].node].precision;
		str_add(out, f->row);
		f->text(out, s->g->node[d[i].node].name);
		str_addf(out, "%s%s%s%s%s%.1f%s%s%s", f->cell, s->g->node[d[i].node].op->name, f->cell, precision_name(p), f->cell, d[i].us,
		    f->cell, cost_source_name(s->costs->node[d[i].node].source[p]), f->row_end);
	}
	free(d);
}

static void add_cost(struct str *out, const struct cost_format *f, const struct snapshot *s)
{
	const struct cost_sum sum = costs_sum(s);
	char time[COST_TIME], narrow[COST_TIME], phrase[COST_PHRASE];
	str_add(out, f->title);
	str_addf(out, "%s in all (everything at 8 bit: %s); %s. File: ", cost_time(time, sum.all), cost_time(narrow, s->costs->narrow),
	    costs_phrase(phrase, &sum));
	f->text(out, s->costs->latency->path);
	str_addf(out, ", %d of %d lines taken.", s->costs->latency->taken, s->costs->latency->lines);
	str_add(out, f->after_title);
	str_add(out, f->columns);
	add_nodes(out, f, s);
	str_add(out, f->table_end);
}

void report_cost_md(struct str *out, const struct snapshot *s)
{
	add_cost(out, &md_cost, s);
}

void report_cost_html(struct str *out, const struct snapshot *s)
{
	add_cost(out, &html_cost, s);
}
