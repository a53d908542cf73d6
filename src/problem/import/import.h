/* import.h: lines of other programs. Each importer reads one line and leaves a problem that is not checked yet. Internal to this folder. */
#ifndef KW_PROBLEM_IMPORT_IMPORT_H
#define KW_PROBLEM_IMPORT_IMPORT_H

#include "base/status.h"
#include "base/text.h"

/* scan stands behind the program's name: "conv -n 32 -c 64 ...". */
kw_status kw_import_miopen(kw_problem *problem, kw_scan scan, kw_error *err);
/* Whether a word names a driver of MIOpenDriver that has no meaning in our own text ("conv", "convbfp16"). */
bool kw_import_miopen_names(kw_word word);
/* Options and one descriptor: "--dir=BWD_D --dt=bf16 g32ic128ih56oc128kh3ph1". */
kw_status kw_import_benchdnn(kw_problem *problem, kw_scan scan, kw_error *err);
/* Whether a word begins like a descriptor. */
bool kw_import_benchdnn_names(kw_word word);

#endif
