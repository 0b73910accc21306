# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Load: from a file to a LoadedGraph. Nothing of the file runs before a launch.

It calls the loader of files (loader/), and adds what only Python keeps: functions of the host, counters of loops, the code
of kernels, the lines that added nodes, and types of arrays. No Python runs for a node, except for host callbacks and arrays
of alloc nodes.

`import cuda_graphs` imports this module, so that the first load of a process imports nothing more. Some files need further
modules, which are imported for them.
"""

import os
from collections.abc import Mapping

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t
from libcpp cimport bool as cpp_bool
from libcpp.string cimport string
from libcpp.vector cimport vector

from cuda_graphs.core.graphs.graph_handles cimport NodeHandle, NodeSpec, ParameterRef, ParameterType
from cuda_graphs.core.resources.handles cimport (
    KernelHandle,
    KernelType,
    Opaque,
    PointerHandle,
    ValueForm,
    hold_python,
)
from cuda_graphs.graph.nodes.callback cimport read_callback
from cuda_graphs.graph.nodes.insertion_point cimport InsertionPoint
from cuda_graphs.graph.operands.graph_array cimport accept_element_type
from cuda_graphs.graph.operands.loop_counter cimport LoopCounter, make_counter
from cuda_graphs.graph.operands.parameter cimport wrap
from cuda_graphs.objects.code.kernel cimport Kernel, keep_image
from cuda_graphs.objects.memory.buffer cimport Buffer

from cuda_graphs.core.driver.choice import driver_info
from cuda_graphs.errors import SavedGraphError
from cuda_graphs.graph.definition import GraphDef
from cuda_graphs.objects.code.kernel import CodeImage
from cuda_graphs.objects.device.device import current_device

__all__ = ["LoadedGraph", "add_nodes", "load"]


cdef extern from *:
    """
    #include <algorithm>

    #include "core/handles/gil.hpp"
    #include "loader/failure.hpp"
    #include "loader/loading.hpp"

    namespace {

    struct PendingPythonError {};  // Python's error is set

    cg::Opaque own(PyObject* made) {
        if (made == nullptr) throw PendingPythonError();
        cg::Opaque held = cg::hold_python(made);
        Py_DECREF(made);
        return held;
    }

    void check_python(int status) {
        if (status < 0) throw PendingPythonError();
    }

    // Returns the code of a function that never runs, and whose first line is this line of a file. PyCode_NewEmpty would
    // read names that are not ASCII in the encoding of the file system.
    PyObject* code_at(const std::string& file, int line) {
        const bool is_ascii = std::all_of(file.begin(), file.end(), [](char c) { return (c & 0x80) == 0; });
        PyObject* const code =
            reinterpret_cast<PyObject*>(PyCode_NewEmpty(is_ascii ? file.c_str() : "", "<saved graph>", line));
        if (code == nullptr || is_ascii) return code;
        PyObject* const replace = PyObject_GetAttrString(code, "replace");
        PyObject* const none = PyTuple_New(0);
        PyObject* const names = Py_BuildValue("{s:s}", "co_filename", file.c_str());
        PyObject* const found =
            replace != nullptr && none != nullptr && names != nullptr ? PyObject_Call(replace, none, names) : nullptr;
        for (PyObject* const each : {code, replace, none, names}) Py_XDECREF(each);
        return found;
    }

    // The functions below, which get the object that loads.
    struct Hooks {
        int (*bind_callbacks)(PyObject*, const std::vector<std::string>&);
        int (*read_callback)(PyObject*, std::size_t, const std::string*, cg::NodeSpec&);
        int (*make_counter)(PyObject*, std::int64_t, cg::PointerHandle&, cg::Opaque&);
        int (*note_kernel)(PyObject*, const cg::KernelHandle&, const cgr::KernelImage&);
        PyObject* (*array_form)(PyObject*, const cg::ParameterType&, const std::vector<std::int64_t>&);
    };

    cg::Opaque make_python_error(const char* text) {
        const cg::GilAcquire locked;
        if (!locked) return {};
        return own(PyObject_CallFunction(PyExc_ValueError, "s", text));
    }

    class PythonProgram : public cgr::Program {
      public:
        PythonProgram(PyObject* self, const Hooks& hooks, bool is_on_host)
            : self_(self), hooks_(hooks), is_on_host_(is_on_host) {}

        bool is_on_host() const override { return is_on_host_; }
        void bind_callbacks(const std::vector<std::string>& names) override {
            check_python(hooks_.bind_callbacks(self_, names));
        }
        void read_callback(std::size_t number, const std::string* node, cg::NodeSpec& spec) override {
            check_python(hooks_.read_callback(self_, number, node, spec));
        }
        cgr::Counter make_counter(std::int64_t limit) override {
            cgr::Counter made;
            check_python(hooks_.make_counter(self_, limit, made.memory, made.object));
            return made;
        }
        MakeError make_error() const override { return make_python_error; }
        void note_kernel(const cg::KernelHandle& kernel, const cgr::KernelImage& image) override {
            check_python(hooks_.note_kernel(self_, kernel, image));
        }
        cg::Opaque line_of(const std::string& file, int line) override {
            return own(code_at(file, line));
        }
        cg::Opaque array_form(const cg::ParameterType& type, const std::vector<std::int64_t>& shape) override {
            return own(hooks_.array_form(self_, type, shape));
        }
        cg::Opaque value_form(char kind) override { return own(PyUnicode_FromStringAndSize(&kind, 1)); }

      private:
        PyObject* self_;
        Hooks hooks_;
        bool is_on_host_;
    };

    PyObject* saved_graph_error = nullptr;

    void raise_failure() {
        try {
            throw;
        } catch (const PendingPythonError&) {
        } catch (const cgr::Failure& failure) {
            PyErr_SetString(saved_graph_error, failure.what());
        } catch (const std::bad_alloc&) {
            PyErr_NoMemory();
        } catch (const std::exception& error) {
            PyErr_SetString(PyExc_RuntimeError, error.what());
        }
    }

    cgr::Loaded load_file(
        const cg::NodeHandle& definition, const char* file, std::size_t size, PyObject* self, const Hooks& hooks,
        bool is_on_host) {
        PythonProgram program(self, hooks, is_on_host);
        return cgr::load(definition, std::string_view(file, size), program);
    }

    }  // namespace
    """
    cppclass KernelImage "cgr::KernelImage":
        const string& code
        size_t blob
        const char* type
        const string& label
        const string& entry
        const vector[KernelType]* types
    cppclass LoadedParameter "cgr::LoadedParameter":
        ParameterRef parameter
        int32_t roles
    struct Hooks:
        int (*bind_callbacks)(object, const vector[string]&) except -1
        int (*read_callback)(object, size_t, const string*, NodeSpec&) except -1
        int (*make_counter)(object, int64_t, PointerHandle&, Opaque&) except -1
        int (*note_kernel)(object, const KernelHandle&, const KernelImage&) except -1
        object (*array_form)(object, const ParameterType&, const vector[int64_t]&)
    cppclass LoadedMemory "cgr::LoadedMemory":
        PointerHandle memory
        cpp_bool is_array() noexcept
    cppclass Loaded "cgr::Loaded":
        vector[LoadedParameter] parameters
        vector[LoadedMemory] memory
    const char* const* kFormNames "cgr::kFormNames"
    const int32_t CG_ROLE_INPUT
    const int32_t CG_ROLE_OUTPUT
    PyObject* saved_graph_error
    void raise_failure()
    Loaded load_file(
        const NodeHandle& definition, const char* file, size_t size, PyObject* self, const Hooks& hooks, cpp_bool is_on_host
    ) except +raise_failure

saved_graph_error = <PyObject*>SavedGraphError


class LoadedGraph(GraphDef):
    """A definition from a file: a GraphDef in all respects. Made by `load`.

    Attributes:
        inputs: The Parameters of the inputs, by name. Each default is an array of zeros, or of the saved contents.
        outputs: The Parameters of the outputs, by name.
    """


def load(path, *, callbacks=None):
    """Return the definition that `GraphDef.save` has written to a file.

    Kernels in the file are code, which launches run with the rights of this process. Load only files that you would
    run.

    Args:
        path: The file.
        callbacks: The functions of host callbacks, by their names in the file.

    Raises:
        OSError: The file cannot be read.
        SavedGraphError: It is damaged, of a later version, has no code for this driver, or needs callbacks that are
            missing.
        TypeError: `path` is no path, or `callbacks` no mapping to callables.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must be str or os.PathLike, got {type(path).__name__}")
    given = accept_callbacks(callbacks)
    current_device()
    with open(path, "rb", buffering=0) as file:
        data = file.read()
    definition = LoadedGraph()
    try:
        definition.inputs, definition.outputs, _ = add_nodes(
            definition, data, lambda names: bind_callbacks(names, given), driver_info().kind == "host"
        )
    except SavedGraphError as error:
        raise SavedGraphError(f"{os.fspath(path)}: {error}") from error.__cause__
    except Exception as error:  # the driver, or a method of GraphDef
        raise SavedGraphError(f"{os.fspath(path)} cannot be loaded: {type(error).__name__}: {error}") from error
    return definition


cdef dict accept_callbacks(callbacks):
    if callbacks is not None and not isinstance(callbacks, Mapping):
        raise TypeError(f"callbacks must be a mapping from names to functions, got {type(callbacks).__name__}")
    found = dict(callbacks or {})
    for name, function in found.items():
        if not callable(function):
            raise TypeError(f"callbacks[{name!r}] must be callable, got {type(function).__name__}")
    return found


cdef list bind_callbacks(list names, dict given):
    """Return the functions of the table of callbacks."""
    missing = [name for name in names if name not in given]
    if missing:
        listed = ", ".join(f"{name!r}: ..." for name in missing)
        raise SavedGraphError(f"it calls functions of the host, which are missing: give callbacks={{{listed}}}")
    unknown = [name for name in given if name not in names]
    if unknown:
        raise SavedGraphError(f"it calls no function {', '.join(map(repr, unknown))}; it calls {names or 'none'}")
    return [given[name] for name in names]


cdef class Loading:
    """What one call of `add_nodes` needs until it returns."""

    cdef object bind        # from the names of callbacks to their functions
    cdef list functions     # of the host
    cdef dict codes         # bytes of code, by the number of the blob
    cdef dict signatures    # types of kernels by name, by the number of the blob


def add_nodes(InsertionPoint definition not None, bytes file not None, bind, bint is_on_host):
    """Add the nodes of a file to an empty definition.

    Args:
        definition: The GraphDef.
        file: The bytes of the file.
        bind: Returns the functions of a list of names of callbacks.
        is_on_host: Whether the driver is the host driver.

    Returns:
        Two dictionaries, the Parameters of the inputs and those of the outputs by name, and a list with a Buffer for
        each array of the file.

    Raises:
        SavedGraphError: The file is damaged, of a later version, or has no code for this driver.
        Exception: What `bind`, the driver or a callback raises.
    """
    cdef Loading self = Loading.__new__(Loading)
    cdef size_t i
    self.bind, self.functions, self.codes, self.signatures = bind, [], {}, {}
    definition._open()
    cdef Loaded found = load_file(
        definition._ref.handle(), PyBytes_AS_STRING(file), <size_t>PyBytes_GET_SIZE(file), <PyObject*>self, hooks, is_on_host
    )
    inputs, outputs, arrays = {}, {}, []
    for i in range(found.parameters.size()):
        parameter = wrap(found.parameters[i].parameter)
        if found.parameters[i].roles & CG_ROLE_INPUT:
            inputs[parameter.name] = parameter
        if found.parameters[i].roles & CG_ROLE_OUTPUT:
            outputs[parameter.name] = parameter
    for i in range(found.memory.size()):
        if found.memory[i].is_array():
            arrays.append(Buffer._from_handle(found.memory[i].memory, None))
    return inputs, outputs, arrays


cdef int bind_names(object self, const vector[string]& names) except -1:
    (<Loading>self).functions = (<Loading>self).bind([names[i].decode() for i in range(names.size())])
    return 0


cdef int read_host(object self, size_t number, const string* node, NodeSpec& spec) except -1:
    name = None if node == NULL else node[0].decode()
    return read_callback((<Loading>self).functions[number], None, name, &spec.params.host, &spec.owners)


cdef int new_counter(object self, int64_t limit, PointerHandle& memory, Opaque& counter) except -1:
    cdef LoopCounter made = make_counter(limit, None, True)
    (&memory)[0] = made.memory._h
    (&counter)[0] = hold_python(<PyObject*>made)
    return 0


cdef int note_image(object self, const KernelHandle& kernel, const KernelImage& image) except -1:
    """Let a kernel keep its code, as one of an ObjectCode does. Code without types in the file tells them itself."""
    cdef Loading loading = <Loading>self
    cdef str entry = image.entry.decode()
    code = loading.codes.get(image.blob)
    if code is None:
        code = loading.codes[image.blob] = image.code.data()[: image.code.size()]
    signatures = None
    if image.types != NULL:
        signatures = loading.signatures.setdefault(image.blob, {})
        signatures[entry] = [type_of(image.types[0][i]) for i in range(image.types.size())]
    else:
        from cuda_graphs.objects.code.object_code import tell_types  # which few files need

        tell_types(Kernel._from_handle(kernel), code, entry)
    return keep_image(kernel, CodeImage(code, (<bytes>image.type).decode(), image.label.decode(), entry, signatures))


cdef tuple type_of(const KernelType& type):
    """Return the fields of a Type (objects/code/signature.py), whose module only `save` needs."""
    return type.text.decode(), form_name(type.form), type.size, form_name(type.element), type.element_size, type.is_read_only


cdef str form_name(ValueForm form):
    return (<bytes>kFormNames[<int>form]).decode()


cdef object form_of_array(object self, const ParameterType& type, const vector[int64_t]& shape):
    from .array_types import dtype_of  # imports the compiler's types, which few files need

    inner = tuple([type.inner[i] for i in range(type.inner.size())])
    dtype = dtype_of(type.scalar.name.decode(), inner)
    return accept_element_type(dtype), tuple([shape[i] for i in range(shape.size())])


cdef Hooks hooks
hooks.bind_callbacks = bind_names
hooks.read_callback = read_host
hooks.make_counter = new_counter
hooks.note_kernel = note_image
hooks.array_form = form_of_array
