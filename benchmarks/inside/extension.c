// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The least that a call of the driver costs from Python: Call(function, *words) is a callable that accepts any
// arguments, reads none of them, releases the GIL, calls the C function with up to 11 words, and returns None.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#define WORDS 11  // of cuLaunchKernel, the longest of the functions

typedef uintptr_t Word;
typedef int (*Function)(Word, Word, Word, Word, Word, Word, Word, Word, Word, Word, Word);

typedef struct {
    PyObject ob_base;
    vectorcallfunc call;
    Function function;
    Word words[WORDS];
} Call;

static PyObject* make_call(PyObject* self, PyObject* const* args, size_t count, PyObject* names) {
    (void)args, (void)count, (void)names;
    const Call* call = (const Call*)self;
    const Word* w = call->words;
    PyThreadState* const thread = PyEval_SaveThread();
    const int status = call->function(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10]);
    PyEval_RestoreThread(thread);
    if (status != 0) return PyErr_Format(PyExc_RuntimeError, "the driver returned %d", status);
    Py_RETURN_NONE;
}

static PyObject* new_call(PyTypeObject* type, PyObject* args, PyObject* names) {
    const Py_ssize_t count = PyTuple_GET_SIZE(args);
    if (names != NULL || count < 1 || count > 1 + WORDS)
        return PyErr_Format(PyExc_TypeError, "Call takes a function and up to %d words", WORDS);
    Call* call = (Call*)type->tp_alloc(type, 0);
    if (call == NULL) return NULL;
    call->call = make_call;
    for (Py_ssize_t i = 0; i < count; ++i) {
        const Word word = (Word)PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(args, i));
        if (i == 0)
            call->function = (Function)word;
        else
            call->words[i - 1] = word;
    }
    if (!PyErr_Occurred()) return (PyObject*)call;
    Py_DECREF(call);
    return NULL;
}

static PyTypeObject call_type = {
    .ob_base = {PyObject_HEAD_INIT(NULL) 0},
    .tp_name = "extension.Call",
    .tp_basicsize = sizeof(Call),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Call, call),
    .tp_call = PyVectorcall_Call,
    .tp_new = new_call,
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "extension", NULL, -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_extension(void) {
    PyObject* made = PyModule_Create(&module);
    if (made == NULL || PyModule_AddType(made, &call_type) == 0) return made;
    Py_DECREF(made);
    return NULL;
}
