/* plausible.h: whether a row from outside can be true. The one judge: imports, segments and merges ask it of every row. */
#ifndef KW_STORE_IO_PLAUSIBLE_H
#define KW_STORE_IO_PLAUSIBLE_H

#include "store/row.h"

/* Operations a second that no device of the target reaches with the type: for a CPU units x lanes x 2 pipes x 2 (a multiply and an add) x
 * 6 GHz x (4 bytes / size of the type, for instructions that take pairs or quads); 1e17 where the target is none of a CPU or does not say. */
double kw_plausible_peak(const char *target, kw_dtype dtype);

/* KW_MALFORMED: a text that cannot be read. KW_ILLEGAL: values that contradict each other or the target's peak. The row is settled. */
kw_status kw_row_plausible(const kw_row *row, kw_error *err);

#endif
