# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The public names of Taichi and Quadrants that concern dense data and kernels: ours, or the reason for absence.

taichi_names_page.py makes the page of them. A row is (their names, ours, note). `ti.` stands for both libraries, `qd.`
for names that only Quadrants has. Without ours, the note is the reason.
"""

Row = tuple[str, str, str]

CONTEXT = "kernels compile for the driver of the process; no process-wide state"
SPARSE = "sparse trees: arrays are dense, in C order"
MESH = "meshes: write arrays of indices"
TEXTURE = "textures: CUDA C++ kernels take texture handles as u64"
QUANTISED = "quantised types: use i8, i16 and f16, or shifts and masks"
SOLVER = "a solver library: pass arrays to CuPy or PyTorch"
SHELL = "no command line, window or mesh tools"

PROGRAM: tuple[Row, ...] = (
    ("ti.init", "cg.Device", CONTEXT),
    ("ti.init(arch=)", "cg.use_driver", "`cg.Device(n).set_current()` selects a GPU"),
    ("ti.init(debug=)", "cg.kernel", "`debug=True` for each kernel"),
    ("ti.init(fast_math=)", "cg.kernel", "`fast_math=True` for each kernel"),
    ("ti.init(default_fp=, default_ip=)", "cg.default_types", "or `default_float=` of `cg.kernel`"),
    ("ti.cfg", "cg.driver_info", "`kind` of it for `ti.cfg.arch`; the others are options of `cg.kernel`"),
    ("ti.init(random_seed=)", "cg.random_seed", ""),
    ("ti.init(offline_cache=)", "cg.compile_cache", "on by default; `CUDA_GRAPHS_CACHE=0` turns it off"),
    ("ti.init(kernel_profiler=)", "", "use Nsight Systems, or `cg.Event` around calls"),
    ("qd.Backend", "cg.use_driver", ""),
    (
        "qd.set_logging_level, qd.is_logging_effective, qd.TRACE, qd.DEBUG, qd.INFO, qd.WARN, qd.ERROR, qd.CRITICAL",
        "",
        "`CUDA_GRAPHS_DEBUG=1` to `5` logs the steps of the compiler",
    ),
    ("qd.dump_compile_config", "", "`cg.kernel` has the options of one kernel"),
    ("ti.extension, ti.is_extension_enabled, qd.DeviceCapability", "cg.Device", "its properties"),
    ("qd.Stream, qd.create_stream, qd.stream_parallel", "cg.Stream", "`stream=` of a call"),
    ("qd.Event, qd.create_event", "cg.Event", ""),
    ("qd.clock_counter, qd.clock_freq_hz", "cg.Event", "around calls"),
    ("qd.interop", "cg.interop", "other functions"),
    ("ti.hex_to_rgb, ti.rgb_to_hex", "", SHELL),
    ("ti.reset", "cg.reset", "forgets compiled code; arrays and fields stay"),
    ("ti.sync", "cg.Device.sync", "also `cg.Stream.sync`"),
    ("ti.cpu, ti.x64, ti.x86_64, ti.arm64", "cg.use_driver", '`cg.use_driver("host")`: x86-64'),
    ("ti.gpu, ti.cuda", "cg.use_driver", '`cg.use_driver("cuda")`'),
    ("ti.vulkan, ti.metal, ti.opengl, ti.gles, ti.amdgpu, ti.dx11, ti.dx12", "", "CUDA GPUs and CPUs only"),
    ("ti.profiler", "", "use Nsight Systems, or `cg.Event` around calls"),
    ("ti.tools, ti.ui, ti.GUI, ti.experimental", "", SHELL),
    ("ti.aot, ti.aot.Module", "", "code is kept on disk between processes: `cg.compile_cache`"),
)

DATA: tuple[Row, ...] = (
    ("ti.field, ti.Vector.field, ti.Matrix.field", "cg.field", "`cg.field(cg.vec3, shape)` for vectors"),
    ("ti.Struct.field", "cg.field", '`cg.field(Particle, n, layout="aos")`'),
    ("ti.field(offset=)", "cg.field", "`offset=(-2, 5)`"),
    ("ti.field(needs_grad=, needs_dual=)", "cg.field", "the same arguments"),
    (
        "ti.ndarray, ti.Vector.ndarray, ti.Matrix.ndarray",
        "cg.ndarray",
        "`cg.ndarray(cg.vec3, shape)` for vectors",
    ),
    ("ti.Ndarray, ti.ScalarNdarray, ti.VectorNdarray, ti.MatrixNdarray", "cg.NDArray", ""),
    ("ti.Field, ti.ScalarField, ti.MatrixField", "cg.Field", ""),
    ("ti.StructField", "cg.StructField", ""),
    ("qd.Tensor", "cg.types.Tensor", "the annotation for a field or an array"),
    ("qd.VectorTensor, qd.MatrixTensor", "cg.types.Tensor", ""),
    ("qd.tensor", "cg.ndarray", "or `cg.field`"),
    ("ti.Struct", "a dataclass", "a call makes a structure in kernels, as does `SimpleNamespace(mass=1.0)`"),
    ("qd.BufferView", "cg.NDArray.view", "also slices"),
    ("ti.volatile_load", "cg.atomic_add", "`cg.atomic_add(x[i], 0)` reads what other threads have written"),
    ("Field.shape, Field.dtype", "cg.NDArray.shape, cg.NDArray.dtype", ""),
    ("Field.fill", "cg.NDArray.fill", ""),
    ("Field.copy_from", "cg.NDArray.copy_from", ""),
    (
        "Field.to_numpy, Field.from_numpy",
        "cg.NDArray.to_numpy, cg.NDArray.from_numpy",
        "`copy=False` shares memory",
    ),
    (
        "Field.to_torch, Field.from_torch",
        "cg.NDArray.to_torch, cg.NDArray.from_torch",
        "`torch.from_dlpack(x)` shares memory",
    ),
    ("Field.to_paddle, Field.from_paddle", "cg.from_dlpack", "DLPack in both directions"),
    ("Field.grad, Field.dual", "cg.NDArray.grad, cg.NDArray.dual", ""),
    ("Field.snode, Field.parent", "", SPARSE),
    ("ti.Layout.AOS, ti.Layout.SOA", "cg.field", '`layout="aos"`, `layout="soa"`'),
    ("ti.root, ti.FieldsBuilder, ti.SNode, ti.axes, ti.i, ti.j, ti.k, ti.l, ti.ij, ti.ijk", "", SPARSE),
    ("ti.ik, ti.il, ti.jk, ti.jl, ti.kl, ti.ijl, ti.ikl, ti.jkl, ti.ijkl", "", SPARSE),
    ("ti.activate, ti.deactivate, ti.is_active, ti.append, ti.length, ti.get_addr", "", SPARSE),
    ("ti.deactivate_all_snodes, ti.rescale_index, ti.no_activate, ti.sparse", "", SPARSE),
    ("ti.Mesh, ti.MeshInstance, ti.TetMesh, ti.TriMesh, ti.mesh_local, ti.mesh_patch_idx", "", MESH),
    ("ti.Texture, ti.Format, ti.types.texture, ti.types.rw_texture", "", TEXTURE),
    ("ti.types.argpack, ti.types.ArgPack", "a dataclass", "passed member by member"),
    ("ti.linalg.SparseMatrixBuilder, ti.linalg.SparseMatrix, ti.linalg.SparseSolver", "", SOLVER),
    ("ti.linalg.MatrixFreeCG, ti.linalg.LinearOperator", "", SOLVER),
    (
        "ti.algorithms.parallel_sort, ti.algorithms.PrefixSumExecutor, qd.algorithms.sort, "
        "qd.algorithms.sort_scratch_slots",
        "",
        "in `cuda_graphs.compat.taichi`; or call CuPy or CUB, also in a capture",
    ),
    (
        "qd.algorithms.exclusive_scan_add, qd.algorithms.exclusive_scan_min, qd.algorithms.exclusive_scan_max, "
        "qd.algorithms.exclusive_scan_scratch_slots, qd.algorithms.select, qd.algorithms.select_scratch_slots",
        "",
        "in `cuda_graphs.compat.quadrants`; or call CuPy or CUB, also in a capture",
    ),
    (
        "qd.algorithms.reduce_add, qd.algorithms.reduce_min, qd.algorithms.reduce_max, "
        "qd.algorithms.reduce_by_key_add, qd.algorithms.reduce_by_key_scratch_slots, "
        "qd.algorithms.reduce_scratch_slots",
        "",
        "write a loop, as in `total += x[i]`; or in `cuda_graphs.compat.quadrants`",
    ),
    (
        "qd.simt.Tile16x16, qd.simt.Tile32x32, qd.outer",
        "",
        "in `cuda_graphs.compat.quadrants`; or keep a row for each lane, and exchange by `cg.warp.shuffle`",
    ),
)

TYPES: tuple[Row, ...] = (
    ("ti.i8, ti.i16, ti.i32, ti.i64", "cg.i8, cg.i16, cg.i32, cg.i64", ""),
    ("ti.u8, ti.u16, ti.u32, ti.u64", "cg.u8, cg.u16, cg.u32, cg.u64", ""),
    ("ti.f16, ti.f32, ti.f64", "cg.f16, cg.f32, cg.f64", "also `cg.bf16`"),
    ("ti.u1, ti.uint1", "cg.bool_", ""),
    ("ti.int8, ti.int16, ti.int32, ti.int64", "cg.i8, cg.i16, cg.i32, cg.i64", ""),
    ("ti.uint8, ti.uint16, ti.uint32, ti.uint64", "cg.u8, cg.u16, cg.u32, cg.u64", ""),
    ("ti.float16, ti.float32, ti.float64", "cg.f16, cg.f32, cg.f64", ""),
    ("ti.types.primitive_types", "cg.f32, cg.i32", "all scalar types are names of `cg`"),
    (
        "ti.types.is_integral, ti.types.is_real, ti.types.is_signed",
        "cg.static",
        "`cg.static(x.dtype in (cg.f32, cg.f64))`",
    ),
    ("ti.types.vector", "cg.types.vec", ""),
    ("ti.types.matrix", "cg.types.mat", ""),
    ("ti.types.struct, ti.dataclass", "a dataclass", "`@dataclasses.dataclass`, with methods"),
    ("ti.types.ndarray", "cg.types.ndarray", ""),
    ("qd.types.NDArray", "cg.types.NDArray", ""),
    ("ti.template, ti.types.template, ti.Template", "cg.template", "also takes arrays, by reference"),
    ("ti.any_arr, ti.ext_arr", "cg.types.ndarray", ""),
    ("ti.types.quant, ti.BitpackedFields", "", QUANTISED),
    ("ti.types.sparse_matrix_builder", "", SOLVER),
    ("ti.math.vec2, ti.math.vec3, ti.math.vec4", "cg.vec2, cg.vec3, cg.vec4", ""),
    ("ti.math.ivec2, ti.math.ivec3, ti.math.ivec4", "cg.types.vec", "`cg.types.vec(3, cg.i32)`"),
    ("ti.math.uvec2, ti.math.uvec3, ti.math.uvec4", "cg.types.vec", "`cg.types.vec(3, cg.u32)`"),
    ("ti.math.mat2, ti.math.mat3, ti.math.mat4", "cg.mat2, cg.mat3, cg.mat4", ""),
)

KERNELS: tuple[Row, ...] = (
    ("ti.kernel", "cg.kernel", ""),
    ("ti.func, ti.pyfunc", "cg.func", "plain functions on run-time values are inlined too"),
    ("qd.real_func, ti.experimental.real_func", "cg.func", "`cg.func(inline=False)`"),
    ("ti.data_oriented", "cg.data_oriented", ""),
    ("ti.static", "cg.static", ""),
    ("ti.static_assert", "cg.static_assert", ""),
    ("ti.static_print", "cg.static_print", ""),
    ("ti.ndrange", "cg.ndrange", "also `axes=`"),
    ("ti.grouped", "cg.grouped", ""),
    ("ti.loop_config", "cg.loop_config", "`block_dim`, `serialize`, `parallelize`, `name`"),
    (
        "ti.loop_config(block_dim_adaptive=)",
        "",
        "the compiler chooses the size where `block_dim` is not given",
    ),
    ("ti.parallelize, ti.serialize, ti.strictly_serialize, ti.block_dim", "cg.loop_config", ""),
    ("ti.bit_vectorize", "", QUANTISED),
    ("ti.block_local, ti.cache_read_only", "cg.block.shared_array", "explicit; read-only loads are found"),
    ("ti.loop_unique, ti.assume_in_range", "", "the compiler proves these itself, or keeps the atomics"),
    ("ti.template(), ti.kernel.grad", "cg.kernel", "`kernel.grad(...)`"),
    ("qd.perf_dispatch", "", "choose between kernels in Python, by measured times"),
    ("ti.graph.GraphBuilder, ti.graph.Graph", "cg.GraphDef, cg.Graph", "of kernels and all other nodes"),
    ("ti.graph.Arg, ti.graph.ArgKind", "cg.GraphDef.param", ""),
    ("qd.kernel(graph=)", "cg.kernel", "`graph=True`"),
    ("qd.graph.do_while", "cg.graph_do_while", "also `cg.graph_while`, `cg.graph_if`, `cg.graph_switch`"),
    (
        "qd.graph_do_while, qd.graph_parallel, qd.graph_parallel_context",
        "cg.graph_do_while, cg.graph_section, cg.graph_parallel",
        "",
    ),
    ("qd.pure", "cg.kernel", "all kernels: globals are constants of the code"),
    ("qd.graph.parallel_context, qd.graph.parallel", "cg.graph_parallel, cg.graph_section", ""),
    ("qd.graph.checkpoint", "cg.checkpoint", ""),
    ("qd.GraphStatus", "cg.KernelFunction.resume", "the call says where it ended"),
    ("qd.ref", "cg.template", "a template parameter of a function is the variable that it gets"),
    ("print, assert", "print, assert", "`assert` needs `debug=True`"),
    ("ti.CompilationError, ti.TaichiCompilationError", "cg.CompileError", "a class for each cause"),
    ("ti.TaichiSyntaxError, ti.TaichiTypeError", "cg.CompileSyntaxError, cg.CompileTypeError", ""),
    ("ti.TaichiNameError", "cg.CompileNameError", ""),
    ("ti.TaichiAssertionError", "cg.KernelAssertionError", ""),
    (
        "ti.TaichiRuntimeError, ti.TaichiRuntimeTypeError",
        "cg.KernelError, TypeError",
        "TypeError for arguments",
    ),
    (
        "qd.QuadrantsCompilationError, qd.QuadrantsSyntaxError, qd.QuadrantsTypeError, qd.QuadrantsNameError",
        "cg.CompileError, cg.CompileSyntaxError, cg.CompileTypeError, cg.CompileNameError",
        "",
    ),
    (
        "qd.QuadrantsAssertionError, qd.QuadrantsRuntimeError, qd.QuadrantsRuntimeTypeError",
        "cg.KernelAssertionError, cg.KernelError, TypeError",
        "",
    ),
)

OPERATIONS: tuple[Row, ...] = (
    ("ti.cast, ti.bit_cast", "cg.cast, cg.bit_cast", ""),
    ("ti.select", "cg.select", ""),
    ("ti.min, ti.max, ti.abs, ti.round, ti.pow", "min, max, abs, round, pow", "Python's functions"),
    ("ti.floor, ti.ceil", "cg.floor, cg.ceil", "also `cg.trunc`"),
    ("ti.sqrt, ti.rsqrt", "cg.sqrt, cg.rsqrt", ""),
    ("ti.exp, ti.log", "cg.exp, cg.log", "also `cg.exp2`, `cg.log2`, `cg.log10`"),
    ("ti.sin, ti.cos, ti.tan", "cg.sin, cg.cos, cg.tan", ""),
    ("ti.asin, ti.acos, ti.atan2", "cg.asin, cg.acos, cg.atan2", "also `cg.atan`"),
    ("ti.tanh", "cg.tanh", "also `cg.sinh`, `cg.cosh`"),
    ("ti.raw_div, ti.raw_mod, ti.bit_shr", "cg.raw_div, cg.raw_mod, cg.bit_shr", ""),
    ("ti.logical_and, ti.logical_or, ti.bit_not, ti.logical_not", "and, or, ~, not", "operators"),
    ("ti.random", "cg.random", ""),
    ("ti.randn", "cg.random_normal", ""),
    ("ti.atomic_add, ti.atomic_sub, ti.atomic_mul", "cg.atomic_add, cg.atomic_sub, cg.atomic_mul", ""),
    ("ti.atomic_min, ti.atomic_max", "cg.atomic_min, cg.atomic_max", ""),
    ("ti.atomic_and, ti.atomic_or, ti.atomic_xor", "cg.atomic_and, cg.atomic_or, cg.atomic_xor", ""),
    ("ti.atomic_cas, qd.atomic_exchange", "cg.atomic_cas, cg.atomic_exchange", ""),
    ("ti.math.pi, ti.math.e, ti.math.inf, ti.math.nan", "cg.pi, cg.e, cg.inf, cg.nan", ""),
    ("ti.math.isinf, ti.math.isnan", "cg.isinf, cg.isnan", ""),
    ("ti.math.clamp, ti.math.mix, ti.math.step", "cg.clamp, cg.mix, cg.step", ""),
    ("ti.math.fract, ti.math.sign, ti.math.mod", "cg.fract, cg.sign, cg.mod", ""),
    ("ti.math.smoothstep, ti.frexp", "cg.smoothstep, cg.frexp", ""),
    ("ti.math.degrees, ti.math.radians", "cg.degrees, cg.radians", ""),
    ("ti.math.log2, ti.math.popcnt, ti.math.clz, qd.math.ffs", "cg.log2, cg.popcnt, cg.clz, cg.ffs", ""),
    ("ti.math.length, ti.math.distance", "cg.length, cg.distance", ""),
    ("ti.math.dot, ti.math.cross", "cg.dot, cg.cross", ""),
    ("ti.math.normalize, ti.math.reflect", "cg.normalize, cg.reflect", ""),
    ("ti.math.refract", "", "four lines: see its formula in GLSL"),
    ("ti.math.inverse, ti.math.determinant", "cg.inverse, cg.determinant", ""),
    ("ti.math.eye", "cg.types.mat", "`cg.mat3(1, 0, 0, 0, 1, 0, 0, 0, 1)`"),
    (
        "ti.math.rotation2d, ti.math.rotation3d, ti.math.rot_yaw_pitch_roll",
        "cg.quat_to_matrix",
        "of `cg.quat_from_axis_angle`",
    ),
    ("ti.math.rot_by_axis", "cg.quat_from_axis_angle", ""),
    ("ti.math.translate, ti.math.scale", "cg.mat4", "write the matrix"),
    ("ti.math.vdir", "cg.vec2", "`cg.vec2(cg.cos(a), cg.sin(a))`"),
    (
        "ti.math.cmul, ti.math.cdiv, ti.math.cconj, ti.math.cinv",
        "",
        "complex numbers: write a dataclass with operators, `__mul__`",
    ),
    (
        "ti.math.cexp, ti.math.clog, ti.math.cpow, ti.math.csqrt",
        "",
        "complex numbers: write a dataclass with operators, `__mul__`",
    ),
    ("ti.svd, ti.sym_eig, ti.eig", "cg.svd, cg.sym_eig, cg.eig", "2 x 2 and 3 x 3, in f32 and f64"),
    ("qd.make_spd", "cg.sym_eig", "raise the eigenvalues, and multiply"),
    ("ti.polar_decompose, ti.solve", "cg.polar_decompose, cg.solve", "also `cg.qr`"),
    ("ti.zero, ti.one", "cg.zero, cg.one", ""),
)

VECTORS: tuple[Row, ...] = (
    ("ti.Vector, ti.Matrix", "cg.vector, cg.types.mat", ""),
    ("Matrix.n, Matrix.m", "v.n, v.m", ""),
    ("Matrix.x, Matrix.xyz, Matrix.rgba", "v.x, v.xyz", "swizzles of `xyzw`, `rgba` and `stpq`"),
    ("Matrix.transpose, Matrix.determinant", "v.transpose, v.determinant", ""),
    ("Matrix.inverse, Matrix.trace", "v.inverse, v.trace", ""),
    ("Matrix.norm, Matrix.normalized", "v.norm, v.normalized", ""),
    ("Matrix.norm_sqr, Matrix.norm_inv", "v.norm_sqr, v.norm_inv", ""),
    ("Matrix.dot, Matrix.cross, Matrix.outer_product", "v.dot, v.cross, v.outer", ""),
    ("Matrix.sum, Matrix.max, Matrix.min", "v.sum, v.max, v.min", ""),
    ("Matrix.any, Matrix.all", "v.any, v.all", ""),
    ("Matrix.cast, Matrix.fill", "v.cast, v.fill", ""),
    (
        "Matrix.zero, Matrix.one, Vector.unit, Matrix.identity",
        "cg.zero, cg.one",
        "of a vector; or write the numbers",
    ),
    ("Matrix.diag, Matrix.rows, Matrix.cols", "cg.types.mat", "of the components"),
    ("Matrix.to_list, Matrix.to_numpy", "cg.NDArray.to_numpy", "on the host vectors are sequences"),
)

THREADS: tuple[Row, ...] = (
    (
        "qd.simt.block.reduce, qd.simt.block.reduce_min, qd.simt.block.reduce_all, qd.simt.block.reduce_all_add, "
        "qd.simt.block.reduce_all_min, qd.simt.block.reduce_all_max",
        "cg.block.reduce_add, cg.block.reduce_min, cg.block.reduce_max",
        "each thread gets the result",
    ),
    ("qd.simt.block.sync_count_nonzero", "cg.block.reduce_add", "of `1 if x != 0 else 0`"),
    (
        "qd.simt.block.inclusive_scan, qd.simt.block.inclusive_min, qd.simt.block.inclusive_max, "
        "qd.simt.block.exclusive_scan, qd.simt.block.exclusive_add, qd.simt.block.exclusive_min, "
        "qd.simt.block.exclusive_max",
        "",
        "scans: five shuffles in each warp, and shared memory between warps",
    ),
    ("ti.simt.block.SharedArray", "cg.block.shared_array", "on CPUs too"),
    ("ti.simt.block.sync, ti.simt.block.thread_idx", "cg.block.sync, cg.block.thread", ""),
    (
        "ti.simt.block.global_thread_idx",
        "cg.block.index",
        "`cg.block.index() * cg.block.dim() + cg.block.thread()`",
    ),
    ("ti.simt.block.sync_all_nonzero, ti.simt.block.sync_any_nonzero", "cg.block.all, cg.block.any", ""),
    ("ti.simt.block.mem_sync", "cg.block.sync", "a barrier also orders memory"),
    ("ti.simt.grid.memfence, ti.simt.grid.mem_fence", "cg.fence", "no thread waits"),
    ("ti.simt.warp.all_nonzero, ti.simt.warp.any_nonzero", "cg.warp.all, cg.warp.any", ""),
    ("ti.simt.warp.ballot", "cg.warp.ballot", ""),
    ("ti.simt.warp.shfl_sync_i32, ti.simt.warp.shfl_sync_f32", "cg.warp.shuffle", "of any type"),
    ("ti.simt.warp.shfl_up_i32, ti.simt.warp.shfl_up_f32", "cg.warp.shuffle_up", ""),
    ("ti.simt.warp.shfl_down_i32, ti.simt.warp.shfl_down_f32", "cg.warp.shuffle_down", ""),
    ("ti.simt.warp.shfl_xor_i32", "cg.warp.shuffle_xor", ""),
    (
        "ti.simt.warp.match_any, ti.simt.warp.match_all, ti.simt.warp.unique",
        "",
        "use `cg.warp.ballot`, or CUDA C++",
    ),
    (
        "ti.simt.warp.active_mask, ti.simt.warp.sync",
        "cg.warp.sync",
        "all lanes take part, so there are no masks",
    ),
    (
        "ti.simt.subgroup.reduce_add, ti.simt.subgroup.reduce_max",
        "cg.warp.reduce_add, cg.warp.reduce_max",
        "",
    ),
    (
        "ti.simt.subgroup.reduce_min, ti.simt.subgroup.reduce_and, ti.simt.subgroup.reduce_or, "
        "ti.simt.subgroup.reduce_xor",
        "cg.warp.reduce_min, cg.warp.reduce_and, cg.warp.reduce_or, cg.warp.reduce_xor",
        "the forms with `_tiled` for groups of other sizes than 32 are absent",
    ),
    (
        "qd.simt.subgroup.reduce_all_add, qd.simt.subgroup.reduce_all_min, qd.simt.subgroup.reduce_all_max",
        "cg.warp.reduce_add, cg.warp.reduce_min, cg.warp.reduce_max",
        "each lane gets the result",
    ),
    ("ti.simt.subgroup.reduce_mul", "", "five shuffles: `x *= cg.warp.shuffle_xor(x, 16)`, ..."),
    ("ti.simt.subgroup.inclusive_add", "", "scans: five shuffles"),
    *(
        (
            ", ".join(f"ti.simt.subgroup.{kind}_{name}" for name in names),
            "",
            "scans: five shuffles",
        )
        for kind, names in (
            ("inclusive", ("mul", "min", "max", "and", "or", "xor")),
            ("exclusive", ("add", "mul", "min", "max", "and", "or", "xor")),
        )
    ),
    (
        "qd.simt.subgroup.segmented_reduce_add, qd.simt.subgroup.segmented_reduce_min, "
        "qd.simt.subgroup.segmented_reduce_max",
        "",
        "scans: five shuffles, each of them with a test of the segment",
    ),
    (
        "ti.simt.subgroup.shuffle, ti.simt.subgroup.shuffle_up, ti.simt.subgroup.shuffle_down, "
        "ti.simt.subgroup.shuffle_xor",
        "cg.warp.shuffle, cg.warp.shuffle_up, cg.warp.shuffle_down, cg.warp.shuffle_xor",
        "",
    ),
    (
        "ti.simt.subgroup.broadcast, ti.simt.subgroup.broadcast_first",
        "cg.warp.shuffle",
        "`cg.warp.shuffle(x, 0)`",
    ),
    ("ti.simt.subgroup.all_true, ti.simt.subgroup.any_true", "cg.warp.all, cg.warp.any", ""),
    ("ti.simt.subgroup.all_equal", "cg.warp.all", "`cg.warp.all(x == cg.warp.shuffle(x, 0))`"),
    ("qd.simt.subgroup.ballot_first_n, qd.simt.subgroup.ballot_full_subgroup", "cg.warp.ballot", ""),
    ("ti.simt.subgroup.barrier, ti.simt.subgroup.memory_barrier", "cg.warp.sync", ""),
    ("ti.simt.subgroup.group_size, qd.simt.subgroup.log2_group_size", "", "a warp has 32 threads"),
    (
        "qd.simt.subgroup.lanemask_eq, qd.simt.subgroup.lanemask_lt, qd.simt.subgroup.lanemask_le, "
        "qd.simt.subgroup.lanemask_gt, qd.simt.subgroup.lanemask_ge",
        "cg.warp.lane",
        "`(1 << cg.warp.lane()) - 1`",
    ),
    (
        "qd.simt.tile_slicing, qd.simt.reductions, qd.simt.sorting, qd.simt.block.radix_rank_match_atomic_or",
        "",
        "operations on tiles: write them with `cg.warp.shuffle`, or call CUB",
    ),
    ("qd.simt.subgroup.bitonic_sort_kv", "", "a sort of 32 keys: fifteen steps of `cg.warp.shuffle_xor`"),
    ("ti.simt.subgroup.elect, ti.simt.subgroup.invocation_id", "cg.warp.lane", "`cg.warp.lane() == 0`"),
)

GRADIENTS: tuple[Row, ...] = (
    ("ti.ad.Tape", "cg.ad.Tape", ""),
    ("ti.ad.FwdMode", "cg.ad.FwdMode", ""),
    (
        "ti.ad.grad_replaced, ti.ad.grad_for, ti.ad.no_grad",
        "cg.ad.grad_replaced, cg.ad.grad_for, cg.ad.no_grad",
        "",
    ),
    ("ti.ad.clear_all_gradients", "cg.ad.clear_all_gradients", ""),
    ("ti.stop_grad", "cg.stop_grad", "of values and arrays"),
    ("ti.init(ad_stack_size=)", "cg.KernelFunction.grad", "stacks get the size that a launch needs"),
)

GROUPS: dict[str, tuple[Row, ...]] = {
    "Program": PROGRAM,
    "Data": DATA,
    "Types": TYPES,
    "Kernels and graphs": KERNELS,
    "Operations": OPERATIONS,
    "Vectors and matrices": VECTORS,
    "Threads of a block": THREADS,
    "Gradients": GRADIENTS,
}
