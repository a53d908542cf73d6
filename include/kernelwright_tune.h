/* kernelwright_tune.h: the workshop, all of it; each header below may be included alone. Needs libkernelwright_tune; applications that only run
 * kernels need kernelwright.h and libkernelwright. */
#ifndef KERNELWRIGHT_TUNE_H
#define KERNELWRIGHT_TUNE_H

#include "kernelwright/space.h"
#include "kernelwright/problems.h"
#include "kernelwright/rows.h"
#include "kernelwright/store.h"
#include "kernelwright/sweep.h"
#include "kernelwright/learn.h"
#include "kernelwright/evaluate.h"
#include "kernelwright/validate.h"
#include "kernelwright/active.h"
#include "kernelwright/prune.h"
#include "kernelwright/search.h"
#include "kernelwright/report.h"

#endif
