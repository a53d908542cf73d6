/* problems.c: which form a problem list has. */
#include "space/problems/problems.h"

#include "space/problems/formats/json_rows.h"
#include "space/problems/formats/lines.h"
#include "space/problems/formats/literals.h"

kw_status kw_list_read(const kw_list_reader *how, const char *source, char *text, size_t size, kw_error *err) {
    if (!kw_literals_are_json(text, size)) {
        return kw_list_read_lines(how, source, text, size, err);
    }
    return kw_json_rows_are(text, size) ? kw_json_rows_read(how, source, text, size, err)
                                        : kw_json_problems_read(how, source, text, size, err);
}
