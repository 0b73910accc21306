# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The public names of Taichi 1.7.3 and Quadrants 1.3.3, as `dir()` lists them, by module or class.

Modules that are absent as a whole have one name. Swizzles of vectors and imported modules are left out.
"""

TAICHI = {
    "": (
        "ArgPack BitpackedFields CRITICAL DEBUG DeviceCapability ERROR Field FieldsBuilder Format GUI INFO "
        "Layout Matrix MatrixField MatrixNdarray Mesh MeshInstance Ndarray SNode ScalarField ScalarNdarray "
        "Struct StructField TRACE TaichiAssertionError TaichiCompilationError TaichiNameError "
        "TaichiRuntimeError TaichiRuntimeTypeError TaichiSyntaxError TaichiTypeError Texture Vector "
        "VectorNdarray WARN abs acos activate ad algorithms amdgpu aot append argpack arm64 asin "
        "assume_in_range atan2 atomic_add atomic_and atomic_max atomic_min atomic_mul atomic_or atomic_sub "
        "atomic_xor axes bit_cast bit_shr block_local cache_read_only cast ceil cos cpu cuda data_oriented "
        "dataclass deactivate deactivate_all_snodes dx11 dx12 eig exp experimental extension f16 f32 f64 "
        "field float16 float32 float64 floor frexp func get_addr gles global_thread_idx gpu graph grouped "
        "hex_to_rgb i i16 i32 i64 i8 ij ijk ijkl ijl ik ikl il init int16 int32 int64 int8 is_active "
        "is_logging_effective j jk jkl jl k kernel kl l lang length linalg log loop_config math max "
        "mesh_local mesh_patch_idx metal min ndarray ndrange no_activate one opengl polar_decompose pow "
        "profiler pyfunc randn random raw_div raw_mod real_func ref rescale_index reset rgb_to_hex root round "
        "rsqrt select set_logging_level simt sin solve sparse sparse_matrix_builder sqrt static static_assert "
        "static_print stop_grad svd sym_eig sync tan tanh template tools types u1 u16 u32 u64 u8 ui uint1 "
        "uint16 uint32 uint64 uint8 vulkan x64 x86_64 zero"
    ),
    "math": (
        "acos asin atan2 cconj cdiv ceil cexp cinv clamp clog clz cmul cos cpow cross csqrt degrees "
        "determinant distance dot e exp eye floor fract inf inverse isinf isnan ivec2 ivec3 ivec4 length log "
        "log2 mat2 mat3 mat4 max min mix mod nan normalize pi popcnt pow radians reflect refract rot_by_axis "
        "rot_yaw_pitch_roll rotation2d rotation3d round scale sign sin smoothstep sqrt step tan tanh "
        "translate uvec2 uvec3 uvec4 vdir vec2 vec3 vec4"
    ),
    "types": (
        "f16 f32 f64 float16 float32 float64 i16 i32 i64 i8 int16 int32 int64 int8 is_integral is_real "
        "is_signed is_tensor matrix ndarray quant ref rw_texture sparse_matrix_builder struct template "
        "texture u1 u16 u32 u64 u8 uint1 uint16 uint32 uint64 uint8 vector"
    ),
    "algorithms": "PrefixSumExecutor parallel_sort",
    "ad": "FwdMode Tape clear_all_gradients grad_for grad_replaced no_grad",
    "simt": "block grid subgroup warp",
    "simt.block": (
        "SharedArray global_thread_idx mem_sync sync sync_all_nonzero sync_any_nonzero sync_count_nonzero "
        "thread_idx"
    ),
    "simt.warp": (
        "active_mask all_nonzero any_nonzero ballot match_all match_any shfl_down_f32 shfl_down_i32 "
        "shfl_sync_f32 shfl_sync_i32 shfl_up_f32 shfl_up_i32 shfl_xor_i32 sync unique"
    ),
    "simt.subgroup": (
        "all_equal all_true any_true barrier broadcast broadcast_first elect exclusive_add exclusive_and "
        "exclusive_max exclusive_min exclusive_mul exclusive_or exclusive_xor group_size inclusive_add "
        "inclusive_and inclusive_max inclusive_min inclusive_mul inclusive_or inclusive_xor invocation_id "
        "memory_barrier reduce_add reduce_and reduce_max reduce_min reduce_mul reduce_or reduce_xor shuffle "
        "shuffle_down shuffle_up shuffle_xor"
    ),
    "simt.grid": "memfence",
    "Matrix": (
        "all any cast cols cross determinant diag dot field fill get_shape identity inverse max min ndarray "
        "norm norm_inv norm_sqr normalized one outer_product rows sum to_list to_numpy trace transpose unit "
        "zero"
    ),
    "Field": (
        "copy_from dtype fill from_numpy from_paddle from_torch parent shape snode to_numpy to_paddle "
        "to_torch"
    ),
    "Ndarray": "copy_from element_shape fill get_type",
    "MatrixField": "get_scalar_field",
    "StructField": (
        "copy_from dtype fill from_numpy from_paddle from_torch get_member_field keys parent shape snode "
        "to_numpy to_paddle to_torch"
    ),
    "Struct": "entries field items keys methods to_dict",
}

QUADRANTS = {
    "": (
        "Backend BitpackedFields BufferView CRITICAL DEBUG DeviceCapability ERROR Event Field FieldsBuilder "
        "Format GraphStatus INFO Layout Matrix MatrixField MatrixNdarray MatrixTensor Mesh MeshInstance "
        "Ndarray QuadrantsAssertionError QuadrantsCompilationError QuadrantsNameError QuadrantsRuntimeError "
        "QuadrantsRuntimeTypeError QuadrantsSyntaxError QuadrantsTypeError SNode ScalarField ScalarNdarray "
        "Stream Struct StructField TRACE Template Tensor Vector VectorNdarray VectorTensor WARN abs acos "
        "activate ad algorithms amdgpu append arm64 asin assume_in_range atan2 atomic_add atomic_and "
        "atomic_cas atomic_exchange atomic_max atomic_min atomic_mul atomic_or atomic_sub atomic_xor axes "
        "bit_cast bit_shr block_local cache_read_only cast ceil checkpoint clock_counter clock_freq_hz cos "
        "cpu create_event create_stream cuda data_oriented dataclass deactivate deactivate_all_snodes "
        "dump_compile_config eig exp experimental extension f16 f32 f64 field float16 float32 float64 floor "
        "frexp func get_addr global_thread_idx gpu graph graph_do_while graph_parallel graph_parallel_context "
        "grouped i i16 i32 i64 i8 ij ijk ijkl ijl ik ikl il init int16 int32 int64 int8 interop is_active "
        "is_extension_enabled is_logging_effective j jk jkl jl k kernel kl l lang length linalg log "
        "loop_config make_spd math max mesh_local mesh_patch_idx metal min ndarray ndrange no_activate one "
        "outer perf_dispatch polar_decompose pow profiler pure pyfunc python randn random raw_div raw_mod real_func "
        "ref rescale_index reset root round rsqrt select set_logging_level simt sin solve sparse "
        "sparse_matrix_builder sqrt static static_assert static_print stop_grad stream_parallel svd sym_eig "
        "sync tan tanh template tensor tools types u1 u16 u32 u64 u8 uint1 uint16 uint32 uint64 uint8 "
        "volatile_load vulkan wrap x64 x86_64 zero"
    ),
    "math": (
        "acos asin atan2 cconj cdiv ceil cexp cinv clamp clog clz cmul cos cpow cross csqrt degrees "
        "determinant distance dot e exp eye ffs floor fns fract inf inverse isinf isnan ivec2 ivec3 ivec4 "
        "length log log2 mat2 mat3 mat4 max min mix mod nan normalize pi popcnt pow radians reflect refract "
        "rot_by_axis rot_yaw_pitch_roll rotation2d rotation3d round scale sign sin smoothstep sqrt step tan "
        "tanh translate uvec2 uvec3 uvec4 vdir vec2 vec3 vec4"
    ),
    "types": (
        "NDArray Template f16 f32 f64 float16 float32 float64 i16 i32 i64 i8 int16 int32 int64 int8 "
        "is_integral is_real is_signed is_tensor matrix ndarray quant ref sparse_matrix_builder struct "
        "template u1 u16 u32 u64 u8 uint1 uint16 uint32 uint64 uint8 vector"
    ),
    "algorithms": (
        "PrefixSumExecutor exclusive_scan_add exclusive_scan_max exclusive_scan_min "
        "exclusive_scan_scratch_slots parallel_sort reduce_add reduce_by_key_add reduce_by_key_scratch_slots "
        "reduce_max reduce_min reduce_scratch_slots select select_scratch_slots sort sort_scratch_slots"
    ),
    "ad": "FwdMode Tape clear_all_gradients grad_for grad_replaced no_grad",
    "simt": "Tile16x16 Tile32x32 block grid reductions sorting subgroup tile_slicing warp",
    "simt.block": (
        "SharedArray exclusive_add exclusive_max exclusive_min exclusive_scan global_thread_idx inclusive_add "
        "inclusive_max inclusive_min inclusive_scan mem_fence mem_sync radix_rank_match_atomic_or reduce "
        "reduce_add reduce_all reduce_all_add reduce_all_max reduce_all_min reduce_max reduce_min sync "
        "sync_all_nonzero sync_any_nonzero sync_count_nonzero thread_idx"
    ),
    "simt.warp": (
        "active_mask all_nonzero any_nonzero ballot match_all match_any shfl_down_f32 shfl_down_i32 "
        "shfl_sync_f32 shfl_sync_i32 shfl_up_f32 shfl_up_i32 shfl_xor_i32 sync unique"
    ),
    "simt.subgroup": (
        "all_equal all_equal_tiled all_true all_true_tiled any_true any_true_tiled ballot ballot_first_n "
        "ballot_full_subgroup barrier bitonic_sort_kv bitonic_sort_kv_tiled broadcast broadcast_first elect "
        "exclusive_add exclusive_add_tiled exclusive_and exclusive_and_tiled exclusive_max "
        "exclusive_max_tiled exclusive_min exclusive_min_tiled exclusive_mul exclusive_mul_tiled exclusive_or "
        "exclusive_or_tiled exclusive_xor exclusive_xor_tiled group_size inclusive_add inclusive_add_tiled "
        "inclusive_and inclusive_and_tiled inclusive_max inclusive_max_tiled inclusive_min "
        "inclusive_min_tiled inclusive_mul inclusive_mul_tiled inclusive_or inclusive_or_tiled inclusive_xor "
        "inclusive_xor_tiled invocation_id lanemask_eq lanemask_ge lanemask_gt lanemask_le lanemask_lt "
        "log2_group_size mem_fence memory_barrier reduce_add reduce_add_tiled reduce_all_add "
        "reduce_all_add_tiled reduce_all_max reduce_all_max_tiled reduce_all_min reduce_all_min_tiled "
        "reduce_max reduce_max_tiled reduce_min reduce_min_tiled segmented_reduce_add "
        "segmented_reduce_add_tiled segmented_reduce_max segmented_reduce_max_tiled segmented_reduce_min "
        "segmented_reduce_min_tiled shuffle shuffle_down shuffle_up shuffle_xor sync"
    ),
    "simt.grid": "mem_fence memfence",
    "Matrix": (
        "all any cast cols cross determinant diag dot field fill frobenius_inner get_shape identity inverse "
        "max min ndarray norm norm_inv norm_sqr normalized one outer_product rows sum tensor to_list to_numpy "
        "trace transpose unit zero"
    ),
    "Field": (
        "copy_from dtype fill from_numpy from_torch has_dual has_grad layout parent shape snode to_dlpack "
        "to_numpy to_torch"
    ),
    "Ndarray": "copy_from element_shape fill get_type has_dual has_grad layout shape to_dlpack",
    "MatrixField": "get_scalar_field",
    "StructField": (
        "copy_from dtype fill from_numpy from_torch get_member_field has_dual has_grad keys layout parent "
        "shape snode to_dlpack to_numpy to_torch"
    ),
    "Struct": "entries field items keys methods to_dict",
}
