#!/usr/bin/env bash
# The program on the shipped model: its screen, or, where there is no terminal, the analysis before and after the repair.
set -eu
cd "$(dirname "$0")/.."
qtui=${BUILD:-build}/qtui
if [ -t 0 ] && [ -t 1 ]; then
	exec $qtui examples/digits.onnx examples/calib --eval examples/val
fi
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
echo "There is no terminal here: this is the analysis in batch. In a terminal: $qtui examples/digits.onnx examples/calib"
echo
$qtui analyze examples/digits.onnx examples/calib -q
echo
echo "With the edits of examples/repair.qtui:"
cat examples/repair.qtui - >"$state/script" <<END
:wait
:write $state/session.json
:quit
END
$qtui examples/digits.onnx examples/calib --script "$state/script" -q
$qtui analyze --session "$state/session.json" -q
echo
echo "What it means for the task, on 100 other images (mAP, before and after):"
$qtui eval examples/digits.onnx examples/val --labels examples/val.json --calib examples/calib -q | sed -n '/float *quantized/,/^mAP50 /p'
$qtui eval examples/digits.onnx examples/val --labels examples/val.json --calib examples/calib --session "$state/session.json" -q | sed -n '/float *quantized/,/^mAP50 /p'
