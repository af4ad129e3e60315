#!/usr/bin/env bash
# Runs test programs (cmocka) and test scripts, prints what failed, and ends with `N passed, N failed, N skipped`.
# A script prints one line a case: "ok NAME", "skip NAME REASON" or "not ok NAME WHY".
set -u
# Where CI runs there may be no locale, and a developer may want no colours: the tests bring their own.
export LC_ALL=C.UTF-8
unset NO_COLOR COLORTERM LINES COLUMNS
export TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp ${TSAN_OPTIONS:-}"
passed=0 failed=0 skipped=0
lines() { grep -cE "$1" "$log"; }
# cmocka names a test that failed or was skipped twice: as it happens and in its summary.
tests() { grep -oE "^\[ +$1 +\] test_[a-z0-9_]+" "$log" | sort -u | wc -l; }
for t in "$@"; do
	log=$(mktemp)
	timeout "${TEST_TIMEOUT:-1800}" "$t" >"$log" 2>&1 </dev/null
	rc=$?
	if [[ $t == *.sh ]]; then
		p=$(lines '^ok ') f=$(lines '^not ok ') s=$(lines '^skip ')
	else
		p=$(tests OK) f=$(tests FAILED) s=$(tests SKIPPED)
	fi
	if ((rc != 0 && f == 0)); then f=1; fi
	if ((p + f + s == 0)); then f=1; echo "no test ran" >>"$log"; fi
	passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
	if ((f > 0)); then
		echo "=== $t: $f failed (exit $rc)"
		grep -vE '^(\[ (RUN|      OK)|ok )' "$log" | tail -n 60
	else
		echo "ok    $t: $p passed, $s skipped"
	fi
	rm -f "$log"
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
