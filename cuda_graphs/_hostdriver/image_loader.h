// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The host driver's one plug. The driver executes kernels but does not translate them: whoever loads it
// registers a loader that turns image bytes (PTX text, or a native object of the compiler) into entry points
// with their parameter layout. The loader is called once a module, never on a launch.
//
// Plain C, so that it can be filled from ctypes, Cython or C++.
#ifndef CUDA_GRAPHS_HOSTDRIVER_IMAGE_LOADER_H
#define CUDA_GRAPHS_HOSTDRIVER_IMAGE_LOADER_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What blocks share that run at the same time, each in a thread of its own: those of a cluster, or of a cooperative
// launch.
typedef struct cgh_together {
    uint32_t* grid;    // of a cooperative launch, for grid.sync() of cooperative_groups.h: its own size, zeros
    void* shared;      // the shared memory of the cluster's first block, or NULL: no cluster
    uint64_t step;     // from one block's to the next one's
    uint64_t barrier;  // of the cluster, 0 at first; changed by generated code
    uint32_t* ended;   // not 0: a block has ended in a fault, and nobody shall wait for it
    uint32_t threads;  // of the cluster
} cgh_together;

// One launch. Constant while any of its blocks runs.
typedef struct cgh_launch {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3];  // 1, 1, 1 without clusters
    uint32_t dynamic_shared_bytes;
    const cgh_together* together;  // NULL, where blocks need not run at the same time
} cgh_launch;

// Runs the blocks with linear index first <= i < end (x fastest), every thread of each, and returns when they
// are done. May be called at the same time from several threads with disjoint ranges.
//   params  the parameter block, laid out as cgh_kernel.params says; read only
//   shared  static_shared_bytes + dynamic_shared_bytes, 128-byte aligned, contents undefined, reused block after block;
//           the dynamic part begins at static_shared_bytes rounded up to 16
typedef void (*cgh_entry)(const cgh_launch* launch, const void* params, void* shared, uint64_t first, uint64_t end);

typedef struct cgh_param {
    uint32_t offset;  // in the parameter block
    uint32_t size;    // bytes
} cgh_param;

typedef struct cgh_kernel {
    const char* name;  // as in the image, mangled if the image mangles
    cgh_entry entry;
    const cgh_param* params;
    uint32_t param_count;
    uint32_t param_bytes;  // of the whole parameter block
    uint32_t static_shared_bytes;
    uint32_t local_bytes;  // a thread
    uint32_t const_bytes;
    uint32_t registers;              // an estimate; 0 is not allowed (cuKernelGetAttribute NUM_REGS)
    uint32_t max_threads_per_block;  // 1024 unless .maxntid / .reqntid says less
    uint32_t required_block[3];      // .reqntid, or 0, 0, 0
    uint32_t uses_barrier;           // 1 when threads of a block wait for each other
    uint32_t uses_cluster;           // 1 when blocks of a cluster do, or reach each other's shared memory
    uint32_t required_cluster[3];    // .reqnctapercluster, or 0, 0, 0
    uint32_t ptx_version;            // e.g. 90
    uint32_t binary_version;         // e.g. 90
    uint32_t tells_accesses;         // 1: calls cgh_services.access
} cgh_kernel;

typedef struct cgh_global {  // a .global or .const variable
    const char* name;
    void* address;
    uint64_t bytes;
} cgh_global;

// A native image: an object file for the CPU with what its entries are called and take. The compiler writes it; the
// driver reads the head (how long is it, is it one), the loader checks the rest before anything of it is linked.
//
//   char     magic[8]        CGH_NATIVE_MAGIC
//   uint32_t version         CGH_NATIVE_VERSION
//   uint32_t head_bytes      64
//   uint64_t bytes           of the whole image
//   uint32_t text_bytes      of the description, which follows the head; the object file follows that
//   uint32_t head_hash       FNV-1a of the 28 bytes before this
//   uint8_t  hash[32]        SHA-256 of all that follows the head
//
// Numbers are little endian. The description is JSON: {"triple": "x86_64-...", "features": ["avx2", ...] that the code
// needs of the CPU, "entries": [{"name", "params": [[offset, size], ...], "shared": bytes}, ...]}. An entry is a
// cgh_entry of that name; "shared" is its static_shared_bytes. "made_here", if it is there, tells a CPU of the kind on
// which the code was made (compiler/this_cpu.py): any other is asked for its features. "tells": 1, if it is there, says
// that all code of the image calls cgh_services.access.
// What the object imports: `cgh_` and a name of cgh_services, and functions of libc and libm.
#define CGH_NATIVE_MAGIC "\177CGHOBJ\n"
#define CGH_NATIVE_VERSION 1

// What the loader made of an image. Everything that it points to lives until unload is called with it.
typedef struct cgh_image {
    const cgh_kernel* kernels;
    const cgh_global* globals;
    uint32_t kernel_count;
    uint32_t global_count;
    void* owner;  // the loader's own
} cgh_image;

typedef struct cgh_loader {
    void* self;
    // The image is PTX text or a native image. `size` is exact; PTX comes without its terminating NUL. On failure
    // returns a CUresult (as a rule CUDA_ERROR_INVALID_PTX, or CUDA_ERROR_UNSUPPORTED_PTX_VERSION) and writes a
    // NUL-terminated reason to `log`.
    CUresult (*load)(void* self, const void* image, size_t size, cgh_image* out, char* log, size_t log_size);
    void (*unload)(void* self, cgh_image* image);
} cgh_loader;

// Process wide; to be set before the first module is loaded. NULL removes it. Without a loader, loading any image
// fails with CUDA_ERROR_JIT_COMPILER_NOT_FOUND.
CUresult cghSetImageLoader(const cgh_loader* loader);

// The reason why the calling thread's last load failed, or "". Valid until its next load.
const char* cghLastLoadLog(void);

// Whether each refusal of an image is told on standard error too, for programs that ask for no log. Off at first.
void cghTellRefusals(int on);

// An access in the code: what it is, and where in the program. Constant, and as long there as the code.
typedef struct cgh_site {
    const char* file;         // of the source, or NULL
    const char* instruction;  // e.g. "ld.global.f32"
    uint32_t line;            // of the file; 0: not known
    uint32_t ptx_line;        // 0: it comes from no PTX
    uint32_t flags;
    // Of the parallel loop around it, of whose iterations each is a block of its own, up to 3: the indices are told in
    // place of the thread, the number of the iteration (low and high half) in place of the block. 0: there is none.
    uint32_t axes;
} cgh_site;

enum {
    CGH_SITE_READ = 1,
    CGH_SITE_WRITE = 2,
    CGH_SITE_STRONG = 4,   // atomic, volatile, or of a memory order
    CGH_SITE_RELEASE = 8,  // what the thread did before is seen by who sees this
    CGH_SITE_SHARED = 16,  // shared memory; others may be any
    CGH_SITE_FENCE = 32,   // no access
    CGH_SITE_AFTER = 64,   // a strong access that has happened
    CGH_SITE_JOIN = 128,  // no access: whatever the launch did so far is complete, and comes before what this call does
};

enum {
    CGH_WANTS_ACCESSES = 1,
    CGH_WANTS_ORDER = 2,
};

// What generated code may call. Addresses are stable for the life of the process. The two that do not return unwind
// to the driver by longjmp: generated code must not own anything at that point.
typedef struct cgh_services {
    // cudaGraphSetConditional. An unknown handle ends the calling kernel with
    // CUDA_ERROR_ILLEGAL_ADDRESS.
    void (*set_conditional)(uint64_t handle, uint32_t value);
    // CUDA's vprintf: `args` is the packed argument buffer. Returns the number of arguments, or -1.
    int32_t (*vprintf)(const char* format, const void* args);
    // __assertfail: prints file, line, function, block and thread; the launch fails with CUDA_ERROR_ASSERT.
    void (*assert_fail)(const char* message, const char* file, uint32_t line, const char* function,
                        const uint32_t block_index[3], const uint32_t thread_index[3]);
    // trap / brkpt: the launch fails with CUDA_ERROR_LAUNCH_FAILED.
    void (*trap)(void);
    // Memory of the calling OS thread for this call of the entry (resumable contexts of the block's threads):
    // 64-byte aligned, contents undefined, valid until the entry returns; a second call may move it.
    void* (*scratch)(size_t bytes);
    uint64_t (*clock64)(void);      // ticks at cuDeviceGetAttribute's CLOCK_RATE
    uint64_t (*globaltimer)(void);  // nanoseconds
    // For code that `wants` asks for. An access of a thread, before it happens (and of an atomic one again after it),
    // or a fence, which has no address. Does not return where the address is nobody's memory.
    void (*access)(const void* address, uint64_t bytes, const cgh_site* site, uint32_t thread_x, uint32_t thread_y,
                   uint32_t thread_z, uint32_t block_x, uint32_t block_y, uint32_t block_z);
    // The numbers of the threads of a block, in the order in which they are to run until their next barrier; valid
    // until the next call.
    const uint32_t* (*order)(uint32_t threads);
    // malloc of device code: 16-byte aligned memory that lives until any thread frees it or the context ends; NULL
    // beyond CU_LIMIT_MALLOC_HEAP_SIZE.
    void* (*allocate)(uint64_t bytes);
    // free of device code. An address that malloc did not give ends the kernel with CUDA_ERROR_LAUNCH_FAILED.
    void (*release)(void* address);
    // Returns at a time of `globaltimer`, or a millisecond from now where that is earlier.
    void (*sleep_until)(uint64_t nanoseconds);
    uint64_t wants;  // CGH_WANTS_...: what code is to call of the two above
} cgh_services;

const cgh_services* cghGetServices(void);

#ifdef __cplusplus
}
#endif

#endif
