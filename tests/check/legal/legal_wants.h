/* legal_wants.h: what a random legal problem may want besides its sizes: an epilogue, tensors that are parts of larger ones. */
#ifndef KW_TEST_LEGAL_WANTS_H
#define KW_TEST_LEGAL_WANTS_H

#include "config/config.h"

/* Adds an epilogue, or makes tensors parts of larger ones. What the problem cannot have is left out, so it stays legal. The same state draws
 * the same. */
void legal_epilogue_draw(uint64_t *random, kw_problem *problem);
void legal_pitches_draw(uint64_t *random, kw_problem *problem);

#endif
