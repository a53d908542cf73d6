/* nearest.h: what a mistyped name was meant to be, for messages. */
#ifndef KW_BASE_NEAREST_H
#define KW_BASE_NEAREST_H

#include "base/text.h"

enum { KW_NEAREST_MAX = 32 }; /* of a name, its end included; longer ones are near nothing */

/* The one of names (words with blanks or commas between) that is nearest: it begins with what was typed, or differs from it in a letter or
 * two of several. false where none is near. */
bool kw_nearest(char name[KW_NEAREST_MAX], kw_word wrong, const char *names);
/* "; did you mean NAME", or "" where none is near; gives hint back. */
enum { KW_HINT_MAX = KW_NEAREST_MAX + 24 };
const char *kw_nearest_hint(char hint[KW_HINT_MAX], const char *wrong, const char *names);

#endif
