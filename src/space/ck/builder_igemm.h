/* builder_igemm.h: a line of a list of CK Builder as a config of conv.igemm. */
#ifndef KW_SPACE_CK_BUILDER_IGEMM_H
#define KW_SPACE_CK_BUILDER_IGEMM_H

#include "space/ck/builder_line.h"

/* Reads a line that was taken apart into its config; wave: threads of a wave. taken: whether the lists' own tools take it, too. */
kw_status kw_builder_igemm(kw_builder_line *in, int64_t wave, bool *taken);

/* What no list says of a config of conv.igemm or gemm.mma: how many tiles its pipeline keeps, and that gradients of weights divide their
 * depth as the device needs. Configs of families without these axes stay as they are. */
void kw_igemm_complete(kw_config *config);

#endif
