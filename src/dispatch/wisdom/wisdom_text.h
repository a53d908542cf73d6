/* wisdom_text.h: wisdom as text: what a line says, and how a text is changed. No files here (wisdom.h).
 *
 * Format. The first line is "# kernelwright wisdom 1". Then one entry a line, fields separated by tabs: mode target problem weights config
 * time_ns spread_ns candidates date next_ns next [builder checked [threads]] mode is predict, shortlist or exhaustive; target, problem and config
 * are canonical texts; weights is packed (they were packed beforehand) or fresh (packing is part of the time); times are nanoseconds with
 * at most one decimal; candidates counts the kernels that were considered; next is the runner-up's config and next_ns its time ("-" and 0
 * when there was none); date is when it was measured, checked when its kernel was last found to be right (date, where the line ends
 * before); threads is how many of the target's were measured to be best (a line that ends before: it was not measured); builder stands for the compiler whose kernel that was ("-" or a line that ends before: not known). Key: target, problem and
 * weights, all of their text. An empty line and a line that starts with '#' mean nothing. A line of another form is skipped but kept when
 * the file is rewritten: it may be a newer version's. A text whose first line names another version is not read at all and never
 * rewritten. */
#ifndef KW_DISPATCH_WISDOM_WISDOM_TEXT_H
#define KW_DISPATCH_WISDOM_WISDOM_TEXT_H

#include "base/status.h"
#include "base/text.h"

#define KW_WISDOM_HEADER "# kernelwright wisdom 1"

/* One entry; the words lie in the text it was read from. next.size is 0 when there is no runner-up. */
typedef struct kw_wisdom_line {
    kw_mode mode;
    kw_word target, key; /* key: problem and weights, with the tab between them */
    kw_word problem;     /* the front of key */
    kw_word config, date, next;
    kw_word builder, checked; /* builder.size is 0 when it is not known; checked without size means date */
    double time_ns, spread_ns, next_ns;
    int32_t candidates, threads; /* threads: 0 where the line ends before */
    bool fresh_weights;
} kw_wisdom_line;

enum { KW_WISDOM_KEY_MAX = KW_PROBLEM_TEXT_MAX + 8 };
/* The key's text. */
void kw_wisdom_key_print(char text[KW_WISDOM_KEY_MAX], const char *problem, bool fresh_weights);

/* true: an entry. false with why->status KW_OK: a comment or an empty line. false with KW_MALFORMED: not an entry, and what is wrong. */
bool kw_wisdom_line_read(kw_wisdom_line *line, kw_word text, kw_error *why);
/* Appends the line with its end. */
void kw_wisdom_line_print(kw_text *text, const kw_wisdom_line *line);
/* KW_ILLEGAL when the text is of another version of the format. */
kw_status kw_wisdom_text_check(const char *name, kw_word text, kw_error *err);

/* A change of a text: puts a line, or drops all lines of a problem. */
typedef struct kw_wisdom_edit {
    const kw_wisdom_line *put; /* NULL: forget */
    bool replace;              /* put even over a line that is at least as patient */
    kw_word problem;           /* to forget, whatever the target */
} kw_wisdom_edit;

/* Appends the changed text to changed and gives the number of lines that were dropped, replaced or added; 0: nothing to change. */
int64_t kw_wisdom_text_edit(kw_text *changed, kw_word text, const kw_wisdom_edit *edit);

#endif
