// What a search has found, as text.
#include <math.h>
#include <stdio.h>
#include "qtui/analysis/cost.h"
#include "qtui/analysis/report.h"
#include "qtui/base/json.h"
#include "qtui/base/str.h"
#include "search_print.h"
#include "verbs.h"

enum { SHOWN = 20 };

static void print_number(int digits, double v)
{
	if (!isfinite(v))
		printf("%8s", isnan(v) ? "-" : v > 0 ? "exact" : "-inf");
	else
		printf("%8.*f", digits, v);
}

void search_print_blames(const struct blames *b, const struct graph *g)
{
	struct str halves = {0};
	blames_halves(&halves, b);
	printf("damage %.4f with everything quantized%s\n", b->total,
	    b->total <= BLAME_LEAST ? "; no part is to blame" : b->complete ? "" : "; not split to the end");
	if (halves.len)
		printf("quantized alone: %s\n", str_text(&halves));
	str_done(&halves);
	if (b->n) {
		puts("\nalone: damage of the part by itself at 8 bit; float, 16 bit: damage that is saved there, everything else quantized;");
		printf("%s: what 16 bit gains; %s: what goes above 8 bit with the part; per %%: saved at 16 bit for each of them\n",
		    b->task[0] ? task_word(b->task) : "SNR dB", blames_are_timed(b) ? "time %" : "MACs %");
	}
	printf("\n%8s%8s%8s%8s%8s%8s  %s\n",
	    "alone", "float", "16 bit", b->task[0] ? task_word(b->task) : "SNR dB", blames_are_timed(b) ? "time %" : "MACs %", "per %", "");
	for (int i = 0; i < b->n && i < SHOWN; i++) {
		const struct blame *x = &b->at[i];
		print_number(4, x->alone);
		print_number(4, x->in_float.damage);
		print_number(4, x->in_wide.damage);
		print_number(b->task[0] ? 4 : 1, b->task[0] ? x->in_wide.score : x->in_wide.snr_db);
		print_number(2, 100 * (blames_are_timed(b) ? x->cost : x->wide));
		print_number(4, blame_worth(x));
		struct str name = {0};
		blame_name(&name, x, g);
		say("  %s\n", str_text(&name));
		str_done(&name);
	}
}

static double decibels(double signal, double noise)
{
	return noise > 0 ? 10 * log10(signal / noise) : INFINITY;
}

void search_print_tuned(const struct repair *r, const struct graph *g)
{
	int n;
	const struct tune_row *row = repair_tuned(r, &n);
	if (n)
		printf("\n%10s%10s%10s  node (SNR dB of its output on the half of the samples that was not fitted)\n", "before", "after",
		    "outputs");
	for (int i = 0; i < n; i++)
		say("%10.2f%10.2f%5d/%-4d  %s\n", decibels(row[i].signal, row[i].before), decibels(row[i].signal, row[i].after),
		    row[i].changed, row[i].outputs, g->node[row[i].node].name);
}

cJSON *search_print_tuned_json(const struct repair *r, const struct graph *g)
{
	int n;
	const struct tune_row *row = repair_tuned(r, &n);
	cJSON *a = cJSON_CreateArray();
	for (int i = 0; i < n; i++) {
		cJSON *o = cJSON_CreateObject();
		json_add_text(o, "node", g->node[row[i].node].name);
		json_add_number(o, "before_db", decibels(row[i].signal, row[i].before));
		json_add_number(o, "after_db", decibels(row[i].signal, row[i].after));
		cJSON_AddNumberToObject(o, "outputs", row[i].outputs);
		cJSON_AddNumberToObject(o, "changed", row[i].changed);
		cJSON_AddItemToArray(a, o);
	}
	return a;
}

void search_print_frontier(const struct frontier *f, const char *score_name)
{
	char text[FRONTIER_CHANGES], time[COST_TIME];
	int times = f->n && !isnan(f->at[0].figures.us) ? 10 : 0;
	printf("\nStates that nothing beats, by cost (steps taken, - by an earlier search, cost beside all at 8 bit):\n"
	       "%6s%8s%*s%9s%9s%9s  changes\n",
	    "steps", "cost", times, "", "damage", "SNR dB", score_name ? task_word(score_name) : "task");
	for (int i = 0; i < f->n; i++) {
		const struct repair_figures *x = &f->at[i].figures;
		char steps[16] = "-";
		if (f->at[i].steps != FRONTIER_EARLIER)
			snprintf(steps, sizeof steps, "%d", f->at[i].steps);
		printf("%6s%8.3f%*s", steps, x->cost, times, isnan(x->us) ? "" : cost_time(time, x->us));
		printf(" ");
		print_number(4, x->damage);
		printf(" ");
		print_number(2, x->snr_db);
		printf(" ");
		print_number(score_name ? task_decimals(score_name, 4) : 4, x->score);
		printf("  %s%s\n", frontier_changes(text, f, i), f->at[i].as_run ? "" : " (estimated)");
	}
	puts("");
}
