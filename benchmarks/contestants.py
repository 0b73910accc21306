# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The same work through cuda_graphs, through cuda.core, and as bare calls from C in this process.

cuda.core is absent on the host driver, because it would use another driver, and if it is not installed.
"""

import ctypes
import subprocess
import sysconfig
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import cuda_graphs as cg

ROOT = Path(__file__).resolve().parent.parent
CALLS_IN_A_ROW = 10  # of a kernel of many tasks
KERNEL_NODE_PARAMS_SIZE = 72  # of CUDA_KERNEL_NODE_PARAMS_v2 in cuda.h, CUDA 12.0
UPDATE_RESULT_INFO_SIZE = 24  # of CUgraphExecUpdateResultInfo_v1 in cuda.h
CAPTURE_MODE_RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED
SOURCE = 'extern "C" __global__ void add_one(int* x) { x[0] += 1; }'


class Ours:
    """The calls through cuda_graphs."""

    def __init__(self) -> None:
        self.device = cg.Device()
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.kernel = cg.Program(SOURCE, code_type="c++").compile("cubin").get_kernel("add_one")
        self.config = cg.LaunchConfig(grid=1, block=1)
        self.data = cg.DeviceMemoryResource(self.device).allocate(4, stream=self.stream)
        self.address = self.data.handle
        self.sync = self.stream.sync

    def chain(self, n: int) -> cg.KernelNode:
        """Return the last node of a chain of n kernels."""
        config, kernel, data = self.config, self.kernel, self.address
        node = cg.GraphDef().launch(config, kernel, data)
        for _ in range(n - 1):
            node = node.launch(config, kernel, data)
        return node

    def instantiate(self, node: cg.KernelNode) -> cg.Graph:
        return node.graph.instantiate()

    @cache  # noqa: B019 - a rig lives as long as the program
    def executable(self, n: int) -> tuple[cg.Graph, cg.KernelNode]:
        """Return the one executable of a chain of n, and the chain's last node. The cost of a driver call depends on
        the address of the executable, so the bare calls use this executable too."""
        last = self.chain(n)
        return self.instantiate(last), last

    def launch_kernel(self) -> Callable[[], None]:
        return partial(cg.launch, self.stream, self.config, self.kernel, self.data)

    def launch_on(self, builder: cg.GraphBuilder) -> Callable[[], None]:
        return partial(cg.launch, builder, self.config, self.kernel, self.data)


class Core:
    """The same calls through cuda.core."""

    def __init__(self) -> None:
        from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
        from cuda.core.graph import GraphDefinition

        self.definition, self.launch = GraphDefinition, launch
        device = self.device = Device()
        device.set_current()
        self.stream = device.create_stream()
        options = ProgramOptions(arch=f"sm_{device.arch}")
        self.kernel = Program(SOURCE, "c++", options).compile("cubin").get_kernel("add_one")
        self.config = LaunchConfig(grid=1, block=1)
        self.data = device.allocate(4, stream=self.stream)
        self.address = int(self.data.handle)
        self.sync = self.stream.sync

    def chain(self, n: int):
        config, kernel, data = self.config, self.kernel, self.address
        node = self.definition().launch(config, kernel, data)
        for _ in range(n - 1):
            node = node.launch(config, kernel, data)
        return node

    def instantiate(self, node):
        return node.graph.instantiate()

    @cache  # noqa: B019 - a rig lives as long as the program
    def executable(self, n: int):
        last = self.chain(n)
        return self.instantiate(last), last

    def launch_kernel(self) -> Callable[[], None]:
        return partial(self.launch, self.stream, self.config, self.kernel, self.data)

    def launch_on(self, builder) -> Callable[[], None]:
        return partial(self.launch, builder, self.config, self.kernel, self.data)


Rig = Ours | Core


def machine() -> str:
    """Return the device and driver of the figures."""
    info = cg.driver_info()
    return f"{cg.Device().name}, CUDA {info.version[0]}.{info.version[1]}, {info.kind} driver"


def core_or_none() -> Core | None:
    if cg.driver_info().kind != "cuda":
        return None
    try:
        return Core()
    except ImportError as error:
        print(f"cuda.core is absent: {error}")
        return None


def built_of(name: str) -> Path:
    """Compile a file of inside/ and return the shared library."""
    built = ROOT / "build" / f"{name}.so"
    built.parent.mkdir(exist_ok=True)
    source = Path(__file__).parent / "inside" / f"{name}.c"
    options = ["-O2", "-Wall", "-shared", "-fPIC", f"-I{sysconfig.get_paths()['include']}"]
    subprocess.run(["gcc", *options, str(source), "-o", str(built)], check=True)
    return built


class BareGraph:
    """A graph that bare calls made, and its executable."""

    def __init__(self, driver: ctypes.CDLL) -> None:
        self.driver, self.definition, self.executable = driver, ctypes.c_void_p(), ctypes.c_void_p()

    def require(self, status: int) -> None:
        if status:
            raise RuntimeError(f"a bare call of the driver ended with status {status}")

    def instantiate(self) -> "BareGraph":
        made = ctypes.byref(self.executable)
        self.require(self.driver.cuGraphInstantiateWithFlags(made, self.definition, ctypes.c_ulonglong(0)))
        return self

    def launch(self, stream: cg.Stream) -> None:
        self.require(self.driver.cuGraphLaunch(self.executable, ctypes.c_void_p(stream.handle)))

    def update(self, like: "BareGraph") -> None:
        result_info = ctypes.create_string_buffer(UPDATE_RESULT_INFO_SIZE)
        self.require(self.driver.cuGraphExecUpdate_v2(self.executable, like.definition, result_info))

    def close(self) -> None:
        self.require(self.driver.cuGraphExecDestroy(self.executable))

    def __del__(self) -> None:
        self.driver.cuGraphDestroy(self.definition)


class Inside:
    """The bare calls from C in this process (inside/loops.c), on the graphs and executables of `ours`."""

    def __init__(self, library: str) -> None:
        self.loops = ctypes.CDLL(str(built_of("loops")))
        loops = (
            "launches",
            "instantiation",
            "kernel_launches",
            "task_launches",
            "updates",
            "settings",
            "changed_launches",
            "chains",
        )
        for loop in loops:
            getattr(self.loops, loop).restype = ctypes.c_double
        self.driver = ctypes.CDLL(library)

    @cache  # noqa: B019 - a rig lives as long as the program
    def kernel_node(self, ours: Ours) -> ctypes.Array[ctypes.c_char]:
        """The parameters of a node of a chain; the driver's arguments in them live as long as the node."""
        self.model = ours.chain(1)
        parameters = ctypes.create_string_buffer(KERNEL_NODE_PARAMS_SIZE)
        status = self.driver.cuGraphKernelNodeGetParams_v2(ctypes.c_void_p(self.model.handle), parameters)
        assert status == 0
        return parameters

    def add(self, ours: Ours, n: int) -> Callable[[], float]:
        parameters = self.kernel_node(ours)
        calls = self.driver.cuGraphCreate, self.driver.cuGraphAddKernelNode_v2, self.driver.cuGraphDestroy
        return lambda: self.loops.chains(*calls, parameters, n, max(1, 200 // n))

    def chain(self, ours: Ours, n: int) -> BareGraph:
        graph = BareGraph(self.driver)
        calls = self.driver.cuGraphCreate, self.driver.cuGraphAddKernelNode_v2
        graph.require(self.loops.chain(*calls, self.kernel_node(ours), n, ctypes.byref(graph.definition)))
        return graph

    def instantiate(self, ours: Ours, n: int) -> Callable[[], float]:
        last = ours.chain(n)
        arguments = self.driver.cuGraphInstantiateWithFlags, self.driver.cuGraphExecDestroy
        return lambda: self.loops.instantiation(*arguments, ctypes.c_void_p(last.graph.handle))

    def launch(self, ours: Ours, n: int) -> Callable[[], float]:
        graph, _ = ours.executable(n)
        handles = ctypes.c_void_p(graph.handle), ctypes.c_void_p(ours.stream.handle)

        def run() -> float:
            elapsed = self.loops.launches(self.driver.cuGraphLaunch, *handles, 20)
            assert graph.handle  # alive until here
            ours.sync()
            return elapsed

        return run

    def update(self, ours: Ours, n: int) -> Callable[[], float]:
        graph, last = ours.executable(n)

        def run() -> float:
            handles = ctypes.c_void_p(graph.handle), ctypes.c_void_p(last.graph.handle)
            return self.loops.updates(self.driver.cuGraphExecUpdate_v2, *handles, 10)

        return run

    def set_node(self, ours: Ours, n: int) -> Callable[[], float]:
        graph, last = ours.executable(n)
        parameters = ctypes.create_string_buffer(KERNEL_NODE_PARAMS_SIZE)
        status = self.driver.cuGraphKernelNodeGetParams_v2(ctypes.c_void_p(last.handle), parameters)
        assert status == 0

        def run() -> float:
            handles = ctypes.c_void_p(graph.handle), ctypes.c_void_p(last.handle)
            return self.loops.settings(
                self.driver.cuGraphExecKernelNodeSetParams_v2, *handles, parameters, 100
            )

        return run

    def launch_kernel_arguments(self, ours: Ours) -> tuple[object, object, object]:
        function = ctypes.c_void_p()
        status = self.driver.cuKernelGetFunction(ctypes.byref(function), ctypes.c_void_p(ours.kernel.handle))
        assert status == 0
        return function, ctypes.c_void_p(ours.stream.handle), ctypes.byref(ctypes.c_uint64(ours.address))

    def launch_kernel(self, ours: Ours) -> Callable[[], float]:
        arguments = self.launch_kernel_arguments(ours)

        def run() -> float:
            elapsed = self.loops.kernel_launches(self.driver.cuLaunchKernel, *arguments, 50)
            ours.sync()
            return elapsed

        return run

    def call_kernel(self, kernel: cg.KernelFunction, data: cg.NDArray) -> Callable[[], float]:
        """Launch the kernels of the tasks of a call, with the arguments of the call, on the default stream."""
        nodes = cg.GraphDef().call(kernel, data).graph.nodes()
        parameters = ctypes.create_string_buffer(KERNEL_NODE_PARAMS_SIZE * len(nodes))
        for i, node in enumerate(nodes):
            place = ctypes.byref(parameters, KERNEL_NODE_PARAMS_SIZE * i)
            assert self.driver.cuGraphKernelNodeGetParams_v2(ctypes.c_void_p(node.handle), place) == 0
        stream = cg.Device().default_stream
        arguments = parameters, ctypes.c_void_p(stream.handle), len(nodes)

        def run() -> float:
            elapsed = self.loops.task_launches(self.driver.cuLaunchKernel, *arguments, CALLS_IN_A_ROW)
            assert nodes  # they keep the arguments
            stream.sync()
            return elapsed

        return run

    def capture_launch(self, ours: Ours) -> Callable[[], float]:
        launches = self.launch_kernel_arguments(ours)
        stream, graph = ctypes.c_void_p(ours.stream.handle), ctypes.c_void_p()

        def run() -> float:
            status = self.driver.cuStreamBeginCapture_v2(stream, CAPTURE_MODE_RELAXED)
            elapsed = self.loops.kernel_launches(self.driver.cuLaunchKernel, *launches, 50)
            status |= self.driver.cuStreamEndCapture(stream, ctypes.byref(graph))
            assert status | self.driver.cuGraphDestroy(graph) == 0
            return elapsed

        return run
