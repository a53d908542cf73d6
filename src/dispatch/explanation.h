/* explanation.h: why a plan has the kernel that it has, as records (kernelwright/explanation.h), in the order in which things
 * happened. The prose of kw_plan_explain is printed from them, so that nobody has to read it back. */
#ifndef KW_DISPATCH_EXPLANATION_H
#define KW_DISPATCH_EXPLANATION_H

#include "base/text.h"
#include "dispatch/registry.h"

/* A record: its text, terminated, lies in texts from at on. */
typedef struct kw_explanation_item {
    kw_explanation_kind kind;
    const char *family; /* of KW_EXPLAIN_REJECTED, else NULL; a family's own name */
    size_t at;
} kw_explanation_item;

/* A zeroed list is empty. Want of memory is kept in texts.failed and asked for once, at the end. */
typedef struct kw_explanation_list {
    kw_text texts;
    kw_explanation_item *items;
    size_t count, capacity;
} kw_explanation_list;

void kw_explain(kw_explanation_list *list, kw_explanation_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* A record for each line of the text, without blanks in front. */
void kw_explain_lines(kw_explanation_list *list, kw_explanation_kind kind, const char *text);
/* A record for each family that has kernels for the operation, none of which serves the problem. */
void kw_explain_rejections(kw_explanation_list *list, const kw_registry *registry, const kw_problem *problem);

/* Record number i, for callers of the library; its texts live as long as the list. */
kw_explanation kw_explanation_at(const kw_explanation_list *list, size_t i);
/* A line a record, two blanks in front. */
void kw_explanation_list_print(kw_text *text, const kw_explanation_list *list);
void kw_explanation_list_drop(kw_explanation_list *list);

/* "8.41 ms" */
void kw_time_print(char text[32], double ns);

#endif
