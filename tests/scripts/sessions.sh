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
sed "s|$dir/a/mine.json|mine.json|" "$dir/a/s.json" >"$dir/a/old.json"
(cd "$dir/a" && "$qtui" analyze --session old.json -q >/dev/null 2>../err); report an_old_one_opens_where_it_did $? "$(cat "$dir/err")"
(cd "$dir/b" && "$qtui" analyze --session ../a/old.json -q >/dev/null 2>../err)
[ $? = 1 ] && grep -q '\.\./a/old\.json: its target: mine\.json.*--target beside' "$dir/err"; report elsewhere_it_names_the_remedy $? "$(cat "$dir/err")"
(cd "$dir/b" && "$qtui" analyze --session ../a/old.json --target ../a/mine.json -q >/dev/null 2>../err); report which_helps $? "$(cat "$dir/err")"
grep -q "^	\"target\":	\"$dir/a/mine.json\"" "$dir/a/old.json" && grep -q 'set /model.12/Sub float' "$dir/a/old.json"; report and_is_saved $?
