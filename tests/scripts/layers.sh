#!/usr/bin/env bash
# The direction of dependency, by what files include: the linker sees calls upwards only, not types, tables and inline functions. Folders
# inside the engine are one library to it: there the symbols of the object files are looked at as well.
set -u
build=${BUILD:-build/release}
report() { if [ -z "$2" ]; then echo "ok $1"; else echo "not ok $1 $2"; fi; }
includes() { grep -rE --include=*.c --include=*.h --include=*.def '^[[:space:]]*#[[:space:]]*include' "$@"; } # FOLDER...

# What may not be included by a layer. Only main, which chooses between them, knows both the verbs and the screen.
while read -r layer not; do
	report "layer_$layer" "$(includes "src/$layer" "include/qtui/$layer" | grep -v '^src/cli/main\.c:' | grep -E "qtui/($not)/")"
done <<-'END'
	base engine|analysis|interop|cli|tui
	engine analysis|interop|cli|tui
	analysis interop|cli|tui
	interop cli|tui
	cli tui
	tui cli
END
report layers_meet_in_include "$(includes src | grep -E '"(\.\./)+(src/)?(base|engine|analysis|interop|cli|tui|include)/')"

# Folders inside a layer that have an order: each uses those that are named before it, or beside it with a comma; "." is the folder
# around them. (From here on lines "FOLDER FOLDER HOW": the first uses the second.)
upwards() { # ORDER
	awk -v order="$1" 'BEGIN { n = split(order, rank, " "); for (i = 1; i <= n; i++) { m = split(rank[i], f, ","); for (k = 1; k <= m; k++) at[f[k]] = i } }
		!($1 in at) || !($2 in at) || at[$2] > at[$1] { print $1 " uses " $2 ": " $3 }'
}
by_includes() { # ROOT
	includes "$1" | grep -F '"../' | awk -F: -v root="$1/" '
		function folder(path) { path = substr(path, length(root) + 1); return sub(/\/.*/, "", path) ? path : "." }
		{
			from = $1; to = $0; path = from
			sub(/.*"\.\.\//, "", to); sub(/".*/, "", to); sub(/\/[^\/]*\/[^\/]*$/, "", path)
			while (sub(/^\.\.\//, "", to)) sub(/\/[^\/]*$/, "", path)
			to = path "/" to
			if (index(to, root) == 1 && folder(from) != folder(to)) print folder(from), folder(to), from "_includes_" to
		}'
}
by_symbols() ( # ROOT
	set -o pipefail
	find "$1" -name '*.c' | sed "s|^|$build/|; s|c\$|o|" | xargs nm -gA | awk -v root="$1/" '
		{ sub(/:.*/, "", $1); $1 = substr($1, index($1, root) + length(root)); folder = $1; if (!sub(/\/.*/, "", folder)) folder = "." }
		$(NF - 1) == "U" { n++; from[n] = folder; file[n] = $1; symbol[n] = $NF; next }
		{ home[$NF] = folder }
		END { for (i = 1; i <= n; i++) if (symbol[i] in home && home[symbol[i]] != from[i])
			print from[i], home[symbol[i]], file[i] "_calls_" symbol[i] }'
)
while read -r root order; do
	report "${root##*/}_folders_by_includes" "$(by_includes "$root" | upwards "$order")"
	if calls=$(by_symbols "$root"); then
		report "${root##*/}_folders_by_symbols" "$(upwards "$order" <<<"$calls")"
	else
		echo "not ok ${root##*/}_folders_by_symbols the object files in $build are not complete: run make"
	fi
done <<-'END'
	src/engine tensor kernels graph stats backend ops plan onnx data run tune
	src/analysis/task metric labels decode kinds,.
END

# The analysis calls through its public headers, from everywhere to everywhere; the private ones have an order.
report analysis_folders_by_includes "$(by_includes src/analysis | upwards "cost task measure,study repair findings,story,report,session,survey")"

# What is global and asked for by no other file, nor by a test: it should be static. The program names its parts in main; kernels are
# made from one text for every level of the processor, of which the plain one is global as the others are.
objects() { find src -name '*.c' ! -path src/cli/main.c | sed "s|^|$build/|; s|c\$|o|"; }
asked() {
	{ objects; echo "$build/src/cli/main.o"; } | xargs nm -u | awk '{ print $2 }'
	grep -rhowE '[A-Za-z_][A-Za-z_0-9]*' --include=*.[ch] tests
}
if symbols=$(objects | xargs nm -g --defined-only); then
	report global_symbols_are_called "$(awk 'NR == FNR { asked[$1]; next }
		NF == 3 && !($3 in asked) && $3 !~ /_plain$/ { print $3 }' <(asked) - <<<"$symbols")"
else
	echo "not ok global_symbols_are_called the object files in $build are not complete: run make"
fi

only() { report "only_$1" "$(includes src include | grep -E "[<\"]($2)" | grep -vE "^$3")"; } # NAME HEADERS FILES
only curses 'curses|ncurses|panel\.h>|term\.h|readline' src/tui/
# The levels of the processor are asked for below the backends, of the processor and of oneDNN.
only onednn_and_openblas 'dnnl|cblas|openblas' 'src/engine/(backend/|tensor/cpu\.c:)'
only protobuf 'protobuf-c|onnx\.pb-c\.h' src/engine/onnx/
only jpeg 'jpeglib|jerror' src/engine/data/
