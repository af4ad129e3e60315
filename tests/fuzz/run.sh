#!/usr/bin/env bash
# run.sh BUILD [INPUT...]: each input (all of inputs.def) under libFuzzer for FUZZ_TIME seconds. What it learns stays in BUILD/corpus; what
# crashes, leaks or hangs is named in BUILD/found-*, and belongs, mended and reduced, into tests/fuzz/corpus.
set -u
build=$1; shift
here=$(dirname "$0")
all=$(sed -n 's/^INPUT(\([a-z]*\),.*/\1/p' "$here/inputs.def")
[ $# -gt 0 ] || set -- $all
for name in "$@"; do
	[ -d "$here/corpus/$name" ] || { echo "$name: no such input; there are:" $all >&2; exit 2; }
done
failed=0
for name in "$@"; do
	mkdir -p "$build/corpus/$name"
	FUZZ=$name "$build/fuzz" -max_total_time="${FUZZ_TIME:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$build/found-$name-" "$build/corpus/$name" "$here/corpus/$name" >"$build/$name.log" 2>&1 \
		|| { failed=1; echo "$name: found something, see $build/$name.log"; continue; }
	echo "$name: $(sed -n 's/^stat::number_of_executed_units: //p' "$build/$name.log") runs, nothing found"
done
exit $failed
