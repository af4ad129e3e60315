#!/usr/bin/env bash
# How much a reader has to hold at once: lines of a file, of a function, columns of a line (of a test's, too).
set -u
MOST_LINES=450 MOST_OF_A_FUNCTION=55 MOST_COLUMNS=145
report() { if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1" $2; fi; }
mapfile -t code < <(find src include -name '*.[ch]' | sort)
mapfile -t tests < <(find tests -name '*.[ch]' | sort)

report "files_up_to_${MOST_LINES}_lines" "$(awk -v most=$MOST_LINES 'FNR > most { n[FILENAME] = FNR } END { for (f in n) print f ":" n[f] }' "${code[@]}")"
# A function begins at the left margin with its name and ends with a brace there.
report "functions_up_to_${MOST_OF_A_FUNCTION}_lines" "$(awk -v most=$MOST_OF_A_FUNCTION '
	FNR == 1 { begin = 0 }
	/^[A-Za-z_].*\(/ && !/;$/ { begin = FNR }
	/^}/ { if (begin && FNR - begin >= most) print FILENAME ":" begin; begin = 0 }' "${code[@]}")"
report "lines_up_to_${MOST_COLUMNS}_columns" "$(awk -v most=$MOST_COLUMNS 'length($0) > most { print FILENAME ":" FNR }' "${code[@]}" "${tests[@]}")"
