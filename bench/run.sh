#!/usr/bin/env bash
# Speed, side by side with ONNX Runtime where npm can bring it. Prints tables and writes them to bench/RESULTS.md (RESULTS=FILE: there).
# THREADS="1 2": so many. MODELS="FILE ..." [CALIB=DIR]: of these models, on random data without CALIB; what a program cannot do with one of them
# is a dash. Otherwise of the models beside the source, or of the example.
set -eu
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build/release}
qtui=build/qtui study=$BUILD/bench/study kernels=$BUILD/bench/kernels work=build/bench models=${QTUI_BENCH_MODELS:-../shared/data/models}
images=${QTUI_BENCH_IMAGES:-../shared/data/coco/images} latency=$BUILD/bench/latency
rounds=${QTUI_BENCH_ROUNDS:-3} cores=$(nproc) results=${RESULTS:-bench/RESULTS.md}
mkdir -p "$work"

have_ort() { [ -d "$work/node_modules/onnxruntime-node" ]; }
if ! have_ort && command -v npm >/dev/null; then
	npm install --prefix "$work" --ignore-scripts --no-audit --no-fund onnxruntime-node >"$work/npm.log" 2>&1 || echo "no ONNX Runtime: see $work/npm.log" >&2
fi

# number NAME <text: the value of "NAME": 1.5 or of a line `NAME 1.5`
number() { grep -oE "\"?$1\"?[:[:space:]]+[0-9.e+-]+" | head -1 | grep -oE '[0-9.e+-]+$' || echo -; }
median() { grep -v '^-$' | sort -g | awk '{v[NR] = $1} END {if (NR) printf "%.4g", v[int((NR + 1) / 2)]; else print "-"}'; }
ratio() { awk -v a="$1" -v b="$2" -v digits="${3:-2}" 'BEGIN {if (a == "-" || b == "-" || b == 0) print "-"; else printf "%.*f", digits, a / b}'; }
row() { printf '| %s |\n' "$(printf '%s | ' "$@" | sed 's/ | $//')"; }
title() { printf '\n## %s\n' "$1"; shift; row "$@"; row "${@//*/---}"; }
inputs() { rm -rf "$work/in"; mkdir -p "$work/in"; "$study" inputs "$1" "$work/in" >"$work/in/list" || true; }
qtui_run() { local a=() i; while read -r i; do a+=(-i "$i"); done <"$work/in/list"; "$qtui" run "$1" "${a[@]}" --threads "$2" --repeat "$3" --quiet; }
ort_run() { local a=() i; while read -r i; do a+=("$i"); done <"$work/in/list"; have_ort && NODE_PATH=$work/node_modules node bench/ort.js "$1" "$2" "$3" "${a[@]}" || true; }

best() { grep -v '^-$' | sort -g | awk 'NR == 1 {printf "%.4g", $1} END {if (!NR) print "-"}'; }
most() { grep -v '^-$' | sort -g | awk '{last = $1} END {print NR ? last : "-"}'; }

# MODEL THREADS RUNS: the best of alternating runs, in $q and $o: others on the machine only make a run longer
compare() {
	: >"$work/q"; : >"$work/o"
	for _ in $(seq "$rounds"); do
		qtui_run "$1" "$2" "$3" | number min_ms >>"$work/q"
		ort_run "$1" "$2" "$3" | number min_ms >>"$work/o"
	done
	q=$(best <"$work/q") o=$(best <"$work/o")
}

# How often a model is run in each series: about half a second long.
runs_of() { qtui_run "$1" 1 3 | number min_ms | awk '{n = $1 > 0 ? 500 / $1 : 5; printf "%d", (n < 5 ? 5 : (n > 200 ? 200 : n))}'; }

# The samples that belong to a model; - is random data.
calib_of() {
	if [ -n "${CALIB:-}" ]; then
		echo "$CALIB"
		return
	fi
	case $(basename "$1") in
	digits*) echo examples/calib ;;
	yolo*) [ -d "$images" ] && echo "$images" || echo - ;;
	*) echo - ;;
	esac
}

present() { for m in "$@"; do [ ! -e "$models/$m.onnx" ] || echo "$models/$m.onnx"; done; }
widths() { for t in ${THREADS:-1 2}; do [ "$t" -gt "$cores" ] || echo "$t"; done; }

float_table() {
	title "Float inference, one sample (ms, the best of $rounds alternating series)" model threads qtui 'ONNX Runtime' ratio
	for m in "$@"; do
		local runs
		inputs "$m"
		runs=$(runs_of "$m")
		for t in $(widths); do
			compare "$m" "$t" "$runs"
			row "$(basename "$m" .onnx)" "$t" "$q" "$o" "$(ratio "$q" "$o")"
			echo "$(basename "$m" .onnx) $t $q $o" >>"$work/float"
		done
	done
}

# One after the other, as an analysis has them: the best of single inferences would be of quieter moments than
# the best of runs of seconds, and a host with other guests would be held against the analysis alone.
float_samples() {
	local ms
	ms=$(ort_run "$1" "$2" 32 | number total_ms)
	[ "$ms" != - ] || ms=$(awk -v m="$(basename "$1" .onnx)" -v t="$2" '$1 == m && $2 == t && $3 != "-" {print $3 * 32}' "$work/float" | best)
	echo "samples_s $(ratio "$ms" 1000 4)"
}
# What that took of a model and so many threads.
float_seconds() { awk -v m="$1" -v t="$2" '$1 == m && $2 == t {print $3}' "$work/samples" | best; }

# The command as a batch tool calls it, from its first line to its last.
batch() {
	local calib begin
	calib=$(calib_of "$1")
	[ "$calib" != - ] || calib='--random-data 32'
	begin=${EPOCHREALTIME/./}
	# shellcheck disable=SC2086 # the words of an option
	"$qtui" analyze "$1" $calib --samples 32 --threads "$2" --quiet --json "$work/b" >/dev/null || return 0
	awk "BEGIN {print \"batch_s\", (${EPOCHREALTIME/./} - $begin) / 1e6}"
	echo "batch_mib $(number peak_rss_mb <"$work/b" | cut -d. -f1)"
}

analysis_table() {
	title "Analysis of 32 samples: float, calibration, graphwise and layerwise figures (s, the best of $rounds, of cancelling and of memory the most; a multiple is of as many float inferences by ONNX Runtime, run in turn; processor time is of all threads and multiples of it are of one thread)" \
		model threads 'float inference' 'full analysis' multiple 'processor time' multiple 'first figures' 'of the outputs' 'head edit' 'share of full, processor time' \
		'deep edit' undo 'cancel ms' 'peak MiB'
	for m in "$@"; do
		local name
		name=$(basename "$m" .onnx)
		inputs "$m"
		for t in $(widths); do
			for r in $(seq "$rounds"); do
				"$study" analyze "$m" "$(calib_of "$m")" 32 "$t" >"$work/a$r" || true
				batch "$m" "$t" >>"$work/a$r"
				float_samples "$m" "$t" >>"$work/a$r"
			done
			get() { for r in $(seq "$rounds"); do number "$1" <"$work/a$r"; done | "${2:-best}"; }
			echo "$name $t $(get samples_s)" >>"$work/samples"
			f=$(float_seconds "$name" "$t")
			row "$name" "$t" "$f" "$(get full_s)" "$(ratio "$(get full_s)" "$f")" "$(get full_cpu)" \
				"$(ratio "$(get full_cpu)" "$(float_seconds "$name" 1)")" "$(get layer_s)" "$(get first_s)" "$(get head_s)" "$(ratio "$(get head_cpu)" "$(get full_cpu)")" \
				"$(get deep_s)" "$(get undo_s)" "$(get cancel_ms most)" "$(get peak_mib most)"
			echo "$name $t $(get int8_ms)" >>"$work/int8"
			echo "$name $t $(get batch_s) $(get batch_mib most)" >>"$work/batch"
		done
	done
}

batch_table() {
	title "The same analysis in batch, \`qtui analyze\`, run in turn with those: no edit follows, so nothing is kept for one (s of the whole command, the best of $rounds, of memory the most)" \
		model threads 'full analysis' multiple 'peak MiB'
	while read -r name t s mib; do
		row "$name" "$t" "$s" "$(ratio "$s" "$(float_seconds "$name" "$t")")" "$mib"
	done <"$work/batch"
}

int8_table() {
	title "Integer inference, one sample (ms, the best of 15 in each of $rounds processes)" model threads 'qtui int8' 'qtui float' ratio 'ONNX Runtime int8 file' ratio
	while read -r name t i; do
		f=$(awk -v m="$name" -v t="$t" '$1 == m && $2 == t {print $3}' "$work/float") o=-
		if [ "$name" = yolov8n ] && [ -e "$models/yolov8n_qdq_minmax.onnx" ]; then
			inputs "$models/yolov8n_qdq_minmax.onnx"
			o=$(ort_run "$models/yolov8n_qdq_minmax.onnx" "$t" 15 | number min_ms)
		fi
		row "$name" "$t" "$i" "$f" "$(ratio "$i" "$f")" "$o" "$(ratio "$i" "$o")"
	done <"$work/int8"
}

cold_table() {
	title 'Cold start: from the command to the layer list (ms, median of 5 processes)' model qtui 'ONNX Runtime session'
	for m in "$@"; do
		for _ in 1 2 3 4 5; do
			begin=${EPOCHREALTIME/./}
			"$study" list "$m" - >"$work/list" || true
			echo $(((${EPOCHREALTIME/./} - begin) / 1000))
		done >"$work/q"
		inputs "$m"
		row "$(basename "$m" .onnx)" "$(median <"$work/q")" "$(ort_run "$m" 1 1 | number load_ms | best)"
	done
}

scaling_table() {
	title "Scaling over samples: $(basename "$1" .onnx), $cores threads" samples 'full analysis s' 's a sample' 'peak MiB' 'peak MiB with --memory 100M'
	for n in 1 2 4 8 16 32 64 128; do
		"$study" full "$1" - "$n" "$cores" >"$work/a" || true
		"$study" full "$1" - "$n" "$cores" 100 >"$work/b" || true
		s=$(number full_s <"$work/a")
		row "$n" "$s" "$(ratio "$s" "$n")" "$(number peak_mib <"$work/a")" "$(number peak_mib <"$work/b")"
	done
}

size_table() {
	title "Scaling over models: 8 samples of random data, $cores threads" model nodes 'G multiply-adds' 'full analysis s' 's a node' 's a G multiply-add'
	for m in "$@"; do
		"$study" full "$m" - 8 "$cores" >"$work/a" || true
		n=$(number nodes <"$work/a") g=$(number gmac <"$work/a") s=$(number full_s <"$work/a")
		row "$(basename "$m" .onnx)" "$n" "$g" "$s" "$(awk -v s="$s" -v n="$n" 'BEGIN {if (n > 0) printf "%.3g", s / n; else print "-"}')" "$(ratio "$s" "$g")"
	done
}

latency_table() {
	title "Key to painted frame, in a pseudo terminal of 120x40, while the first analysis runs on all $cores threads (ms)" model keys median p99 longest
	for m in "$@"; do
		local calib
		calib=$(calib_of "$m")
		[ "$calib" != - ] || calib='--random-data 64'
		# shellcheck disable=SC2086 # the words of an option
		XDG_STATE_HOME=$work/state "$latency" 8 "$qtui" "$m" $calib --samples 64 >"$work/a" || continue
		row "$(basename "$m" .onnx)" "$(number keys <"$work/a")" "$(number key_p50_ms <"$work/a")" "$(number key_p99_ms <"$work/a")" \
			"$(number key_max_ms <"$work/a")"
	done
}

# Two processors of one name may differ in nothing else that a table shows.
level() {
	local flag
	for flag in avx512_vnni avx512f avx2; do
		grep -qw $flag /proc/cpuinfo && echo ", $flag" && return
	done
}

report() {
	echo "# Speed"
	echo
	echo "Written by \`make bench\` on $(date -u +%Y-%m-%d), $(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -1)$(level), $cores cores, load $(cut -d' ' -f1 /proc/loadavg) at the start."
	have_ort && echo "ONNX Runtime $(node -p "require('./$work/node_modules/onnxruntime-node/package.json').version"), its CPU library, all optimizations."
	: >"$work/float"; : >"$work/int8"; : >"$work/batch"; : >"$work/samples"
	local all big
	if [ -n "${MODELS:-}" ]; then
		read -ra all <<<"$MODELS"
		big=("${all[@]}")
	elif [ -d "$models" ]; then
		mapfile -t all < <(present resnet20_cifar10 mobilenetv2 nanodet_m_320 deimv2_atto_320 yolox_nano_416 yolov5n yolov8n)
		mapfile -t big < <(present yolov5n yolov8n mobilenetv2)
	else
		all=(examples/digits.onnx) big=(examples/digits.onnx)
	fi
	float_table "${all[@]}"
	analysis_table "${big[@]}"
	batch_table
	int8_table
	latency_table "${big[0]}"
	cold_table "${big[@]}"
	scaling_table "${all[0]}"
	size_table "${all[@]}"
	printf '\n## Kernels, one thread\n```\n'
	"$kernels" onednn 1
	echo '```'
}
report | tee "$results"
