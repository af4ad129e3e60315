// Scores by a program of the user's: what it is given, what becomes of its answers, and what ends it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../engine/data_case.h"
#include "../engine/graph_builder.h"
#include "qtui/analysis/task.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"

enum { SAMPLES = 4 };

// A network of one number in and two outputs, and samples of random data.
struct bench {
	struct builder b;
	struct dataset *d;
	struct task *t;
	struct error err;
};

static void bench_new(struct bench *b, const char *scorer)
{
	*b = (struct bench){.b = builder_new()};
	int value = builder_input(&b->b, "x");
	b->b.g->value[value].shape = shape_of(2, (int64_t[]){1, 2});
	builder_node(&b->b, "Relu", "first", "x", "y/1");
	builder_node(&b->b, "Abs", "second", "x", "z");
	builder_output(&b->b, "y/1");
	builder_output(&b->b, "z");
	const struct dataset_options random = {.random = SAMPLES};
	if (dataset_open(&b->d, NULL, b->b.g, &random, &b->err) ||
	    task_open(&b->t, b->b.g, b->d, &(struct task_options){.kind = TASK_SCORE, .scorer = scorer}, &b->err))
		fail_msg("%s", b->err.text);
	assert_int_equal(task_kind(b->t), TASK_SCORE);
	assert_int_equal(task_samples(b->t), SAMPLES);
}

static void bench_done(struct bench *b)
{
	task_free(&b->t);
	dataset_free(&b->d);
	graph_free(&b->b.g);
}

static struct task_net *net(struct bench *b, enum task_variant v)
{
	return v == TASK_FLOAT ? task_net(b->t, task_key(b->t, NULL)) : task_net(b->t, (struct key){1, 2});
}

// Outputs {y, 1} and {z, 2}.
static enum status add(struct bench *b, enum task_variant v, int sample, float y, float z, const atomic_bool *stop)
{
	float data[2][2] = {{y, 1}, {z, 2}};
	struct tensor out[2];
	for (int i = 0; i < 2; i++)
		out[i] = (struct tensor){.type = DT_F32, .shape = shape_of(2, (int64_t[]){1, 2}), .data = data[i]};
	b->err = (struct error){0};
	return task_add(b->t, net(b, v), sample, &(struct task_said){out, out, stop}, &b->err);
}

// The first number of y, plus ten times the first of z.
static const char sum[] = "tab=$(printf '\\t'); while IFS=$tab read -r dir file name; do "
    "y=$(od -An -tf4 -v -j128 -N4 \"$dir/y_1.npy\"); z=$(od -An -tf4 -v -j128 -N4 \"$dir/z.npy\"); "
    "echo \"$y $z\" | awk '{print $1 + 10 * $2}'; done";

void test_score__is_the_mean_of_what_the_program_says(void **state)
{
	struct bench b;
	bench_new(&b, sum);
	for (int i = 0; i < SAMPLES; i++) {
		assert_int_equal(add(&b, TASK_FLOAT, i, (float)i, 1, NULL), STATUS_OK);
		assert_int_equal(add(&b, TASK_QUANT, i, (float)i, i == 1 ? .5F : 1, NULL), STATUS_OK);
	}
	struct task_report *r = task_report(b.t, net(&b, TASK_FLOAT), net(&b, TASK_QUANT), TASK_DRAWS);
	assert_int_equal(r->n_figures, 1);
	assert_string_equal(r->figure[0].name, "score");
	assert_float_equal(r->figure[0].value[TASK_FLOAT], 11.5, 1e-9);
	assert_float_equal(r->figure[0].value[TASK_QUANT], 10.25, 1e-9);
	assert_int_equal(r->sample[0].sample, 1); // which lost most
	assert_float_equal(r->sample[0].value[TASK_QUANT], 6, 1e-9);
	assert_true(r->has_interval && r->interval.low < -1.25 && r->interval.high >= -1.25);
	assert_false(task_is_blind(r));
	task_report_drop(&r);
	bench_done(&b);
}

// It gets the file and the name of the sample; of random data there is no file.
void test_score__the_program_is_told_the_sample(void **state)
{
	struct bench b;
	bench_new(&b, "tab=$(printf '\\t'); while IFS= read -r line; do case $line in *\"$tab$tab\"?*) echo 7;; *) echo \"$line\"; esac; done");
	assert_int_equal(add(&b, TASK_FLOAT, 0, 1, 1, NULL), STATUS_OK);
	assert_float_equal(task_score(b.t, net(&b, TASK_FLOAT), 0, SAMPLES), 7, 0);
	bench_done(&b);
}

static void refuses(const char *scorer, const char *says)
{
	struct bench b;
	bench_new(&b, scorer);
	assert_int_equal(add(&b, TASK_FLOAT, 2, 1, 1, NULL), STATUS_UNSUPPORTED);
	if (!strstr(b.err.text, says))
		fail_msg("%s", b.err.text);
	assert_true(strstr(b.err.text, dataset_name(b.d, 2)) == b.err.text);
	assert_false(task_net_has(b.t, net(&b, TASK_FLOAT), 2));
	bench_done(&b);
}

void test_score__what_is_no_score(void **state)
{
	refuses(
	    "read x; echo yes; cat >/dev/null", "scorer read x; echo yes; cat >/dev/null: it has answered \"yes\", which is no finite number");
	refuses("read x; echo nan; cat >/dev/null", "no finite number");
	refuses("read x; echo; cat >/dev/null", "no finite number");
	refuses("echo gone >&2; exit 4", "it has ended with exit code 4: gone");
}

// What a program that failed still says belongs to no other sample: it is begun anew.
void test_score__goes_on_behind_an_error(void **state)
{
	struct bench b;
	char *flag = file_join(support_temp("score"), "failed"), command[512];
	struct error err;
	if (file_mkdirs(support_temp("score"), &err) != STATUS_OK)
		fail_msg("%s", err.text);
	remove(flag);
	snprintf(command, sizeof command, "while read x; do if [ -e %s ]; then printf ' 2.5\\r\\n'; else touch %s; printf 'no\\n5\\n'; fi; done",
	    flag, flag);
	bench_new(&b, command);
	assert_int_equal(add(&b, TASK_FLOAT, 0, 1, 1, NULL), STATUS_UNSUPPORTED);
	assert_int_equal(add(&b, TASK_FLOAT, 0, 1, 1, NULL), STATUS_OK);
	assert_float_equal(task_score(b.t, net(&b, TASK_FLOAT), 0, SAMPLES), 2.5, 0);
	bench_done(&b);
	free(flag);
}

void test_score__is_called_off(void **state)
{
	struct bench b;
	atomic_bool stop = true;
	bench_new(&b, "sleep 100");
	assert_int_equal(add(&b, TASK_FLOAT, 0, 1, 1, &stop), STATUS_CANCELLED);
	assert_string_equal(b.err.text, "cancelled"); // which is no sample's fault
	bench_done(&b);
}

static struct key labels_key(const char *scorer)
{
	struct bench b;
	bench_new(&b, scorer);
	struct key k = task_labels_key(b.t);
	bench_done(&b);
	return k;
}

// Figures of a session hold as long as the program is the same, its file included.
void test_score__another_program_is_another_task(void **state)
{
	struct error err;
	char command[512], *path = file_join(support_temp("score"), "program.sh");
	snprintf(command, sizeof command, "sh %s", path);
	if (file_mkdirs(support_temp("score"), &err) != STATUS_OK || file_write(path, "echo 1", 6, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	struct key before = labels_key(command);
	assert_true(key_equal(before, labels_key(command)));
	assert_false(key_equal(before, labels_key("true")));
	if (file_write(path, "echo 2", 6, &err) != STATUS_OK)
		fail_msg("%s", err.text);
	assert_false(key_equal(before, labels_key(command)));
	free(path);
}

void test_score__needs_a_program(void **state)
{
	struct bench b;
	struct task *t = NULL;
	bench_new(&b, "true");
	assert_int_equal(task_open(&t, b.b.g, b.d, &(struct task_options){.kind = TASK_SCORE}, &b.err), STATUS_USAGE);
	assert_null(t);
	bench_done(&b);
}

// Errors among words, what is right among what was found: a set's figure is that of all its parts together.
void test_score__of_fractions_is_of_their_sums(void **state)
{
	struct bench b;
	bench_new(&b, "for f in 1/2 ' 9 / 10 ' 0/0 .5; do read x; echo \"$f\"; done; cat >/dev/null");
	for (int i = 0; i < SAMPLES; i++)
		assert_int_equal(add(&b, TASK_FLOAT, i, 1, 1, NULL), STATUS_OK);
	assert_float_equal(task_score(b.t, net(&b, TASK_FLOAT), 0, SAMPLES), 10.5 / 13, 1e-12);
	assert_float_equal(task_score(b.t, net(&b, TASK_FLOAT), 1, 2), .9, 1e-12);
	assert_true(isnan(task_score(b.t, net(&b, TASK_FLOAT), 2, 3)));
	bench_done(&b);
	refuses("read x; echo 1/0; cat >/dev/null", "it has answered \"1/0\", which is no finite number");
	refuses("read x; echo 1/-2; cat >/dev/null", "no fraction");
	refuses("read x; echo 1/2/3; cat >/dev/null", "no fraction");
}
