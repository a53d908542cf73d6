/* version.h: what marks the functions of the library, and which release it is.
 * Conventions are those of kernelwright.h, which includes this. */
#ifndef KERNELWRIGHT_VERSION_H
#define KERNELWRIGHT_VERSION_H

/* Marks the functions that the shared library exports; cmake/exports.cmake reads it. */
#define KW_API

#define KW_VERSION "0.1.0"
#define KW_ABI_VERSION 0 /* the shared library's SONAME */

#ifdef __cplusplus
extern "C" {
#endif
KW_API const char *kw_version(void);
#ifdef __cplusplus
}
#endif

#endif
