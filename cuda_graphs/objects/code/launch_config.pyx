# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
# cython: cdivision=True
"""LaunchConfig: the number of threads that run a kernel, and their grouping."""

from cuda_graphs.core.driver.cuda cimport (
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
    CUlaunchAttribute,
    CUlaunchConfig,
)

from cuda_graphs.objects.numbers cimport as_int, read_flag
from cuda_graphs.objects.device.device import Device
from cuda_graphs.errors import CUDANotSupportedError


# Limits of all CUDA devices (CUDA Programming Guide, "Technical Specifications per Compute Capability").
MOST_THREADS = 1024  # of a block
GRID = "blocks", ((1 << 31) - 1, (1 << 16) - 1, (1 << 16) - 1)
LIMITS = {"grid": GRID, "cluster": GRID, "block": ("threads", (MOST_THREADS, MOST_THREADS, 64))}

FIELDS = ("grid", "cluster", "block", "shmem_size", "is_cooperative", "programmatic_stream_serialization")


cdef class LaunchConfig:
    """The shape of a kernel launch.

    Args:
        grid: Blocks in x, y, z; an int or a tuple of up to 3 ints >= 1. With a `cluster`: clusters in x, y, z.
        cluster: Blocks of a cluster, in the same form; None for no clusters (needs compute capability 9.0).
        block: Threads of a block, in the same form.
        shmem_size: Bytes of dynamic shared memory of a block.
        is_cooperative: All blocks run at the same time and may wait for each other (grid synchronisation).
        programmatic_stream_serialization: The kernel may begin before the previous kernel on the stream ends, when that
            kernel executes ``griddepcontrol.launch_dependents``. It waits for that kernel's memory by
            ``griddepcontrol.wait``. A captured launch has an edge like `EdgeData.programmatic()`. For launches on a
            stream; explicit nodes have `edge`.

    Raises:
        ValueError: A number is missing or out of range.
        CUDAError: The device does not support clusters, or cooperative launches.
    """

    def __init__(self, grid=None, cluster=None, block=None, shmem_size=None, is_cooperative=False,
                 programmatic_stream_serialization=False):
        self.grid = grid
        self.block = block
        self.cluster = cluster
        self.shmem_size = shmem_size
        self.is_cooperative = is_cooperative
        self.programmatic_stream_serialization = programmatic_stream_serialization

    @property
    def grid(self):
        """Blocks (with a cluster: clusters) in x, y, z."""
        cdef unsigned int clusters[3]
        self._count_clusters(clusters)
        return (clusters[0], clusters[1], clusters[2])

    @grid.setter
    def grid(self, value):
        cdef unsigned int clusters[3]
        set_three("grid", value, clusters, self._shape.cluster)
        self._count_blocks(clusters)

    @property
    def cluster(self):
        """Blocks of a cluster in x, y, z, or None."""
        cdef const unsigned int* cluster = self._shape.cluster
        return (cluster[0], cluster[1], cluster[2]) if cluster[0] else None

    @cluster.setter
    def cluster(self, value):
        cdef unsigned int clusters[3]
        self._count_clusters(clusters)
        if value is not None:
            refuse_without_clusters()
            set_three("cluster", value, self._shape.cluster, clusters)
        else:
            self._shape.cluster[0] = self._shape.cluster[1] = self._shape.cluster[2] = 0
        self._count_blocks(clusters)

    cdef void _count_clusters(self, unsigned int* clusters) noexcept:
        """Set `clusters` to the grid in clusters; without a cluster, in blocks."""
        cdef int i
        for i in range(3):
            clusters[i] = self._size.grid[i] // (self._shape.cluster[i] or 1)

    cdef void _count_blocks(self, const unsigned int* clusters) noexcept:
        cdef int i
        for i in range(3):
            self._size.grid[i] = clusters[i] * (self._shape.cluster[i] or 1)

    @property
    def block(self):
        """Threads of a block in x, y, z."""
        return (self._size.block[0], self._size.block[1], self._size.block[2])

    @block.setter
    def block(self, value):
        set_three("block", value, self._size.block, NULL)

    @property
    def shmem_size(self):
        """Bytes of dynamic shared memory of a block."""
        return self._size.shared

    @shmem_size.setter
    def shmem_size(self, value):
        size = 0 if value is None else as_int(value)
        if size is None:
            raise TypeError(f"shmem_size must be an int, got {type(value).__name__}")
        if not 0 <= size < 1 << 31:
            raise ValueError(f"shmem_size must be a number of bytes >= 0, got {value}")
        self._size.shared = size

    @property
    def is_cooperative(self):
        """True when all blocks run at the same time."""
        return self._shape.cooperative != 0

    @is_cooperative.setter
    def is_cooperative(self, value):
        if read_flag(value, "is_cooperative"):
            refuse_without_cooperation()
        self._shape.cooperative = 1 if value else 0

    @property
    def programmatic_stream_serialization(self):
        """True when the kernel may begin before the previous kernel on the stream has ended."""
        return self._is_programmatic

    @programmatic_stream_serialization.setter
    def programmatic_stream_serialization(self, value):
        self._is_programmatic = read_flag(value, "programmatic_stream_serialization")

    cdef void _fill(self, CUlaunchConfig* native, CUlaunchAttribute* attributes) noexcept nogil:
        cdef const unsigned int* grid = self._size.grid
        cdef const unsigned int* block = self._size.block
        cdef const unsigned int* cluster = self._shape.cluster
        native.gridDimX, native.gridDimY, native.gridDimZ = grid[0], grid[1], grid[2]
        native.blockDimX, native.blockDimY, native.blockDimZ = block[0], block[1], block[2]
        native.sharedMemBytes = self._size.shared
        native.attrs = attributes
        native.numAttrs = 0
        if cluster[0] != 0:
            attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            attributes[0].value.clusterDim.x = cluster[0]
            attributes[0].value.clusterDim.y = cluster[1]
            attributes[0].value.clusterDim.z = cluster[2]
            native.numAttrs = 1
        if self._shape.cooperative:
            attributes[native.numAttrs].id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE
            attributes[native.numAttrs].value.cooperative = 1
            native.numAttrs += 1
        if self._is_programmatic:
            attributes[native.numAttrs].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            attributes[native.numAttrs].value.programmaticStreamSerializationAllowed = 1
            native.numAttrs += 1

    def _fields(self):
        return (
            self.grid, self.cluster, self.block, self.shmem_size, self.is_cooperative, self.programmatic_stream_serialization
        )

    def __eq__(self, other):
        if not isinstance(other, LaunchConfig):
            return NotImplemented
        return self._fields() == (<LaunchConfig>other)._fields()

    def __hash__(self):
        return hash((LaunchConfig, *self._fields()))

    def __reduce__(self):
        return LaunchConfig, self._fields()

    def __repr__(self):
        last = ", programmatic_stream_serialization=True" if self._is_programmatic else ""
        return (
            f"LaunchConfig(grid={self.grid}, cluster={self.cluster}, block={self.block}, "
            f"shmem_size={self.shmem_size}, is_cooperative={self.is_cooperative}{last})"
        )


cdef int set_three(str name, value, unsigned int* target, const unsigned int* times) except -1:
    """Checks and stores a dimension. `times` are the factors of the driver's block count: it counts blocks, where a grid
    may count clusters."""
    cdef int i
    numbers = [as_int(n) for n in (value if isinstance(value, tuple) else (value,))]
    if not 1 <= len(numbers) <= 3 or None in numbers:
        raise ValueError(f"{name} must be an int or a tuple of 1 to 3 ints, got {value!r}")
    numbers += [1] * (3 - len(numbers))
    if min(numbers) < 1:
        raise ValueError(f"{name} must be >= 1 in each dimension, got {value!r}")
    threads = numbers[0] * numbers[1] * numbers[2]
    if name == "block" and threads > MOST_THREADS:
        raise ValueError(f"block={value!r} has {threads} threads, and the limit is {MOST_THREADS}: use a larger grid instead")
    unit, limits = LIMITS[name]
    for i in range(3):
        count = numbers[i] * (times[i] or 1 if times != NULL else 1)
        if count > limits[i]:
            raise ValueError(f"{name}={value!r} makes {count} {unit} in {'xyz'[i]}, and the limit is {limits[i]}")
    target[0], target[1], target[2] = numbers
    return 0


def refuse_without_clusters():
    capability = Device().compute_capability
    if capability < (9, 0):
        raise CUDANotSupportedError(
            801,
            "CUDA_ERROR_NOT_SUPPORTED",
            explanation="clusters of blocks need compute capability 9.0, and the device has "
            f"{capability[0]}.{capability[1]}",
            remedy="Launch without a cluster.",
        )


def refuse_without_cooperation():
    if not Device().properties.cooperative_launch:
        raise CUDANotSupportedError(
            801,
            "CUDA_ERROR_NOT_SUPPORTED",
            explanation="the device has no cooperative launches",
            remedy="Split the kernel at its grid synchronisations.",
        )


cdef bint is_config_function(object arg) noexcept:
    return callable(arg) and not isinstance(arg, type)


cdef LaunchConfig linear_config(unsigned int grid, unsigned int block, unsigned int shared, bint is_cooperative):
    cdef LaunchConfig self = LaunchConfig.__new__(LaunchConfig)
    cdef int i
    for i in range(3):
        self._size.grid[i] = self._size.block[i] = 1
    self._size.grid[0], self._size.block[0], self._size.shared = grid, block, shared
    self.is_cooperative = is_cooperative
    return self


cdef LaunchConfig accept_launch_config(object arg):
    if isinstance(arg, LaunchConfig):
        return <LaunchConfig>arg
    if isinstance(arg, dict):
        for name in arg:
            if name not in FIELDS:
                raise TypeError(f"config has a field {name!r} that LaunchConfig lacks; it has: {', '.join(FIELDS)}")
        return LaunchConfig(**arg)
    raise TypeError(f"config must be a LaunchConfig or a dict of its fields, got {type(arg).__name__}")
