#!/usr/bin/env bash
# The program in a terminal of its own (tmux): start, keys, resize, suspension, signals, locales, colours. Nothing sleeps for a
# guessed time: every step polls for what it expects until a deadline.
set -u
build=${BUILD:-build/release}
model=examples/digits.onnx data=examples/calib
command -v tmux >/dev/null || { echo "skip tmux_screen tmux is not there"; exit 0; }
[ -e $model ] || { echo "skip tmux_screen $model is not there"; exit 0; }
dir=$(mktemp -d)
# What a run writes beside its model, or where temporary files go, goes with the folder.
cp $model "$dir" && model=$dir/digits.onnx
export XDG_STATE_HOME=$dir/state TMPDIR=$dir LC_ALL=C.UTF-8
t() { tmux -L "qtui-test-$$" -f /dev/null "$@"; }
# A program that loses its terminal still saves its session: the folder is removed when it is done.
trap 't kill-server 2>/dev/null; until_true 10 rm -rf "$dir" 2>/dev/null' EXIT
unset NO_COLOR COLORTERM

# The server of all sessions lives as long as this one: ending and starting it anew at once is a race.
t new-session -d -s server "sleep 3600"

screen() { t capture-pane -p -t s; }
# until SECONDS CONDITION...: polls until the condition holds
until_true() {
	local deadline=$((SECONDS + $1)); shift
	until "$@"; do ((SECONDS < deadline)) || return 1; read -rt 0.03 <> <(:) || true; done
}
shows() { screen | grep -qF -- "$1"; }
lacks() { ! shows "$1"; }
see() { until_true "${2:-60}" shows "$1"; }
ends() { [ -s "$dir/code" ]; }
# start SIZE ENVIRONMENT OPTIONS: a shell that runs the program and notes its exit code and what the terminal is like after it
start() {
	local size=$1 env=$2 options=$3
	t kill-session -t s 2>/dev/null
	rm -f "$dir/code"
	until_true 10 t new-session -d -s s -x "${size%x*}" -y "${size#*x}" "env $env bash --norc -c 'stty sane; stty -a >$dir/tty.before; \
	  $build/qtui $model $data --samples 2 --threads 1 $options 2>$dir/err; echo \$? >$dir/code.tmp; stty -a >$dir/tty.after; \
	  echo AFTERWARDS; mv $dir/code.tmp $dir/code; read x'"
}
keys() { t send-keys -t s "$@"; }
done_=" done in "
verdict() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1"; screen | sed 's/^/    /'; cat "$dir/err" 2>/dev/null; fi; }
check() { local name=$1; shift; "$@"; verdict "$name" $?; }
utf8="LC_ALL=C.UTF-8 TERM=xterm-256color"

first_screen() { start 120x40 "$utf8" "" && see "1 Layers" && see "$done_" && see "Neighbourhood" && see "▸"; }
check tmux__first_screen first_screen

# The worst node of all, edited before any other key: the cursor goes with it to its new place.
cursor_on_edit() { screen | grep -q '^▸ . 16\*'; }
first_edit() { keys 6 && until_true 30 cursor_on_edit && see "$done_" && cursor_on_edit && keys u && see "undone: " && until_true 30 lacks "1 edit"; }
check tmux__the_cursor_stays_on_the_edited_node first_edit

edit_and_undo() {
	keys /cv3.1.2/Conv Enter && keys 6 && see "16*" && see "digits.onnx*" && keys u && see "undone: " && until_true 30 lacks "1 edit"
}
check tmux__edit_and_undo edit_and_undo

command_line() { keys ":sort cosi" Tab && see "sort cosine" && keys Enter && see "cosine▴" && keys ":sort nosuch" Enter && see "E: no column"; }
check tmux__command_line command_line

# paste TEXT: as a terminal does that knows of marks around pasted text
paste() { t set-buffer -b text "$1" && t paste-buffer -p -b text -t s; }
pastes() {
	paste "6fq" && see "pasted text is not taken for keys" && lacks "1 edit" && keys : && paste $'sort\nname' && see ":sort name" && keys Enter &&
	  see "name▴" && keys ":sort cosine" Enter && see "cosine▴"
}
check tmux__pasted_text_is_no_keys pastes

resizes() {
	for size in 80x24 40x10 200x60 100x30; do
		t resize-window -t s -x ${size%x*} -y ${size#*x} && see "Layers" 10 || return 1
	done
	t resize-window -t s -x 39 -y 9 && see "qtui needs 40x10" 10 && t resize-window -t s -x 120 -y 40 && see "Neighbourhood" 10
}
check tmux__resizes resizes

help_and_back() { keys "?" && see "Quantize to 8 bit" && keys q && see "Neighbourhood"; }
check tmux__help_and_back help_and_back

same_terminal() { cmp -s "$dir/tty.before" "$dir/tty.after" && shows AFTERWARDS && lacks "1 Layers"; }
quits() { keys q && until_true 20 ends && [ "$(cat "$dir/code")" = 0 ] && see AFTERWARDS && same_terminal; }
check tmux__quit_gives_the_terminal_back quits

# A key that does nothing says so, function keys too; those that rxvt adds to the common ones are none of curses' own.
# In bytes as rxvt sends them: F1, and Ctrl-Down.
function_keys() {
	start 80x24 TERM=rxvt "" && see "$done_" && keys F5 && see "this key does nothing here" && keys -H 1b 5b 31 31 7e && see "Help" &&
		keys q && until_true 10 lacks "Help" && keys -H 1b 4f 62 && see "this key does nothing here" && keys j && see " 2/" &&
		lacks "pasted text"
}
check tmux__function_keys_are_answered function_keys

# What a batch verb prints stands in lines of its own while the bar is shown.
bar_and_lines() {
	t kill-session -t s 2>/dev/null
	until_true 10 t new-session -d -s s -x 120 -y 50 \
	  "$build/qtui search $model $data --samples 4 --until 'snr>30'; echo AFTERWARDS; read x" && see AFTERWARDS 120 &&
	  screen | grep -q '^kept ' && ! screen | grep -q '. s.*\(begin\|kept\|undone\) '
}
check tmux__lines_of_a_search_beside_its_bar bar_and_lines

ascii() { start 100x30 "LC_ALL=C TERM=xterm" "" && see "$done_" && see "> " && ! screen | LC_ALL=C grep -q '[^ -~]'; }
check tmux__plain_ascii_in_the_c_locale ascii

no_colour() { start 100x30 "$utf8 NO_COLOR=1" "" && see "$done_" && ! t capture-pane -e -p -t s | grep -qE $'\033\\[([0-9;]*;)?[34][0-8]'; }
check tmux__no_color no_colour

eight() { start 80x24 "LC_ALL=C.UTF-8 TERM=xterm" "" && see "$done_" && ! t capture-pane -e -p -t s | grep -qF '38;5;'; }
check tmux__eight_colours eight

mono() { start 80x24 "LC_ALL=C TERM=vt100" "" && see "$done_"; }
check tmux__vt100 mono

# It has no second screen to go back from.
line_of_its_own() { keys q && until_true 20 ends && see AFTERWARDS && screen | grep -qx AFTERWARDS; }
check tmux__vt100_leaves_the_prompt_a_line line_of_its_own

dumb() { start 80x24 "LC_ALL=C TERM=dumb" "" && until_true 30 ends && grep -q "cannot place the cursor" "$dir/err" && grep -qx 1 "$dir/code"; }
check tmux__dumb_terminal dumb

pid_of() { pgrep -P "$(t list-panes -t s -F '#{pane_pid}')" -x qtui; }
terminated() { # SIGNAL EXIT_CODE
	start 80x24 "$utf8" "" && see "$done_" && keys ":set /model.12/cv3.1/cv3.1.2/Conv int16" Enter && see "digits.onnx*" &&
	    kill "-$1" "$(pid_of)" && until_true 20 ends && [ "$(cat "$dir/code")" = "$2" ] && see AFTERWARDS && same_terminal
}
check tmux__sigquit_gives_the_terminal_back terminated QUIT 131
check tmux__sigterm_gives_the_terminal_back terminated TERM 143

# While the run that has written a session lives, which its lock says, another neither offers nor overwrites it.
living() {
	local file
	rm "$dir"/state/qtui/*-2.json # of the second run that was terminated
	file=$(ls "$dir"/state/qtui/*.json) && exec 9>"$file.lock" && flock -w 30 9 && start 120x40 "$utf8" "" && see "$done_" && lacks "was not saved" &&
	  keys 6 && until_true 30 test -s "${file%.json}-2.json" && kill -KILL "$(pid_of)" && until_true 30 ends
	local result=$?
	exec 9>&-
	rm -f "${file%.json}-2.json"
	return $result
}
check tmux__a_session_of_a_living_run_is_left_alone living
offered() { start 120x40 "$utf8" "" && see "was not saved: :open" && see "$done_" && keys ":open" Enter && see "digits.onnx*"; }
check tmux__the_session_is_offered_at_the_next_start offered

# Where the state directory cannot be made, quitting asks first, once for what was edited since; what works again is told.
unsaved() {
	: >"$dir/file"
	start 120x40 "$utf8 XDG_STATE_HOME=$dir/file" "" && see "$done_" && keys ":set /model.12/cv3.1/cv3.1.2/Conv int16" Enter && see "E: " &&
	    see "autosave fails" && keys C-c C-c && see "edits would be lost" && rm "$dir/file" && keys u && see "autosaved again" && lacks "autosave fails" &&
	    rm -r "$dir/file" && : >"$dir/file" && keys C-r q && see "edits would be lost" && keys q && until_true 20 ends && see AFTERWARDS &&
	    grep -q "edits are lost" "$dir/err"
}
check tmux__edits_are_not_lost_in_silence unsaved

# A run that is killed then leaves its edits beside the model; the next start offers them, and takes them over.
refuge() {
	mkdir "$dir/beside" && cp "$model" "$dir/beside" && : >"$dir/full"
	local model=$dir/beside/digits.onnx
	start 120x40 "$utf8 XDG_STATE_HOME=$dir/full" "" && see "$done_" && keys ":set /model.12/cv3.1/cv3.1.2/Conv int16" Enter && see "autosave fails" &&
	    kill -HUP "$(pid_of)" && until_true 20 ends && grep -qF "edits are kept in $dir/beside/digits.onnx-" "$dir/err" &&
	    start 120x40 "$utf8" "" && see "was not saved: :open" && see "$done_" && keys ":open" Enter && see "digits.onnx*" &&
	    keys C-c C-c && until_true 20 ends && [ "$(ls "$dir/beside")" = digits.onnx ] && start 120x40 "$utf8" "" && see "was not saved: :open"
}
check tmux__a_killed_run_keeps_its_edits_somewhere refuge

# What is offered has tuned weights beside it: both stay where they are when something else is edited.
tune_saved() { grep -qs '"tune ' "$dir"/tuned/qtui/*.json; }
both_there() { test -e "$dir"/tuned/qtui/*-2.json; }
tuned_offer() {
	start 120x40 "$utf8 XDG_STATE_HOME=$dir/tuned" "" && see "$done_" && keys ":tune 2s" Enter && see "digits.onnx*" && see "run 2:" &&
	    until_true 20 tune_saved && kill -KILL "$(pid_of)" &&
	    until_true 20 ends && start 120x40 "$utf8 XDG_STATE_HOME=$dir/tuned" "" && see "was not saved" && see "$done_" && keys 6 && see "digits.onnx*" &&
	    until_true 20 both_there && keys ":open" Enter && keys 5 && see "opened " # in the log: a run as short as this has its own line at once
}
check tmux__tuned_weights_stay_with_what_is_offered tuned_offer

crashed() {
	start 80x24 "$utf8" "" && see "$done_" && kill -SEGV "$(pid_of)" && until_true 20 ends && see AFTERWARDS && same_terminal &&
	    grep -q "qtui has crashed" "$dir/err"
}
check tmux__a_crash_gives_the_terminal_back crashed

crashed_unsaved() {
	: >"$dir/blocked"
	start 120x40 "$utf8 XDG_STATE_HOME=$dir/blocked" "" && see "$done_" && keys 6 && see "autosave fails" && kill -SEGV "$(pid_of)" && until_true 20 ends &&
	    grep -q "could not be autosaved" "$dir/err" && ! grep -q "are kept" "$dir/err"
}
check tmux__a_crash_does_not_say_that_edits_are_kept crashed_unsaved

interrupted() { start 80x24 "$utf8" "" && see "1 Layers" && keys C-c && see "again" && keys C-c && until_true 20 ends && [ "$(cat "$dir/code")" = 0 ]; }
check tmux__ctrl_c_twice_quits interrupted

suspended() {
	t kill-session -t s 2>/dev/null
	t new-session -d -s s -x 80 -y 24 "env $utf8 PS1='shell> ' bash --norc"
	see "shell>" && keys "$build/qtui $model $data --samples 2 --threads 1 2>$dir/err" Enter && see "$done_" && keys C-z && see "Stopped" &&
	    keys "fg" Enter && until_true 20 lacks "Stopped" && see "1 Layers" && keys 4 && see "multiply-accumulates"
}
check tmux__suspended_and_back suspended

wheel_and_click() {
	start 120x40 "$utf8" "" && see "$done_" && see "1 Layers" && keys -H 1b 5b 3c 30 3b 31 34 3b 32 4d && see "output of the network"
}
check tmux__a_click_on_a_tab wheel_and_click

# The task: measured behind the figures, a picture in half blocks, and nothing of it left when the view changes.
for i in 0 1 2; do echo "$PWD/examples/val/00$i.jpg"; done >"$dir/few.txt"
task="--eval $dir/few.txt --labels examples/val.json"
halves='▀▀▀▀▀▀▀▀▀▀'
coloured() { t capture-pane -e -p -t s | grep -qE $'\033\\[38;5;[0-9]+m?.*\033\\[48;5;[0-9]+m.*▀'; }
picture() { start 120x40 "$utf8" "$task" && see "mAP ." && see "$done_" && keys T && see "lost most first" && see "$halves" && see "─t 0┐" && coloured; }
check tmux__a_picture_of_a_sample picture
moves_on() { keys j && see "002.jpg  ." && see "$halves" && keys Enter && see "q═ quantized" && see "$halves"; }
check tmux__from_sample_to_sample moves_on
leaves_nothing() { keys 1 && see "Neighbourhood" && lacks "▀" && keys T && see "$halves" && keys Escape && see "lost most first" && keys "?" && see "What is drawn over the picture" && lacks "▀"; }
check tmux__a_picture_leaves_nothing leaves_nothing
no_colours_here() { start 80x24 "LC_ALL=C TERM=vt100" "$task" && see "mAP ." && keys T && see "lost most first" && keys Enter && see "q= quantized" && keys j && see "#q"; }
check tmux__a_picture_without_colours no_colours_here

# The story, its remedy by one key, and how pictures are prepared as an edit.
why() { start 80x24 "$utf8" "" && see "$done_" && keys W && see "  cause 1 " && keys "/Edit:" Enter && keys a && see " edit" && see "run 2: " && keys u && see "undone: " && until_true 30 lacks " edit"; }
check tmux__why_and_its_remedy why
prepared() { keys ":preprocess --color bgr" Enter && see " 1 edit" && keys u && see "undone: preprocess" && until_true 30 lacks " edit" && see "$done_"; }
check tmux__preprocessing_is_an_edit prepared
fix_stopped() { keys ":fix snr>60 2m" Enter && see "  saved " && keys C-c && until_true 60 shows "cancelled" && keys 1 && see "prec "; }
check tmux__a_fix_is_stopped fix_stopped
