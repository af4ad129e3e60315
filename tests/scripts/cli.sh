#!/usr/bin/env bash
# The batch verbs of the real program on the shipped model: exit codes, one-line errors, outputs, sessions, signals, installation.
set -u
build=${BUILD:-build/release}
qtui=$build/qtui model=examples/digits.onnx calib=examples/calib
[ -e $model ] || { echo "skip cli $model is not there"; exit 0; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_STATE_HOME=$dir/state LC_ALL=C.UTF-8
report() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1 ${3:-}"; fi; }

# expect NAME CODE PATTERN ARGUMENT...: the exit code, and one line on standard error that has PATTERN ("": nothing is said)
expect() {
	local name=$1 code=$2 pattern=$3 got lines; shift 3
	"$qtui" "$@" >"$dir/out" 2>"$dir/said" </dev/null; got=$?
	grep -vE '^[a-z]+ [0-9]+ %, [0-9]+ s' "$dir/said" >"$dir/err" # progress, on a slow machine
	lines=$(wc -l <"$dir/err")
	if [ "$got" != "$code" ]; then report "$name" 1 "exit code $got, not $code: $(head -c 200 "$dir/err")"
	elif [ -z "$pattern" ] && [ "$lines" != 0 ]; then report "$name" 1 "said: $(head -c 200 "$dir/err")"
	elif [ -n "$pattern" ] && { [ "$lines" != 1 ] || ! grep -qF -- "$pattern" "$dir/err"; }; then
		report "$name" 1 "said: $(head -c 200 "$dir/err")"
	else report "$name" 0; fi
}
# The analysis as JSON without what differs from run to run: times, and findings, whose estimates come from the fine histograms of
# a run or from the 64 bins that a session keeps.
numbers() { awk '/^\t"findings":/ {exit} /"timing":/ {skip = 1} !skip; /}/ {skip = 0}' "$1"; }
same() { if diff -q <(numbers "$2") <(numbers "$3") >/dev/null && [ -s "$2" ]; then report "$1" 0; else report "$1" 1 "the numbers differ"; fi; }

# ---- usage
expect no_model 2 "a MODEL is needed" analyze
expect options_before_the_verb 0 "" -q --samples 1 analyze $model $calib
grep -q 'kl, 1 sample,' "$dir/out"; report and_they_count $? "$(head -n 1 "$dir/out")"
expect an_argument_is_no_verb 1 "run" --session run analyze $model
expect standard_input_has_a_name 1 "standard input is /dev/stdin" $model $calib --script -
printf ':wait\n:quit\n' | "$qtui" $model $calib --samples 1 --script /dev/stdin; report a_script_from_standard_input $?
cat $model | "$qtui" analyze /dev/stdin $calib --samples 1 -q >"$dir/out"; report a_model_from_standard_input $?
expect no_data 2 "calibration data are needed" analyze $model
expect no_data_of_no_model 1 "nosuch.onnx: No such file or directory" analyze nosuch.onnx
expect unknown_option 2 "did you mean --samples" analyze $model $calib --sample 3
expect option_of_another_verb 2 "--all has no meaning here: it is an option of run" analyze $model $calib --all
expect option_of_the_screen 2 "--theme has no meaning here: it is an option of the screen" analyze $model $calib --theme default
expect option_without_its_verb 2 "--json has no meaning here: it is an option of analyze, eval, search, tune, equalize, compare" $model $calib --json -
expect missing_argument 2 "--json needs FILE" analyze $model $calib --json
expect too_many_words 2 "unexpected argument c" analyze a b c
expect number_out_of_range 2 "--samples 0" analyze $model $calib --samples 0
expect seed_out_of_range 2 "--seed 4294967295: a whole number from 0 to 1000000000" analyze $model $calib --seed 4294967295
expect empty_word 2 "the word behind $model is empty" analyze $model "" -q
expect input_without_a_file 2 "-i images=: a file is needed" run $model -i images= -o "$dir/o"
expect no_format 2 "--format NAME is needed" export $model $calib
expect zero_std 2 "--std 1,0,1" analyze $model $calib --std 1,0,1
expect unknown_calibrator 2 "minmax, percentile, kl or mse" analyze $model $calib --calibration average
expect unknown_target 2 "known are" analyze $model $calib --target nosuch
expect set_of_no_mark 1 "no node is marked" analyze $model $calib --samples 1 --set marked=int8
expect set_without_value 2 "--set foo" analyze $model $calib --set foo
expect decisions_need_calibration 2 "--set is about the quantized network" run $model -i x.npy -o "$dir/o" --set a=int8
expect compare_models_needs_data 2 "calibration data are needed" compare $model $model
expect report_suffix 2 ".md, .csv or .html" analyze $model $calib --report "$dir/x.doc"
expect unknown_format 2 "no format is named nosuch; known are esp-ppq-dispatch" export $model $calib --format nosuch
expect tune_over_the_model 2 "is read here and is not written over" tune $model $calib -o $model
expect dequantize_without_model 2 "a MODEL is needed" dequantize -o "$dir/x.onnx"
expect dequantize_too_many_words 2 "unexpected argument $calib" dequantize $model $calib -o "$dir/x.onnx"
expect eval_of_no_session 1 "no such session; qtui analyze MODEL CALIB --session" eval $model examples/val --session "$dir/nosuch.json"
expect eval_too_many_words 2 "unexpected argument $calib" eval $model examples/val $calib
expect dequantize_without_output 2 "-o OUT.onnx is needed" dequantize $model
expect dequantize_over_the_model 2 "is read here and is not written over" dequantize $model -o $model
expect dequantize_a_float_model 1 "there is nothing to take out" dequantize $model -o "$dir/floats.onnx"
report dequantize_writes_no_such_model "$([ -e "$dir/floats.onnx" ]; echo $((1 - $?)))"
expect dequantize_into_nowhere 1 "there is no directory" dequantize $model -o "$dir/none/x.onnx"
expect equalize_without_model 2 "a MODEL is needed" equalize
expect equalize_too_many_words 2 "unexpected argument c" equalize $model $calib c
expect equalize_threshold_beside_samples 2 "no meaning beside samples" equalize $model $calib --threshold 1
expect equalize_by_samples 0 "" equalize $model $calib
expect equalize_over_the_model 2 "is read here and is not written over" equalize $model -o $model
expect equalize_by_unknown_rules 2 "--rules esp: ppq or quark" equalize $model --rules esp
expect equalize_by_rules_and_samples 2 "no meaning beside samples" equalize $model $calib --rules quark
expect equalize_by_quark_through_sums 2 "--sums is not among the rules of quark" equalize $model --rules quark --sums
"$qtui" equalize $model --rules quark --json - 2>/dev/null | grep -q '"rules":.*"quark"'; report equalize_names_its_rules $?
expect equalize_by_quark_with_biases 2 "--bias is not among the rules of quark" equalize $model --rules quark --bias 0.5
expect equalize_biases_beside_samples 2 "--bias is about weights" equalize $model $calib --bias 0.5
expect equalize_bias 2 "--bias half: a number, 0 or more" equalize $model --bias half
expect equalize_threshold 2 "--threshold -1" equalize $model --threshold -1
expect equalize_what_cannot_be 1 "can be equalized" equalize $model -o "$dir/equalized.onnx"
report equalize_writes_no_such_model "$([ -e "$dir/equalized.onnx" ]; echo $((1 - $?)))"
expect tune_into_nowhere 1 "there is no directory" tune $model $calib -o "$dir/none/x.onnx"
expect random_data_and_another_number 2 "--samples 4: --random-data 8 says how many" analyze $model --random-data 8 --samples 4
expect no_such_verb 2 "analyse is neither a verb nor a file; did you mean analyze" analyse $model $calib
expect two_results_in_one_file 2 "--json and --report are both to be written to $dir/x.md" analyze $model $calib --json "$dir/x.md" --report "$dir/x.md"
expect two_results_on_standard_output 2 "both to be written to -" analyze $model $calib --json - --report -
expect no_memory 2 "--memory 0" analyze $model $calib --memory 0
expect unknown_decoder 2 "one of tf-ssd" eval $model $calib --decoder nosuch
expect help 0 "" --help
expect version 0 "" --version
[ "$(cat "$dir/out")" = "qtui $(sed -n 's/^VERSION := //p' Makefile)" ]; report version_is_the_makefiles $?
expect help_of_a_verb 0 "" run --help
expect help_of_export 0 "" export --help
grep -q esp-ppq-setting "$dir/out"; report help_of_export_has_the_formats $?
"$qtui" run --help | grep -q '^  -o, --output PATH  *file or'; report help_has_the_letters $?
"$qtui" eval --help | tr -s ' \n' ' ' | grep -q 'eval calibrates on these and measures on all of DATASET'; report help_says_what_eval_measures $?
"$qtui" --help | awk 'length > 80 {exit 1}'; report help_fits_a_terminal $?

# ---- failures name the file, node or tensor
# Under a limit on address space the program, and the libraries that it calls, do with what there is or end with one line. A sanitizer maps terabytes.
if ldd "$qtui" | grep -qE 'lib[atu]*san'; then
	echo "skip address_space a sanitizer needs more"
else
	for mb in 120 128 130 140 150 160 200; do
		(ulimit -v $((mb * 1024)); OPENBLAS_NUM_THREADS=8 timeout 20 "$qtui" analyze $model $calib --quiet --json "$dir/small.json" >"$dir/out" 2>"$dir/err" </dev/null); got=$?
		[ $got = 0 ] || { [ $got = 1 ] && [ "$(grep -c '^qtui: ' "$dir/err")" = 1 ] && [ "$(wc -l <"$dir/err")" = 1 ]; }
		report "address_space_of_${mb}_mb" $? "exit code $got: $(cat "$dir/err")"
	done
	[ $got = 0 ]; report enough_address_space $? "exit code $got: $(cat "$dir/err")"
	(ulimit -v 180000; timeout 20 "$qtui" analyze $model $calib --samples 1 --backend blas --quiet --json "$dir/small.json" >"$dir/out" 2>"$dir/err" </dev/null); got=$?
	[ $got = 1 ] && grep -q '^qtui: OpenBLAS needs' "$dir/err"; report no_room_for_openblas $? "exit code $got: $(cat "$dir/err")"
fi
{ printf '\x93NUMPY\x01\x00\x46\x00%-69s\n' "{'descr':'<f4','fortran_order':False,'shape':(1,2,2,3)}"; head -c 48 /dev/zero; } >"$dir/nhwc.npy"
{ printf '\x93NUMPY\x01\x00\x46\x00%-69s\n' "{'descr':'<f4','fortran_order':False,'shape':(1,3,160,160)}"; head -c 307200 /dev/zero | tr '\0' '\377'; } >"$dir/nan.npy"
expect no_scale_names_the_model 1 "$model: tensor images: no finite values" analyze $model "$dir/nan.npy" -q
expect array_of_another_shape 1 "takes [1, 3, 160, 160], and $dir/nhwc.npy has [1, 2, 2, 3]" run $model -i "$dir/nhwc.npy" -o "$dir/o"
head -c 307200 /dev/zero >"$dir/raw.bin"
expect raw_array_has_the_inputs_shape 0 "" run $model -i "$dir/raw.bin" -o "$dir/o" -q
expect array_of_another_shape_than_the_samples 1 "needs [1, 3, 160, 160]: the quantized network has the shapes of the samples" run $model $calib --samples 1 -i "$dir/nhwc.npy" -o "$dir/o" -q
head -c 5000 $model >"$dir/cut.onnx"
head -c 5000 /dev/urandom >"$dir/noise.onnx"
: >"$dir/empty.onnx"
mkdir "$dir/none"
echo '{' >"$dir/cut.json"
echo '{"qtui_session": 1, "journal": ["set /nosuch int8"]}' >"$dir/unknown.json"
echo '{"qtui_session": 1, "target": "esp32p4", "truncate": ["/model.12/Concat_output_0"], "journal": ["sett op:Conv int16"]}' >"$dir/misspelt.json"
echo '{"qtui_session": 1, "model": {"sha256": "00"}}' >"$dir/other.json"
expect model_missing 1 nosuch.onnx analyze nosuch.onnx $calib
expect model_truncated 1 cut.onnx analyze "$dir/cut.onnx" $calib
expect model_noise 1 noise.onnx analyze "$dir/noise.onnx" $calib
expect model_empty 1 empty.onnx analyze "$dir/empty.onnx" $calib
expect data_missing 1 nosuch analyze $model nosuch
expect data_empty 1 "holds no samples" analyze $model "$dir/none"
mkdir -p "$dir/set/images/val" && : >"$dir/set/images/val/a.npy"
expect data_below 1 "give one that does, as $dir/set/images/val" analyze $model "$dir/set"
expect node_unknown 1 "no node /model.0/conv/Con; the nearest is /model.0/conv/Conv" analyze $model $calib --set /model.0/conv/Con=int8
expect scale_unknown 1 "--scale foo=2^-4: the model has no node foo" analyze $model $calib --scale foo=2^-4
"$qtui" analyze $model $calib --samples 1 --scale '/model.12/cv3.?/cv3.?.2/Conv=2^-4' 2>/dev/null | grep -q " 2 edits"; report scale_pattern $?
expect scale_refused_by_some 0 "--scale op:*=0.5: 34 of 111 nodes refused" analyze $model $calib --samples 1 --scale 'op:*=0.5'
"$qtui" analyze $model $calib --samples 1 --target xint8 --scale /model.12/Split_output_1=2^-3 2>/dev/null | grep -q " 1 edit"; report scale_second_output $?
expect scale_shared 1 "/model.12/Split: its output /model.12/Split_output_1 shares the scale" analyze $model $calib --scale /model.12/Split_output_1=2^-3
expect scale_input 1 "images: target esp32p4 takes only powers of two as scales: the nearest is 2^-3" analyze $model $calib --scale images=0.1 -q
expect scale_parameter 1 "model.0.conv.weight is a parameter" analyze $model $calib --scale model.0.conv.weight=2^-3 -q
expect scale_inside 1 "it is inside of one operator, which ends with /model.0/act/Mul: give the scale to that node" analyze $model $calib --scale /model.0/act/Sigmoid_output_0=2^-6
expect scale_refused 1 "the nearest is 2^-2" analyze $model $calib --scale /model.12/Concat=0.3
expect truncate_unknown 1 "--truncate foo: the model has no such tensor" analyze $model $calib --truncate foo
expect truncate_node 1 "the output of this node is /model.0/conv/Conv_output_0" analyze $model $calib --truncate /model.0/conv/Conv
expect truncate_nearest 1 "the nearest is /model.12/Concat_2_output_0" analyze $model $calib --truncate /model.12/Concat_2_outptu_0
expect check_with_blanks 1 "check failed: snr>90: output0" analyze $model $calib --samples 1 -q --check 'cos > 0.1 , snr > 90'
expect output_unwritable 1 "no directory /nosuch" analyze $model $calib --json /nosuch/x.json
expect output_directory 1 "is a directory" analyze $model $calib --json "$dir"
expect output_full 1 "/dev/full" analyze $model $calib --samples 1 --json /dev/full
(ulimit -f 1; exec "$qtui" analyze $model $calib --samples 1 -q --json "$dir/large.json") 2>"$dir/err"
[ $? = 1 ] && grep -q large.json "$dir/err" && [ ! -e "$dir/large.json" ]; report output_over_the_limit $? "$(cat "$dir/err")"
(ulimit -s 256; exec "$qtui" analyze $model $calib --samples 2 -q --threads 2 --calibration kl --json "$dir/shallow.json") 2>"$dir/err"
report threads_have_stacks_under_a_small_limit $? "$(cat "$dir/err")"
expect session_malformed 1 cut.json analyze $model $calib --session "$dir/cut.json"
expect session_unknown_node 1 "edit 1: the model has no node /nosuch" analyze $model $calib --session "$dir/unknown.json"
cp "$dir/misspelt.json" "$dir/misspelt.kept"
expect session_unknown_edit 1 "edit 1: unknown edit: sett op:Conv int16" analyze $model $calib --session "$dir/misspelt.json"
cmp -s "$dir/misspelt.json" "$dir/misspelt.kept"; report session_that_is_refused_is_kept $?
echo '{"qtui_session": 1, "model": {"path": "/nowhere/m.onnx"}, "calibration": {"path": "/nowhere/images"}}' >"$dir/moved.json"
expect session_of_a_moved_model 1 "the model /nowhere/m.onnx is not there: MODEL CALIB beside" analyze --session "$dir/moved.json"
expect session_of_moved_samples 1 "the samples /nowhere/images are not there" analyze $model --session "$dir/moved.json"
expect session_without_samples 2 "unknown.json names no samples" analyze $model --session "$dir/unknown.json"
expect session_of_another_model 1 "another model" analyze $model $calib --session "$dir/other.json"
expect session_missing 1 "no such session" export --session "$dir/nosuch.json" --format nncf
"$qtui" ops >/dev/full 2>"$dir/err"; report standard_output_full $(($? == 1 ? 0 : 1))
"$qtui" analyze $model $calib --samples 1 -q >&- 2>"$dir/err"; [ $? = 1 ] && grep -q 'standard output' "$dir/err"; report standard_output_closed $? "$(cat "$dir/err")"
# Figures that cannot be written are in the session all the same
expect json_full_with_a_session 1 "/dev/full" analyze $model $calib --samples 1 --json /dev/full --session "$dir/saved.json" -q
grep -q '"figures"' "$dir/saved.json"; report the_session_has_the_figures $?
# ... and one result that cannot be written keeps no other one back
expect json_full_with_a_report 1 "/dev/full" analyze $model $calib --samples 1 --json /dev/full --report "$dir/beside.md" -q
[ -s "$dir/beside.md" ]; report the_report_is_written $?
expect json_full_with_a_model 1 "/dev/full" tune $model $calib --samples 2 --budget 20 --json /dev/full -o "$dir/beside.onnx" -q
[ -s "$dir/beside.onnx" ]; report the_model_is_written $?
"$qtui" tune $model $calib --samples 2 --set op:Conv=float -o "$dir/none.onnx" -q >"$dir/out" 2>&1; [ $? = 1 ] && tail -n 1 "$dir/out" | grep -q 'none.onnx is not written.*no Conv, Gemm or MatMul'
report tune_says_why_it_has_nothing_to_do $? "$(tail -n 1 "$dir/out")"
for m in 30M 400M; do "$qtui" tune $model $calib --samples 4 --memory $m -o "$dir/tuned-$m.onnx" -q >"$dir/out" 2>&1; done
cmp "$dir/tuned-30M.onnx" "$dir/tuned-400M.onnx" 2>"$dir/err"; report tuned_alike_in_little_memory $? "$(cat "$dir/err")"
expect tune_of_one_sample 0 "" tune $model $calib --samples 1 -q
grep -q 'two samples are needed' "$dir/out"; report tune_asks_for_two_samples $?
expect eval_json_full_with_a_session 1 "/dev/full" eval $model examples/val --samples 1 --labels examples/val.json --json /dev/full --session "$dir/saved.json" --set /model.12/Sub=float -q
grep -q 'set /model.12/Sub float' "$dir/saved.json"; report the_session_has_the_edit $?
(ulimit -f 40; exec "$qtui" search --session "$dir/saved.json" --until 'wide<0.01' --json "$dir/beside.json" -q) >/dev/null 2>"$dir/err"
[ $? = 1 ] && grep -q saved.json "$dir/err" && grep -q '"steps"' "$dir/beside.json"; report session_full_with_the_repair_s_json $? "$(cat "$dir/err")"
for wrong in '"mean": ["1"]' '"mean": []' '"std": [1, 1, 1, 1, 1]' '"mean": [1e300]'; do
	echo "{\"qtui_session\": 1, \"calibration\": {\"preprocess\": {$wrong}}}" >"$dir/wrong.json"
	expect "session_${wrong//[^a-z0-9]/}" 1 'must be a list of 1 to 4 numbers' analyze $model $calib --session "$dir/wrong.json" -q
done

# ---- results
expect json_on_standard_output 0 "" analyze $model $calib --samples 2 -q --json -
grep -q '"qtui":' "$dir/out"; report json_is_json $?
expect findings_leave_standard_output_to_the_json 0 "" analyze $model $calib --samples 2 -q --json - --findings
[ "$(tail -n 1 "$dir/out")" = "}" ] && grep -q '"findings":' "$dir/out"; report findings_are_in_the_json $?
! grep -q '"survey_s"' "$dir/out"; report without_labels_there_is_no_survey $?
expect figures_beside_labels 0 "" analyze $model $calib --samples 2 -q --json - --labels examples/val.json
grep -q '"survey_s":' "$dir/out"; report timing_has_the_survey_that_labels_ask_for $?
"$qtui" analyze $model $calib --samples 1 -q --json /dev/stdout | grep -q '"qtui":'; report json_to_a_pipe_by_name $?
rows=$(grep -c '"op":' "$dir/out")
nodes=$(sed -n 's/.*"nodes":[[:space:]]*\([0-9]*\)$/\1/p' "$dir/out")
[ "$rows" = "$nodes" ]; report one_row_a_node $? "$rows rows, $nodes nodes"
for f in md csv html; do
	expect "report_$f" 0 "" analyze $model $calib --samples 1 -q --report "$dir/r.$f"
	[ -s "$dir/r.$f" ]; report "report_${f}_is_written" $?
done
mkdir "$dir/broken" && cp $(ls -d $calib/* | head -n 2) "$dir/broken" && head -c 300 "$(ls -d $calib/* | head -n 1)" >"$dir/broken/cut.jpg"
expect broken_picture 0 "" analyze $model "$dir/broken" -q --json -
grep -q '"samples":	2,' "$dir/out" && grep -q '"left_out":	\[".*cut.jpg is ' "$dir/out"; report broken_picture_is_named $? "$(grep -A1 '"samples":' "$dir/out")"
# x[1, 1, 2, 2] -> Conv of one weight and one bias of 20 bits -> y
printf '\010\010B\002\020\015:x\012\025\012\001x\012\001w\012\001b\022\001y\032\001c\042\004Conv\022\001g\052\023\010\001\010\001\010\001\010\001\020\001B\001wJ\004\000\000\000\077\052\015\010\001\020\001B\001bJ\004\315\314\314\075Z\033\012\001x\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\001\012\002\010\002\012\002\010\002b\033\012\001y\022\026\012\024\010\001\022\020\012\002\010\001\012\002\010\001\012\002\010\002\012\002\010\002' >"$dir/small.onnx"
expect bytes_are_whole 0 "" analyze "$dir/small.onnx" --random-data 1 --target esp32s3 -q --json -
grep -q '"weights":	4,' "$dir/out"; report bytes_are_one_and_three $? "$(grep '"weights":	[0-9]' "$dir/out")"
expect casts 0 "" analyze "$dir/small.onnx" --random-data 1 --target fp16 -q --json -
grep -q '"bits":	16' "$dir/out" && ! grep -qE '"(scale|zero_point|axis)"' "$dir/out"; report casts_have_no_scales $?
expect findings_of_casts 0 "" analyze $model $calib --target fp16 -q --findings
grep -qx 'No findings\.' "$dir/out"; report no_findings_are_said $? "$(cat "$dir/out")"
# x[1, 4], which is the output too
printf '\010\010\072\055\022\001gZ\023\012\001x\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\004b\023\012\001x\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\004B\004\012\000\020\015' >"$dir/none.onnx"
expect a_model_without_nodes 0 "" analyze "$dir/none.onnx" --random-data 1 -q
printf ':wait\n:save-screen %s\n:quit\n' "$dir/none.txt" | "$qtui" "$dir/none.onnx" --random-data 1 --script /dev/stdin
grep -q 'The model has no nodes\.' "$dir/none.txt"; report and_its_list_says_so $? "$(head -6 "$dir/none.txt")"
# x[1, 8] -> Sigmoid -> y, under a name that tables, HTML and terminals would obey
printf '\010\010B\002\020\015:K\012\034\012\001x\022\001y\032\013a\174\074b\076\012\033\13331m\042\007Sigmoid\022\001gZ\023\012\001x\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\010b\023\012\001y\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\010' >"$dir/odd.onnx"
for way in "" --findings --layerwise-output "--report -" "--report $dir/odd.html"; do
	expect odd_name 0 "" analyze "$dir/odd.onnx" --random-data 2 -q $way
	[ -e "$dir/odd.html" ] && mv "$dir/odd.html" "$dir/out"
	! grep -q $'\033' "$dir/out" && grep -qE '(a\|<b>|a\\\|&lt;b>|a\|&lt;b&gt;) [ ?]\[31m' "$dir/out"; report "odd_name_${way//[^a-z]/}_is_harmless" $? "$(cat -v "$dir/out")"
done
expect escaped_name 1 'no node a=b' analyze $model $calib --set 'a\=b=int8'
expect random_data 0 "" analyze $model --random-data 2 -q
ls $PWD/$calib/*.jpg | head -n 3 >"$dir/list.txt"
expect list_of_images 0 "" analyze $model "$dir/list.txt" -q
grep -q '3 samples' "$dir/out"; report list_has_3_samples $?
expect one_image 0 "" analyze $model $calib/000.jpg -q

# ---- the same numbers
args="analyze $model $calib --samples 3 -q --set op:Concat=float --set /model.0/conv/Conv=int16 --scale /model.12/cv3.0/cv3.0.2/Conv=2^-4"
"$qtui" $args --threads 1 --json "$dir/1.json"; "$qtui" $args --threads 2 --json "$dir/2.json"
same threads_do_not_matter "$dir/1.json" "$dir/2.json"
"$qtui" $args --session "$dir/s.json" --json "$dir/3.json"
same session_is_begun "$dir/1.json" "$dir/3.json"
cp "$dir/s.json" "$dir/before.json"
"$qtui" analyze $model --session "$dir/s.json" -q --json "$dir/4.json"
same session_round_trip "$dir/1.json" "$dir/4.json"
cmp -s "$dir/s.json" "$dir/before.json"; report session_is_only_read $?
"$qtui" $args --set /model.12/Sub=float --json "$dir/5.json"
"$qtui" analyze $model --session "$dir/s.json" --set /model.12/Sub=float -q --json "$dir/6.json"
same options_win_over_a_session "$dir/5.json" "$dir/6.json"
"$qtui" analyze $model --session "$dir/s.json" -q --json "$dir/7.json"
same options_are_saved_with_it "$dir/5.json" "$dir/7.json"
awk '/"results":/ {exit} {print} END {print "\"end\": 0}"}' "$dir/s.json" >"$dir/bare.json"
"$qtui" analyze $model --session "$dir/bare.json" -q --json "$dir/8.json"
same a_session_without_figures "$dir/5.json" "$dir/8.json"
echo '{"qtui_session": 1, "edits": [{"node": "/model.0/conv/Conv", "scale": 0.3}]}' >"$dir/edits.json"
expect edits_alone_are_for_the_default_target 1 "only powers of two" analyze $model $calib --session "$dir/edits.json" --samples 1 -q
expect edits_alone_are_for_the_target_given 0 "" analyze $model $calib --session "$dir/edits.json" --target onnxruntime --samples 1 -q

# ---- an xquant configuration, in the old spelling
cat >"$dir/xquant.json" <<-END
	{"model_parameters": {"onnx_model": "$model", "working_dir": "x"}, // as in the documents
	 "calibration_parameters": {"calibration_step": 3, "input_parametres": [
	  {"mean_value": [0, 0, 0], "std_value": [255, 255, 255], "color_format": "rgb", "data_list_path": "list.txt"}]},
	 "quantization_parameters": {"truncate_var_names": ["/model.12/Split_output_0"], "finetune_level": 0,
	  "custom_setting": [{"input_names": ["images"], "output_names": ["/model.0/act/Mul_output_0"], "precision_level": 3}]}}
END
expect config 0 "ignored: model_parameters.working_dir" analyze --config "$dir/xquant.json" --json "$dir/c.json"
grep -q '"target":	"xquant"' "$dir/c.json"; report config_is_for_xquant $?
"$qtui" export --config "$dir/xquant.json" --mean 125.3 --format xquant -o "$dir/own_config.json" -q
grep -q '125.3,' "$dir/own_config.json"; report config_says_what_was_given $? "$(grep mean_value "$dir/own_config.json")"
expect config_of_its_own_has_nothing_to_ignore 0 "" analyze --config "$dir/own_config.json" --json "$dir/c2.json"
same config_comes_back "$dir/c2.json" <("$qtui" analyze --config "$dir/xquant.json" --mean 125.3 --json - -q)
floats=$(awk -F'"' '/^\t\t\t"name":/ {name = $4} /^\t\t\t"requested":.*"float"/ {printf "%s ", name}' "$dir/c.json")
case $floats in
	"/model.0/conv/Conv /model.0/act/Sigmoid /model.0/act/Mul "*"/model.12/Sub "*) report config_regions 0 ;;
	*) report config_regions 1 "in float: $floats" ;;
esac
sed 's|"mean_value"|"input_name": "nosuch", "mean_value"|; s|, "working_dir": "x"||' "$dir/xquant.json" >"$dir/input.json"
expect config_of_another_input 0 "input.json: input_name nosuch: the model has no such input; its first is images" analyze --config "$dir/input.json"
sed 's|, "finetune_level": 0||; s|, "working_dir": "x"||' "$dir/xquant.json" >"$dir/silent.json"
expect config_that_is_silent_on_tuning 0 "at finetune_level 1, which is xquant's own" analyze --config "$dir/silent.json"
sed 's|"calibration_step": 3, ||; s|, "working_dir": "x"||' "$dir/xquant.json" >"$dir/steps.json"
cp "$dir/list.txt" "$dir/few.txt"
for i in $(seq 40); do head -1 "$dir/few.txt"; done >"$dir/list.txt"
expect config_that_is_silent_on_samples 0 "no calibration_step, which is 500 for XSlim then: here are the first 32 samples" analyze --config "$dir/steps.json"
expect config_with_samples_beside_it 0 "" analyze --config "$dir/steps.json" --samples 32
cp "$dir/few.txt" "$dir/list.txt"
expect config_with_few_samples 0 "" analyze --config "$dir/steps.json"
sed 's|/model.12/Split_output_0|/nosuch|' "$dir/xquant.json" >"$dir/behind.json"
expect config_truncated_behind_nothing 1 "behind.json: truncated behind /nosuch: the model has no such tensor" analyze --config "$dir/behind.json" -q
sed 's|/model.0/act/Mul_output_0|/nosuch|' "$dir/xquant.json" >"$dir/end.json"
expect config_region_to_nowhere 1 "/nosuch" analyze --config "$dir/end.json" -q
# XSlim goes from the input of a region into all that reads it: behind the Mul, which is on no way to the Sigmoid, all would be in float.
sed 's|, "working_dir": "x"||; s|"images"|"/model.0/conv/Conv_output_0"|; s|/model.0/act/Mul_output_0|/model.0/act/Sigmoid_output_0|' "$dir/xquant.json" >"$dir/leak.json"
expect config_region_without_an_end 0 "nodes are on no way to output_names" analyze --config "$dir/leak.json" --json "$dir/leaked.json"
[ "$(grep -c '"requested":.*"float"' "$dir/leaked.json")" -gt 100 ]; report config_region_without_an_end_is_as_xslims $?
# a calibrator of a region, and of nodes by hand
sed 's|"precision_level": 3}|"calibration_type": "minmax"}|; s|, "working_dir": "x"||; s|"calibration_step": 3|"calibration_step": 3, "calibration_type": "kl"|' "$dir/xquant.json" >"$dir/region.json"
expect config_region_with_a_calibrator 0 "" analyze --config "$dir/region.json" --json "$dir/region-by.json"
expect calibration_of_nodes 0 "" analyze --config "$dir/region.json" --calibration 'op:Conv=auto' --calibration '/model.0/conv/Conv=mse' --json "$dir/by-hand.json" -q
[ "$(grep -c '^			"calibration":	"minmax"' "$dir/region-by.json")" = 3 ] && grep -q '^			"calibration":	"mse"' "$dir/by-hand.json"
report calibrators_are_in_the_json $? "$(grep '"calibration"' "$dir/region-by.json" "$dir/by-hand.json")"
expect calibration_of_no_node 1 "--calibration op:Nosuch=kl" analyze $model $calib --calibration op:Nosuch=kl -q
expect calibration_by_nobody 2 "--calibration op:Conv=best: minmax, percentile, kl, mse or auto" analyze $model $calib --calibration op:Conv=best -q
for wrong in '"calibration_step": 3/"calibration_step": "3"/"calibration_parameters.calibration_step" must be a number' \
	'"color_format": "rgb"/"color_format": 5/input_parameters: "color_format" must be a text' \
	'"precision_level": 3/"precision_level": []/custom_setting: "precision_level" must be a number' \
	'"precision_level": 3/"calibration_type": "best"/custom_setting: calibration_type best: default'; do
	IFS=/ read -r from to said <<<"$wrong"
	sed "s|$from|$to|" "$dir/xquant.json" >"$dir/wrong.json"
	expect "config_of_wrong_kind_${to//[^a-z_]/}" 1 "$said" analyze --config "$dir/wrong.json" -q
done
sed 's|"calibration_step": 3|"calibration_step": 0|' "$dir/xquant.json" >"$dir/wrong.json"
expect config_without_steps 1 "wrong.json: calibration_step is out of range" analyze --config "$dir/wrong.json" -q
sed 's|"calibration_step": 3|"calibration_type": "KL"|' "$dir/xquant.json" >"$dir/wrong.json"
expect config_unknown_calibrator 1 "wrong.json: calibration_type KL: default, minmax" analyze --config "$dir/wrong.json" -q
sed 's|"images"|"nosuch"|' "$dir/xquant.json" >"$dir/nosuch.json"
echo '{"model_parameters": {"onnx_model": "elsewhere/m.onnx"}}' >"$dir/lost.json"
expect config_started_elsewhere 1 "onnx_model elsewhere/m.onnx is neither here nor beside the file" analyze --config "$dir/lost.json" -q
expect config_unknown_tensor 1 "no tensor nosuch" analyze --config "$dir/nosuch.json" -q

# ---- inputs and outputs of the network: an image as the study prepares it is not at hand, so zeros in NPY
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 3, 160, 160), }" >"$dir/x.npy"
head -c 76800 /dev/zero >>"$dir/x.npy"
expect run_float 0 "" run $model -i "$dir/x.npy" -o "$dir/float"
[ -s "$dir/float/output0.npy" ]; report run_writes_outputs $?
expect run_named_input 0 "" run $model -i images="$dir/x.npy" -o "$dir/float2"
cmp -s "$dir/float/output0.npy" "$dir/float2/output0.npy"; report run_is_repeatable $?
{ printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3, 160, 160), }"; head -c 153600 /dev/zero; } >"$dir/two.npy"
{ printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 3, 160, 80), }"; head -c 38400 /dev/zero; } >"$dir/narrow.npy"
expect run_a_stack 0 "" run $model -i "$dir/two.npy" -o "$dir/o"
head -c 128 "$dir/o/output0.npy" | grep -qa '(2,14,500)'; report run_stacks_its_outputs $?
expect run_quantized_stack 0 "" run -i "$dir/two.npy" -o "$dir/o" --session "$dir/s.json" -q
expect run_another_size 1 "input 'images' takes [1, 3, 160, 160]" run $model -i "$dir/narrow.npy" -o "$dir/o"
expect run_quantized_another_size 1 "the quantized network has the shapes of the samples" run -i "$dir/narrow.npy" -o "$dir/o" --session "$dir/s.json" -q
expect run_all 0 "" run $model -i "$dir/x.npy" -o "$dir/all" --all
[ -s "$dir/all/_model.0_conv_Conv_output_0.npy" ]; report run_all_names_files_by_tensors $?
expect run_session 0 "" run -i "$dir/x.npy" -o "$dir/quant" --session "$dir/s.json" -q
! cmp -s "$dir/float/output0.npy" "$dir/quant/output0.npy"; report run_session_is_quantized $?
expect run_codes 0 "" run $model $calib --samples 1 -i "$dir/x.npy" -o "$dir/codes" --codes -q
grep -aq "|i1" "$dir/codes/output0.npy"; report run_codes_are_integers $?
picture=$(ls -d "$PWD"/$calib/* | head -n 1)
expect run_picture 0 "" run $model -i images="$picture" -o "$dir/picture" --all
expect run_picture_as_array 0 "" run $model -i "$dir/picture/images.npy" -o "$dir/array"
cmp -s "$dir/picture/output0.npy" "$dir/array/output0.npy"; report run_picture_is_the_array_made_of_it $?
expect run_picture_prepared_otherwise 0 "" run $model -i "$picture" -o "$dir/dark" --mean 90,90,90
! cmp -s "$dir/picture/output0.npy" "$dir/dark/output0.npy"; report run_prepares_the_picture $?
expect run_picture_of_a_session 0 "" run -i "$picture" -o "$dir/shown" --session "$dir/s.json" -q
expect run_array_is_not_prepared 2 "--mean says how pictures become an input: arrays are taken as they are" run $model -i "$dir/x.npy" -o "$dir/o" --mean 1,2,3
expect run_array_has_its_shape 2 "--shape says how pictures become an input: arrays" run $model -i "$dir/x.npy" -o "$dir/o" --shape 1x3x64x64
expect run_repeat 0 "" run $model -i "$dir/x.npy" --repeat 2 --threads 1
for key in load_ms first_ms median_ms min_ms threads backend peak_rss_mb; do
	grep -q "\"$key\":" "$dir/out" || break
done
[ "$(wc -l <"$dir/out")" = 1 ] && [ $key = peak_rss_mb ]; report run_repeat_prints_one_json_line $?
expect run_one_input_twice 2 "input images is given twice" run $model -i images="$dir/x.npy" -i images="$dir/x.npy" -o "$dir/o"
expect run_to_standard_output 2 "name a directory" run $model -i "$dir/x.npy" -o -
expect run_to_a_file 1 "Not a directory" run $model -i "$dir/x.npy" -o "$dir/x.npy"
# x[1, 2] -> Relu -> t/a, x -> Neg -> t:a
printf '\010\010B\002\020\015:k\012\021\012\001x\022\003t/a\032\001a\042\004Relu\012\020\012\001x\022\003t:a\032\001b\042\003Neg\022\001gZ\023\012\001x\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\002b\025\012\003t/a\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\002b\025\012\003t:a\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\002' >"$dir/alike.onnx"
{ printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }"; printf '\0\0\200\077\0\0\0\300'; } >"$dir/pair.npy" # 1, -2
expect run_names_alike 0 "t:a is written to t_a.2.npy" run "$dir/alike.onnx" -i "$dir/pair.npy" -o "$dir/alike"
[ "$(tail -c 8 "$dir/alike/t_a.npy" | od -An -tf4 | xargs)" = "1 0" ] && [ "$(tail -c 8 "$dir/alike/t_a.2.npy" | od -An -tf4 | xargs)" = "-1 2" ]
report run_keeps_both $? "$(ls "$dir/alike")"
# the same of names of 301 characters, more than a file's name may have
long=$(printf 'm%.0s' {1..300})
printf '\010\010B\002\020\015\072\225\012\012\271\002\012\001x\022\255\002%sa\042\004Relu\012\270\002\012\001x\022\255\002%sb\042\003Neg\022\001gZ\023\012\001x\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\002b\300\002\012\255\002%sa\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\002b\300\002\012\255\002%sb\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\002' $long $long $long $long >"$dir/long.onnx"
expect run_long_names 0 "" run "$dir/long.onnx" -i "$dir/pair.npy" -o "$dir/long"
[ "$(ls "$dir/long" | wc -l)" = 2 ] && [ -s "$dir/long/${long:61}a.npy" ]; report run_long_names_are_shortened $? "$(ls "$dir/long")"
expect run_too_many_inputs 2 "1 input" run $model -i "$dir/x.npy" -i "$dir/x.npy" -o "$dir/o"
expect run_unknown_input 1 "no such input" run $model -i foo="$dir/x.npy" -o "$dir/o"
expect run_constant_as_input 1 "model.0.conv.weight: it is a constant of the model here" run $model -i model.0.conv.weight="$dir/x.npy" -o "$dir/o"
expect run_without_input 2 "input images is missing" run $model -o "$dir/o"

# ---- exports
for f in $("$qtui" export $model $calib 2>/dev/null | awk 'NR > 1 {print $1}'); do
	"$qtui" export --session "$dir/s.json" --format "$f" -o "$dir/export" 2>"$dir/err" && [ -s "$dir/export" ]
	report "export_$f" $? "$(head -c 200 "$dir/err")"
done

# ---- the quantized model: what it gives is what the session gives
expect quantize_session 0 "1 bias of more than 32 bits" quantize --session "$dir/s.json" -o "$dir/q16.onnx"
expect quantize 0 "" quantize $model $calib --samples 3 --target onnxruntime -o "$dir/q.onnx" -q
expect quantize_is_read_back 0 "" run "$dir/q.onnx" -i "$dir/x.npy" -o "$dir/qdq" -q
"$qtui" run $model $calib --samples 3 --target onnxruntime -i "$dir/x.npy" -o "$dir/simulated" -q
cmp -s "$dir/qdq/output0.npy" "$dir/simulated/output0.npy"; report quantize_gives_the_simulation $?
cp "$dir/q.onnx" "$dir/q.model"
expect import_a_model_by_what_it_holds 0 "" analyze $model $calib --samples 1 --import "$dir/q.model" -q
expect quantize_needs_a_name 2 "-o OUT.onnx is needed" quantize $model $calib
cp $model "$dir/own.onnx"
expect quantize_spares_the_model 2 "is read here and is not written over" quantize "$dir/own.onnx" $calib --samples 1 -o "$dir/own.onnx" -q
expect json_spares_the_model 2 "is read here and is not written over" analyze "$dir/own.onnx" $calib --samples 1 --json "$dir/own.onnx" -q
ln -f "$dir/own.onnx" "$dir/other_name.json"
expect json_spares_another_name_of_it 2 "is read here" search "$dir/own.onnx" $calib --samples 1 --budget 1 --json "$dir/other_name.json" -q
echo ":write $dir/own.onnx" >"$dir/over.qtui"
expect write_spares_what_is_no_session 1 "own.onnx is there and is no session" "$dir/own.onnx" $calib --samples 1 --script "$dir/over.qtui"
echo ":save-screen $dir/own.onnx" >"$dir/over.qtui"
expect screen_spares_the_model 1 "is read here and is not written over" "$dir/own.onnx" $calib --samples 1 --script "$dir/over.qtui"
cmp -s $model "$dir/own.onnx"; report the_model_is_untouched $?
echo '{"dispatchings": {"/model.0/conv/Conv": 552}}' >"$dir/table.json"
cp targets/esp32p4.json "$dir/mine.json"
cp "$dir/table.json" "$dir/table.before"
echo '{"dispatchings": {"/model.12/Sub": 0}}' | "$qtui" analyze $model $calib --samples 1 --import /dev/stdin -q >"$dir/out"
grep -q ' 1 edit:' "$dir/out"; report decisions_from_standard_input $? "$(head -1 "$dir/out")"
expect json_spares_what_is_imported 2 "is read here and is not written over" analyze $model $calib --samples 1 --import "$dir/table.json" --json "$dir/table.json" -q
expect json_spares_the_target 2 "is read here and is not written over" analyze $model $calib --samples 1 --target "$dir/mine.json" --json "$dir/mine.json" -q
cmp -s "$dir/table.json" "$dir/table.before" && cmp -s targets/esp32p4.json "$dir/mine.json"; report what_was_read_is_untouched $?
mkdir "$dir/named"
named=$(root=$PWD; cd "$dir/named" && "$root/$qtui" export "$root/$model" "$root/$calib" --samples 1 --format esp-ppq-dispatch -q)
report export_says_what_it_named "$([ "$named" = digits.dispatch.json ] && [ -s "$dir/named/$named" ]; echo $?)" "said: $named"
expect export_brings_a_table_up_to_date 0 "" export $model $calib --samples 1 --import "$dir/table.json" --format esp-ppq-dispatch -o "$dir/table.json" -q
cp "$dir/x.npy" "$dir/output0.npy"
expect run_spares_its_input 1 "is read here and is not written over" run $model -i "$dir/output0.npy" -o "$dir"
cmp -s "$dir/x.npy" "$dir/output0.npy"; report the_input_is_untouched $?
expect a_session_of_its_own 0 "" analyze $model $calib --samples 1 --session "$dir/own.json" --json "$dir/figures.json" -q
"$qtui" analyze $model $calib --samples 1 -q >"$dir/out"; grep -q ", 1 sample, 0 edits: " "$dir/out"; report one_sample_is_not_samples $?
expect json_spares_the_session 2 "is the session" analyze $model $calib --samples 1 --session "$dir/own.json" --json "$dir/own.json" -q
"$qtui" quantize --session "$dir/own.json" -o $model -q 2>/dev/null; [ $? = 2 ]; report a_session_spares_its_model $?

# ---- a target with members of its own
changed=onnxruntime,calibration.default=percentile,calibration.percentile=0.9999,activation.reduce_range=true
expect a_changed_target 0 "" analyze $model $calib --samples 2 --target $changed --session "$dir/changed.json" --json "$dir/changed-figures.json" -q
grep -q "\"target\":.*$changed" "$dir/changed-figures.json" && grep -q '"calibration":.*"percentile"' "$dir/changed-figures.json"; report has_that_name $?
expect a_changed_target_exported 0 "target: activation.reduce_range=true, which was given beside it, is not said" export --session "$dir/changed.json" --format onnxruntime -o "$dir/changed.ort"
grep -q '"CalibPercentile":.*99\.99,' "$dir/changed.ort" && ! grep -q 'calibration\.' "$dir/err"; report with_its_percentile $? "$(cat "$dir/err")"
expect another_percentile_in_a_file 0 "CalibPercentile: 99.99, the target has 99.999" analyze $model $calib --samples 1 --target onnxruntime --import "$dir/changed.ort"
expect a_changed_target_too_long 2 "the target's name is too long" analyze $model $calib --target "esp32p4,title=$(printf '%150s' '' | tr ' ' x),tool=$(printf '%150s' '' | tr ' ' x)"

# ---- in the wrong order
expect samples_before_the_model 2 "examples/calib is a directory: MODEL comes first, then CALIB" analyze examples/calib $model -q
expect samples_alone 2 "examples/calib is a directory: MODEL is an ONNX file" analyze examples/calib -q

# ---- a score by a program of the user's
scorer="touch $dir/scored; while read -r line; do echo 0.5; done"
"$qtui" eval $model $calib --samples 1 --scorer "$scorer" -q >"$dir/out" 2>"$dir/err"; [ $? = 0 ] && grep -q '^score  *0.5000  *0.5000' "$dir/out"; report eval_by_a_scorer $? "$(cat "$dir/err")"
expect a_scorer_in_a_session 0 "" analyze $model $calib --samples 1 --scorer "$scorer" --session "$dir/scored.json" -q
[ -e "$dir/scored" ] && rm "$dir/scored"
expect a_file_starts_no_program 0 "--scorer 'touch " analyze --session "$dir/scored.json" --set /model.12/Sub=float
[ ! -e "$dir/scored" ] && grep -q '"scorer":.*touch' "$dir/scored.json"; report and_keeps_its_name $?
expect labels_in_its_place 0 "" analyze --session "$dir/scored.json" --labels examples/val.json --set /model.12/Sub=auto -q
[ ! -e "$dir/scored" ] && ! grep -q '"scorer"' "$dir/scored.json"; report another_task_takes_its_name_away $?
cp examples/calib/000.jpg "$dir/a	b.jpg"
expect a_tab_in_a_name 1 "would end the field: rename it" eval $model "$dir/a	b.jpg" --scorer "$scorer" -q
expect a_scorer_s_error_names_it 1 "scorer exit 3: it has ended with exit code 3" eval $model $calib --samples 1 --scorer "exit 3" -q
# An error in the middle of a search takes nothing of it away: what is kept is saved and told.
mkdir -p "$dir/two"; cp examples/calib/00[01].jpg "$dir/two"
lasts='n=0; while read -r line; do n=$((n + 1)); [ $n -gt 6 ] && exit 3; echo 0.5; done'
expect a_search_that_fails_later 1 "exit code 3" search $model "$dir/two" --scorer "$lasts" --session "$dir/half.json" --json "$dir/half_told.json" -q
grep -q '^1 edit kept; an error has stopped it' "$dir/out" && grep -q '"kept":	*true' "$dir/half_told.json" && grep -q '"journal":.*set' "$dir/half.json"; report and_has_kept_what_it_had $? "$(tail -n 2 "$dir/out")"
expect a_scorer_that_fails_slowly 1 "exit code 3" eval $model $calib --samples 1 --threads 2 --scorer "echo >>$dir/starts; sleep 1; exit 3" -q
[ "$(wc -l <"$dir/starts")" = 1 ]; report and_is_not_begun_for_each_thread $? "$(wc -l <"$dir/starts") times"
expect a_scorer_of_a_session_is_given_again 0 "" analyze $model $calib --samples 1 --scorer "$scorer" --eval examples/val --session "$dir/again.json" -q
expect with_the_session_s_samples 0 "" analyze --session "$dir/again.json" --scorer "$scorer" --json "$dir/scored-again.json" -q
grep -q '"dataset":.*examples/val"' "$dir/scored-again.json"; report which_are_its_own $?
expect a_scorer_needs_no_labels 2 "exclude each other" eval $model $calib --scorer true --labels examples/val.json

"$qtui" eval $model examples/val --samples 1 --labels examples/val.json --json - 2>/dev/null >"$dir/out"
grep -q '"images":' "$dir/out" && ! grep -q '^mAP ' "$dir/out"; report eval_leaves_standard_output_to_the_json $? "$(head -3 "$dir/out")"
"$qtui" eval $model examples/val --samples 1 --labels examples/val.json --json "$dir/evaluated.json" 2>/dev/null | grep -q '^mAP '; report eval_prints_beside_its_json $?

# ---- boxes that a program of the user's reads
boxes="touch $dir/read; while read -r line; do echo '1 2 3 4 .5 7'; done"
"$qtui" eval $model examples/val --samples 2 --labels examples/val.json --boxes "$boxes" -q >"$dir/out" 2>"$dir/err"
[ $? = 0 ] && grep -q "boxes by touch .*; no NMS; classes in order of the category ids" "$dir/out" && grep -q '^mAP  *0.0000' "$dir/out"; report eval_by_boxes_of_a_program $? "$(cat "$dir/err" "$dir/out")"
grep -q 'The float network itself recognizes next to nothing: .*(qtui analyze --findings --eval DATASET)' "$dir/out"; report eval_says_that_float_finds_nothing $? "$(cat "$dir/out")"
expect boxes_of_a_program_in_a_session 0 "" analyze $model $calib --samples 1 --labels examples/val.json --boxes "$boxes" --session "$dir/boxes.json" -q
rm "$dir/read"
cat >"$dir/decode.sh" <<'END'
tab=$(printf '\t')
while IFS=$tab read -r outputs file name; do # [1, 14, 500]: centre, size, ten classes
	od -An -v -w4 -tf4 -j128 "$outputs/output0.npy" | awk '{ a[NR - 1] = $1 } END {
		for (i = 0; i < 500; i++)
			for (c = 0; c < 10; c++)
				if (a[(4 + c) * 500 + i] > .001) {
					x = a[i]; y = a[500 + i]; w = a[1000 + i] / 2; h = a[1500 + i] / 2
					printf "%.9g %.9g %.9g %.9g %s %d;", x - w, y - h, x + w, y + h, a[(4 + c) * 500 + i], c
				}
		print "" }'
done
END
figures() { "$qtui" eval $model examples/val --samples 6 --labels examples/val.json --nms .7 --json - -q "$@" | sed '/"note"/d; /"by_program"/d'; }
[ "$(figures)" = "$(figures --boxes "sh $dir/decode.sh")" ] && figures | grep -q '"AP":.*0\.[1-9]'; report a_program_reads_as_a_decoder_does $?
expect a_file_reads_no_boxes 0 "--boxes 'touch " analyze --session "$dir/boxes.json" --set /model.12/Sub=float --json "$dir/rests.json"
[ ! -e "$dir/read" ] && grep -q '"boxes":.*touch' "$dir/boxes.json" && grep -q '"labels":.*val.json' "$dir/boxes.json" && ! grep -q '"AP50"' "$dir/rests.json"; report and_measures_nothing $?
expect boxes_and_labels_of_the_session 0 "" analyze --session "$dir/boxes.json" --boxes "$boxes" --json "$dir/rests.json" -q
[ -e "$dir/read" ] && grep -q '"AP50"' "$dir/rests.json"; report are_measured_when_it_is_given_again $?
expect boxes_or_a_decoder 2 "exclude each other" eval $model examples/val --boxes true --decoder yolov8
expect boxes_need_labels 1 "no labels lie beside it" eval $model $calib --samples 1 --boxes true -q

# ---- a session that another run has written in the meantime: neither that one's work nor this one's is lost
cp "$dir/own.json" "$dir/shared.json"
mkfifo "$dir/late" # --import waits for it, behind the reading of the session
"$qtui" analyze --session "$dir/shared.json" --import "$dir/late" -q >"$dir/out" 2>"$dir/err" & pid=$!
until_opened() { until ls -l /proc/$pid/fd 2>/dev/null | grep -q late || ! kill -0 $pid 2>/dev/null; do read -rt 0.02 <> <(:) || true; done; }
exec 9<>"$dir/late"; until_opened
"$qtui" analyze --session "$dir/shared.json" --set /model.12/Sub=float -q >/dev/null; report another_run_writes_the_session $?
printf '{"dispatchings": {"/model.0/conv/Conv": 552}}' >&9; exec 9>&-
wait $pid; [ $? = 1 ] && grep -q "was written by another run" "$dir/err"; report and_this_one_tells $? "$(cat "$dir/err")"
grep -q '/model.12/Sub float' "$dir/shared.json" && ! grep -q '/model.0/conv/Conv int16' "$dir/shared.json"; report what_the_other_wrote_stays $?
grep -q '/model.0/conv/Conv int16' "$dir/shared.json~$pid"; report this_one_s_is_beside_it $?

# ---- nor is it lost where the session was deleted meanwhile, or a directory has taken its place
begin_late() {
	cp "$dir/own.json" "$1"
	"$qtui" analyze --session "$1" --import "$dir/late" >"$dir/out" 2>"$dir/err" & pid=$!
	exec 9<>"$dir/late"; until_opened
}
end_late() { printf '{"dispatchings": {"/model.0/conv/Conv": 552}}' >&9; exec 9>&-; wait $pid; }
begin_late "$dir/gone.json"; rm "$dir/gone.json"; end_late
[ $? = 0 ] && grep -q "gone.json was gone, and is written again" "$dir/err"; report a_deleted_session_is_written_again $? "$(cat "$dir/err")"
grep -q '/model.0/conv/Conv int16' "$dir/gone.json"; report with_what_was_done $?
begin_late "$dir/taken.json"; rm "$dir/taken.json"; mkdir "$dir/taken.json"; end_late
[ $? = 1 ] && grep -q "taken.json has become a directory since this run began" "$dir/err"; report a_directory_in_its_place_is_told $? "$(cat "$dir/err")"
grep -q '/model.0/conv/Conv int16' "$dir/taken.json~$pid"; report its_session_is_beside_the_directory $?

# ---- :write without a name spares what it has not read
cp $model "$dir/twice.onnx"
printf ':set /model.12/Sub float\n:write\n:set /model.12/Sub auto\n:write\n:quit\n' >"$dir/twice.qtui"
expect write_beside_the_model 0 "" "$dir/twice.onnx" $calib --samples 1 --script "$dir/twice.qtui"
cp "$dir/twice.onnx.qtui.json" "$dir/yesterday.json"
expect write_spares_yesterdays_session 1 ":open $dir/twice.onnx.qtui.json takes that one" "$dir/twice.onnx" $calib --samples 1 --script "$dir/twice.qtui"
cmp -s "$dir/twice.onnx.qtui.json" "$dir/yesterday.json"; report yesterdays_session_is_there $?
sed "1i :open $dir/twice.onnx.qtui.json" "$dir/twice.qtui" >"$dir/open.qtui"
expect write_what_was_opened 0 "" "$dir/twice.onnx" $calib --samples 1 --script "$dir/open.qtui"
sed "s|:write|& $dir/twice.onnx.qtui.json|" "$dir/twice.qtui" >"$dir/named.qtui"
expect write_what_is_named 0 "" "$dir/twice.onnx" $calib --samples 1 --script "$dir/named.qtui"

# ---- what comes through a pipe, which gives its bytes once: figures, labels, a list of samples, a session
expect compare_pipes 0 "" compare <(cat "$dir/figures.json") <(cat "$dir/own.json") -q
grep -q 'kl, 1 sample$' "$dir/out" && grep -q '^No node has another' "$dir/out"; report compare_pipes_finds_nothing $? "$(head -n 4 "$dir/out")"
expect eval_of_the_sessions_model 0 "" eval examples/val --session "$dir/saved.json" --samples 1 --labels examples/val.json --json "$dir/alone.json" -q
expect eval_of_the_model_beside_its_session 0 "" eval $model examples/val --session "$dir/saved.json" --samples 1 --labels examples/val.json --json "$dir/beside.json" -q
cmp -s "$dir/alone.json" "$dir/beside.json"; report eval_of_the_sessions_model_is_the_same $?
expect eval_of_a_model_alone 2 "MODEL and DATASET are needed" eval $model
expect labels_from_a_pipe 0 "" eval $model examples/val --samples 1 --labels <(cat examples/val.json) -q
grep -q '(100 of 100 samples, 10 classes)' "$dir/out"; report labels_from_a_pipe_are_read $? "$(head -n 2 "$dir/out")"
expect list_from_a_pipe 0 "" analyze $model <(ls $calib/00[0-2].jpg) -q
grep -q ', 3 samples' "$dir/out"; report list_from_a_pipe_is_of_the_working_directory $? "$(head -n 1 "$dir/out")"
expect session_from_a_pipe 0 "" analyze <(cat "$dir/own.json") -q
timeout 60 "$qtui" analyze --session <(cat "$dir/own.json") --set /model.12/Sub=float -q >"$dir/out" 2>"$dir/err"
[ $? = 1 ] && grep -q 'is a pipe or a device' "$dir/err"; report session_is_not_written_into_a_pipe $? "$(cat "$dir/err")"
expect session_that_can_only_be_read_with_places 0 "what is given beside the session is used, and not noted in it" analyze $model $calib --session <(cat "$dir/own.json")
expect session_that_can_only_be_read_with_labels 0 "not noted in it" eval $model examples/val --labels examples/val.json --session <(cat "$dir/own.json") --task detect --nms 0.5
expect session_that_can_only_be_read_with_a_decision 1 "--set is saved with a session: name a copy" analyze $model $calib --session <(cat "$dir/own.json") --set /model.12/Sub=float -q
printf ':set /model.12/Sub float\n:write\n:quit\n' >"$dir/write.qtui"
timeout 60 "$qtui" --session <(cat "$dir/own.json") --script "$dir/write.qtui" >"$dir/out" 2>"$dir/err"
[ $? = 1 ] && grep -q 'is a pipe or a device' "$dir/err"; report nor_by_the_screen $? "$(cat "$dir/err")"
expect session_to_standard_output 0 "is not there yet" analyze $model $calib --samples 1 --session -
head -n 2 "$dir/out" | grep -q qtui_session; report session_is_alone_there $? "$(head -n 2 "$dir/out")"
cp "$dir/own.json" "$dir/own.json~123"
expect session_of_any_name 0 "" analyze "$dir/own.json~123" -q

# ---- a gate for scripts: what failed and by how much; the results are there all the same
expect check_holds 0 "" analyze $model $calib --samples 2 -q --check 'snr>5,wide<0.1' --json "$dir/gate.json"
rm "$dir/gate.json"
expect check_fails 1 "output0 has" analyze $model $calib --samples 2 -q --check 'snr>50,cos>0.9' --json "$dir/gate.json"
grep -q graphwise "$dir/gate.json"; report check_fails_after_the_results $?
expect check_of_the_task 1 "map_drop<0.1: mAP lost" eval $model examples/val --samples 2 --labels examples/val.json --check 'map_drop<0.1' -q
"$qtui" eval $model $calib --samples 2 --task agree -q | grep -qE '^SNR dB +- +-?[0-9]+\.[0-9] +-$'; report eval_has_decibels_of_one_digit $?
expect check_of_a_task_that_was_not_measured 1 "what was measured is same_boxes" eval $model $calib --samples 2 --task agree --check 'map_drop<0.9' -q
# In black pictures neither network finds anything: what is not known is said to be so.
{ printf '\x93NUMPY\x01\x00\x46\x00%-69s\n' "{'descr':'<f4','fortran_order':False,'shape':(1,3,160,160)}"; head -c 307200 /dev/zero; } >"$dir/black.npy"
"$qtui" eval $model "$dir/black.npy" --task agree -q | grep -qE '^same boxes +- +- +-$'; report eval_shows_a_figure_that_is_not_known $?
"$qtui" analyze $model "$dir/black.npy" --task agree -q | grep -q '^same boxes not known over 1 sample'; report analyze_says_that_a_figure_is_not_known $?
expect check_of_what_is_not_known 1 "same boxes is not known of these samples" eval $model "$dir/black.npy" --task agree --check 'drop<0.9' -q
expect check_malformed 2 "snr>20, cos>0.99" analyze $model $calib --check 'speed>3'
echo '{"images": [], "annotations": [], "categories": [{"id": 0}]}' >"$dir/nothing.json"
mkdir "$dir/own" && cp examples/calib/00[01].jpg "$dir/own"
expect result_over_a_sample 2 "is read here and is not written over" analyze $model "$dir/own" --json "$dir/own/001.jpg"
cmp -s examples/calib/001.jpg "$dir/own/001.jpg"; report samples_stay_as_they_are $?
expect labels_of_no_sample 1 "has labels for none of the 100 samples" eval $model examples/val --samples 2 --labels "$dir/nothing.json"
sed 's/"categories": \[/&{"id": 30, "name": "thirty"}, /; s/"category_id": 3/"category_id": 30/' examples/val.json >"$dir/eleven.json"
expect labels_of_a_class_too_many 0 "are of classes that the model does not have (first: thirty)" eval $model examples/val --samples 2 --labels "$dir/eleven.json"
printf 'filename,class,xmin,ymin,xmax,ymax\n%s,/m/01g317,1,2,9,9\n' "$(ls examples/val | head -1)" >"$dir/foreign.csv"
sed 's/"categories": \[/&{"id": 30, "name": "3"}, /' examples/val.json >"$dir/twins.json"
expect labels_with_a_name_twice 0 "twins.json: categories 3 and 30 are both called 3: where classes go by name" eval $model examples/val --samples 2 --labels "$dir/twins.json"
expect labels_of_other_names 0 "(first: /m/01g317): they count as missed; write the model's names there" eval $model examples/val --samples 2 --labels "$dir/foreign.csv"
printf '%s,1\n' 000.jpg 001.jpg >"$dir/classes.csv"
expect classes_for_a_detector 1 "classes.csv: a class for each sample, but no output" eval $model examples/val --labels "$dir/classes.csv"
: >"$dir/a.json"
expect compare_with_nothing 1 "a.json:1: not valid JSON: it ends too early" compare "$dir/a.json" "$dir/a.json"
expect check_of_what_eval_does_not_measure 2 "measures the task only" eval $model examples/val --check 'snr>3'

# ---- comparing
expect compare_sessions 0 "" compare "$dir/1.json" "$dir/s.json" -q
grep -q '/model.12/Sub$' "$dir/out"; report compare_names_the_edit $?
"$qtui" analyze $model $calib --samples 2 -q --session "$dir/scaled.json" --scale /model.3/conv/Conv=2 >/dev/null
"$qtui" analyze $model $calib --samples 2 -q --session "$dir/plain.json" >/dev/null
expect compare_with_a_bad_scale 0 "" compare "$dir/plain.json" "$dir/scaled.json" -q
grep -A2 '^The nodes whose own noise' "$dir/out" | grep -qE '/model.3/conv/Conv: 2\^-[0-9]+ -> 2\^1$'; report compare_says_where_it_comes_from $? "$(grep -A3 '^The nodes whose' "$dir/out")"
for z in 30 60; do
	"$qtui" analyze $model $calib --samples 2 -q --target onnxruntime --scale "/model.3/conv/Conv=0.05,$z" --json "$dir/zero$z.json" >/dev/null
done
expect compare_with_another_zero_point 0 "" compare "$dir/zero30.json" "$dir/zero60.json" -q
grep -qE '^  zp 30  *zp 60  */model.3/conv/Conv$' "$dir/out"; report compare_says_which_zero_point $? "$(grep -A3 '^1 node' "$dir/out")"
mkdir "$dir/theirs" && cp "$dir/float/output0.npy" "$dir/theirs" && cp -r "$dir/theirs" "$dir/ours"
expect compare_spares_what_it_compares 2 "output0.npy is read here and is not written over" compare "$dir/theirs" "$dir/ours" --json "$dir/theirs/output0.npy" -q
cmp -s "$dir/theirs/output0.npy" "$dir/ours/output0.npy"; report and_it_is_untouched $?
expect compare_as_json 0 "" compare "$dir/1.json" "$dir/7.json" --json -
grep -q '"qtui_compare":	1' "$dir/out" && grep -q '"gain_db"' "$dir/out"; report compare_json $?
expect compare_same 0 "" compare "$dir/5.json" "$dir/7.json"
grep -q '^No node has another' "$dir/out"; report compare_finds_nothing $?
expect compare_models 0 "" compare $model "$dir/q.onnx" $calib --samples 2 -q
grep -q 'output0$' "$dir/out"; report compare_models_shows_outputs $?
expect compare_directories 0 "" compare "$dir/float" "$dir/float2"
grep -q '^1 of the same name, 1 exactly the same$' "$dir/out"; report compare_directories_finds_nothing $? "$(head -n 4 "$dir/out")"
expect compare_a_directory_with_a_model 2 "$dir/float is a directory, a file of arrays or a picture, $model a model" compare "$dir/float" $model
expect compare_arrays 0 "" compare "$dir/float/output0.npy" "$dir/quant/output0.npy"
grep -q ' array$' "$dir/out"; report compare_arrays_shows_one $?
expect compare_directories_without_a_common_file 1 "have no array or picture of the same name" compare "$dir/float" $calib
for n in 1 3; do "$qtui" compare $model "$dir/q.onnx" $calib --samples 5 --threads $n -q --json "$dir/threads$n.json"; done
cmp -s "$dir/threads1.json" "$dir/threads3.json"; report compare_models_with_any_threads $?
# What the layers behind a quantizer get is what the analysis says of it: the file does what was promised.
"$qtui" quantize $model $calib --samples 2 -q -o "$dir/promised.onnx"
"$qtui" analyze $model $calib --samples 2 -q --json "$dir/promised.json"
"$qtui" compare $model "$dir/promised.onnx" $calib --samples 2 -q --json "$dir/kept.json"
snr_of() { awk -v name="$2\"" '/"tensor":/ {hit = index($0, name)} hit && /"snr_db"/ {printf "%.3f\n", $2; exit}' "$1"; }
for t in /model.7/cv2/conv/Conv_output_0 /model.12/Sigmoid_output_0; do
	a=$(snr_of "$dir/promised.json" $t) b=$(snr_of "$dir/kept.json" $t)
	[ -n "$a" ] && [ "$a" = "$b" ]; report "compare_models_behind_the_quantizer_of_${t##*/}" $? "$a dB in the analysis, $b in the file"
done
# Where the float model is lost: the file's network in floats, the same model after the file's scales are taken over.
expect dequantize 0 "" dequantize "$dir/promised.onnx" -o "$dir/floats.onnx"
grep -qE '^.*floats.onnx: [0-9]+ quantizers taken out, 0 activations put back' "$dir/out"; report dequantize_says_what_it_did $? "$(cat "$dir/out")"
"$qtui" analyze "$dir/floats.onnx" $calib --samples 2 -q --import "$dir/promised.onnx" --session "$dir/floats.json" >/dev/null
"$qtui" quantize --session "$dir/floats.json" -q -o "$dir/again.onnx"
expect dequantized_is_the_file_again 0 "" compare "$dir/promised.onnx" "$dir/again.onnx" $calib --samples 2 -q
grep -qx 'No tensor differs.' "$dir/out"; report dequantized_gives_the_same_tensors $? "$(head -9 "$dir/out")"
expect quantized_already 0 "the model is quantized already" analyze "$dir/promised.onnx" $calib --samples 1
expect compare_one 2 "two are needed" compare "$dir/1.json"
expect compare_mixed 2 "1.json is a session or an analysis, $model a model" compare "$dir/1.json" $model
echo '{"version": 1}' >"$dir/other.json"
expect compare_a_missing_model 1 "nosuch.onnx: No such file" compare "$dir/nosuch.onnx" $model $calib
expect compare_other_json 1 "neither a session nor an analysis" compare "$dir/1.json" "$dir/other.json"
expect compare_missing 1 nosuch.json compare "$dir/1.json" "$dir/nosuch.json"

# ---- signals: sent until the program ends, since it may not listen yet
interrupt() {
	"$qtui" "$@" -q >/dev/null 2>&1 &
	local pid=$! deadline=$((SECONDS + 60))
	until grep -q "$1" /proc/$pid/cmdline; do read -rt 0.01 <> <(:) || true; done
	while kill -INT $pid 2>/dev/null && ((SECONDS < deadline)); do read -rt 0.05 <> <(:) || true; done
	kill -KILL $pid 2>/dev/null
	wait $pid
}
interrupt analyze $model --random-data 100000; code=$?
[ $code = 130 ]; report interrupted_is_130 $? "exit code $code"
# ... and where it waits for a pipe that nobody writes
mkfifo "$dir/pipe"
interrupt analyze $model $calib --eval "$dir/pipe" --labels "$dir/pipe"; code=$?
[ $code = 130 ]; report interrupted_at_a_pipe_is_130 $? "exit code $code"
# ... and a script without a terminal
echo :wait >"$dir/wait.qtui"
interrupt $model --random-data 100000 --script "$dir/wait.qtui" </dev/null; code=$?
[ $code = 130 ]; report interrupted_script_is_130 $? "exit code $code"
# ... and behind the figures, which are written all the same; of more samples where a machine is done before it says a line
for n in 200 800 3200; do
	"$qtui" analyze $model --random-data $n --layerwise-output --json "$dir/cut.json" >/dev/null 2>"$dir/err" &
	pid=$! deadline=$((SECONDS + 120))
	until grep -q '^layerwise' "$dir/err" || ! kill -0 $pid 2>/dev/null || ((SECONDS > deadline)); do read -rt 0.02 <> <(:) || true; done
	kill -INT $pid 2>/dev/null; wait $pid; code=$?
	[ $code = 0 ] || break
done
[ $code = 130 ] && grep -q '"snr_db"' "$dir/cut.json" && grep -q 'complete by then' "$dir/err"; report interrupted_behind_the_figures_is_130_and_writes_them $? "exit code $code: $(tail -1 "$dir/err")"
# ... and once it has begun to try remedies, what was kept is saved, and it is an interruption all the same: of the line that drops, too
for sig in INT HUP; do
	rm -f "$dir/cut.s.json" "$dir/out" # in which the last one has kept something: this one would be stopped before it is qtui
	"$qtui" search $model $calib --samples 8 --session "$dir/cut.s.json" -q >"$dir/out" 2>"$dir/err" &
	pid=$! deadline=$((SECONDS + 120))
	until grep -q ^kept "$dir/out" || ! kill -0 $pid 2>/dev/null || ((SECONDS > deadline)); do read -rt 0.02 <> <(:) || true; done
	kill -$sig $pid; wait $pid; code=$?
	[ $code = 130 ] && grep -q 'what was kept' "$dir/err" && grep -q '"journal":.*set\|"journal":.*scale' "$dir/cut.s.json"
	report interrupted_search_is_130_and_saves_$sig $? "exit code $code: $(cat "$dir/err")"
done
# ... and has saved it by then where nothing could be done at the end
rm -f "$dir/cut.s.json"
has_kept() { grep -qs '"journal":.*set\|"journal":.*scale' "$dir/cut.s.json"; }
"$qtui" search $model $calib --samples 8 --session "$dir/cut.s.json" -q >"$dir/out" 2>"$dir/err" &
pid=$! deadline=$((SECONDS + 120))
until has_kept || ! kill -0 $pid 2>/dev/null || ((SECONDS > deadline)); do read -rt 0.02 <> <(:) || true; done
kill -KILL $pid 2>/dev/null; wait $pid 2>/dev/null; code=$?
[ $code = 137 ] && has_kept && grep -q '"states"' "$dir/cut.s.json"; report killed_search_has_saved $? "exit code $code: $(cat "$dir/err")"
expect killed_search_goes_on 0 "" search --session "$dir/cut.s.json" --budget 20 -q
grep -q ^kept "$dir/out"; report and_was_killed_before_its_end $? "$(tail -n 1 "$dir/out")"
report and_saves_over_what_it_has_saved $(($(ls "$dir"/cut.s.json* | wc -l) - 1))
# ... and of a ranking what it has measured by then
"$qtui" search $model $calib --samples 8 --blame --session "$dir/cut.blame.json" -q >/dev/null 2>"$dir/err" &
pid=$! deadline=$((SECONDS + 120))
until grep -qs '"blame":.*{' "$dir/cut.blame.json" || ! kill -0 $pid 2>/dev/null || ((SECONDS > deadline)); do read -rt 0.02 <> <(:) || true; done
kill -KILL $pid 2>/dev/null; wait $pid 2>/dev/null; code=$?
[ $code = 137 ] && grep -qs '"blame":.*{' "$dir/cut.blame.json"; report killed_blame_has_saved $? "exit code $code: $(cat "$dir/err")"
"$qtui" analyze $model $calib --samples 1 -q --json - 2>"$dir/err" | head -c 1 >/dev/null
[ ! -s "$dir/err" ]; report closed_pipe_is_silent $? "$(cat "$dir/err")"
# streams that are closed: what is printed goes nowhere, and not into the next pipe or file that has their number
"$qtui" analyze $model --random-data 100000 <&- >&- 2>&- &
pid=$! deadline=$((SECONDS + 120))
until { [[ $(readlink /proc/$pid/exe) == */qtui ]] && now=$(readlink /proc/$pid/fd/1); } || ((SECONDS > deadline)); do read -rt 0.02 <> <(:) || true; done
kill -KILL $pid; wait $pid 2>/dev/null
[ "$now" = /dev/null ]; report closed_streams_are_nothing_else $? "it is $now"

# ---- the repair that the examples describe, through the screen's script mode
cat examples/repair.qtui - >"$dir/repair.qtui" <<-END
	:wait
	:write $dir/repair.json
	:quit
END
expect repair_script 0 "" $model $calib --script "$dir/repair.qtui"
db() { "$qtui" analyze "$@" -q | sed -n 's/^output output0: *\([0-9.]*\) dB.*/\1/p'; }
before=$(db $model $calib) after=$(db $model --session "$dir/repair.json")
awk -v a="$before" -v b="$after" 'BEGIN {exit !(a < 20 && b > 40)}'; report repair_mends $? "$before dB before, $after dB after"

# ---- labels that are not there end it at once; those that cannot be read are an error, but the figures were paid for
rm -f "$dir/figures.json"
expect no_such_labels 1 "--labels nowhere.json: there is no such file" analyze $model $calib --labels nowhere.json --json "$dir/figures.json" -q
report no_such_labels_cost_nothing "$([ ! -e "$dir/figures.json" ]; echo $?)"
expect no_such_samples 1 "--eval nowhere: there is no such" analyze $model $calib --eval nowhere
expect bad_labels 1 "a.json" analyze $model $calib --samples 1 --labels "$dir/a.json" --json "$dir/figures.json" -q
grep -q graphwise "$dir/figures.json"; report bad_labels_lose_no_figures $?
rm -f "$dir/figures.json"
# Labels that lie beside the samples tell of their preparation without being named, where nobody said how the pictures are prepared.
cp -r examples/val examples/val.json "$dir/"
sed 's/"imgsz"/"imgsx"/; s/imgsz/imgsx/; s/names/namex/' $model >"$dir/plain.onnx"
expect survey_with_labels_that_were_found 0 "say otherwise with --mean" analyze "$dir/plain.onnx" "$dir/val" --samples 8 --findings
grep -q ':survey' "$dir/out"; [ $? = 1 ]; report survey_is_not_proposed_by_what_does_it $? "$(grep survey "$dir/out")"
expect bad_labels_for_findings 1 "a.json" analyze $model $calib --samples 1 --labels "$dir/a.json" --findings --json "$dir/figures.json" -q
grep -q graphwise "$dir/figures.json"; report bad_labels_for_findings_lose_no_figures $?

# ---- two variants laid side by side
cat >"$dir/variants.qtui" <<-END
	:wait
	:variant base
	:set /model.0/conv/Conv int16
	:wait
	:variant wide
	:diff base wide
	:save-screen $dir/diff.txt
	:quit
END
expect variants 0 "" $model $calib --samples 2 --script "$dir/variants.qtui"
grep -q 'A  base: 0 edits, .*worst output' "$dir/diff.txt" && grep -q 'B  wide: 1 edit, ' "$dir/diff.txt" && grep -q '▸.*/model.0/conv/Conv' "$dir/diff.txt"
report diff_shows_the_edit $?

# ---- the guided repair in batch
expect search 0 "" search $model $calib --samples 3 --budget 120 --until 'wide<0.01' --session "$dir/search.json" -q
grep -q 'samples that it chose by; on others: qtui eval' "$dir/out"; report and_says_what_its_figures_are_of $? "$(tail -n 2 "$dir/out")"
after=$(db $model --session "$dir/search.json")
awk -v a="$after" 'BEGIN {exit !(a > 38)}'; report search_mends $? "$after dB after"
printf ':view-pareto\n:save-screen %s\n:target xquant\n:view-pareto\n:save-screen %s\n:quit\n' "$dir/pareto.txt" "$dir/stale.txt" >"$dir/pareto.qtui"
expect search_leaves_what_accuracy_costs 0 "" --session "$dir/search.json" --script "$dir/pareto.qtui"
grep -q 'states that nothing beats' "$dir/pareto.txt" && grep -q 'in force:' "$dir/pareto.txt" && grep -q 'figures are of another target' "$dir/stale.txt"
report search_is_shown_on_the_screen $? "$(sed -n 3,8p "$dir/pareto.txt")"
printf ':wait\n:samples 3\n:wait\n:write %s/more.json\n' "$dir" >"$dir/more.txt"
expect samples_on_the_screen 0 "" $model $calib --samples 2 --script "$dir/more.txt"
expect samples_are_in_the_session 0 "" analyze --session "$dir/more.json"
grep -q '3 samples, 1 edit' "$dir/out"; report the_session_has_so_many $? "$(sed -n 1,2p "$dir/out")"
expect samples_beside_a_session 0 "" analyze --session "$dir/more.json" --samples 1
grep -q '1 sample, 0 edits' "$dir/out"; report the_option_wins $? "$(sed -n 1,2p "$dir/out")"
expect search_blame 0 "" search $model $calib --samples 2 --blame -q
awk '$7 ~ /Concat_4$/ && $2 > 0 {found = 1} END {exit !found}' "$dir/out"; report search_blames_the_last_concat $? "$(sed -n 4p "$dir/out")"
expect search_without_labels_for_its_goal 1 "labels are needed" search $model $calib --samples 1 --until 'map_drop<0.1' -q
expect search_saves_options_with_the_session 0 "" search $model $calib --samples 1 --blame --budget 1 --set /model.12/Sub=float --session "$dir/blamed.json" -q
grep -q 'set /model.12/Sub float' "$dir/blamed.json"; report search_has_saved_them $?
expect search_blames_what_a_session_decides 0 "" search --blame --session "$dir/blamed.json" -q
head -1 "$dir/out" >"$dir/damage"
printf ":wait\nB\n:save-screen %s\n:quit\n" "$dir/blamed.txt" >"$dir/blamed.qtui"
expect its_ranking_is_in_the_session 0 "" --session "$dir/blamed.json" --script "$dir/blamed.qtui"
grep -q "damage $(awk '{print $2}' "$dir/damage")" "$dir/blamed.txt"; report and_on_the_screen $? "$(cat "$dir/damage"; sed -n 3,6p "$dir/blamed.txt")"
printf 'name,bits,latency_us\n/model.0/conv/Conv,8,100\n/model.0/conv/Conv,16,150\nnowhere,8,1\n' >"$dir/board.csv"
expect search_by_time 0 "board.csv:4: the model has no node nowhere" search $model $calib --samples 2 --latency "$dir/board.csv" --until 'cost<1.02' --json "$dir/by_time.json"
awk '/^\t"steps":/ {exit} /"pareto":/ {on = 1} on && /"changes":/ {n++} on && /"time_us":/ {t++} END {exit !(n > 1 && t == n)}' "$dir/by_time.json"
report search_says_what_accuracy_costs $?
expect search_without_times 1 "no times are known" search $model $calib --samples 1 --until 'time<1' -q
printf 'name,op\na,b\n' >"$dir/board.csv"
expect latency_needs_a_heading 1 "board.csv:1: nothing names a column" analyze $model $calib --samples 1 --latency "$dir/board.csv" -q
expect search_goal 2 "speed>3" search $model $calib --until 'speed>3'
expect search_budget 2 "--budget soon: a time like 90 (seconds), 90s" search $model $calib --budget soon
expect search_budget_with_a_unit 0 "" search $model $calib --samples 1 --blame --budget 2s -q

# ---- the same on the screen, by the task's metric
fix_script() { printf ':wait\n:fix %s\n:wait\n:save-screen %s\n:quit\n' "$1" "$dir/fix.txt" >"$dir/fix.qtui"; }
fix_script 'map_drop<0.1 1m'
expect fix_by_map 0 "" $model $calib --samples 3 --labels examples/val.json --eval examples/val --script "$dir/fix.qtui"
grep -q '^  the goal is reached' "$dir/fix.txt" && grep -q 'AP \.[0-9]* → \.[0-9]* (float \.[0-9]*: [0-9]* % of the loss regained), .* of the MACs above 8 bit' "$dir/fix.txt"
report fix_says_what_it_bought $? "$(sed -n 3,4p "$dir/fix.txt")"
expect fix_without_labels 1 ":labels FILE" $model $calib --samples 1 --script "$dir/fix.qtui"

# ---- the demo, where there is no terminal: the first two figures before and after the repair
BUILD=$build examples/demo.sh </dev/null >"$dir/out" 2>"$dir/err"; code=$?
[ "$code $(sed -n 's/^\(mAP[0-9]*\) .*/\1/p' "$dir/out" | paste -sd ' ')" = "0 mAP mAP50 mAP mAP50" ]; report demo_in_batch $? "$code $(tail -n 1 "$dir/out" "$dir/err" | paste -sd ' ')"

# ---- installation: of what is built already
mkdir "$dir/built"; cp "$build/qtui" "$dir/built/"
make -s install -o all BUILD="$dir/built" DESTDIR="$dir/root" PREFIX=/usr >"$dir/out" 2>&1; code=$?
for f in bin/qtui share/man/man1/qtui.1 share/doc/qtui/docs/JSON.md share/doc/qtui/targets/README.md share/qtui/targets/esp32p4.json share/bash-completion/completions/qtui; do
	[ -e "$dir/root/usr/$f" ] || code="$f is missing"
done
[ "$code" = 0 ]; report install $? "$code $(tail -n 1 "$dir/out")"
(cd "$dir" && "$dir/root/usr/bin/qtui" ops >/dev/null); report installed_program_runs $?

# ---- targets: by name and title; one that cannot be read is named with its file
"$qtui" targets >"$dir/list"; report targets_are_listed $?
grep -qx 'esp32p4  *ESP32-P4, .*' "$dir/list"; report targets_have_titles $?
mkdir -p "$dir/own"; echo '{"name": "mine", "title": "of my own", "base": "esp32p4"}' >"$dir/own/mine.json"; echo '{' >"$dir/own/broken.json"
QTUI_TARGETS=$dir/own "$qtui" targets >"$dir/list"; report a_broken_target_fails $(($? == 1 ? 0 : 1))
grep -qx 'mine  *of my own' "$dir/list"; report own_targets_are_listed $?
grep -q "^broken  *$dir/own/broken.json:[0-9]*: " "$dir/list"; report a_broken_target_is_named $?
expect targets_take_no_words 2 "unexpected argument esp32p4" targets esp32p4

# ---- completion: what bash would offer behind these words
offers() { # NAME EXPECTED WORD...
	local name=$1 expected=$2; shift 2
	local got; got=$(. completions/qtui.bash; COMP_WORDS=("$qtui" "$@"); COMP_CWORD=$#; COMPREPLY=(); _qtui; echo "${COMPREPLY[*]}")
	[ "$got" = "$expected" ]; report "$name" $? "$got"
}

offers complete_verbs "eval equalize export" e
offers complete_options --format export --f
offers complete_options_of_the_screen "--theme --threads" model.onnx --th
offers complete_targets "esp32 esp32p4 esp32s3 esp32s31" analyze --target esp
offers complete_formats "quark qdq" export --format q
offers complete_a_verb_behind_options "eval equalize export" -q --samples 4 e
offers complete_options_of_a_verb_behind_options "--format" --samples 4 -q export --f
offers complete_values_of_a_verb_behind_options "onednn" --threads 1 analyze --backend o
offers an_argument_is_not_completed_as_a_verb "" --session e
offers an_argument_is_no_verb_to_complete "--format" --session run export --f
offers complete_behind_an_equals_sign "esp32 esp32p4 esp32s3 esp32s31" analyze --target = esp
offers complete_right_behind_an_equals_sign "rgb bgr" analyze --color =
offers no_verb_behind_the_model "" model.onnx e
offers complete_values "minmax percentile kl mse" analyze --calibration ""
offers complete_files "" analyze --session ""
