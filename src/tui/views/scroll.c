#include "qtui/tui/scroll.h"

void scroll_move(struct scroll *s, int by, int n)
{
	s->cursor += by;
	if (s->cursor >= n)
		s->cursor = n - 1;
	if (s->cursor < 0)
		s->cursor = 0;
}

void scroll_fit(struct scroll *s, int n, int page)
{
	scroll_move(s, 0, n);
	if (page < 1)
		page = 1;
	if (s->top > s->cursor)
		s->top = s->cursor;
	if (s->top < s->cursor - page + 1)
		s->top = s->cursor - page + 1;
	if (s->top > n - page)
		s->top = n - page;
	if (s->top < 0)
		s->top = 0;
}
