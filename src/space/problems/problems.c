/* problems.c: which form a problem list has. */
#include "space/problems/problems.h"

#include "space/problems/lines.h"
#include "space/problems/literals.h"

kw_status kw_list_read(const kw_list_reader *how, const char *source, char *text, size_t size, kw_error *err) {
    return kw_literals_are_json(text, size) ? kw_json_problems_read(how, source, text, size, err)
                                            : kw_list_read_lines(how, source, text, size, err);
}
