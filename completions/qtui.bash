# Completion for bash: verbs, options and their values, as the program's own help lists them; else file names.
# zsh: autoload -U bashcompinit && bashcompinit, then source this.

_qtui_verbs() {
	"$1" --help 2>/dev/null | awk '/^Options/ { exit } /^  [a-z]/ { print $1 }'
}

# The help of a verb ("" is the screen), an option a line: --name, a tab, its argument, a tab, its text. One with a letter has two.
_qtui_options() {
	"$1" ${2:+"$2"} --help 2>/dev/null | awk '
		function put() {
			if (name != "") print name "\t" argument "\t" text
			if (name != "" && letter != "") print letter "\t" argument "\t" text
			name = ""
		}
		match($0, /^  (-[a-z], )?--[a-z-]+/) {
			put()
			name = substr($0, RSTART, RLENGTH); sub(/^.*--/, "--", name)
			letter = $1 ~ /^-[a-z],/ ? substr($1, 1, 2) : ""
			rest = substr($0, RSTART + RLENGTH); argument = ""
			if (match(rest, /^ [^ ]+/)) { argument = substr(rest, 2, RLENGTH - 1); rest = substr(rest, RLENGTH + 1) }
			text = rest; next
		}
		/^    / { sub(/^ */, ""); text = text " " $0; next }
		{ put() }
		END { put() }'
}

# The values that an option takes where its argument (a|b) or its text (..: a, b or c) names them all. $1: argument, $2: text.
_qtui_values() {
	awk -v argument="$1" -v text="$2" 'BEGIN {
		if (argument ~ /^[a-z]+(\|[a-z]+)+$/) { gsub(/\|/, "\n", argument); print argument; exit }
		gsub(/\([^)]*\)/, "", text); sub(/;.*/, "", text); sub(/^.*: /, "", text)
		gsub(/,? or /, ", ", text); gsub(/^ +| +$/, "", text); gsub(/ *, */, ",", text)
		if (text ~ /^[a-z0-9-]+(,[a-z0-9-]+)+$/) { gsub(/,/, "\n", text); print text } }'
}

# Whether the option $3 is followed by a word of its own, as the help of the verb $2 has it.
_qtui_takes_word() {
	_qtui_options "$1" "$2" | awk -F '\t' -v name="$3" '$1 == name && $2 != "" { found = 1 } END { exit !found }'
}

# The first of the words that is neither an option nor its argument is the verb: into verb. Into first: whether it is the one being written.
_qtui_find_verb() {
	local i word before
	verb= first=1
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]} before=${COMP_WORDS[i - 1]}
		[[ $word == [-=]* || $before == "=" ]] && continue
		if _qtui_verbs "$1" | grep -qxF -e "$word" && ! { [[ $before == -* ]] && _qtui_takes_word "$1" "$word" "$before"; }; then
			verb=$word first=
			return
		fi
		if [ "$i" = 1 ] || [[ $before != -* ]]; then
			first=
			return
		fi
	done
}

_qtui() {
	local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} verb first words= row
	[ "$before" != "=" ] || before=${COMP_WORDS[COMP_CWORD - 2]} # bash takes --target=esp apart
	[ "$word" != "=" ] || word=
	_qtui_find_verb "$program"
	row=$(_qtui_options "$program" "$verb" | grep -F -e "$before"$'\t' | head -n 1)
	case $before in
	--target) words=$("$program" targets 2>/dev/null | awk '{ print $1 }') ;;
	--format) words=$("$program" export --help 2>/dev/null | awk 'list { print $1 } /^NAME is one of/ { list = 1 }') ;;
	--*) [ -z "$row" ] || words=$(IFS=$'\t'; set -- $row; _qtui_values "$2" "$3") ;;
	esac
	if [ -z "$words" ] && [[ $word == -* ]]; then
		words=$(_qtui_options "$program" "$verb" | cut -f 1)
	elif [ -z "$words" ] && [ -n "$first" ] && { [[ $before != -* ]] || [[ $row == *$'\t\t'* ]]; }; then
		words=$(_qtui_verbs "$program")
	fi
	COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -o bashdefault -F _qtui qtui
