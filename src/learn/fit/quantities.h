/* quantities.h: the words of --quantity: one, or several for a folder with several models. */
#ifndef KW_LEARN_FIT_QUANTITIES_H
#define KW_LEARN_FIT_QUANTITIES_H

#include "base/text.h"
#include "predict/model.h"

enum { KW_QUANTITIES_MAX = 128 };

/* KW_MISSING names those that are known. */
kw_status kw_quantity_find(kw_model_quantity *quantity, kw_word word, kw_error *err);
/* "tflops,latency" with blanks for commas. KW_ILLEGAL where a part is empty, stands twice, or is "choose" beside others. */
kw_status kw_quantities_read(char targets[KW_QUANTITIES_MAX], const char *list, kw_error *err);

#endif
