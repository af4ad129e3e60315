#!/usr/bin/env bash
# Runs test programs (cmocka) and test scripts, prints what failed, and ends with `N passed, N failed, N skipped`.
# A script prints one line a case: "ok NAME", "skip NAME REASON" or "not ok NAME WHY".
# Programs run side by side, TEST_JOBS at a time (one a processor); scripts after them, alone: they look at screens and clocks.
set -u
# Where CI runs there may be no locale, and a developer may want no colours: the tests bring their own.
export LC_ALL=C.UTF-8
unset NO_COLOR COLORTERM LINES COLUMNS
export TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp ${TSAN_OPTIONS:-}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

lines() { grep -cE "$1" "$log"; }
# cmocka names a test that failed or was skipped twice: as it happens and in its summary.
tests() { grep -oE "^\[ +$1 +\] test_[a-z0-9_]+" "$log" | sort -u | wc -l; }

# run NUMBER TEST: prints what became of it; its counts are left in $dir/NUMBER.counts.
run() {
	local t=$2 log=$dir/$1.log begin=$SECONDS rc p f s
	timeout "${TEST_TIMEOUT:-1800}" "$t" >"$log" 2>&1 </dev/null
	rc=$?
	if [[ $t == *.sh ]]; then
		p=$(lines '^ok ') f=$(lines '^not ok ') s=$(lines '^skip ')
	else
		p=$(tests OK) f=$(tests FAILED) s=$(tests SKIPPED)
	fi
	if ((rc != 0 && f == 0)); then f=1; fi
	if ((p + f + s == 0)); then f=1; echo "no test ran" >>"$log"; fi
	{
		flock 9
		if ((f > 0)); then
			echo "=== $t: $f failed (exit $rc)"
			grep -vE '^(\[ (RUN|      OK)|ok )' "$log" | tail -n 60
		else
			echo "ok    $t: $p passed, $s skipped, $((SECONDS - begin)) s"
		fi
	} 9>"$dir/printing"
	echo "$p $f $s" >"$dir/$1.counts"
	rm -f "$log"
}

n=0 scripts=()
for t in "$@"; do
	[[ $t == *.sh ]] && scripts+=("$t") && continue
	while (($(jobs -rp | wc -l) >= ${TEST_JOBS:-$(nproc)})); do wait -n; done
	run "$n" "$t" &
	n=$((n + 1))
done
wait
for t in ${scripts[@]+"${scripts[@]}"}; do
	run "$n" "$t"
	n=$((n + 1))
done

passed=0 failed=0 skipped=0
for ((i = 0; i < n; i++)); do
	read -r p f s <"$dir/$i.counts" || { p=0 f=1 s=0; echo "=== a test left no counts"; }
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
