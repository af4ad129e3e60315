#!/usr/bin/env bash
# What is written for people agrees with the tables of the program.
set -u
report() { if [ "$2" = 0 ]; then echo "ok $1"; else echo "not ok $1 ${3:-}"; fi; }
page=man/qtui.1

made() { awk '/^\.\\" End of what is made/ {on = 0} on; /^\.\\" Made by tools\/man-options.awk/ {on = 1}' $page; }
diff <(made) <(awk -f tools/man-options.awk src/cli/options.def) >/dev/null
report man_options $? "$page is out of date: put the output of tools/man-options.awk between its two marks"

all_in() { # NAME FILE WORD...
	local name=$1 file=$2 missing=; shift 2
	for w in "$@"; do grep -qF -- "$w" "$file" || missing="$missing $w"; done
	[ -z "$missing" ]; report "$name" $? "$file lacks$missing"
}
mapfile -t verbs < <(sed -n 's/^VERB(\([a-z]*\), .*/\1/p' src/cli/verbs.def)
mapfile -t formats < <(sed -n 's/^\(FORMAT\|MODEL\)("\([^"]*\)".*/\2/p' src/interop/formats.def)
mapfile -t targets < <(cd targets && ls *.json | sed 's/\.json$//')
others=$(made | sed -n 's/^(\(.*\))$/\1/p' | sed 's/, /\n/g' | sort -u | grep -vxFf <(printf '%s\n' "${verbs[@]}" "the screen"))
[ -z "$others" ]; report man_options_of_verbs $? "$page has options of what is no verb: $others"
mapfile -t variables < <(grep -rhoE 'getenv\("(QTUI|XDG)[A-Z_]*|getenv\("(NO_COLOR|TMPDIR)' src | sed 's/.*"//' | sort -u)
mapfile -t drawn < <(sed -n 's/^\(ROLE\|GLYPH\)([A-Z0-9_]*, *"\([^"]*\)".*/\2/p' include/qtui/tui/roles.def include/qtui/tui/glyphs.def)
all_in man_environment $page "${variables[@]/#/.B }"
all_in themes_readme themes/README.md "${drawn[@]/#/| \`}"
all_in man_verbs $page "${verbs[@]/#/.B }"
all_in man_formats $page "${formats[@]//-/\\-}"
all_in readme_formats README.md "${formats[@]/#/\`}"
all_in readme_targets README.md "${targets[@]/#/\`}"

# Keys that the README shows are keys of the table.
missing=
while read -r key; do
	awk -F'"' -v k="$key" '/^KEY\(/ {n = split($2, a, " "); for (i = 1; i <= n; i++) if (a[i] == k) found = 1} END {exit !found}' \
		include/qtui/tui/keys.def || missing="$missing $key"
done < <(awk '/^## Keys/ {on = 1; next} /^## / {on = 0} on && /^\| `/ {split($0, column, /[|]/); print column[2]}' README.md | grep -o '`[^`]*`' | tr -d '`' | sed 's/^Ctrl-\(.\)$/<C-\1>/; s/^\(Enter\|Esc\|Tab\|Space\)$/<\1>/')
[ -z "$missing" ]; report readme_keys $? "no such keys:$missing"

# Members of JSON that the program writes stand in a document.
missing=
while read -r member; do grep -qwF -- "$member" docs/*.md || missing="$missing $member"; done < <(
	grep -rhoE --include=*.c '(json_add\w*|json_set\w*|cJSON_Add\w*ToObject\w*)\([^"]*"\w+"' src/analysis src/cli | sed 's/.*"\(.*\)"/\1/' | sort -u)
[ -z "$missing" ]; report members_of_json $? "no document has$missing"

# Files that a document links to are there.
for doc in README.md docs/*.md; do
	missing=
	while read -r file; do [ -e "$file" ] || [ -e "$(dirname "$doc")/$file" ] || missing="$missing $file"; done < <(
		grep -oE '\]\([A-Za-z0-9_./-]+\)' "$doc" | tr -d '])(' )
	[ -z "$missing" ]; report "links_of_${doc//[\/.]/_}" $? "no such files:$missing"
done

# So are files that a document names in passing, wherever they lie (a pattern such as `view_NAME.c` is none), and documents that a comment names.
files=$(find README.md Makefile src include tests docs tools bench examples targets man themes -type f | sed 's|^|/|')
none_such() { # NAME..., on standard input
	sort -u | while read -r name; do grep -q "/$name\$" <<<"$files" || echo -n " $name"; done
}
for doc in README.md docs/*.md $(find src tests targets themes -name README.md); do
	missing=$(grep -oE '`([./]*[a-z0-9][a-z0-9_./]*\.(c|h|def|sh|awk)|[A-Za-z0-9_./]+\.md)`' "$doc" | tr -d '`' | sed 's|^\(\.\./\)*||' | none_such)
	[ -z "$missing" ]; report "names_in_${doc//[\/.]/_}" $? "no such files:$missing"
done
missing=$(grep -rhoE --include=*.c --include=*.h --include=*.def '//.*' src include tests bench | grep -oE '[A-Za-z0-9_./-]+\.md\b' | none_such)
[ -z "$missing" ]; report names_in_comments $? "no such documents:$missing"

# Every folder of src, of the engine and of the analysis says what it holds and in which order to read it (docs/ARCHITECTURE.md).
missing=$(for folder in src/*/ src/engine/*/ src/analysis/*/; do [ -e "${folder}README.md" ] || echo -n " $folder"; done)
[ -z "$missing" ]; report folders_have_a_readme $? "no README.md in$missing"

# Where files are many, the README says what each is; a pattern such as `exec_conv*.c` is of several.
for folder in src/analysis/study src/engine/run; do
	missing=
	mapfile -t named < <(grep -oE '`[a-z0-9_*]+\.c`' "$folder/README.md" | tr -d '`')
	for file in "$folder"/*.c; do
		said=
		for name in "${named[@]}"; do [[ ${file##*/} == $name ]] && said=yes; done
		[ -n "$said" ] || missing="$missing ${file##*/}"
	done
	[ -z "$missing" ]; report "files_in_the_readme_of_${folder//\//_}" $? "$folder/README.md does not name$missing"
done
