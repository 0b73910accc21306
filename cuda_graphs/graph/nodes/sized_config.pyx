# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""SizedConfig: a LaunchConfig that follows the values of parameters.

The rule of a compiled kernel is code without Python. A user's config function is called with the GIL, while the lock of
the executable is held. Threads wait for this lock without the GIL, and the function itself may not use a Graph.
"""

import math

from cpython.object cimport PyObject
from cpython.pythread cimport PyThread_get_thread_ident
from libc.stddef cimport size_t
from libcpp cimport bool as cpp_bool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.vector cimport vector

from cuda_graphs.core.graphs.graph_handles cimport (
    Field,
    LaunchSize,
    NodeParameters,
    NodeRules,
    ParameterUse,
    ParameterValue,
    SizeRule,
    size_functions_running,
)
from cuda_graphs.core.resources.device_scope cimport kNoDevice
from cuda_graphs.core.resources.handles cimport Opaque, hold_python
from cuda_graphs.graph.operands.parameter cimport ArrayExtent, Parameter, add_use, parameter_of
from cuda_graphs.graph.operands.values cimport present_value
from cuda_graphs.objects.code.arguments cimport StandIn
from cuda_graphs.objects.code.launch_config cimport accept_launch_config, is_config_function, is_plain
from cuda_graphs.objects.memory.array_view cimport view_array
from .node_call cimport join_call

from cuda_graphs.graph.operands.array_values import ArrayValue


cdef class SizedConfig(LaunchConfig):
    """The config of a launch of a kernel that takes arrays of any shape.

    A rule computes the number of blocks from the values of parameters, in each executable.
    """


cdef SizedConfig sized_config(LaunchConfig config, const SizeRuleRef& rule, tuple operands):
    cdef SizedConfig self = SizedConfig.__new__(SizedConfig)
    self._size, self._shape, self._is_programmatic = config._size, config._shape, config._is_programmatic
    self._rule, self._operands = rule, operands
    return self


cdef set running = set()  # threads that run a config function


cdef bint is_config_running_here() except -1:
    return PyThread_get_thread_ident() in running


cdef class ConfigFunction:
    """A function of the arguments of a launch that returns its config."""

    cdef object function
    cdef tuple args        # of the launch
    cdef list parameters   # distinct Parameters among them, the operands of the rule

    cdef LaunchConfig call(self, const ParameterValue* const* operands):
        given = [self.present(arg, operands) for arg in self.args]
        try:
            return accept_launch_config(self.function(*given))
        except Exception as error:
            error.add_note(f"The config of a launch is the result of {self.function!r} for its arguments.")
            raise

    cdef object present(self, object arg, const ParameterValue* const* operands):
        """Return an argument with the present value of its parameter."""
        cdef Parameter parameter
        if not isinstance(arg, StandIn):
            return arg
        parameter = parameter_of(arg)
        value = present_value(parameter._named().type, operands[<Py_ssize_t>self.parameters.index(parameter)][0])
        return value.shape[(<ArrayExtent>arg)._axis] if isinstance(arg, ArrayExtent) else value

    cdef int resize(self, const ParameterValue* const* operands, LaunchSize* size) except -1:
        cdef unsigned long thread = PyThread_get_thread_ident()
        running.add(thread)
        size_functions_running.store(<int>len(running))
        try:
            config = self.call(operands)
        finally:
            running.discard(thread)
            size_functions_running.store(<int>len(running))
        return fill_size(size, config, self.function)


cdef int fill_size(LaunchSize* size, LaunchConfig config, object function) except -1:
    if not is_plain(config):
        raise ValueError(
            f"{function!r} returned {config!r}: a config that follows the arguments has no cluster, and is neither "
            "cooperative nor programmatic"
        )
    size[0] = config._size
    return 0


cdef cpp_bool call_function(
    void* self, const ParameterValue* const* operands, LaunchSize* size, Opaque* why
) noexcept with gil:
    try:
        (<ConfigFunction>self).resize(operands, size)
        return True
    except BaseException as error:
        why[0] = hold_python(<PyObject*>error)
        return False


cdef object without_node(object arg):
    """Return an ArrayValue for memory of an alloc node: a graph that owned its own nodes would never be destroyed."""
    if isinstance(arg, StandIn) or not hasattr(type(arg), "__cuda_graph_array__"):
        return arg
    view = view_array(arg, "argument")
    return ArrayValue(view.address, view.shape, math.prod(view.shape))


cdef LaunchConfig read_config(object config, tuple args):
    return call_config(config, args) if is_config_function(config) else accept_launch_config(config)


cdef LaunchConfig call_config(object config, tuple args):
    cdef ConfigFunction self
    cdef shared_ptr[SizeRule] rule
    cdef vector[const ParameterValue*] operands
    cdef Parameter parameter
    cdef LaunchSize size
    cdef bint known = True
    parameters = list(dict.fromkeys([parameter_of(arg) for arg in args if isinstance(arg, StandIn)]))
    self = ConfigFunction.__new__(ConfigFunction)
    self.function, self.args, self.parameters = config, tuple([without_node(arg) for arg in args]), parameters
    for parameter in parameters:
        operands.push_back(&parameter._named().initial)
        known = known and parameter._named().initial.known
    # Without all values the launch has any size: the values come before the first launch.
    found = self.call(operands.data()) if known else LaunchConfig(grid=1, block=1)
    fill_size(&size, found, config)
    if not parameters:
        return found
    rule = make_shared[SizeRule]()
    rule.get().resize, rule.get().self, rule.get().owner = call_function, <void*>self, hold_python(<PyObject*>self)
    return sized_config(found, <SizeRuleRef>rule, tuple(parameters))


cdef object config_function_of(NodeRecord* node):
    cdef NodeParameters* named = node.metadata.get().parameters.get() if node.metadata else NULL
    if named == NULL or named.rules.size.get() == NULL or named.rules.size.get().resize != call_function:
        return None
    return (<ConfigFunction>named.rules.size.get().self).function


cdef SizedConfig bind_call(LaunchConfig config, NodeCall call, size_t task):
    cdef bint is_sized = isinstance(config, SizedConfig)
    cdef SizedConfig bound = sized_config(
        config, (<SizedConfig>config)._rule if is_sized else SizeRuleRef(), (<SizedConfig>config)._operands if is_sized else ()
    )
    bound._call, bound._task = call, task
    return bound


cdef int join_call_of(NodeRecord* node, LaunchConfig config) except -1:
    if isinstance(config, SizedConfig) and (<SizedConfig>config)._call is not None:
        join_call(node, (<SizedConfig>config)._call, (<SizedConfig>config)._task)
    return 0


cdef int device_of_config(LaunchConfig config) noexcept:
    if not isinstance(config, SizedConfig) or (<SizedConfig>config)._call is None:
        return kNoDevice
    return (<SizedConfig>config)._call.device


cdef SizedConfig follow_shapes(object config):
    return sized_config(accept_launch_config(config), SizeRuleRef(), ())


cdef int begin_rules(NodeSpec& spec, LaunchConfig config) except -1:
    spec.rules = NodeRules()
    if isinstance(config, SizedConfig):
        spec.rules.takes_any_shape = True
        spec.rules.size = (<SizedConfig>config)._rule
    return 0


cdef int finish_rules(NodeSpec& spec, LaunchConfig config) except -1:
    cdef unsigned int i
    if isinstance(config, SizedConfig):
        for i, operand in enumerate((<SizedConfig>config)._operands):
            add_use(spec, operand, Field.kSize, i)
    return 0


cdef int fix_shapes(NodeSpec& spec) except -1:
    cdef size_t i
    for i in range(spec.uses.size()):
        spec.uses[i].is_fixed = not spec.rules.takes_any_shape and spec.uses[i].parameter.get().type.is_array()
    return 0


cdef int drop_size(NodeSpec& spec) except -1:
    cdef vector[ParameterUse] others
    spec.rules.size.reset()
    for use in spec.uses:
        if use.field != Field.kSize:
            others.push_back(use)
    spec.uses.swap(others)
    return 0
