#!/usr/bin/env bash
# Networks made at random (network.awk), at targets of powers of two, of casts and of any scale. Every tensor has the same figures,
# graphwise and alone, by the default backend and by `ref`; and every output lies as far from the float network in the QDQ file, whose
# pairs nothing fuses. Where scales are not powers of two floats add up in other orders: one code next to a tie moves a tensor of few
# elements by decibels.
# NETWORKS="FIRST LAST" takes other seeds; a network that fails is named by its seed.
set -u
build=${BUILD:-build/release}
qtui=$build/qtui targets='esp32p4 xint8 fp16 bf16 onnxruntime tensorrt' exact=' esp32p4 xint8 fp16 bf16 '
read -r first last <<<"${NETWORKS:-1 36}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# figures BACKEND ARGUMENT...: a line for each decibel of each tensor, graphwise and alone
figures() {
	local backend=$1; shift
	"$qtui" analyze "$dir/network.onnx" --random-data 3 --backend "$backend" --quiet --json "$dir/$backend.json" "$@" >/dev/null 2>"$dir/said" || return 1
	tr -d ' \t\n' <"$dir/$backend.json" | grep -oE '"(tensor|graphwise|layerwise|snr_db|exact)":("[^"]*"|[^,}]*)'
}

# Decibels of the outputs, as `figures` has them, of the QDQ file; and those of the same tensors in what `figures` has said.
# What is 0 in float has none.
outputs_of_file() {
	"$qtui" quantize "$dir/network.onnx" --random-data 3 --quiet -o "$dir/q.onnx" "$@" 2>"$dir/said" &&
		"$qtui" compare "$dir/network.onnx" "$dir/q.onnx" --random-data 3 --quiet >"$dir/compared" 2>"$dir/said" || return 1
	awk '/output: B against A/ {on = 1; next} on && !NF {exit} on && $1 != "-" {print "\"tensor\":\"" $NF "\""; print "\"snr_db\":" $1}' "$dir/compared"
}
outputs_of() {
	awk '/^"tensor"/ {tensor = $0; if (NR != FNR) print tensor} !/^"(snr_db|exact)"/ {next}
		NR != FNR {print db[tensor]; next}
		tensor != last {db[tensor] = $0; last = tensor}' "$1" "$2"
}

# differ TOLERANCE A B: the first tensor whose decibels lie apart.
differ() {
	paste -d' ' "$2" "$3" | awk -v tolerance="$1" -v faint=60 '
		function decibels(figure) {
			sub(/.*:/, "", figure)
			if (figure !~ /^-?[0-9]/) return faint # exact
			figure += 0
			return figure < faint ? figure : faint
		}
		$1 ~ /^"tensor"/ {tensor = $1}
		($1 ~ /^"(snr_db|exact)"/) != ($2 ~ /^"(snr_db|exact)"/) || ($1 !~ /^"(snr_db|exact)"/ && $1 != $2) {print tensor, $1, "other", $2; exit}
		$1 !~ /^"(snr_db|exact)"/ {next}
		{a = decibels($1); b = decibels($2)}
		a - b > tolerance || b - a > tolerance {print tensor, $1, "other", $2; exit}'
}

for target in $targets; do
	bad= tolerance=4
	[[ $exact != *" $target "* ]] || tolerance=0.1
	for seed in $(seq "$first" "$last"); do
		awk -v seed="$seed" -f tests/scripts/network.awk | protoc-c --encode=onnx.ModelProto -I /usr/include/onnx /usr/include/onnx/onnx.proto >"$dir/network.onnx"
		figures onednn --target "$target" >"$dir/a" && figures ref --target "$target" >"$dir/b" || { bad="network $seed: $(head -c 200 "$dir/said")"; break; }
		bad=$(differ "$tolerance" "$dir/a" "$dir/b")
		if [ -z "$bad" ]; then
			outputs_of_file --target "$target" >"$dir/d" && outputs_of "$dir/a" "$dir/d" >"$dir/c" || bad=$(head -c 200 "$dir/said")
			bad+=$(differ "$tolerance" "$dir/c" "$dir/d")
		fi
		[ -z "$bad" ] || { bad="network $seed: $bad"; break; }
	done
	if [ -z "$bad" ]; then echo "ok networks_$target"; else echo "not ok networks_$target $bad"; fi
done
