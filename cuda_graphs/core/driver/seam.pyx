# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Loads a driver, converts its statuses to exceptions, and plugs the image loader into the host driver."""

import atexit

from cpython.exc cimport PyErr_SetInterrupt
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from libc.stddef cimport size_t
from libc.stdint cimport uint32_t, uint64_t, uintptr_t
from libc.string cimport strncpy
from libcpp.string cimport string

from .cuda cimport (
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND,
    CUDA_ERROR_NOT_INITIALIZED,
    CUDA_ERROR_UNKNOWN,
    CUDA_SUCCESS,
    CUresult,
    driver,
    is_forked_child,
    driver_symbol,
)
from cuda_graphs.errors import error_from_code, warn_of_leak


cdef extern from "table.hpp" namespace "cg":
    string load_driver(const char* path) nogil

cdef extern from "library_symbol.hpp" namespace "cg":
    void* library_symbol(const char* path, const char* name) noexcept

cdef extern from "core/handles/gil.hpp" namespace "cg":
    void close_python() noexcept
    void release_python(void* object) noexcept nogil

cdef extern from "core/handles/error.hpp" namespace "cg":
    cppclass NotedError:
        CUresult status
        string call
    NotedError take_noted_error()

cdef extern from "hostdriver/image_loader.h" nogil:
    ctypedef struct cgh_image:
        void* owner
    ctypedef struct cgh_loader:
        void* self
        CUresult (*load)(void*, const void*, size_t, cgh_image*, char*, size_t) noexcept nogil
        void (*unload)(void*, cgh_image*) noexcept nogil
    ctypedef struct cgh_services:
        uint64_t wants
    cdef enum:
        CGH_WANTS_ACCESSES

ctypedef CUresult (*SetImageLoader)(const cgh_loader*) noexcept nogil
ctypedef const cgh_services* (*GetServices)() noexcept nogil
ctypedef const char* (*LastLoadLog)() noexcept nogil
ctypedef uint32_t (*Concurrency)() noexcept nogil


atexit.register(lambda: close_python())


def load(str path) -> str:
    """Load the driver library at `path`; return "" or the cause of the failure."""
    cdef bytes encoded = path.encode()
    cdef const char* raw = encoded
    cdef string problem
    with nogil:
        problem = load_driver(raw)
    return problem.decode(errors="replace")


def version() -> tuple[int, int]:
    """Return the CUDA version of the loaded driver."""
    cdef int code = 0
    cdef CUresult status
    with nogil:
        status = driver().cuDriverGetVersion(&code)
    check_attempt(status, "ask for the version of the driver")
    return code // 1000, code % 1000 // 10


cdef object load_chosen_driver = None


def load_driver_by(load) -> None:
    """Call `load`, which chooses and loads a driver, when the first device call needs one. `choice` registers it."""
    global load_chosen_driver
    load_chosen_driver = load


cdef int load_first_driver() except -1:
    if is_forked_child():
        raise make_error(CUDA_ERROR_NOT_INITIALIZED, "use CUDA in a process that was forked from one that used it")
    load_chosen_driver()
    return 0


cdef int check(CUresult status) except -1 nogil:
    if status == CUDA_SUCCESS:
        return 0
    with gil:
        return check_attempt(status, None)


cdef int check_attempt(CUresult status, attempt) except -1:
    if status == CUDA_SUCCESS:
        return 0
    raise make_error(status, attempt)


cdef int raise_explained(CUresult status, attempt, tuple cause) except -1:
    error = make_error(status, attempt)
    if cause is not None:
        error.explanation, error.remedy = cause
    raise error


cdef int raise_noted(attempt, log=None) except -1:
    cdef NotedError noted = take_noted_error()
    if noted.status == CUDA_SUCCESS:
        raise RuntimeError(f"a call failed without an error ({attempt or 'unnamed'}): this is a defect of cuda_graphs")
    call = noted.call.decode()
    raise make_error(noted.status, f"{attempt} ({call})" if attempt else call, log)


cdef tuple status_words(CUresult status):
    cdef const char* name = NULL
    cdef const char* text = NULL
    driver().cuGetErrorName(status, &name)
    driver().cuGetErrorString(status, &text)
    return name.decode() if name != NULL else "", text.decode() if text != NULL else ""


cdef object make_error(CUresult status, attempt, log=None):
    name, text = status_words(status)
    error = error_from_code(<int>status, name, text, attempt, log or None)
    for listener in listeners:
        listener(error)
    return error


cdef list listeners = []


def on_error(listener) -> None:
    """Call `listener(error)` with every CUDAError before it is raised. The listener may add details to the
    error."""
    listeners.append(listener)


cdef extern from "core/handles/leak_report.hpp" namespace "cg":
    void report_leaks_to(void (*report)(CUresult status, const char* call) noexcept) noexcept


cdef void report_leak(CUresult status, const char* call) noexcept:
    """Warn of a lost resource. If a filter turns the warning into an error, Python passes that to
    sys.unraisablehook."""
    warn_of_leak(<int>status, call.decode())


report_leaks_to(report_leak)


# The image loader of the host driver. llvmlite is imported when the first module is loaded, not earlier.

cdef cgh_loader image_loader
cdef GetServices services_of_host = NULL


def plug_image_loader(str path) -> None:
    """Plug the loader that compiles PTX to native code into the host driver at `path`, before or after
    cuInit.

    Raises:
        OSError: There is no host driver at `path`.
    """
    global services_of_host
    cdef bytes encoded = path.encode()
    cdef SetImageLoader set_loader = <SetImageLoader>library_symbol(encoded, b"cghSetImageLoader")
    if set_loader == NULL:
        raise OSError(f"{path} is not the host driver; reinstall cuda_graphs")
    services_of_host = <GetServices>library_symbol(encoded, b"cghGetServices")
    image_loader.self = NULL
    image_loader.load = load_image
    image_loader.unload = unload_image
    check(set_loader(&image_loader))
    if add_findings not in listeners:
        listeners.append(add_findings)


# The bug reports of the host driver (CUDA_GRAPHS_HOST_CHECK).

ctypedef const char* (*Findings)(CUresult) noexcept nogil
ctypedef const char* (*WrongSettings)() noexcept nogil


def add_findings(error) -> None:
    """Make the findings of the host driver's checks the log of the error that they caused."""
    cdef Findings findings = <Findings>driver_symbol(b"cghFindings")
    if findings != NULL:
        found = findings(<CUresult><int>error.code).decode(errors="replace")
        if found:
            error.log = found
            error.remedy = "Fix the bugs in the log and run the program again."
            if not error.context_lost:
                error.explanation = "The work has finished, but the checks of the host driver found bugs in it."


def wants_instrumented_code() -> bool:
    """Return True when the plugged host driver requires code to report each memory access to it."""
    return services_of_host != NULL and (services_of_host().wants & CGH_WANTS_ACCESSES) != 0


def concurrency() -> int:
    """Return the number of threads of the host driver that may run blocks of one launch; 0 for another driver."""
    cdef Concurrency found = <Concurrency>driver_symbol(b"cghConcurrency")
    return found() if found != NULL else 0


def wrong_settings(str path) -> str:
    """Return the environment settings that the host driver at `path` cannot parse; "" when all are valid."""
    cdef bytes encoded = path.encode()
    cdef WrongSettings wrong = <WrongSettings>library_symbol(encoded, b"cghWrongSettings")
    return wrong().decode(errors="replace") if wrong != NULL else ""


def last_load_log() -> str:
    """Return the cause for which the calling thread's last image was refused; "" when the driver reports
    none."""
    cdef LastLoadLog last = <LastLoadLog>driver_symbol(b"cghLastLoadLog")
    return last().decode(errors="replace") if last != NULL else ""


cdef CUresult load_image(
    void* self, const void* image, size_t size, cgh_image* out, char* log, size_t log_size
) noexcept nogil:
    with gil:
        return load_image_python((<const char*>image)[:size], out, log, log_size)


cdef CUresult load_image_python(bytes image, cgh_image* out, char* log, size_t log_size) noexcept:
    try:
        return load_image_or_raise(image, out, log, log_size)
    except BaseException as error:  # a loader defect, or Ctrl-C: the load fails and the log says so
        write_log(f"{type(error).__name__}: {error}", log, log_size)
        if isinstance(error, KeyboardInterrupt):
            PyErr_SetInterrupt()  # raised after the driver returns: exceptions cannot pass through it
        return CUDA_ERROR_UNKNOWN


cdef CUresult load_image_or_raise(bytes image, cgh_image* out, char* log, size_t log_size) except *:
    try:
        from cuda_graphs.hostdriver.ptx.errors import ImageError
        from cuda_graphs.hostdriver.ptx.loader import load as load_with_llvm
    except ImportError as error:
        write_log(str(error), log, log_size)
        return CUDA_ERROR_JIT_COMPILER_NOT_FOUND
    try:
        loaded = load_with_llvm(image, <uintptr_t>services_of_host())
    except ImageError as error:
        write_log(str(error), log, log_size)
        return <CUresult><int>error.code
    out[0] = (<cgh_image*><uintptr_t>loaded.address)[0]
    Py_INCREF(loaded)
    out.owner = <PyObject*>loaded
    return CUDA_SUCCESS


cdef void write_log(str message, char* log, size_t log_size) noexcept:
    if log_size == 0:
        return
    cdef bytes encoded = message.encode(errors="replace")
    strncpy(log, encoded, log_size - 1)
    log[log_size - 1] = 0


cdef void unload_image(void* self, cgh_image* image) noexcept nogil:
    release_python(image.owner)
