// The task's part of a report for people: its figures, and the classes and samples that lost most.
#include <math.h>
#include <stdlib.h>
#include "report_parts.h"
#include "qtui/base/str.h"

enum { TASK_ROWS = 10, SCORE_DIGITS = 4 }; // classes and samples that lost most

struct task_format {
	const char *title, *after_title, *table, *columns, *row, *cell, *row_end, *table_end;
	void (*text)(struct str *out, const char *text);
};

static const struct task_format md_task = {
    "\n## Task: ", "\n\n", "\n| ", " | float | quantized | change |\n|:---|---:|---:|---:|\n", "| ", " | ", " |\n", "", report_md_text};
static const struct task_format html_task = {"<h2>Task: ", "</h2>\n<p>", "<table><tr><th>", "<th>float<th>quantized<th>change\n",
    "<tr><td>", "<td>", "\n", "</table>\n", report_html_text};

static void begin_table(struct str *out, const struct task_format *f, const char *head)
{
	str_add(out, f->table);
	str_add(out, head);
	str_add(out, f->columns);
}

static void task_row(struct str *out, const struct task_format *f, const char *name, const double v[TASK_VARIANTS], int digits)
{
	const double cell[] = {v[TASK_FLOAT], v[TASK_QUANT], v[TASK_QUANT] - v[TASK_FLOAT]};
	str_add(out, f->row);
	f->text(out, name);
	for (size_t i = 0; i < sizeof cell / sizeof *cell; i++) {
		str_add(out, f->cell);
		if (isfinite(cell[i]))
			str_addf(out, "%.*f", digits, cell[i]);
	}
	str_add(out, f->row_end);
}

static void task_classes(struct str *out, const struct task_format *f, const struct task_report *r)
{
	int n;
	const struct task_class **lost = task_classes_lost(r, &n);
	if (n)
		begin_table(out, f, "class that lost most");
	for (int i = 0; i < n && i < TASK_ROWS; i++) {
		char number[TASK_CLASS_NAME];
		task_row(out, f, task_class_name(lost[i], number), lost[i]->value, SCORE_DIGITS);
	}
	if (n)
		str_add(out, f->table_end);
	free(lost);
}

static void add_task(struct str *out, const struct task_format *f, const struct snapshot *s)
{
	const struct task_report *r = s->task;
	int digits = task_decimals(r->figure[0].name, SCORE_DIGITS);
	str_add(out, f->title);
	str_addf(out, "%s, %d sample%s%s", task_kind_name(r->kind), r->samples[TASK_QUANT], plural(r->samples[TASK_QUANT]),
	    s->task_calibrated ? " (those that were calibrated on)" : "");
	if (r->has_interval)
		str_addf(out, ", %s %+.*f, 95 %% interval %+.*f to %+.*f", task_word(r->figure[0].name), digits, r->interval.difference, digits,
		    r->interval.low, digits, r->interval.high);
	str_add(out, f->after_title);
	f->text(out, r->note);
	str_add(out, "\n");
	begin_table(out, f, "figure");
	for (int i = 0; i < r->n_figures; i++)
		task_row(out, f, task_word(r->figure[i].name), r->figure[i].value, task_decimals(r->figure[i].name, SCORE_DIGITS));
	str_add(out, f->table_end);
	task_classes(out, f, r);
	if (r->n_samples)
		begin_table(out, f, "sample that lost most");
	for (int i = 0; i < r->n_samples && i < TASK_ROWS; i++)
		task_row(out, f, r->sample[i].name, r->sample[i].value, digits);
	str_add(out, f->table_end);
}

void report_task_md(struct str *out, const struct snapshot *s)
{
	add_task(out, &md_task, s);
}

void report_task_html(struct str *out, const struct snapshot *s)
{
	add_task(out, &html_task, s);
}
