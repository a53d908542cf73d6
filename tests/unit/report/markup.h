/* markup.h: is a page well-formed, and is there nothing in it that a report does not write? Strict on purpose: a name that breaks out of
 * its place shows as an element, an attribute or an address that is not on the list. */
#ifndef KW_TEST_MARKUP_H
#define KW_TEST_MARKUP_H

#include <stdbool.h>

/* false, with the reason, at the first thing that is wrong. */
bool markup_is_sound(const char *page, char reason[256]);

#endif
