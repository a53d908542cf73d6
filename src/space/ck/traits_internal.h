/* traits_internal.h: what the readers of traits share; internal to this folder. */
#ifndef KW_SPACE_CK_TRAITS_INTERNAL_H
#define KW_SPACE_CK_TRAITS_INTERNAL_H

#include "problem/names/names.h"
#include "space/ck/traits.h"

/* Checks a trait with its name and values and takes it in: a fixed one into the bits of traits; of another one *listed is true, and the
 * caller keeps it in the list. */
kw_status kw_traits_add(kw_traits *traits, kw_trait *trait, bool *listed, kw_error *err);
/* Whether the name is one of those of which no axis is asked: data_type, variant, layout, ... */
bool kw_trait_is_fixed(const char *name);

#endif
