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

# The folders of the engine: each uses those that are named before it. (From here on lines "FOLDER FOLDER HOW": the first uses the second.)
order="tensor kernels graph stats backend ops plan onnx data run tune"
upwards() {
	awk -v order="$order" 'BEGIN { n = split(order, f, " "); for (i = 1; i <= n; i++) at[f[i]] = i }
		!($1 in at) || !($2 in at) || at[$2] > at[$1] { print $1 " uses " $2 ": " $3 }'
}
report engine_folders_by_includes "$(includes src/engine | grep -F '"../' |
	sed -E 's|^src/engine/([^/]+)/([^:]+):.*"\.\./([^/]+)/([^"]+)".*|\1 \3 \2_includes_\4|' | upwards)"
symbols() ( # "FOLDER FOLDER FILE_calls_SYMBOL", from lines "FILE: [ADDRESS] TYPE SYMBOL"
	set -o pipefail
	find src/engine -name '*.c' | sed "s|^|$build/|; s|c\$|o|" | xargs nm -gA | awk '
		{ sub(/:.*/, "", $1); sub(/.*src\/engine\//, "", $1); folder = $1; sub(/\/.*/, "", folder) }
		$(NF - 1) == "U" { n++; from[n] = folder; file[n] = $1; symbol[n] = $NF; next }
		{ home[$NF] = folder }
		END { for (i = 1; i <= n; i++) if (symbol[i] in home && home[symbol[i]] != from[i])
			print from[i], home[symbol[i]], file[i] "_calls_" symbol[i] }'
)
if calls=$(symbols); then
	report engine_folders_by_symbols "$(upwards <<<"$calls")"
else
	echo "not ok engine_folders_by_symbols the object files in $build are not complete: run make"
fi

only() { report "only_$1" "$(includes src include | grep -E "[<\"]($2)" | grep -vE "^$3")"; } # NAME HEADERS FILES
only curses 'curses|ncurses|panel\.h>|term\.h|readline' src/tui/
# The levels of the processor are asked for below the backends, of the processor and of oneDNN.
only onednn_and_openblas 'dnnl|cblas|openblas' 'src/engine/(backend/|tensor/cpu\.c:)'
only protobuf 'protobuf-c|onnx\.pb-c\.h' src/engine/onnx/
only jpeg 'jpeglib|jerror' src/engine/data/
