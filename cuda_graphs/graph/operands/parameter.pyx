# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Parameter: a value that nodes of a definition use by name. Each executable has its own value.

A Temporary is an array parameter whose name begins with a dot, so programs cannot set it. Executables give it memory by the plan
of executable/temporary_memory.pyx.
"""

import math

from cpython.object cimport PyObject
from libcpp.memory cimport make_shared, unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport move
from libcpp.vector cimport vector

from cuda_graphs.core.driver.cuda cimport CUresult
from cuda_graphs.core.driver.seam cimport check_attempt
from cuda_graphs.core.graphs.graph_handles cimport (
    NamedParameter,
    ParameterTable,
    ParameterUse,
    ParameterType,
    ValueKind,
    ValueType,
    as_extent,
    copy_uses,
    bytes_of,
    find_clash,
    kMostAxes,
    kTemporaryName,
    unused_parameters,
    use_placeholders,
    parameters_of,
)
from cuda_graphs.core.resources.handles cimport ValueForm
from cuda_graphs.objects.memory.array_shape import accept_shape
from .graph_array cimport ElementType, accept_element_type
from .spans import temporary_parts
from .values cimport accept_scalar_type, accept_type, present_value, read_value, type_text

# The forms of ValueKinds.
cdef ValueForm[5] FORMS = [ValueForm.kInt, ValueForm.kUint, ValueForm.kFloat, ValueForm.kBool, ValueForm.kPointer]

# Names of the positional arguments of Graph.launch.
RESERVED = ("self", "stream")

cdef string TEMPORARY = string(kTemporaryName)  # a number and the given name follow


cdef class Parameter(StandIn):
    """A value that nodes use by name. Made by `GraphDef.param`. All graphs in the definition's hierarchy share it.

    Pass it to `launch` as an argument, and to `memset` or `memcpy` as an operand. `Graph.launch(stream, name=value)` and
    `Graph.set(name=value)` set its value in an executable.
    """

    def __dealloc__(self):
        if self._p and self._p.get().object == <void*><PyObject*>self:
            self._p.get().object = NULL

    cdef NamedParameter* _named(self) except NULL:
        if not self._p:
            raise RuntimeError("this Parameter was not made by cuda_graphs")
        return self._p.get()

    @property
    def name(self):
        """The name of the parameter."""
        return self._named().name.decode()

    @property
    def type(self):
        """The name of its type: "i8" to "u64", "f16", "bf16", "f32", "f64", "bool", "pointer", or that of an array type,
        "ndarray(f32, ndim=1)".
        """
        return type_text(self._named().type)

    @property
    def default(self):
        """The initial value in executables; None if the parameter has no default.

        It is an address for a pointer, and an ArrayValue (address, shape, size) for an array.
        """
        cdef NamedParameter* p = self._named()
        return present_value(p.type, p.initial) if p.initial.known else None

    def __repr__(self):
        if not self._p:
            return "<Parameter of nothing>"
        default = "" if self.default is None else f" default={self.default}"
        return f"<Parameter {self.name!r} {self.type}{default}>"


cdef class ArrayParameter(Parameter):
    """A Parameter whose values are arrays of one element type and number of dimensions. Made by `GraphDef.param`.

    Kernels of `cuda_graphs.kernel` take arrays of any shape. As an operand of a copy or fill, an array determines the
    number of bytes.
    """

    @property
    def ndim(self):
        """The number of dimensions."""
        return self._named().type.ndim

    @property
    def itemsize(self):
        """The bytes of an element."""
        return self._named().type.item_size()

    def _element(self):
        """Return the name of the type of the elements, or of their components, and the shape of one element."""
        cdef ParameterType* type = &self._named().type
        return type.scalar.name.decode(), tuple([type.inner[i] for i in range(<int>type.inner.size())])

    @property
    def shape(self):
        """The extents of the array as arguments of CUDA C++ kernels: one i32 for each dimension."""
        cdef ArrayExtent extent
        found = []
        for axis in range(self._named().type.ndim):
            extent = ArrayExtent.__new__(ArrayExtent)
            extent._array, extent._axis, extent._width, extent._form = self, axis, 4, ValueForm.kInt
            extent._bits = <unsigned int>self._named().initial.extents[<size_t>axis]
            found.append(extent)
        return tuple(found)

    def __getitem__(self, index):
        raise TypeError(f"{self!r} has no parts: nodes take it as a whole")

    def __array__(self, dtype=None, copy=None):
        raise TypeError(f"{self!r} has memory in launches only: add a node that copies it to other memory")


cdef class Temporary(ArrayParameter):
    """An array that exists only in launches, without an address that anybody can read. Made by `GraphDef.temporary`.

    Nodes take it like an array parameter: kernels, copies and fills. Each executable has memory of its own for its
    temporaries. Two of them share it if all nodes that use one of them come before all nodes that use the other.
    """

    @property
    def name(self):
        """The given name, else "temporary" and the number of the Temporary in its definition."""
        number, given = temporary_parts(self._named().name.decode())
        return given or f"temporary {number}"

    @property
    def shape(self):
        """The extents, as ints. Kernels of CUDA C++ take them as numbers."""
        cdef NamedParameter* p = self._named()
        return tuple([p.initial.extents[<size_t>axis] for axis in range(p.type.ndim)])

    @property
    def bytesize(self):
        """The size in bytes."""
        return self.itemsize * math.prod(self.shape)

    def __repr__(self):
        return f"<Temporary {self.name!r} {self.type} of shape {self.shape}>" if self._p else "<Temporary of nothing>"


cdef class ArrayExtent(StandIn):
    """One extent of an ArrayParameter, as an argument of a kernel."""

    def __repr__(self):
        return f"<extent {self._axis} of {self._array!r}>"


cdef ValueForm form_of(const ValueType& type) noexcept:
    if type.kind == ValueKind.kFloat:
        return ValueForm.kBfloat if type.name[0] == c"b" else ValueForm.kFloat
    return FORMS[<int>type.kind]


cdef Parameter class_for(const ParameterRef& p):
    """Return a new object of the class of a parameter."""
    if is_temporary(p):
        return Temporary.__new__(Temporary)
    return ArrayParameter.__new__(ArrayParameter) if p.get().type.is_array() else Parameter.__new__(Parameter)


cdef Parameter wrap(const ParameterRef& p):
    cdef Parameter self
    if p.get().object != NULL:
        return <Parameter>p.get().object
    self = class_for(p)
    self._p = p
    self._bits, self._width = p.get().initial.bits, p.get().type.scalar.size
    self._form = form_of(p.get().type.scalar[0])
    if p.get().type.is_array():
        self._element, self._element_size = self._form, self._width
        self._form, self._width = ValueForm.kPointer, 8
    p.get().object = <PyObject*>self
    return self


cdef Parameter declare(GraphBox* graph, object name, object type, object default):
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, got {name.__class__.__name__}")
    if not name.isidentifier() or name in RESERVED:
        raise ValueError(f"a parameter cannot be called {name!r}: its name must be usable as a keyword of Graph.launch")
    cdef ParameterType kind = accept_type(type)
    cdef ParameterTable* table = &parameters_of(graph[0])
    cdef string key = name.encode()
    cdef ParameterRef fresh = make_shared[NamedParameter]()
    fresh.get().name = key
    fresh.get().type = kind
    if default is not None:
        read_value(kind, name, default, &fresh.get().initial)
    cdef ParameterRef found = table.find(key)
    if found:
        return check_same(wrap(found), fresh)
    table.add(fresh)
    return wrap(fresh)


cdef Temporary make_temporary(GraphBox* graph, object shape, object dtype, object name):
    cdef ElementType element = accept_element_type(dtype)
    cdef tuple extents = accept_shape(shape)
    if name is not None and not isinstance(name, str):
        raise TypeError(f"name must be a str or None, got {name.__class__.__name__}")
    if len(extents) > <Py_ssize_t>kMostAxes:
        raise ValueError(f"a temporary has at most {kMostAxes} dimensions, got the shape {extents}")
    if 0 in extents:
        raise ValueError(f"a temporary has 1 element or more, got the shape {extents}")
    cdef ParameterTable* table = &parameters_of(graph[0])
    cdef ParameterRef fresh = make_shared[NamedParameter]()
    cdef NamedParameter* p = fresh.get()
    p.name = TEMPORARY + f"{count_temporaries(graph)} {name or ''}".encode()
    p.type.scalar, p.type.ndim = accept_scalar_type(element.dtype), <int>len(extents)
    for extent in element.element_shape:
        p.type.inner.push_back(extent)
    for axis, extent in enumerate(extents):
        p.initial.extents[<size_t>axis] = extent
    table.add(fresh)
    return wrap(fresh)


cdef bint is_temporary(const ParameterRef& parameter) noexcept:
    return parameter.get().name.compare(0, TEMPORARY.size(), TEMPORARY) == 0


cdef Py_ssize_t count_temporaries(GraphBox* graph):
    cdef Py_ssize_t count = 0
    cdef ParameterTable* table = &parameters_of(graph[0])
    cdef size_t i
    for i in range(table.all().size()):
        count += is_temporary(table.all()[i])
    return count


cdef list temporaries_of(NodeRecord* record):
    cdef list found = []
    if record.metadata and record.metadata.get().parameters:
        for use in record.metadata.get().parameters.get().uses:
            if is_temporary(use.parameter):
                found.append(wrap(use.parameter))
    return found


cdef Parameter check_same(Parameter known, const ParameterRef& wanted):
    """Return the existing parameter. Raises ValueError if its type or default differs from the wanted parameter."""
    cdef NamedParameter* have = known._named()
    if not have.type == wanted.get().type:
        raise ValueError(f"{known!r} exists already and cannot have the type {type_text(wanted.get().type)}")
    if wanted.get().initial.known and not (
        have.initial.known and have.initial.has_words_of(wanted.get().initial)
    ):
        raise ValueError(f"{known!r} exists already, and its default cannot change")
    return known


cdef int add_use(NodeSpec& spec, Parameter parameter, Field field, unsigned int argument=0) except -1:
    cdef ParameterUse use
    drop_use(spec, field, argument)
    use.parameter, use.field, use.argument = parameter._p, field, argument
    spec.uses.push_back(use)
    return 0


cdef Parameter parameter_of(StandIn value):
    return (<ArrayExtent>value)._array if isinstance(value, ArrayExtent) else <Parameter?>value


cdef StandIn argument_of(const ParameterUse& use):
    cdef Parameter parameter = wrap(use.parameter)
    return parameter.shape[use.word - 1] if use.word else parameter


cdef int use_argument(NodeSpec& spec, StandIn value, unsigned int argument) except -1:
    cdef Parameter parameter = parameter_of(value)
    add_use(spec, parameter, Field.kArgument, argument)
    if isinstance(value, ArrayExtent):
        spec.uses.back().word = <unsigned char>((<ArrayExtent>value)._axis + 1)
    if parameter._named().type.is_array() and not spec.rules.takes_any_shape and not is_temporary(parameter._p):
        if not parameter._named().initial.known:
            raise ValueError(
                f"{parameter!r} has no default, so the config of a CUDA C++ kernel cannot fit its shape: give a default, "
                "or give the config as a function of the arguments"
            )
        spec.uses.back().is_fixed = True
    return 0


cdef int drop_use(NodeSpec& spec, Field field, unsigned int argument=0) except -1:
    cdef vector[ParameterUse] others
    if spec.uses.empty():
        return 0
    for use in spec.uses:
        if use.field != field or use.argument != argument:
            others.push_back(use)
    spec.uses.swap(others)
    return 0


cdef bint has_use(NodeSpec& spec, Field field) noexcept:
    for use in spec.uses:
        if use.field == field:
            return True
    return False


cdef object use_of(NodeSpec& spec, Field field, object other):
    for use in spec.uses:
        if use.field == field:
            return wrap(use.parameter)
    return other


cdef CUdeviceptr use_pointer(NodeSpec& spec, Parameter value, str name, Field field, Opaque* owner) except? 0xBAD:
    cdef NamedParameter* p = value._named()
    if not p.type.is_memory():
        raise TypeError(f"{name} must be an address, but {value!r} is not a pointer")
    add_use(spec, value, field)
    owner[0] = p.initial.owner
    return p.initial.bits


cdef size_t use_extent(NodeSpec& spec, Parameter value, str name) except? 0xBAD:
    cdef NamedParameter* p = value._named()
    if p.type.is_array() or p.type.scalar.kind != ValueKind.kUint and p.type.scalar.kind != ValueKind.kInt:
        raise TypeError(f"{name} must be a count, but {value!r} has no integer type")
    cdef size_t extent = as_extent(p.type.scalar[0], p.initial.bits)
    if p.initial.known and not 0 < extent < (1ULL << 63):
        raise ValueError(f"{name} must be 1 or more, but {value!r} has a smaller default")
    add_use(spec, value, Field.kExtent)
    return extent


cdef int use_element(NodeSpec& spec, Parameter value, unsigned int* pattern) except -1:
    cdef NamedParameter* p = value._named()
    if p.type.is_memory() or p.type.scalar.size > 4:
        raise TypeError(f"value must have 1, 2 or 4 bytes, but {value!r} has {value._width}")
    add_use(spec, value, Field.kValue)
    pattern[0] = <unsigned int>p.initial.bits
    return <int>p.type.scalar.size


cdef size_t use_bytes(NodeSpec& spec, Parameter value) except? 0xBAD:
    cdef NamedParameter* p = value._named()
    add_use(spec, value, Field.kBytes)
    return bytes_of(p.type, p.initial)


cdef unique_ptr[NodeParameters] prepare_uses(GraphBox* graph, NodeSpec& spec) except *:
    cdef unique_ptr[NodeParameters] made = unique_ptr[NodeParameters](new NodeParameters())
    cdef CUresult status
    cdef size_t i
    for i in range(spec.uses.size()):
        if not join_hidden(graph, spec.uses[i].parameter) and not parameters_of(graph[0]).has(spec.uses[i].parameter):
            raise ValueError(f"{wrap(spec.uses[i].parameter)!r} belongs to another definition: definitions do not share parameters")
    made.get().uses, made.get().rules = spec.uses, spec.rules
    with nogil:
        status = use_placeholders(spec, made.get()[0])
    if status:
        check_attempt(status, "allocate the placeholder for memory that a parameter will name")
    return move(made)


cdef bint join_hidden(GraphBox* graph, ParameterRef& parameter) except -1:
    """Replace a hidden parameter by that of the same name in the graph. The first one of a name joins the graph; one without
    a name joins none, as its use is only tried.

    Returns False for a parameter that is not hidden.
    """
    cdef ParameterTable* table = &parameters_of(graph[0])
    cdef ParameterRef known
    if not is_hidden(parameter) or is_temporary(parameter):
        return False
    if parameter.get().name.size() == 1:
        return True
    known = table.find(parameter.get().name)
    if known:
        (&parameter)[0] = known
    else:
        table.add(parameter)
    return True


cdef bint is_hidden(const ParameterRef& parameter) noexcept:
    return parameter.get().is_hidden()


cdef list list_unused(GraphBox* graph):
    return [wrap(parameter) for parameter in unused_parameters(graph[0]) if not is_hidden(parameter) or is_temporary(parameter)]


cdef int check_clash(GraphBox* source, GraphBox* target) except -1:
    cdef ParameterRef clash
    if count_temporaries(source):
        raise ValueError(
            "cannot embed a definition with temporaries: each copy would need memory of its own. Add its nodes to the target "
            "definition, or use arrays that exist all the time"
        )
    clash = find_clash(source[0], target[0])
    if not clash:
        return 0
    known = wrap(parameters_of(target[0]).find(clash.get().name))
    raise ValueError(f"cannot embed a definition that uses {wrap(clash)!r}: the target definition has {known!r}")


cdef int adopt_uses(GraphBox* source, NodeRecord* holder) except -1:
    cdef CUresult status = copy_uses(source[0], holder[0])
    return check_attempt(status, "find the nodes of an embedded definition that use parameters") if status else 0
