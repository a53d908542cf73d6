/* table.c: the table of all kernel families, compiled-in ones last, made from list.cmake. */
#include "config/family.h"

#include <family_list.h>

#define KW_FAMILY_DECLARED(symbol) extern const kw_family kw_family_##symbol;
KW_FAMILIES(KW_FAMILY_DECLARED)

#define KW_FAMILY_LISTED(symbol) &kw_family_##symbol,
const kw_family *const kw_family_table[] = {KW_FAMILIES(KW_FAMILY_LISTED) NULL};
