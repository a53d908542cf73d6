/* fake_names.h: what the vendors call the functions that fake_driver.c plays for both. */
#ifndef KW_TESTS_FAKE_NAMES_H
#define KW_TESTS_FAKE_NAMES_H

#ifdef KW_FAKE_HIP
#define fake_init hipInit
#define fake_count hipGetDeviceCount
#define fake_attribute hipDeviceGetAttribute
#define fake_alloc hipMalloc
#define fake_release hipFree
#define fake_stream_make hipStreamCreateWithFlags
#define fake_stream_drop hipStreamDestroy
#define fake_stream_wait hipStreamSynchronize
#define fake_module_load hipModuleLoadData
#define fake_module_drop hipModuleUnload
#define fake_module_find hipModuleGetFunction
#define fake_launch hipModuleLaunchKernel
#define fake_event_make hipEventCreateWithFlags
#define fake_event_drop hipEventDestroy
#define fake_event_record hipEventRecord
#define fake_event_wait hipEventSynchronize
#define fake_event_between hipEventElapsedTime
#else
#define fake_init cuInit
#define fake_count cuDeviceGetCount
#define fake_attribute cuDeviceGetAttribute
#define fake_alloc cuMemAlloc_v2
#define fake_release cuMemFree_v2
#define fake_stream_make cuStreamCreate
#define fake_stream_drop cuStreamDestroy_v2
#define fake_stream_wait cuStreamSynchronize
#define fake_module_load cuModuleLoadData
#define fake_module_drop cuModuleUnload
#define fake_module_find cuModuleGetFunction
#define fake_launch cuLaunchKernel
#define fake_event_make cuEventCreate
#define fake_event_drop cuEventDestroy_v2
#define fake_event_record cuEventRecord
#define fake_event_wait cuEventSynchronize
#define fake_event_between cuEventElapsedTime
#endif

#endif
