/* legal_watch.h: what was asked last, printed when a signal, UBSan or the clock ends the process. */
#ifndef KW_TEST_LEGAL_WATCH_H
#define KW_TEST_LEGAL_WATCH_H

#include "config/config.h"

/* From now on signals, UBSan and a question that takes a minute of processor time end the process with what was asked. */
void legal_watch_start(void);
/* A question about the problem begins; of an architecture or device. The minute begins anew. */
void legal_watch_problem(const char *arch, const kw_problem *problem);
/* It is now about this kernel; NULL: about none. */
void legal_watch_config(const kw_config *config);
/* Prints what is asked. */
void legal_watch_tell(void);
/* An environment variable's number, or fallback. */
int64_t legal_number(const char *variable, int64_t fallback);

#endif
