/* kernelwright_tune.h: the workshop, all of it; each header below may be included alone. Needs libkernelwright_tune; applications that only run
 * kernels need kernelwright.h and libkernelwright. */
#ifndef KERNELWRIGHT_TUNE_H
#define KERNELWRIGHT_TUNE_H

#include "kernelwright_tune/space.h"
#include "kernelwright_tune/problems.h"
#include "kernelwright_tune/rows.h"
#include "kernelwright_tune/store.h"
#include "kernelwright_tune/sweep.h"
#include "kernelwright_tune/learn.h"
#include "kernelwright_tune/evaluate.h"
#include "kernelwright_tune/validate.h"
#include "kernelwright_tune/active.h"
#include "kernelwright_tune/prune.h"
#include "kernelwright_tune/search.h"
#include "kernelwright_tune/report.h"

#endif
