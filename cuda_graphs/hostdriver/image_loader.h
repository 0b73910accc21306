// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The interface between the host driver and the image loader. The driver runs kernels but does not translate them. The
// host program registers a loader. The loader turns an image (PTX text, or a native object of the compiler) into entry
// points with their parameter layout. The driver calls the loader once for each module, never at a launch.
//
// The header is plain C, so that ctypes, Cython and C++ can fill its structures.
#ifndef CUDA_GRAPHS_HOSTDRIVER_IMAGE_LOADER_H
#define CUDA_GRAPHS_HOSTDRIVER_IMAGE_LOADER_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// State shared by blocks that run at the same time, each in its own thread: the blocks of a cluster or of a cooperative
// launch.
typedef struct cgh_together {
    // grid.sync() state of a cooperative launch (cooperative_groups.h): the size of this array in bytes, then zeros
    uint32_t* grid;
    void* shared;      // shared memory of the cluster's first block; NULL without a cluster
    uint64_t step;     // bytes from the shared memory of one block to that of the next
    uint64_t barrier;  // state of the cluster barrier, 0 at first; generated code changes it
    uint32_t* ended;   // not 0 after a fault ended a block: no block waits for it any more
    uint32_t threads;  // number of threads in the cluster
} cgh_together;

// A launch. Its fields do not change while any of its blocks runs.
typedef struct cgh_launch {
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t cluster[3];  // 1, 1, 1 without clusters
    uint32_t dynamic_shared_bytes;
    const cgh_together* together;  // NULL if the blocks need not run at the same time
} cgh_launch;

// Runs every thread of the blocks with linear index first <= i < end (x fastest) and returns when all are done. Several
// threads may call it at the same time with disjoint ranges.
//   params  the parameter block, laid out by cgh_kernel.params; read only
//   shared  static_shared_bytes + dynamic_shared_bytes bytes, 128-byte aligned, contents undefined, reused for each
//           block; the dynamic part begins at static_shared_bytes rounded up to 16
typedef void (*cgh_entry)(const cgh_launch* launch, const void* params, void* shared, uint64_t first, uint64_t end);

typedef struct cgh_param {
    uint32_t offset;  // bytes from the start of the parameter block
    uint32_t size;    // bytes
} cgh_param;

typedef struct cgh_kernel {
    const char* name;  // name in the image, mangled if the image mangles names
    cgh_entry entry;
    const cgh_param* params;
    uint32_t param_count;
    uint32_t param_bytes;  // size of the whole parameter block
    uint32_t static_shared_bytes;
    uint32_t local_bytes;  // bytes per thread
    uint32_t const_bytes;
    uint32_t registers;              // estimate, at least 1 (cuKernelGetAttribute NUM_REGS)
    uint32_t max_threads_per_block;  // 1024, or less with .maxntid or .reqntid
    uint32_t required_block[3];      // .reqntid, or 0, 0, 0
    uint32_t uses_barrier;           // 1 if threads of a block wait for each other
    uint32_t uses_cluster;           // 1 if blocks wait for each other or access each other's shared memory
    uint32_t required_cluster[3];    // .reqnctapercluster, or 0, 0, 0
    uint32_t ptx_version;            // e.g. 90
    uint32_t binary_version;         // e.g. 90
    uint32_t is_open_ended;          // 1 if the kernel has a loop that may run for any time: it polls memory
    uint32_t is_instrumented;        // 1 if the code is instrumented: it calls cgh_services.access
} cgh_kernel;

typedef struct cgh_global {  // a .global or .const variable
    const char* name;
    void* address;
    uint64_t bytes;
} cgh_global;

// A native image: an object file for the CPU with the names and parameters of its entries. The compiler writes it. The
// driver reads the head, which identifies the image and gives its length. The loader checks the rest before it links
// the object.
//
//   char     magic[8]        CGH_NATIVE_MAGIC
//   uint32_t version         CGH_NATIVE_VERSION
//   uint32_t head_bytes      64
//   uint64_t bytes           of the whole image
//   uint32_t text_bytes      of the description, which follows the head; the object file follows that
//   uint32_t head_hash       FNV-1a of the 28 bytes before this
//   uint8_t  hash[32]        SHA-256 of all that follows the head
//
// Numbers are little endian. The description is JSON: {"triple": "x86_64-...", "features": ["avx2", ...] that the CPU
// must have, "entries": [{"name", "params": [[offset, size], ...], "shared": bytes}, ...]}. An entry is a cgh_entry
// with that symbol name, and "shared" its static_shared_bytes. The optional "open_ended": 1 of an entry is its
// is_open_ended. The optional "made_here" describes the CPU model that compiled the code (native/host_cpu.py); the
// loader checks the features on any other model. The optional "instrumented": 1 marks an image all of whose code calls
// cgh_services.access. The object imports `cgh_<name>` for members of cgh_services, and functions of libc and libm.
//
// Code that was translated from PTX has more. An entry may have a "symbol" other than its name, and numbers with the
// names of members of cgh_kernel. "globals" lists variables, [name, symbol, bytes]. "services" is the symbol of an
// array for the functions of cgh_services, in their order, which the loader fills.
#define CGH_NATIVE_MAGIC "\177CGHOBJ\n"
#define CGH_NATIVE_VERSION 1

// The loader's result for an image. All memory that it points to stays valid until `unload` is called with it.
typedef struct cgh_image {
    const cgh_kernel* kernels;
    const cgh_global* globals;
    uint32_t kernel_count;
    uint32_t global_count;
    void* owner;  // for the loader's use
} cgh_image;

typedef struct cgh_loader {
    void* self;
    // Loads PTX text or a native image. `size` is exact; PTX comes without its terminating NUL. On failure returns a
    // CUresult (usually CUDA_ERROR_INVALID_PTX or CUDA_ERROR_UNSUPPORTED_PTX_VERSION) and writes a NUL-terminated
    // reason to `log`.
    CUresult (*load)(void* self, const void* image, size_t size, cgh_image* out, char* log, size_t log_size);
    void (*unload)(void* self, cgh_image* image);
} cgh_loader;

// Sets the loader of the process; call it before the first module is loaded. NULL removes the loader. Without a loader,
// loading an image returns CUDA_ERROR_JIT_COMPILER_NOT_FOUND.
CUresult cghSetImageLoader(const cgh_loader* loader);

// Returns the reason why the calling thread's last load failed, or "". The text is valid until the thread's next load.
const char* cghLastLoadLog(void);

// Returns the number of threads that may run blocks of one launch at the same time. With 1, the blocks run in order.
uint32_t cghConcurrency(void);

// Sets whether rejected images, unsupported requests and findings of the checks are reported on standard error, for
// programs that read no log. The default is off.
void cghReportRefusals(int on);

// The description of a memory access in the code and its source location. It is constant and lives as long as the code.
typedef struct cgh_site {
    const char* file;         // source file, or NULL
    const char* instruction;  // e.g. "ld.global.f32"
    uint32_t line;            // line in `file`; 0 if unknown
    uint32_t ptx_line;        // 0 if the code was not PTX
    uint32_t flags;
    // Number of axes (at most 3) of the enclosing parallel loop, each iteration of which is a block; 0 without such a
    // loop. In such a loop, `access` receives the loop indices in place of the thread index. It receives the
    // iteration's number (low and high half) in place of the block index.
    uint32_t axes;
} cgh_site;

enum {
    CGH_SITE_READ = 1,
    CGH_SITE_WRITE = 2,
    CGH_SITE_STRONG = 4,   // atomic, volatile, or with a memory order
    CGH_SITE_RELEASE = 8,  // a thread that reads this write also sees the writer's earlier writes
    CGH_SITE_SHARED = 16,  // shared memory; without this flag, any memory
    CGH_SITE_FENCE = 32,   // a fence, not an access
    CGH_SITE_AFTER = 64,   // call after a strong access was performed
    // not an access: all earlier work of the launch is complete and is ordered before the work of this call
    CGH_SITE_JOIN = 128,
    CGH_SITE_UNORDERED = 256,  // needs no order with other accesses: not checked for races
};

enum {
    CGH_WANTS_ACCESSES = 1,
    CGH_WANTS_ORDER = 2,
    CGH_WANTS_FAST = 4,
};

// The cost of a loop that a kernel may share (cgh_services.share): memory of the code, 0 at first.
typedef struct cgh_loop_cost {
    float ticks_per_block;  // a moving average; 0 before the first measurement
    uint32_t small_blocks;  // the driver writes: up to so many blocks are best run by one thread
    uint32_t runs;          // the code counts the runs of the loop, and need not offer each small one
} cgh_loop_cost;

// The functions that generated code may call. Their addresses are stable for the life of the process. `assert_fail` and
// `trap` do not return: they unwind to the driver by longjmp, so generated code must not own resources at that point.
typedef struct cgh_services {
    // Implements cudaGraphSetConditional. An unknown handle ends the calling kernel with CUDA_ERROR_ILLEGAL_ADDRESS.
    void (*set_conditional)(uint64_t handle, uint32_t value);
    // Implements CUDA's vprintf. `args` is the packed argument buffer. Returns the number of arguments, or -1.
    int32_t (*vprintf)(const char* format, const void* args);
    // Implements __assertfail: prints file, line, function, block and thread; the launch fails with CUDA_ERROR_ASSERT.
    void (*assert_fail)(const char* message, const char* file, uint32_t line, const char* function,
                        const uint32_t block_index[3], const uint32_t thread_index[3]);
    // Implements trap and brkpt: the launch fails with CUDA_ERROR_LAUNCH_FAILED.
    void (*trap)(void);
    // Returns memory of the calling OS thread for this call of the entry (resumable contexts of the block's threads).
    // It is 64-byte aligned, its contents are undefined, and it is valid until the entry returns. A second call may
    // move it.
    void* (*scratch)(size_t bytes);
    uint64_t (*clock64)(void);      // ticks of CU_DEVICE_ATTRIBUTE_CLOCK_RATE
    uint64_t (*globaltimer)(void);  // nanoseconds
    // Reports an access of a thread before it happens (an atomic access again after it), or a fence, which has no
    // address. Called if `wants` has CGH_WANTS_ACCESSES. Does not return if the address is invalid or misaligned.
    void (*access)(const void* address, uint64_t bytes, const cgh_site* site, uint32_t thread_x, uint32_t thread_y,
                   uint32_t thread_z, uint32_t block_x, uint32_t block_y, uint32_t block_z);
    // Returns the thread numbers of a block in the order in which the threads must run until their next barrier. The
    // array is valid until the next call. Called if `wants` has CGH_WANTS_ORDER.
    const uint32_t* (*order)(uint32_t threads);
    // Implements malloc of device code. Returns 16-byte aligned memory that lives until any thread frees it or the
    // context ends; NULL beyond CU_LIMIT_MALLOC_HEAP_SIZE.
    void* (*allocate)(uint64_t bytes);
    // Implements free of device code. An address that malloc did not return ends the kernel with
    // CUDA_ERROR_LAUNCH_FAILED.
    void (*release)(void* address);
    // Sleeps until `globaltimer` reaches `nanoseconds`, but for at most one millisecond.
    void (*sleep_until)(uint64_t nanoseconds);
    // Runs a loop of a kernel that has one block, on several threads if that is worth it. `loop` is called like the
    // entry of a kernel, with the parameters of the calling kernel and a grid of `blocks`. `launch` is the launch of
    // the calling kernel. Returns 1 when all blocks are done, or 0 if the calling kernel must run the loop itself.
    int32_t (*share)(cgh_entry loop, const cgh_launch* launch, const void* params, uint32_t blocks,
                     cgh_loop_cost* cost);
    // Returns memory in which the calling OS thread collects results of this launch until its last call of the entry,
    // 64-byte aligned. `is_new` is set to 1 for the thread's first call of this function in the launch, when the
    // contents are undefined, and to 0 later. After the blocks of a thread that has such memory, the driver calls the
    // entry once more without blocks: with the number of all blocks as `first` and `end`. With `alone`, the memory is
    // for this call of the entry only, and no other follows for it. Returns NULL if more than `most_threads` threads
    // are to run blocks (1 with `alone`), if there is no memory, or if the blocks run in another way. The thread must
    // then do without it.
    void* (*collect)(size_t bytes, uint64_t most_threads, uint32_t alone, uint32_t* is_new);
    // CGH_WANTS_... flags: the optional services (`access`, `order`) that code must call, and FAST if functions of PTX
    // need not have the bits of a GPU
    uint64_t wants;
} cgh_services;

const cgh_services* cghGetServices(void);

#ifdef __cplusplus
}
#endif

#endif
