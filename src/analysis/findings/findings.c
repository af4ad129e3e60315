// Runs the rules over a snapshot and ranks what they say.
#include "qtui/analysis/findings.h"

#include <math.h>
#include <stdlib.h>
#include "qtui/analysis/survey.h"
#include "qtui/base/json.h"
#include "../study/study_impl.h"
#include "rule.h"

enum about { ABOUT_RUN, ABOUT_NOISE, ABOUT_COSTLY_NOISE }; // findings.def says what each is
static const struct {
	const char *name;
	enum about about;
	void (*run)(struct look *);
} rules[] = {
#define RULE(id, name, about, title) [FINDING_##id] = {name, ABOUT_##about, rule_##id},
#include "qtui/analysis/findings.def"
#undef RULE
};

const char *finding_name(enum finding_rule r)
{
	return rules[r].name;
}

// [n_values] the site of each tensor: that of its own quantizer, else the first input at which it is quantized.
static const struct site **index_sites(const struct snapshot *s)
{
	const struct site **at = xcalloc((size_t)s->g->n_values + 1, sizeof *at);
	for (int i = 0; i < s->n_sites; i++) {
		const struct site *site = &s->site[i];
		if (site->kind == SITE_OUTPUT || (site->kind == SITE_INPUT && !at[site->value]))
			at[site->value] = site;
	}
	return at;
}

static bool *find_tail(const struct graph *g)
{
	bool *tail = xcalloc((size_t)g->n_nodes + 1, sizeof *tail);
	for (int n = g->n_nodes - 1; n >= 0; n--) {
		const struct node *node = &g->node[n];
		tail[n] = !is_weighted(node);
		for (int o = 0; o < node->n_out; o++)
			for (int c = 0; node->out[o] >= 0 && tail[n] && c < g->value[node->out[o]].n_consumers; c++)
				tail[n] = tail[g->value[node->out[o]].consumer[c]];
	}
	return tail;
}

static double nodes_noise(const struct look *l)
{
	double sum = 0;
	for (int i = 0; i < l->s->n_sites; i++)
		if (l->s->site[i].kind == SITE_OUTPUT)
			sum += counted_damage(l, &l->s->site[i]);
	return sum;
}

// Damage that no figure of an output shows either: of scores beside boxes, of logits beside a mask.
static bool is_unseen(const struct look *l, const struct finding *f)
{
	return is_of_hidden_input(l, f) || f->rule == FINDING_coarse_logits || f->rule == FINDING_masked_logits;
}

// Damage that no node's own figures show: of narrow tensors in a joint, and of decisions that a rule has found harmed.
// That of post-processing and of a decoder is none: it is summed from their nodes and joints.
static bool is_apart(const struct look *l, const struct finding *f)
{
	if (is_unseen(l, f))
		return true;
	const struct site *s = f->n_nodes && f->node[0] >= 0 ? snapshot_output(l->s, f->node[0]) : NULL;
	bool summed = f->rule == FINDING_postprocessing || f->rule == FINDING_decoder_at_8;
	return rules[f->rule].about != ABOUT_RUN && !summed && s && is_decision(l, s->value);
}

// The noise that shares are taken of: that of all nodes, and the damage that no node's own figures show.
static double all_noise(const struct look *l)
{
	double sum = l->noise;
	for (int i = 0; i < l->out->n; i++)
		if (is_apart(l, &l->out->at[i]))
			sum += l->out->at[i].damage;
	return sum;
}

// What an edit takes away at the outputs, as a share of the noise there and of the damage that is apart,
// which no figure of an output shows either. A rule has put noise over signal into `reach`;
// a better scale leaves the rest of it.
static void find_reach(struct look *l)
{
	double sum = l->results.noise, n = l->results.n; // what is apart harms one of them
	for (int i = 0; i < l->out->n; i++)
		if (is_unseen(l, &l->out->at[i]))
			sum += l->out->at[i].damage / n;
	for (int i = 0; i < l->out->n; i++) {
		struct finding *f = &l->out->at[i];
		double taken = isfinite(f->gain_db) ? fmax(0, 1 - pow(10, -f->gain_db / 10)) : 1;
		double noise = f->reach + (is_unseen(l, f) ? f->damage / n : 0);
		f->reach = rules[f->rule].about == ABOUT_RUN ? NAN : sum > 0 ? fmin(1, taken * noise / sum) : 0;
	}
}

static double gain_of(const struct finding *f)
{
	return isnan(f->reach) ? f->damage : f->reach;
}

static void weigh(struct findings *f)
{
	static const double LEAST = 0.01, FAINT = 0.05; // what counts at all; beside what takes away most
	static const double AN_EDIT = 0.05; // what any costs, as a share of the multiply-accumulates
	double most = 0;
	for (int i = 0; i < f->n; i++)
		most = fmax(most, f->at[i].reach);
	for (int i = 0; i < f->n; i++) {
		struct finding *x = &f->at[i];
		bool first = x->wide == 0 && gain_of(x) >= (isnan(x->reach) ? LEAST : fmax(LEAST, FAINT * most));
		x->worth = first ? 1 / AN_EDIT + gain_of(x) : gain_of(x) / (AN_EDIT + x->wide);
	}
}

static double share_of(const struct finding *f, double noise)
{
	return noise > f->damage ? f->damage / noise : 1;
}

static void share_out(struct findings *f, double noise)
{
	for (int i = 0; i < f->n; i++)
		if (rules[f->at[i].rule].about != ABOUT_RUN)
			f->at[i].share = share_of(&f->at[i], noise);
}

// Widening a node for less than a hundredth of the noise costs more than it brings.
bool finding_is_small(const struct finding *f, double noise)
{
	static const double LEAST = 0.01;
	return rules[f->rule].about == ABOUT_COSTLY_NOISE && share_of(f, noise) < LEAST;
}

// What is said of a mask, or of logits with it, by figures that the mask rules.
static bool is_of_mask(const struct look *l, const struct finding *f)
{
	return rules[f->rule].about != ABOUT_RUN && f->rule != FINDING_masked_logits && f->rule != FINDING_postprocessing && f->n_nodes &&
	    (l->mask[f->node[0]] || is_explained(l, f->node[0], FINDING_masked_logits));
}

static bool is_finding_small(const struct look *l, const struct finding *f)
{
	return finding_is_small(f, l->out->noise);
}

static void drop(struct look *l, bool (*is_dropped)(const struct look *l, const struct finding *f))
{
	struct findings *f = l->out;
	int kept = 0;
	for (int i = 0; i < f->n; i++) {
		if (is_dropped(l, &f->at[i]))
			finding_done(&f->at[i]);
		else
			f->at[kept++] = f->at[i];
	}
	f->n = kept;
}

// Of those that are worth as much the finding with more damage comes first, then that with more nodes:
// a joint may be one of the nodes of the post-processing, whose edit mends both.
static int by_worth(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	if (x->worth != y->worth)
		return x->worth < y->worth ? 1 : -1;
	if (x->damage != y->damage)
		return x->damage < y->damage ? 1 : -1;
	if (x->n_nodes != y->n_nodes)
		return x->n_nodes < y->n_nodes ? 1 : -1;
	if (x->rule != y->rule)
		return x->rule < y->rule ? -1 : 1;
	int nx = x->n_nodes ? x->node[0] : -1, ny = y->n_nodes ? y->node[0] : -1;
	return (nx > ny) - (nx < ny);
}

static void sort(struct findings *f)
{
	weigh(f);
	if (f->n > 1)
		qsort(f->at, (size_t)f->n, sizeof *f->at, by_worth);
}

static void rank(struct look *l)
{
	struct findings *f = l->out;
	drop(l, is_of_mask);
	f->noise = all_noise(l);
	share_out(f, f->noise);
	find_reach(l);
	sort(f);
	drop(l, is_finding_small);
	findings_merge(f);
	sort(f); // several that are one now are worth as much as all
	f->survey_s = l->survey ? l->survey->seconds : 0;
	f->surveyed = l->survey && l->survey->preparation.known;
}

static bool is_stopped(const struct study *study)
{
	return study && atomic_load(&study->cancel);
}

struct findings *findings_new(const struct study *study, const struct snapshot *s)
{
	struct findings *f = xcalloc(1, sizeof *f);
	bool *refused[PREC_COUNT] = {0};
	struct look l = {.study = study, .s = s, .g = s->g, .plan = snapshot_plan(s), .refused = refused, .at = index_sites(s),
	    .tail = find_tail(s->g), .out = f};
	atomic_store(&f->refs, 1);
	if (l.plan)
		l.bare = plan_bare(l.g, l.plan->target);
	if (study) {
		l.samples = study->preparation[s->preparation].d;
		l.survey = study_take_survey(study, l.samples);
	}
	find_decisions(&l);
	find_masks(&l);
	l.noise = nodes_noise(&l);
	l.made = trace_noise(&l, &l.results);
	for (int n = 0; n < l.g->n_nodes; n++)
		l.macs += l.g->node[n].n_subgraphs ? 0 : (double)s->row[n].macs; // graphs inside of nodes are in float whatever is decided
	for (int r = 0; r < FINDING_RULES && !is_stopped(study); r++) {
		l.rule = (enum finding_rule)r;
		rules[r].run(&l);
	}
	rank(&l);
	survey_drop(&l.survey);
	plan_free(&l.bare);
	for (int p = 0; p < PREC_COUNT; p++)
		free(refused[p]);
	free(l.at);
	free(l.tail);
	free(l.decision);
	free(l.mask);
	free(l.made);
	if (is_stopped(study))
		findings_drop(&f);
	return f;
}

void finding_done(struct finding *f)
{
	free(f->node);
	free(f->text);
	free(f->advice);
	free(f->edit);
}

struct findings *findings_take(struct findings *f)
{
	if (f)
		atomic_fetch_add(&f->refs, 1);
	return f;
}

void findings_drop(struct findings **fp)
{
	struct findings *f = *fp;
	*fp = NULL;
	if (!f || atomic_fetch_sub(&f->refs, 1) != 1)
		return;
	for (int i = 0; i < f->n; i++)
		finding_done(&f->at[i]);
	free(f->at);
	free(f->hidden);
	free(f);
}

static cJSON *finding_json(const struct finding *f, const struct graph *g)
{
	cJSON *o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "id", rules[f->rule].name);
	if (f->n_nodes > 0)
		cJSON_AddStringToObject(o, "node", g->node[f->node[0]].name);
	if (f->n_nodes > 1) {
		cJSON *nodes = cJSON_AddArrayToObject(o, "nodes");
		for (int i = 0; i < f->n_nodes; i++)
			cJSON_AddItemToArray(nodes, cJSON_CreateString(g->node[f->node[i]].name));
	}
	json_add_text(o, "text", f->text);
	json_add_text(o, "advice", f->advice);
	cJSON *evidence = cJSON_AddObjectToObject(o, "evidence");
	for (int i = 0; i < f->n_evidence; i++)
		json_add_number(evidence, f->evidence[i].name, f->evidence[i].value);
	if (f->edit) {
		cJSON *edit = cJSON_AddObjectToObject(o, "edit");
		cJSON_AddStringToObject(edit, "command", f->edit);
		json_add_number(edit, "gain_db", f->gain_db);
		json_add_number(edit, "share", f->share);
		json_add_number(edit, "reach", f->reach);
		json_add_number(edit, "macs", f->wide);
	}
	json_add_number(o, "damage", f->damage);
	return o;
}

struct cJSON *findings_json(const struct findings *f, const struct graph *g)
{
	cJSON *a = cJSON_CreateArray();
	for (int i = 0; i < f->n; i++)
		cJSON_AddItemToArray(a, finding_json(&f->at[i], g));
	return a;
}
