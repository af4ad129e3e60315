#!/usr/bin/env bash
# Speed, side by side in one run: float inference against ONNX Runtime (through npm, where there is one) as a ratio of medians, the full
# analysis as a multiple of it, and the kernels alone. Writes bench/RESULTS.md. Models: ../shared/data where it lies, else the demo's.
set -eu
cd "$(dirname "$0")/.."
work=build/bench
models=../shared/data/models
images=../shared/data/coco/images
mkdir -p "$work"

have_ort() {
	[ -d "$work/node_modules/onnxruntime-node" ] || (cd "$work" && npm install --ignore-scripts --no-audit --no-fund onnxruntime-node) >"$work/npm.log" 2>&1
}

# An NPY file of 0.5s: npy SHAPE FILE
npy() {
	local header count
	header="{'descr': '<f4', 'fortran_order': False, 'shape': (${1//,/, }), }"
	header=$(printf '%-117s' "$header")
	count=$((${1//,/*}))
	{
		printf '\x93NUMPY\x01\x00\x76\x00%s\n' "$header"
		head -c $((4 * count)) /dev/zero | LC_ALL=C sed 's/\x00\x00\x00\x00/\x00\x00\x00\x3f/g'
	} >"$2"
}

field() { sed -n "s/.*\"$1\":\([0-9.e+-]*\).*/\1/p"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / b }'; }

compare() { # MODEL SHAPE RUNS
	local ours theirs
	[ -e "$1" ] || return 0
	npy "$2" "$work/x.npy"
	for threads in 1 2; do
		theirs=$(NODE_PATH="$work/node_modules" node bench/ort.js "$1" "$threads" "$3" "$2" 2>>"$work/ort.log") || theirs=
		ours=$(build/qtui run "$1" -i "$work/x.npy" --repeat "$3" --threads "$threads" --quiet | field median_ms)
		printf '| %s | %s | %.2f | %s | %s |\n' "$(basename "$1" .onnx)" "$threads" "$ours" "${theirs:-–}" "${theirs:+$(ratio "$ours" "$theirs")}"
	done
}

analysis() { # MODEL CALIB SAMPLES
	[ -e "$1" ] || return 0
	build/qtui analyze "$1" "$2" --samples "$3" --quiet --json "$work/a.json" 2>/dev/null
	printf '| %s | %s | %s | %s |\n' "$(basename "$1" .onnx)" "$3" "$(tr -d '\t\n ' <"$work/a.json" | field total_s)" \
		"$(tr -d '\t\n ' <"$work/a.json" | field peak_rss_mb)"
}

report() {
	printf '# Results of `make bench`\n\n%s, %s, %s processors\n' "$(date -u +%F)" \
		"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)"
	printf '\n## Float inference, median ms\n\n| model | threads | qtui | ONNX Runtime | ratio |\n|---|---|---|---|---|\n'
	compare "$models/yolov5n.onnx" 1,3,640,640 15
	compare "$models/yolov8n.onnx" 1,3,640,640 10
	compare "$models/mobilenetv2.onnx" 1,3,224,224 60
	compare "$models/yolox_nano_416.onnx" 1,3,416,416 40
	compare "$models/nanodet_m_320.onnx" 1,3,320,320 40
	compare "$models/resnet20_cifar10_folded.onnx" 1,3,32,32 300
	compare examples/digits.onnx 1,3,160,160 100
	printf '\n## The full first analysis, all processors\n\n| model | images | seconds | peak MiB |\n|---|---|---|---|\n'
	analysis examples/digits.onnx examples/calib 32
	analysis "$models/yolov5n.onnx" "$images" 8
	analysis "$models/yolov5n.onnx" "$images" 32
	printf '\n## Kernels\n\n```\n'
	"${KERNELS:-build/release/bench/kernels}"
	printf '```\n'
}

have_ort || echo "npm cannot bring onnxruntime-node: ratios are left out (see $work/npm.log)" >&2
report | tee bench/RESULTS.md
