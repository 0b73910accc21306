/* SPDX-FileCopyrightText: 2026 The cuda_graphs authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Loads graphs that `GraphDef.save` of the Python package cuda_graphs has written, and launches them: on an NVIDIA GPU
 * by libcuda, or on the CPU by the host driver of the package. The library needs neither Python nor LLVM nor a CUDA
 * toolkit.
 *
 *     cg_graph* graph; cg_exec* exec; cg_array *x, *y;
 *     cg_graph_load("relax.cgg", NULL, 0, &graph);
 *     cg_graph_default(graph, "x", &x);
 *     cg_graph_default(graph, "y", &y);
 *     cg_graph_instantiate(graph, &exec);
 *     cg_array_write(x, input, sizeof input);
 *     cg_exec_launch(exec, NULL);
 *     cg_exec_wait(exec);
 *     cg_array_read(y, output, sizeof output);
 *
 * Kernels in a file are code, which launches run with the rights of the process. Load only files that you would run.
 *
 * Each function returns CG_OK, or a status and leaves everything as it was. cg_last_error() then has the reason in words.
 * Outputs are written only on success. A function may be called from any thread, on any objects.
 *
 * A handle keeps all that it needs: an executable works after its graph was released, and an array after both. Handles
 * may be released in any order, and while launches run. Memory behind an address that the caller passes
 * (cg_exec_set_address), and callbacks, must live until the launches that use them have ended.
 */
#ifndef CUDA_GRAPHS_RUNTIME_H
#define CUDA_GRAPHS_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. A library serves programs that were compiled with the same version. */
#define CG_ABI_VERSION 1

typedef int32_t cg_status;
enum {
    CG_OK = 0,
    CG_ERROR_INVALID_VALUE = 1, /* an argument is wrong; nothing was done */
    CG_ERROR_NOT_FOUND = 2,     /* there is no parameter of this name */
    CG_ERROR_FILE = 3,          /* the file cannot be read */
    CG_ERROR_DAMAGED = 4,       /* the file is damaged, of a later version, or has no code for this driver */
    CG_ERROR_NO_DRIVER = 5,     /* no driver can be loaded */
    CG_ERROR_DRIVER = 6,        /* the driver refused a call, or a launch failed */
    CG_ERROR_OUT_OF_MEMORY = 7
};

typedef int32_t cg_driver;
enum {
    CG_DRIVER_AUTO = 0, /* the variable CUDA_GRAPHS_DRIVER (auto, cuda or host); auto: libcuda if it finds a device */
    CG_DRIVER_CUDA = 1,
    CG_DRIVER_HOST = 2
};

/* Types of numbers, and of the elements of arrays. An address has the type CG_POINTER. */
typedef int32_t cg_type;
enum {
    CG_I8 = 0,
    CG_I16 = 1,
    CG_I32 = 2,
    CG_I64 = 3,
    CG_U8 = 4,
    CG_U16 = 5,
    CG_U32 = 6,
    CG_U64 = 7,
    CG_F16 = 8,
    CG_BF16 = 9,
    CG_F32 = 10,
    CG_F64 = 11,
    CG_BOOL = 12,
    CG_POINTER = 13
};

#define CG_MOST_AXES 8

enum { CG_ROLE_INPUT = 1, CG_ROLE_OUTPUT = 2 };

typedef struct cg_graph cg_graph; /* a definition: what a file holds */
typedef struct cg_exec cg_exec;   /* an executable graph */
typedef struct cg_array cg_array; /* memory of the device that holds elements of one type, in C order */

/* A function of the host that a graph calls on a thread of the driver. It must not use CUDA, nor this library. */
typedef struct cg_callback {
    const char* name; /* its name in the file */
    void (*function)(void* data);
    void* data;
} cg_callback;

/* A named parameter: a number, an address, or an array. */
typedef struct cg_parameter {
    const char* name; /* lives as long as the graph */
    cg_type type;
    int32_t ndim;             /* dimensions of an array; -1 for a number or an address */
    int32_t element_ndim;     /* dimensions of one element of an array: 0 for numbers, 1 for vectors, 2 for matrices */
    int32_t element_shape[2]; /* extents of one element */
    int32_t roles;            /* CG_ROLE_INPUT and CG_ROLE_OUTPUT */
    int32_t has_default;
    int64_t shape[CG_MOST_AXES]; /* extents of the default of an array */
    uint64_t bytes;              /* of the default of an array; else of the number or address */
} cg_parameter;

/* Returns CG_ABI_VERSION of the library. */
int32_t cg_abi_version(void);

/* Returns the reason of the calling thread's last failure, in UTF-8; "" before the first. The text is valid until the
 * thread's next call of this library. */
const char* cg_last_error(void);

/* Chooses and loads the driver of the process. Without this call the first call that needs a driver does it, with
 * CG_DRIVER_AUTO. `host_library` is the file of the host driver; NULL: the one beside this library. A second call fails
 * unless it asks for the driver that is there. */
cg_status cg_open_driver(cg_driver kind, const char* host_library);

/* Writes CG_DRIVER_CUDA or CG_DRIVER_HOST. */
cg_status cg_driver_kind(cg_driver* kind);

/* Loads a file, on the device whose context is current on this thread, else on device 0. Nothing of the file runs.
 * `callbacks` has a function for each name that the file lists; it may be NULL for count 0. */
cg_status cg_graph_load(const char* path, const cg_callback* callbacks, size_t count, cg_graph** graph);
cg_status cg_graph_load_memory(const void* data, size_t bytes, const cg_callback* callbacks, size_t count,
                               cg_graph** graph);

/* Lists the named parameters, which include the inputs and outputs. */
cg_status cg_graph_count_parameters(const cg_graph* graph, size_t* count);
cg_status cg_graph_get_parameter(const cg_graph* graph, size_t index, cg_parameter* parameter);
cg_status cg_graph_find_parameter(const cg_graph* graph, const char* name, cg_parameter* parameter);

/* Returns the default of an array parameter: the array that launches use until another one is set. */
cg_status cg_graph_default(const cg_graph* graph, const char* name, cg_array** array);

/* Makes an executable of the graph. A graph with conditions or allocations has one executable at a time (a rule of CUDA).
 */
cg_status cg_graph_instantiate(const cg_graph* graph, cg_exec** exec);

/* Makes an array of zeros. `shape` has `ndim` extents, from 0 to CG_MOST_AXES. */
cg_status cg_array_create(cg_type type, int32_t ndim, const int64_t* shape, cg_array** array);

/* Copies all bytes between an array and memory of the host. They wait for the copy, and not for launches: call
 * cg_exec_wait first. */
cg_status cg_array_write(const cg_array* array, const void* data, size_t bytes);
cg_status cg_array_read(const cg_array* array, void* data, size_t bytes);

cg_status cg_array_get_bytes(const cg_array* array, size_t* bytes);
cg_status cg_array_get_address(const cg_array* array, uint64_t* address); /* a CUdeviceptr */

/* Set the value of a parameter for all later launches. The next launch passes it to the nodes, and checks the values
 * against each other. If it refuses them, they are forgotten and the values before stay. */
cg_status cg_exec_set_array(cg_exec* exec, const char* name, const cg_array* array);
cg_status cg_exec_set_address(cg_exec* exec, const char* name, uint64_t address, const int64_t* shape);
cg_status cg_exec_set_int(cg_exec* exec, const char* name, int64_t value);
cg_status cg_exec_set_uint(cg_exec* exec, const char* name, uint64_t value);
cg_status cg_exec_set_float(cg_exec* exec, const char* name, double value);

/* Launches on a CUstream of the graph's device; NULL: on a stream of the executable. Does not wait. */
cg_status cg_exec_launch(cg_exec* exec, void* stream);

/* Waits for the launches of this executable, and returns the failure of one. */
cg_status cg_exec_wait(cg_exec* exec);

/* Give a handle back. NULL is allowed. */
void cg_graph_release(cg_graph* graph);
void cg_exec_release(cg_exec* exec);
void cg_array_release(cg_array* array);

#ifdef __cplusplus
}
#endif

#endif
