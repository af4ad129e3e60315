# The OPTIONS of the manual page from src/cli/options.def: awk -f tools/man-options.awk src/cli/options.def
function text(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); return s }
# Of a row's verbs: "analyze, eval", the screen last; "" where nearly all take it (VERB_STUDY).
function verbs_of(row,    list, screen, verb) {
	sub(/VERB_TASK/, "VERB_ANALYZE | VERB_EVAL | VERB_SEARCH | VERB_TUNE | VERB_TUI", row)
	while (match(row, /VERB_[A-Z]+/)) {
		verb = tolower(substr(row, RSTART + 5, RLENGTH - 5))
		row = substr(row, RSTART + RLENGTH)
		if (verb ~ /^(study|samples|any)$/)
			return ""
		if (verb ~ /^(decision|picture|measure)$/)
			continue
		if (verb == "tui")
			screen = "the screen"
		else
			list = list (list == "" ? "" : ", ") verb
	}
	return list (list != "" && screen != "" ? ", " : "") screen
}
/^OPTION\(/ {
	n = split($0, q, "\"")
	name = q[2]; help = q[n - 1]; argument = n > 5 ? q[4] : ""
	split(q[3], f, ",")
	letter = f[2]; gsub(/[ ']/, "", letter)
	printf ".TP\n.BR %s\\-\\-%s%s\n%s\n", letter == "0" ? "" : "\\-" letter " , ", text(name), argument == "" ? "" : " \\ \\fI" text(argument) "\\fR", text(help)
	only = verbs_of(q[n - 2])
	if (only != "")
		printf "(%s)\n", only
}
