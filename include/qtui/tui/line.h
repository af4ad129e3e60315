// The prompt on the bottom line: text edited by GNU readline, with history and completion, drawn by us. Readline has
// one editor for the process, so at most one line is open at a time; struct line is what drawing needs to know of it.
#ifndef QTUI_TUI_LINE_H
#define QTUI_TUI_LINE_H

enum line_kind { LINE_NONE, LINE_COMMAND, LINE_SEARCH, LINE_SCALE, LINE_KINDS };
#define LINE_TEXT 1024
#define LINE_MATCHES 64
struct line {
	enum line_kind kind;     // LINE_NONE: closed
	char text[LINE_TEXT];
	int point;               // byte offset of the cursor
	int n_matches;           // what Tab found when there was no single answer
	char match[LINE_MATCHES][96];
};
enum line_event { LINE_EDITED, LINE_ACCEPTED, LINE_CLOSED };

// Completion: the i-th candidate for the word at text[start..end), or NULL past the last;
// on the heap, the line frees it.
typedef char *line_complete_fn(void *arg, const char *text, int start, int i);
// Opens a line that holds `text`, in place of one that was open. complete: NULL: Tab finds nothing.
void line_open(struct line *l, enum line_kind kind, const char *text, line_complete_fn *complete, void *arg);
// Feeds a key. After LINE_ACCEPTED l->text is the line and it is closed.
enum line_event line_key(struct line *l, int key);
void line_close(struct line *l);

// Of commands, a line each. A file that cannot be read or written is passed over: history is a comfort.
void line_history_load(const char *path);
void line_history_save(const char *path);

#endif
