#!/usr/bin/env bash
# The direction of dependency, by what files include: the linker sees calls upwards only, not types, tables and inline functions.
set -u
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

only() { report "only_$1" "$(includes src include | grep -E "[<\"]($2)" | grep -vE "^$3/")"; } # NAME HEADERS FOLDER
only curses 'curses|ncurses|panel\.h>|term\.h|readline' src/tui
only onednn_and_openblas 'dnnl|cblas|openblas' src/engine/backend
only protobuf 'protobuf-c|onnx\.pb-c\.h' src/engine/onnx
only jpeg 'jpeglib|jerror' src/engine/data
