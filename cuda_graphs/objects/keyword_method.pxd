# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
#
# Methods whose keyword arguments come without a dict: a tuple of names, and the values behind the positional arguments.
# Cython makes a dict for `**values`, which costs a launch 0.1 us.
from cpython.object cimport PyObject

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
    void PyType_Modified(PyTypeObject* owner)
    Arguments PySequence_Fast_ITEMS(object sequence)


# Gives an extension type the method `name`. `function` takes (self, Arguments args, Py_ssize_t count, PyObject* names):
# `count` positional arguments, then the values of the keywords. `names` is a tuple, or NULL without keywords. `doc` begins
# with the signature, "name($self, ...)\n--\n\n". `method`, `name` and `doc` live as long as the process.
cdef inline int give_method(
    type owner, PyMethodDef* method, const char* name, void* function, const char* doc
) except -1:
    method.ml_name, method.ml_meth, method.ml_doc = name, <KeywordFunction>function, doc
    method.ml_flags = METH_FASTCALL | METH_KEYWORDS
    (<dict>(<PyTypeObject*>owner).tp_dict)[name.decode()] = PyDescr_NewMethod(<PyTypeObject*>owner, method)
    PyType_Modified(<PyTypeObject*>owner)
    return 0


# Returns the keyword arguments of a call as a dict.
cdef inline dict keywords(tuple names, Arguments values):
    return {name: <object>values[i] for i, name in enumerate(names)}
