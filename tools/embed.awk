# Turns text files into a C table: awk -v table=NAME -f tools/embed.awk FILE... >out.c
# One row a file: its base name without extension, and its text.
function base(path) { sub(/.*\//, "", path); sub(/\.[^.]*$/, "", path); return path }
BEGIN { print "#include \"qtui/base/embed.h\"\n\nconst struct embed " table "[] = {" }
FNR == 1 { if (open) print "\t},"; printf "\t{ \"%s\",\n", base(FILENAME); open = 1 }
{ gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); printf "\t  \"%s\\n\"\n", $0 }
END { if (open) print "\t},"; print "\t{ 0, 0 },\n};" }
