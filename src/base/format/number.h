/* number.h: real numbers as text, whatever the locale says of decimal points. */
#ifndef KW_BASE_FORMAT_NUMBER_H
#define KW_BASE_FORMAT_NUMBER_H

#include "base/text.h"

enum { KW_NUMBER_TEXT = 32 };

/* The shortest of 15 to 17 digits that reads back as the same number: "12", "0.1", "1.5e-07"; "nan", "inf", "-inf" for what is none. Returns
 * the length. */
size_t kw_number_print(char text[KW_NUMBER_TEXT], double value);
/* The whole word as a decimal number, rounded to nearest: digits with at most one point, an exponent behind e or E. Beyond the
 * range it is infinite, and false is returned, as for any other word. */
bool kw_number_read(kw_word word, double *value);

#endif
