# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Arrays and fields: memory of the device with a shape and an element type.

Other rooms may import:
    buffer_views  arrays in the memory of a Buffer
    captures    capture state of a stream
    creation    zeros, ones, full, empty, arange, array
    dtypes      element types, and elements on the host
    foreign     arrays of other libraries as arguments, and from_dlpack
    keep_alive  references to arguments until the work is done
    ndarray     NDArray and Field
    packed_views  the numbers of one type in an array of bytes
    struct_array  arrays and fields of structures
    struct_values  structures on the host: elements, and structured arrays of NumPy
    reading     the arguments of one call, as C structs
    tensors     PyTorch tensors that have gradients
"""
