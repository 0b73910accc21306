# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
#
# Methods and functions whose arguments come as the interpreter has them: the values in a row, and a tuple of the names of the
# last ones. Cython makes a tuple for `*args` and a dict for `**values`, which costs a launch 0.05 to 0.1 us.
from cpython.object cimport PyObject
from libc.stddef cimport size_t

cdef extern from "Python.h":
    ctypedef PyObject** Arguments "PyObject* const*"
    ctypedef PyObject* (*KeywordFunction "PyCFunction")(PyObject*, PyObject*)
    ctypedef struct PyMethodDef:
        const char* ml_name
        KeywordFunction ml_meth
        int ml_flags
        const char* ml_doc
    ctypedef struct PyTypeObject:
        PyObject* tp_dict
    int METH_FASTCALL
    int METH_KEYWORDS
    object PyDescr_NewMethod(PyTypeObject* owner, PyMethodDef* method)
    object PyCFunction_NewEx(PyMethodDef* method, PyObject* self, object module)
    void PyType_Modified(PyTypeObject* owner)
    Arguments PySequence_Fast_ITEMS(object sequence)


cdef inline void describe_function(PyMethodDef* method, const char* name, void* function, const char* doc) noexcept:
    method.ml_name, method.ml_meth, method.ml_doc = name, <KeywordFunction>function, doc
    method.ml_flags = METH_FASTCALL | METH_KEYWORDS


# Gives an extension type the method `name`. `function` takes (self, Arguments args, Py_ssize_t count, PyObject* names):
# `count` positional arguments, then the values of the keywords. `names` is a tuple, or NULL without keywords. `doc` begins
# with the signature, "name($self, ...)\n--\n\n". `method`, `name` and `doc` live as long as the process.
cdef inline int give_method(
    type owner, PyMethodDef* method, const char* name, void* function, const char* doc
) except -1:
    describe_function(method, name, function, doc)
    (<dict>(<PyTypeObject*>owner).tp_dict)[name.decode()] = PyDescr_NewMethod(<PyTypeObject*>owner, method)
    PyType_Modified(<PyTypeObject*>owner)
    return 0


# Returns a function of the same kind for a module. `function` takes (PyObject* module, ...), and the signature in `doc` is
# "name($module, ...)".
cdef inline object make_function(PyMethodDef* method, const char* name, void* function, const char* doc, object module):
    describe_function(method, name, function, doc)
    return PyCFunction_NewEx(method, <PyObject*>module, module.__name__)


# Returns positional arguments as a tuple.
cdef inline tuple as_tuple(Arguments args, size_t count):
    return tuple([<object>args[i] for i in range(count)])


# Returns the keyword arguments of a call as a dict.
cdef inline dict keywords(tuple names, Arguments values):
    return {name: <object>values[i] for i, name in enumerate(names)}
