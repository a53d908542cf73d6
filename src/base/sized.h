/* sized.h: structs whose first member is the size that the caller's header gave them (kernelwright.h, "Sizes of structs"). A public function
 * copies one into the struct of today's header first and reads that copy alone, so what the caller does not know of has its default. */
#ifndef KW_BASE_SIZED_H
#define KW_BASE_SIZED_H

#include "base/status.h"

/* own: gets a copy of given, of which NULL is one with every default. last: the last member that the first release of the type had; it ends on
 * a multiple of the size's own size, so that no later member lies where the first release had padding. */
#define KW_SIZED_READ(own, type, last, given, err)                                                                                         \
    kw_sized_read((own), sizeof(type), offsetof(type, last) + sizeof((own)->last), (given), #type, (err))

kw_status kw_sized_read(void *own, size_t size, size_t least, const void *given, const char *type, kw_error *err);

#endif
