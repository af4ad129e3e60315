#!/usr/bin/env bash
# Sessions of the real program: opened from other directories, with options beside them, by a line that drops.
set -u
qtui=$PWD/${BUILD:-build/release}/qtui model=$PWD/examples/digits.onnx calib=$PWD/examples/calib
[ -e "$model" ] || { echo "skip sessions $model is not there"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_STATE_HOME=$dir/state LC_ALL=C.UTF-8
report() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1 ${3:-}"; fi; }

# ---- a target by a relative path: the session opens everywhere, and where an older one does not, --target beside it helps
mkdir "$dir/a" "$dir/b"
cp targets/esp32p4.json "$dir/a/mine.json"
(cd "$dir/a" && "$qtui" analyze "$model" "$calib" --samples 1 --target mine.json --set /model.12/Sub=float --session s.json -q >/dev/null)
(cd "$dir/b" && "$qtui" analyze --session ../a/s.json -q >/dev/null 2>../err); report session_opens_from_another_directory $? "$(cat "$dir/err")"
without_files() { sed '/^	"target_files"/,/^	}/d' "$1"; } # as sessions were before they kept them
without_files "$dir/a/s.json" | sed "s|$dir/a/mine.json|mine.json|" >"$dir/a/old.json"
(cd "$dir/a" && "$qtui" analyze --session old.json -q >/dev/null 2>../err); report an_old_one_opens_where_it_did $? "$(cat "$dir/err")"
mkdir "$dir/c"; cp "$dir/a/old.json" "$dir/c/old.json"
(cd "$dir/b" && "$qtui" analyze --session ../c/old.json -q >/dev/null 2>../err)
[ $? = 1 ] && grep -q '\.\./c/old\.json: its target: mine\.json.*--target beside' "$dir/err"; report elsewhere_it_names_the_remedy $? "$(cat "$dir/err")"
(cd "$dir/b" && "$qtui" analyze --session ../c/old.json --target ../a/mine.json -q >/dev/null 2>../err); report which_helps $? "$(cat "$dir/err")"
grep -q "^	\"target\":	\"$dir/a/mine.json\"" "$dir/c/old.json" && grep -q 'set /model.12/Sub float' "$dir/c/old.json"; report and_is_saved $?

# ---- a target's file that was moved with its session is found, wherever that names it
step() { grep -cF "\"target $dir/$1\\\\ esp/my\\\\ own.json,calibration.percentile=0.99\"" "$dir/$1 esp/s.json"; }
still() { grep -v '"title":' "$2" | grep -n "$dir/$1"; } # a title says what a run was
mkdir "$dir/old esp"; cp targets/esp32p4.json "$dir/old esp/mine.json"; cp targets/onnxruntime.json "$dir/old esp/my own.json"
"$qtui" analyze "$model" "$calib" --samples 1 --target "$dir/old esp/mine.json" --session "$dir/old esp/s.json" -q >/dev/null
"$qtui" analyze --session "$dir/old esp/s.json" --target "$dir/old esp/my own.json,calibration.percentile=0.99" -q >"$dir/before.txt" 2>"$dir/err"
[ "$(step old)" = 1 ]; report a_target_s_file_is_a_step $? "$(cat "$dir/err")"
mv "$dir/old esp" "$dir/new esp"
"$qtui" analyze --session "$dir/new esp/s.json" >"$dir/after.txt" 2>"$dir/err"
[ $? = 0 ] && [ "$(grep -c 'the target .*takes its place' "$dir/err")" = 2 ] && diff <(sed 1d "$dir/before.txt") <(sed 1d "$dir/after.txt"); report moved_targets_are_found $? "$(cat "$dir/err")"
"$qtui" analyze --session "$dir/new esp/s.json" --set /model.12/Sub=float -q >/dev/null 2>"$dir/err"
[ "$(step new)" = 1 ] && ! still old "$dir/new esp/s.json" >"$dir/found"; report and_are_saved_where_they_are $? "$(cat "$dir/found")"
printf ':open %s\n:wait\n:write\n:quit\n' "$dir/other/s.json" >"$dir/open.qtui"
mv "$dir/new esp" "$dir/other"
"$qtui" "$model" "$calib" --samples 1 --script "$dir/open.qtui" >/dev/null 2>"$dir/err"; report the_screen_finds_them $? "$(cat "$dir/err")"
! still new "$dir/other/s.json" >"$dir/found"; report the_screen_saves_them $? "$(cat "$dir/found")"

# ---- a target's file that is gone, as its base is, though another is in force since: the session has kept them. Of an older
# ---- one what helps is said, and helps
cp targets/onnxruntime.json "$dir/gone.json"
printf '{"name": "mine", "base": "gone.json"}\n' >"$dir/based.json"
mkdir "$dir/gone"
"$qtui" analyze "$model" "$calib" --samples 1 --session "$dir/gone/s.json" -q >/dev/null
"$qtui" analyze --session "$dir/gone/s.json" --target "$dir/based.json,calibration.percentile=0.99" -q >/dev/null
"$qtui" analyze --session "$dir/gone/s.json" --target esp32s3 --set /model.12/Sub=float -q >/dev/null
mkdir "$dir/put_away"; mv "$dir/gone.json" "$dir/based.json" "$dir/put_away"
for time in 1 2; do # it is kept again
	"$qtui" analyze --session "$dir/gone/s.json" --set "/model.12/Sub_1=int$((8 * time))" >"$dir/found" 2>"$dir/err"
	[ $? = 0 ] && grep -q '^esp32s3, ' "$dir/found" && [ "$(grep -c 'not there, what the session keeps of it' "$dir/err")" = 2 ]; report "a_target_s_file_that_is_kept_$time" $? "$(cat "$dir/err")"
done
without_files "$dir/gone/s.json" >"$dir/gone/old.json"; mv "$dir/gone/old.json" "$dir/gone/s.json"
"$qtui" analyze --session "$dir/gone/s.json" -q >/dev/null 2>"$dir/err"
[ $? = 1 ] && grep -q "edit 1: $dir/based.json: .*; a copy of it beside the session takes its place" "$dir/err"; report a_target_s_file_that_is_gone $? "$(cat "$dir/err")"
cp "$dir/put_away/"*.json "$dir/gone"
"$qtui" analyze --session "$dir/gone/s.json" -q >"$dir/found" 2>"$dir/err"
[ $? = 0 ] && grep -q '^esp32s3, .* 2 edits:' "$dir/found"; report a_copy_beside_the_session_helps $? "$(cat "$dir/err")"

# ---- the seed of random samples holds until another is given, of which 0 is one
seed() { sed -n 's/^		"seed":	\([0-9]*\).*/\1/p' "$dir/random.json"; }
"$qtui" analyze "$model" --random-data 1 --seed 5 --session "$dir/random.json" -q >/dev/null 2>"$dir/err"
"$qtui" analyze --session "$dir/random.json" --random-data 2 -q >/dev/null 2>"$dir/err"
[ "$(seed)" = 5 ]; report more_random_samples_keep_the_seed $? "$(seed) $(cat "$dir/err")"
"$qtui" analyze --session "$dir/random.json" --seed 0 -q >/dev/null 2>"$dir/err"
[ "$(seed)" = 0 ]; report a_seed_of_0_wins_over_the_session $? "$(seed) $(cat "$dir/err")"

# ---- what the task is measured on is an option like others: it wins over the session, and is saved with it
task() { sed -n '/^	"task":/,/^	}/p' "$dir/task.json" | tr -d '\n\t'; }
val=$PWD/examples/val labels=$PWD/examples/val.json
"$qtui" analyze "$model" "$calib" --samples 1 --session "$dir/task.json" -q >/dev/null
"$qtui" analyze --session "$dir/task.json" --eval "$val" --labels "$labels" -q >/dev/null 2>"$dir/err"
case $(task) in *"\"data\":\"$val\""*"\"labels\":\"$labels\""*) report labels_beside_a_session_are_saved 0 ;; *) report labels_beside_a_session_are_saved 1 "$(task) $(cat "$dir/err")" ;; esac
"$qtui" analyze --session "$dir/task.json" --nms 0.5 -q >/dev/null 2>"$dir/err"
case $(task) in *"\"labels\":\"$labels\""*'"nms":0.5'*) report nms_changes_the_sessions_task 0 ;; *) report nms_changes_the_sessions_task 1 "$(task) $(cat "$dir/err")" ;; esac
cp "$dir/task.json" "$dir/task.before"
"$qtui" analyze --session "$dir/task.json" -q >/dev/null; cmp -s "$dir/task.json" "$dir/task.before"; report a_session_alone_is_only_read $?

# ---- decisions are written where what the task was measured on is gone, and the session keeps its task
cp -r "$val" "$dir/pictures"; cp "$labels" "$dir/labels.json"
"$qtui" analyze "$model" "$calib" --samples 1 --session "$dir/task.json" --eval "$dir/pictures" --labels "$dir/labels.json" -q >/dev/null
kept=$(task)
rm -r "$dir/pictures" "$dir/labels.json"
set_one='--set /model.12/Sub=float'
"$qtui" export --session "$dir/task.json" $set_one --format esp-ppq-dispatch -o "$dir/dispatch.json" -q 2>"$dir/err"; report export_measures_no_task $? "$(cat "$dir/err")"
"$qtui" quantize --session "$dir/task.json" -o "$dir/task.onnx" -q 2>"$dir/err"; report quantize_measures_no_task $? "$(cat "$dir/err")"
"$qtui" run --session "$dir/task.json" -i "$val/000.jpg" -o "$dir/out" -q 2>"$dir/err"; report run_measures_no_task $? "$(cat "$dir/err")"
[ -n "$kept" ] && [ "$(task)" = "$kept" ] && grep -q 'set /model.12/Sub float' "$dir/task.json"; report and_the_session_keeps_it $? "$(task)"
grep -q '"name":	"AP"' "$dir/task.json"; report with_what_was_measured $?

# ---- samples that have changed since are said, once, and no longer where the session was written with them
cp -r "$calib" "$dir/samples"
"$qtui" analyze "$model" "$dir/samples" --samples 2 --session "$dir/samples.json" -q >/dev/null
cp "$dir/samples/002.jpg" "$dir/samples/000.jpg"
"$qtui" analyze --session "$dir/samples.json" >/dev/null 2>"$dir/err"
[ "$(grep -c 'samples.json: its figures are of other samples' "$dir/err")" = 1 ]; report changed_samples_are_said $? "$(cat "$dir/err")"
"$qtui" analyze "$model" "$dir/samples" --session "$dir/samples.json" -q >/dev/null 2>&1
"$qtui" analyze --session "$dir/samples.json" >/dev/null 2>"$dir/err"
! grep -q 'other samples' "$dir/err"; report samples_of_the_session_are_not $? "$(cat "$dir/err")"

# ---- a session that was moved with what it names (another checkout) opens by itself; a file of the same name that is another model is refused
mkdir -p "$dir/first/models" "$dir/first/data"
cp "$model" "$dir/first/models/m.onnx"; cp -r "$calib" "$dir/first/data/calib"; cp -r "$val" "$dir/first/data/val"; cp "$labels" "$dir/first/val.json"
(cd "$dir/first" && "$qtui" analyze models/m.onnx data/calib --samples 1 --set /model.12/Sub=float --eval data/val --labels val.json --session s.json -q >../before.txt)
mv "$dir/first" "$dir/second"
"$qtui" analyze --session "$dir/second/s.json" >"$dir/after.txt" 2>"$dir/err"
[ $? = 0 ] && grep -q 'mAP' "$dir/after.txt" && diff <(sed '1d; s/ over .*//' "$dir/before.txt") <(sed '1d; s/ over .*//' "$dir/after.txt"); report a_moved_session_finds_what_it_names $? "$(cat "$dir/err")"
[ "$(grep -c 'takes its place' "$dir/err")" = 4 ] && grep -q "$dir/first/models/m.onnx: not there, $dir/second/models/m.onnx takes" "$dir/err"; report and_says_where $? "$(cat "$dir/err")"
"$qtui" eval "$dir/second/data/val" --session "$dir/second/s.json" --samples 1 -q --labels "$dir/second/val.json" --json "$dir/eval.json" >/dev/null 2>"$dir/err"; report eval_of_a_moved_session $? "$(cat "$dir/err")"
grep -q "\"path\":	\"$dir/second/data/calib\"" "$dir/second/s.json"; report which_calibrates_on_its_samples $? "$(grep '"path"' "$dir/second/s.json")"
"$qtui" tune "$model" "$calib" --samples 2 -o "$dir/second/models/m.onnx" -q >/dev/null 2>&1
mv "$dir/second" "$dir/third"
"$qtui" analyze --session "$dir/third/s.json" >/dev/null 2>"$dir/err"
[ $? = 1 ] && grep -q 'made for another model' "$dir/err"; report another_model_beside_it_is_refused $? "$(cat "$dir/err")"
