/* extract.h: problems found in the text of a log. */
#ifndef KW_SPACE_LOGS_EXTRACT_H
#define KW_SPACE_LOGS_EXTRACT_H

#include "base/text.h"

#include <kernelwright_tune.h>

/* kw_problems_extract over text in memory, which may hold any bytes. KW_NO_MEMORY is the only failure. */
kw_status kw_extract_text(kw_word text, bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user,
                          kw_extract_count *lines, kw_error *err);

/* A graph of cuDNN's frontend that begins in the line and may go on behind it, up to end; no text: none does. */
kw_word kw_cudnn_graph_find(kw_word line, const char *end);
/* Its problem, which is legal. */
kw_status kw_cudnn_graph_read(kw_problem *problem, kw_word text, kw_error *err);

#endif
