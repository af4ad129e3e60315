// What keys do to a study: edits, undo, files of sessions, the figures that come of them.
#include "support.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "press.h"
#include "../analysis/studies.h"
#include "../engine/written_out_case.h"
#include "qtui/analysis/frontier.h"
#include "qtui/base/file.h"
#include "qtui/base/str.h"
#include "qtui/tui/command.h"
#include "qtui/tui/draw.h"

static double scale_requested(const struct live *l, const char *node)
{
	const struct graph *g = l->ui.snap->g;
	return l->ui.snap->scale_requested[graph_output(g, graph_find_node(g, node))];
}

// The edit is made for the others: it has to be computed, saved and told as one.
void test_ui_study__an_edit_that_some_nodes_refuse(void **state)
{
	struct live l;
	live_open(&l, "tensorrt", 1);
	press(&l.ui, ":set<Space>*<Space>int8<Enter>");
	assert_true(l.ui.unsaved && l.ui.autosave_due);
	if (!strstr(l.ui.note, "11 refused (/model.12/Concat_4: target tensorrt quantizes only what a convolution or product leads to"))
		fail_msg("%s", l.ui.note);
	press(&l.ui, ":set<Space>*<Space>int8<Enter>");
	assert_string_equal(l.ui.note, "nothing changed: the nodes are set so already, or refuse it");
	live_close(&l);
}

// The trial would be of another tensor than the one that the detail shows.
void test_ui_study__a_scale_is_that_of_an_output(void **state)
{
	struct live l;
	live_open(&l, "onnxruntime", 2);
	ui_resize(&l.ui, 120, 40);
	press(&l.ui, ":goto<Space>/model.0/conv/Conv<Enter>ll+"); // its weight
	assert_non_null(strstr(l.ui.note, "keeps its scale"));
	assert_false(l.ui.trial.active);
	press(&l.ui, "s");
	assert_int_equal(l.ui.line.kind, LINE_NONE);
	press(&l.ui, "hh+");
	assert_true(l.ui.trial.active);
	press(&l.ui, "<Esc>:goto<Space>/model.12/Split<Enter>");
	assert_true(line_has(&l.ui, 33, "[output 1] output 2"));
	live_close(&l);
}

static double tensor_scale(const struct live *l, const char *tensor)
{
	return l->ui.snap->scale_requested[graph_find_value(l->ui.snap->g, tensor)];
}

// The one that is chosen is tried and set, by keys and in the prompt, and which one it is stands beside the scale.
void test_ui_study__a_scale_of_the_second_output(void **state)
{
	const char *first = "/model.12/Split_output_0", *second = "/model.12/Split_output_1";
	struct live l;
	live_open(&l, "xint8", 2);
	ui_resize(&l.ui, 120, 40);
	press(&l.ui, ":goto<Space>/model.12/Split<Enter>l-");
	assert_true(l.ui.trial.active && l.ui.trial.predicted.known);
	assert_true(line_has(&l.ui, 0, "scale of output 2 2^"));
	press(&l.ui, "<Enter>");
	assert_non_null(strstr(l.ui.note, "/model.12/Split_output_1: scale 2^"));
	assert_true(tensor_scale(&l, second) > 0 && tensor_scale(&l, first) == 0);
	live_wait(&l);
	assert_true(line_has(&l.ui, 33, " output 1 [output 2*]"));
	press(&l.ui, "s");
	assert_true(line_has(&l.ui, 0, "scale of output 2: "));
	press(&l.ui, "2^-9<Enter>");
	assert_true(tensor_scale(&l, second) == 0x1p-9 && tensor_scale(&l, first) == 0);
	press(&l.ui, ":scale<Space>/model.12/Split_output_1<Space>auto<Enter>");
	assert_true(tensor_scale(&l, second) == 0);
	press(&l.ui, "u");
	assert_true(tensor_scale(&l, second) == 0x1p-9);
	press(&l.ui, ":scale<Space>/model.12/Split<Space>2^-2<Enter>");
	assert_true(tensor_scale(&l, second) == 0x1p-9 && tensor_scale(&l, first) == 0x1p-2);
	press(&l.ui, "uhs");
	assert_true(line_has(&l.ui, 0, "scale of output 1: "));
	live_close(&l);
}

// :diff has a row for it, under its own name; Enter there leads to its node.
void test_ui_study__a_diff_of_the_second_output(void **state)
{
	struct live l;
	int found = -1;
	live_open(&l, "xint8", 2);
	press(&l.ui, ":scale<Space>/model.12/Split_output_1<Space>2^-9<Enter>");
	live_wait(&l);
	press(&l.ui, ":diff<Space>1<Enter>");
	for (int i = 0; i < l.ui.diff.n; i++)
		if (!strcmp(l.ui.diff.row[i].name, "/model.12/Split_output_1"))
			found = i;
	assert_true(found >= 0 && l.ui.diff.row[found].decided && l.ui.diff.row[found].gain < 0);
	l.ui.scroll[VIEW_DIFF].cursor = found;
	assert_int_equal(ui_node(&l.ui), graph_find_node(l.ui.snap->g, "/model.12/Split"));
	live_close(&l);
}

// A node that makes several tensors stands with its worst, in the list and in the detail;
// the lists that name a tensor show that.
void test_ui_study__a_row_is_about_the_worst_output(void **state)
{
	struct live l;
	live_open(&l, "xint8", 2);
	ui_resize(&l.ui, 120, 40);
	press(&l.ui, ":scale<Space>/model.12/Split_output_1<Space>2^-9<Enter>");
	live_wait(&l);
	int split = graph_find_node(l.ui.snap->g, "/model.12/Split");
	const struct node_row *row = &l.ui.snap->row[split];
	const struct site *first = &l.ui.snap->site[row->first_site], *second = first + 1;
	assert_true(row->n_sites == 2 && figures_snr(&second->graphwise) < figures_snr(&first->graphwise) - 3);
	assert_true(columns_row(COLUMN_SNR)->value(l.ui.snap, split) == figures_snr(&second->graphwise));
	assert_true(columns_row(COLUMN_SCALE)->value(l.ui.snap, split) == 0x1p-9);
	press(&l.ui, ":goto<Space>/model.12/Split<Enter>");
	assert_ptr_equal(ui_site(&l.ui), second);
	press(&l.ui, "l");
	assert_ptr_equal(ui_site(&l.ui), first);
	press(&l.ui, "jk");
	assert_ptr_equal(ui_site(&l.ui), second);
	press(&l.ui, ":diff<Space>1<Enter>");
	for (l.ui.scroll[VIEW_DIFF].cursor = 0; ui_node(&l.ui) != split; l.ui.scroll[VIEW_DIFF].cursor++)
		assert_true(l.ui.scroll[VIEW_DIFF].cursor < l.ui.diff.n);
	assert_string_equal(l.ui.snap->g->value[ui_site(&l.ui)->value].name, l.ui.diff.row[l.ui.scroll[VIEW_DIFF].cursor].name);
	live_close(&l);
}

static void wait_for_file(struct ui *ui)
{
	while (beside_busy(ui, BESIDE_FILE)) {
		struct pollfd fd = {.fd = study_fd(ui->study), .events = POLLIN};
		poll(&fd, 1, 1000);
		ui_update(ui, study_snapshot(ui->study));
	}
}

// What other samples bring is no gain of an edit.
void test_ui_study__other_samples_are_told(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 4);
	press(&l.ui, ":samples<Space>5<Enter>");
	assert_true(beside_busy(&l.ui, BESIDE_FILE)); // every picture is looked at, which the screen does not wait for
	wait_for_file(&l.ui);
	live_wait(&l);
	assert_int_equal(l.ui.snap->samples, 5);
	if (!strstr(l.ui.note, " on other samples; ") || strstr(l.ui.note, "better"))
		fail_msg("%s", l.ui.note);
	press(&l.ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>");
	live_wait(&l);
	assert_true(strstr(l.ui.note, "run 3") && !strstr(l.ui.note, "other samples"));
	live_close(&l);
}

// In 80 columns there is no detail beside the list: the bottom line says what a trial does to scores,
// which counts more than what it clips.
void test_ui_study__a_trial_of_logits_tells_their_scores(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 2);
	ui_resize(&l.ui, 80, 24);
	press(&l.ui, ":set<Space>/model.12/Concat../model.12/Concat_4<Space>float<Enter>");
	live_wait(&l);
	press(&l.ui, ":goto<Space>/model.12/cv3.0/cv3.0.2/Conv<Enter>-");
	assert_true(line_has(&l.ui, 0, "alone ") && line_has(&l.ui, 0, "scores "));
	assert_false(line_has(&l.ui, 0, "clipped"));
	ui_resize(&l.ui, 120, 40);
	assert_true(line_has(&l.ui, 0, "scores ") && line_has(&l.ui, 0, "clipped"));
	press(&l.ui, "<Esc>:goto<Space>/model.0/conv/Conv<Enter>+");
	assert_true(line_has(&l.ui, 0, "clipped") && !line_has(&l.ui, 0, "scores"));
	live_close(&l);
}

// What goes to float has no figure that could have changed: what it brings stands at the output.
void test_ui_study__an_edit_that_only_the_outputs_show(void **state)
{
	struct live l;
	char command[] = "set /model.12/Concat../model.12/Concat_4 float";
	struct error err = {0};
	live_open(&l, "onnxruntime", 2);
	assert_int_equal(command_run(&l.ui, command, &err), STATUS_OK);
	live_wait(&l);
	assert_non_null(strstr(l.ui.note, "worst output"));
	assert_non_null(strstr(l.ui.note, "→"));
	assert_null(strstr(l.ui.note, "NO node better"));
	live_close(&l);
}

// Without any noise there are no decibels, neither of the result nor of what was gained.
void test_ui_study__an_edit_that_takes_all_noise_away(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 1);
	press(&l.ui, ":set<Space>*<Space>float<Enter>");
	live_wait(&l);
	if (!strstr(l.ui.note, " → exact;"))
		fail_msg("%s", l.ui.note);
	press(&l.ui, "u");
	live_wait(&l);
	press(&l.ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>");
	live_wait(&l);
	if (!strstr(l.ui.note, " dB"))
		fail_msg("%s", l.ui.note);
	live_close(&l);
}

// An edit may change figures by less than shows, alone as well: that is not to say that none has changed.
void test_ui_study__an_edit_that_brings_next_to_nothing(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 2);
	press(&l.ui, ":set<Space>/model.12/cv3.1/cv3.1.1/cv3.1.1.0/act/Mul<Space>int16<Enter>");
	live_wait(&l);
	assert_non_null(strstr(l.ui.note, "; NO node better or worse by 0.1 dB;"));
	live_close(&l);
}

void test_ui_study__a_mistyped_name_leaves_the_task(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 1);
	press(&l.ui, ":eval<Space>examples/nowhere<Enter>");
	assert_string_equal(l.ui.note, "E: examples/nowhere: there is no such file or directory");
	assert_true(study_task_wish(l.st)->none && !study_task_wish(l.st)->data);
	press(&l.ui, ":labels<Space>examples/nowhere.json<Enter>");
	assert_string_equal(l.ui.note, "E: examples/nowhere.json: there is no such file or directory");
	assert_false(l.ui.unsaved);
	live_close(&l);
}

// A program of the user's scores in place of labels, until others are named.
void test_ui_study__a_scorer(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 2);
	press(&l.ui, ":scorer<Enter>");
	assert_non_null(strstr(l.ui.note, ":scorer COMMAND"));
	press(&l.ui, ":scorer<Space>while<Space>read<Space>x;<Space>do<Space>echo<Space>.25;<Space>done<Enter>");
	live_wait(&l);
	assert_non_null(l.ui.snap->task);
	assert_int_equal(l.ui.snap->task->kind, TASK_SCORE);
	assert_float_equal(l.ui.snap->task->figure[0].value[TASK_QUANT], .25, 0);
	press(&l.ui, ":labels<Space>examples/val.json<Enter>");
	assert_null(study_task_wish(l.st)->scorer);
	live_wait(&l);
	live_close(&l);
}

// Waits for a run behind whose figures no task could be measured.
static void wait_without_task(struct live *l)
{
	struct error err;
	assert_int_equal(study_wait(l->st, &err), STATUS_NOTFOUND);
	ui_update(&l->ui, study_snapshot(l->st));
	assert_null(l->ui.snap->task);
}

// Where labels lie that no decoder is for, the screen has a way on: agreement, or a decoder by its name.
void test_ui_study__agreement_and_decoders(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 2);
	press(&l.ui, ":eval<Space>agree<Enter>");
	live_wait(&l);
	assert_non_null(l.ui.snap->task);
	assert_int_equal(l.ui.snap->task->kind, TASK_AGREE);
	press(&l.ui, ":decoder<Enter>");
	assert_string_equal(l.ui.note, "E: usage: :decoder NAME|auto");
	press(&l.ui, ":labels<Space>examples/val.json<Enter>:eval<Space>examples/val<Enter>:decoder<Space>nothing<Enter>");
	wait_without_task(&l);
	assert_non_null(strstr(l.ui.note, "E: the task is not measured: --decoder nothing: one of "));
	press(&l.ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>");
	wait_without_task(&l);
	assert_memory_equal(l.ui.note, "run ", 4); // what is wrong with the task is said once
	press(&l.ui, ":decoder<Space>nothing<Enter>");
	wait_without_task(&l);
	assert_non_null(strstr(l.ui.note, "E: the task is not measured: ")); // and to whoever asks again
	press(&l.ui, ":decoder<Space>auto<Enter>");
	live_wait(&l);
	assert_non_null(l.ui.snap->task);
	assert_int_equal(l.ui.snap->task->kind, TASK_DETECT);
	live_close(&l);
}

// So does one that reads boxes, in place of a decoder. One that a session names rests until it is given.
void test_ui_study__a_program_that_rests(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 2);
	press(&l.ui, ":boxes<Enter>");
	assert_non_null(strstr(l.ui.note, ":boxes COMMAND"));
	study_set_task(l.st, &(struct task_wish){.boxes_by = "false", .labels = "examples/val.json", .rests = true});
	press(&l.ui, ":eval<Space>examples/val<Enter>");
	assert_string_equal(l.ui.note, "E: the session's program is started by :boxes COMMAND; :eval none gives it up");
	press(&l.ui, ":labels<Space>examples/val.json<Enter>");
	assert_string_equal(l.ui.note, "E: the session's program is started by :boxes COMMAND; :eval none gives it up");
	press(&l.ui,
	    ":boxes<Space>while<Space>read<Space>x;<Space>do<Space>echo<Space>1<Space>1<Space>9<Space>9<Space>.5<Space>3;<Space>done<Enter>");
	assert_false(study_task_wish(l.st)->rests);
	live_wait(&l);
	assert_non_null(l.ui.snap->task);
	assert_int_equal(l.ui.snap->task->kind, TASK_DETECT);
	assert_non_null(strstr(l.ui.snap->task->note, "boxes by while read x"));
	study_set_task(l.st, &(struct task_wish){.scorer = "false", .rests = true});
	press(&l.ui, ":labels<Space>examples/val.json<Enter>");
	assert_true(!study_task_wish(l.st)->scorer && !study_task_wish(l.st)->rests);
	live_wait(&l);
	live_close(&l);
}

// One scale for many: of the marked nodes with a key, of a pattern with a command, each one step back.
void test_ui_study__a_scale_for_many_nodes(void **state)
{
	struct live l;
	struct study *st;
	live_open(&l, "esp32p4", 1);
	st = l.st;
	press(&l.ui, ":mark-nodes<Space>/model.12/cv3.?/cv3.?.2/Conv<Enter>s2^-4<Enter>");
	assert_string_equal(l.ui.note, "2 nodes: scale 2^-4");
	assert_true(scale_requested(&l, "/model.12/cv3.0/cv3.0.2/Conv") == 0x1p-4);
	assert_true(scale_requested(&l, "/model.12/cv3.1/cv3.1.2/Conv") == 0x1p-4);
	press(&l.ui, ":scale<Space>marked<Space>2^-4<Enter>");
	assert_string_equal(l.ui.note, "nothing changed: the scale is set so already");
	press(&l.ui, "u");
	assert_int_equal(l.ui.snap->n_edits, 0);
	press(&l.ui, ":scale<Space>op:*<Space>0.5<Enter>");
	if (!strstr(l.ui.note, "104 nodes: scale 2^-1; 7 refused (/model.12/Split_1: its output shares"))
		fail_msg("%s", l.ui.note);
	press(&l.ui, "u");
	assert_false(undoes(st));
	press(&l.ui, ":scale<Space>/model.12/Split_1<Space>2^-4<Enter>");
	if (!strstr(l.ui.note, "give the scale to node"))
		fail_msg("%s", l.ui.note);
	live_close(&l);
}

// Above the causes a is for the first remedy there is; on a next step it types the command.
void test_ui_study__the_story_is_acted_on_from_any_line(void **state)
{
	struct live l;
	int current;
	live_open(&l, "esp32p4", 4);
	press(&l.ui, "W/Edit:<Enter>");
	assert_true(l.ui.scroll[VIEW_WHY].cursor > 0);
	press(&l.ui, "a");
	assert_int_equal(study_steps(l.st, &current), 1);
	assert_true(l.ui.unsaved);
	assert_int_equal(l.ui.scroll[VIEW_WHY].cursor, 0);
	press(&l.ui, "u");
	assert_int_equal(strncmp(l.ui.note, "undone: ", 8), 0);
	live_wait(&l);
	press(&l.ui, "Gkka"); // the last lines say what the keys do, those before which steps there are
	assert_int_equal(l.ui.line.kind, LINE_COMMAND);
	if (strcmp(l.ui.line.text, "blame 30s") && strncmp(l.ui.line.text, "fix ", 4))
		fail_msg("%s", l.ui.line.text);
	press(&l.ui, "<Esc>");
	live_close(&l);
}

static void type(struct ui *ui, const char *command, const char *argument)
{
	struct str line = {0};
	str_addf(&line, ":%s %s<Enter>", command, argument);
	press(ui, str_text(&line));
	str_done(&line);
}

// :write without a name does not know whose the file is by now; with one somebody has said so.
// Times of a board are part of a session.
void test_ui_study__a_session_of_another_run_is_spared(void **state)
{
	struct live l;
	struct error err;
	const char *path = support_temp("mine.json"), other[] = "{\"qtui_session\": 1}", times[] = "name,us\n/model.0/conv/Conv,1\n";
	struct file_stamp theirs;
	remove(path);
	live_open(&l, NULL, 1);
	l.ui.scripted = true;
	type(&l.ui, "write", path);
	assert_true(file_exists(path) && !l.ui.unsaved);
	type(&l.ui, "latency", support_temp_file("times.csv", times, sizeof times - 1));
	assert_true(l.ui.unsaved && l.ui.autosave_due);
	type(&l.ui, "write", "");
	assert_false(l.ui.unsaved);
	assert_int_equal(file_write(path, other, sizeof other - 1, &err), STATUS_OK);
	theirs = file_stamp(path);
	type(&l.ui, "write", "");
	assert_true(file_has_stamp(path, &theirs));
	type(&l.ui, "write", path);
	assert_false(file_has_stamp(path, &theirs));
	live_close(&l);
}

void test_ui_study__write_and_quit(void **state)
{
	struct live l;
	const char *path = support_temp("last.json");
	remove(path);
	live_open(&l, NULL, 1);
	press(&l.ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>");
	type(&l.ui, "wq", support_temp("missing/last.json"));
	assert_false(l.ui.quit); // what cannot be written keeps the screen
	assert_int_equal(l.ui.note_role, ROLE_ERROR);
	type(&l.ui, "x", path);
	assert_true(l.ui.quit && file_exists(path) && !l.ui.unsaved);
	live_close(&l);
}

// A key does not wait for the file: what it came to is told when it is there.
// What is edited while it is written is not saved by it.
void test_ui_study__sessions_are_read_and_written_beside_the_screen(void **state)
{
	struct live l;
	const char *path = support_temp("a.json"), *text = support_temp_file("text.txt", "mine", 4);
	int current;
	remove(path);
	live_open(&l, NULL, 1);
	press(&l.ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>");
	type(&l.ui, "write", path);
	assert_true(beside_busy(&l.ui, BESIDE_FILE) && l.ui.unsaved);
	type(&l.ui, "open", path);
	assert_string_equal(l.ui.note, "E: a file is being read or written: that must end first");
	wait_for_file(&l.ui);
	assert_false(l.ui.unsaved);
	assert_non_null(strstr(l.ui.note, "session written to"));
	type(&l.ui, "write", path);
	press(&l.ui, "u");
	wait_for_file(&l.ui);
	assert_true(l.ui.unsaved);
	assert_true(file_exists(path));
	press(&l.ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>");
	type(&l.ui, "write", path);
	assert_true(file_settle(&l.ui));
	press(&l.ui, "u");
	type(&l.ui, "open", path);
	assert_true(beside_busy(&l.ui, BESIDE_FILE));
	wait_for_file(&l.ui);
	assert_string_equal(l.ui.session_path, path);
	assert_true(study_steps(l.st, &current) > 0);
	assert_int_equal(study_edits(l.st)->precision[graph_find_node(study_graph(l.st), "/model.0/conv/Conv")], PREC_INT16);
	type(&l.ui, "write", text);
	wait_for_file(&l.ui);
	assert_non_null(strstr(l.ui.note, "is no session"));
	type(&l.ui, "write", support_temp("no/such.json"));
	assert_false(file_settle(&l.ui));
	live_close(&l);
}

// Files of other tools go beside the screen, too; what is decided while one is read is not overwritten by it.
void test_ui_study__other_tools_files_go_beside_the_screen(void **state)
{
	struct live l;
	const char *path = support_temp("a.nncf.json");
	struct str both = {0};
	int conv, current;
	remove(path);
	live_open(&l, NULL, 1);
	conv = graph_find_node(study_graph(l.st), "/model.0/conv/Conv");
	press(&l.ui, ":set<Space>/model.0/conv/Conv<Space>float<Enter>");
	live_wait(&l);
	str_addf(&both, "nncf %s", path);
	type(&l.ui, "export", str_text(&both));
	assert_true(beside_busy(&l.ui, BESIDE_FILE));
	press(&l.ui, "u");
	wait_for_file(&l.ui);
	assert_string_equal(l.ui.note + strlen(path), " written; the log (5) has 1 remark on it"); // the name behind OpenVINO
	type(&l.ui, "import", path);
	assert_true(beside_busy(&l.ui, BESIDE_FILE));
	wait_for_file(&l.ui);
	assert_string_equal(l.ui.note, "NNCF IgnoredScope: 1 width, 0 scales");
	assert_int_equal(study_edits(l.st)->precision[conv], PREC_FLOAT);
	press(&l.ui, "u");
	type(&l.ui, "import", path);
	while (background_running(l.ui.beside[BESIDE_FILE].job)) // what it has to say is not lost behind the edit's own note
		poll(NULL, 0, 1);
	press(&l.ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>");
	wait_for_file(&l.ui);
	assert_non_null(strstr(l.ui.note, "decided meanwhile"));
	assert_int_equal(study_edits(l.st)->precision[conv], PREC_INT16);
	study_steps(l.st, &current);
	assert_int_equal(current, 1);
	live_wait(&l);
	type(&l.ui, "export", "nncf /no/such/place");
	assert_false(file_settle(&l.ui));
	type(&l.ui, "export", "nosuch");
	assert_non_null(strstr(l.ui.note, "no format is named nosuch"));
	type(&l.ui, "import", "/no/such/file");
	wait_for_file(&l.ui);
	assert_non_null(strstr(l.ui.note, "No such file"));
	str_done(&both);
	live_close(&l);
}

// :diff takes the run that a session's file has ended with; what was edited since is told.
void test_ui_study__a_session_is_compared(void **state)
{
	struct live l;
	const char *a = support_temp("a.json"), *b = support_temp("b.json"), other[] = "{\"qtui_session\": 1, \"model\": {\"sha256\": \"00\"}}";
	const char *alien = support_temp_file("alien.json", other, sizeof other - 1);
	struct error err;
	struct str both = {0};
	remove(a);
	remove(b);
	live_open(&l, NULL, 1);
	l.ui.scripted = true;
	type(&l.ui, "write", a);
	assert_int_equal(study_command(l.st, "set /model.0/conv/Conv int16", &err), STATUS_OK);
	type(&l.ui, "write", b); // no run has shown the edit: the last one is that of a
	str_addf(&both, "%s %s", a, b);
	press(&l.ui, "r");
	live_wait(&l);
	type(&l.ui, "diff", a);
	assert_int_equal(l.ui.view, VIEW_DIFF);
	assert_string_equal(l.ui.diff.a.name, "a.json");
	assert_true(l.ui.diff.n > 0 && !diff_reserve(&l.ui.diff));
	type(&l.ui, "diff", str_text(&both));
	assert_true(l.ui.diff.b.edited);
	assert_non_null(strstr(diff_reserve(&l.ui.diff), "B was edited"));
	type(&l.ui, "write", b);
	type(&l.ui, "diff", str_text(&both));
	assert_true(l.ui.diff.n > 0 && !diff_reserve(&l.ui.diff));
	type(&l.ui, "diff", alien);
	assert_non_null(strstr(l.ui.note, "another model"));
	type(&l.ui, "diff", "nosuch.json");
	assert_non_null(strstr(l.ui.note, "No such file"));
	type(&l.ui, "diff", "nosuch");
	assert_non_null(strstr(l.ui.note, "no variant"));
	str_done(&both);
	live_close(&l);
}

// What is so already is told, and is no edit: nothing is unsaved and no run begins.
// The caller's error may be fresh from the stack.
void test_ui_study__a_command_that_changes_nothing(void **state)
{
	static const struct {
		const char *command, *why;
	} at[] = {
		{"target esp32p4", "nothing changed: this is the target already"},
		{"calibration minmax", "nothing changed: this is the calibrator already"},
		{"preprocess auto", "nothing changed: pictures are prepared so already"},
		{"tune auto", "nothing changed: the weights are these already"},
	};
	struct live l;
	live_open(&l, "esp32p4", 1);
	press(&l.ui, ":calibration<Space>minmax<Enter>");
	live_wait(&l);
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		struct error err = {.text = "left by another call"};
		int edits = l.ui.edits;
		assert_int_equal(command_run(&l.ui, at[i].command, &err), STATUS_OK);
		assert_string_equal(l.ui.note, at[i].why);
		assert_int_equal(l.ui.edits, edits);
	}
	live_close(&l);
}

void test_ui_study__a_calibrator_for_some_nodes(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 1);
	const int conv = graph_find_node(l.ui.snap->g, "/model.0/conv/Conv");
	press(&l.ui, ":calibration<Space>/model.0/conv/Conv<Space>mse<Enter>");
	assert_string_equal(l.ui.note, "/model.0/conv/Conv: calibration mse");
	assert_true(l.ui.unsaved && l.ui.snap->row[conv].pending);
	live_wait(&l);
	assert_int_equal(l.ui.snap->row[conv].calibrator, CALIB_MSE);
	press(&l.ui, ":calibration<Space>op:Conv<Space>auto<Enter>");
	assert_string_equal(l.ui.note, "calibration auto: 31 nodes");
	live_wait(&l);
	assert_int_equal(l.ui.snap->row[conv].calibrator, -1);
	press(&l.ui, ":calibration<Space>op:Conv<Space>best<Enter>");
	assert_non_null(strstr(l.ui.note, "no calibration \"best\""));
	live_close(&l);
}

// An input of the network is tried and set where it is read, with its own histogram.
void test_ui_study__the_scale_of_an_input(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 1);
	const int images = graph_find_value(l.ui.snap->g, "images");
	press(&l.ui, ":goto<Space>/model.0/conv/Conv<Enter><Enter>l+");
	assert_true(l.ui.trial.active && l.ui.trial.value == images && l.ui.trial.predicted.known);
	double tried = l.ui.trial.scale;
	press(&l.ui, "<Enter>");
	live_wait(&l);
	assert_true(l.ui.snap->scale_requested[images] == tried);
	press(&l.ui, ":scale<Space>images<Space>auto<Enter>");
	assert_string_equal(l.ui.note, "images: scale auto");
	live_close(&l);
}

// The list has one row of its seven nodes, and the detail says what they are to the target, also in a narrow window.
void test_ui_study__what_a_written_out_operator_is(void **state)
{
	struct live l;
	struct onnx_case c;
	written_out_begin(&c);
	written_out_rms(&c, "two", "last");
	case_output(&c, c.graph, "y");
	struct study_options o = {.model = case_save(&c, "rms.onnx"), .data = {.random = 2}, .method = -1, .threads = 1,
	    .backend = BACKEND_ONEDNN, .target = "esp32p4", .task = {.none = true}};
	l.st = open_for_test(o);
	wait_for_run(l.st);
	live_screen(&l);
	ui_resize(&l.ui, 100, 30);
	press(&l.ui, ":goto<Space>square<Enter>");
	assert_int_equal(l.ui.layers.n, 2);
	assert_true(screen_has(&l.ui, "runs as   one RMSNormalization"));
	press(&l.ui, ":goto<Space>front<Enter>");
	assert_false(screen_has(&l.ui, "runs as"));
	live_close(&l);
	case_done(&c);
}

// A key is for the node that the user sees: while a run goes on, rows stay where the one before left them.
void test_ui_study__rows_stay_while_a_run_goes_on(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 4);
	int n = l.ui.layers.n, *before = xcalloc((size_t)n, sizeof *before);
	memcpy(before, l.ui.layers.order, (size_t)n * sizeof *before);
	press(&l.ui, ":set<Space>/model.0/conv/Conv<Space>int16<Enter>"); // what is computed anew has no figures for a while, and would be last
	for (int seen = 0; l.ui.snap->stage != STAGE_DONE || l.ui.snap->dirty || !seen; seen++) {
		struct pollfd fd = {.fd = study_fd(l.st), .events = POLLIN};
		poll(&fd, 1, 1000);
		ui_update(&l.ui, study_snapshot(l.st));
		if (l.ui.snap->stage >= STAGE_TASK)
			continue;
		assert_int_equal(l.ui.layers.n, n);
		assert_memory_equal(l.ui.layers.order, before, (size_t)n * sizeof *before);
	}
	assert_int_equal(l.ui.layers.n, n);
	assert_true(memcmp(l.ui.layers.order, before, (size_t)n * sizeof *before) != 0);
	free(before);
	live_close(&l);
}

// What belongs to a scale is not said of the precision, and a scale that cannot be is refused before it is tried.
void test_ui_study__a_scale_that_is_edited_alone(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 1);
	ui_resize(&l.ui, 120, 40);
	press(&l.ui, ":goto<Space>/model.12/cv3.1/cv3.1.2/Conv<Enter>:scale<Space>/model.12/cv3.1/cv3.1.2/Conv<Space>2^-3<Enter>");
	live_wait(&l);
	assert_true(screen_has(&l.ui, "int8, as the target chooses"));
	press(&l.ui, "a");
	if (!strstr(l.ui.note, "its scale is yours: s and auto give it back"))
		fail_msg("%s", l.ui.note);
	press(&l.ui, ":goto<Space>/model.12/Split<Enter>+"); // it has the scale of what it reads
	assert_false(l.ui.trial.active);
	assert_non_null(strstr(l.ui.note, "shares the scale of"));
	live_close(&l);
}

void test_ui_study__esc_leads_back_to_the_runs(void **state)
{
	struct live l;
	live_open(&l, "esp32p4", 1);
	press(&l.ui, "6");
	live_wait(&l);
	press(&l.ui, "3j<Enter>");
	assert_int_equal(l.ui.view, VIEW_DIFF);
	press(&l.ui, "<Esc>");
	assert_int_equal(l.ui.view, VIEW_RUNS);
	press(&l.ui, "<Esc>");
	assert_int_equal(l.ui.view, VIEW_LAYERS);
	live_close(&l);
}
