# The OPTIONS of the manual page from src/cli/options.def: awk -f tools/man-options.awk src/cli/options.def
function text(s) { gsub(/\\/, "\\e", s); gsub(/-/, "\\-", s); return s }
/^OPTION\(/ {
	n = split($0, q, "\"")
	name = q[2]; help = q[n - 1]; argument = n > 5 ? q[4] : ""
	split(q[3], f, ",")
	letter = f[2]; gsub(/[ ']/, "", letter)
	printf ".TP\n.BR %s\\-\\-%s%s\n%s\n", letter == "0" ? "" : "\\-" letter " , ", text(name), argument == "" ? "" : " \\ \\fI" text(argument) "\\fR", text(help)
	if ($0 ~ /VERB_ANALYZE \| VERB_EVAL \| VERB_COMPARE \| VERB_SEARCH/) only = "analyze, eval, compare, search, tune, equalize"
	else if ($0 ~ /VERB_ANALYZE \| VERB_TUI \| VERB_SEARCH/) only = "analyze, search, tune, the screen"
	else if ($0 ~ / VERB_SEARCH \| VERB_TUNE,/) only = "search, tune"
	else if ($0 ~ / VERB_SEARCH,/) only = "search"
	else if ($0 ~ /VERB_ANALYZE \| VERB_EVAL/) only = "analyze, eval"
	else if ($0 ~ /VERB_RUN \| VERB_EXPORT \| VERB_QUANTIZE/) only = "run, export, quantize, tune, equalize"
	else if ($0 ~ / VERB_ANALYZE,/) only = "analyze"
	else if ($0 ~ / VERB_RUN,/) only = "run"
	else if ($0 ~ / VERB_EQUALIZE,/) only = "equalize"
	else if ($0 ~ / VERB_EVAL,/) only = "eval"
	else if ($0 ~ / VERB_EXPORT,/) only = "export"
	else if ($0 ~ / VERB_TUI,/) only = "the screen"
	else next
	printf "(%s)\n", only
}
