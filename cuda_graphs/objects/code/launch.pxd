# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
from libc.stddef cimport size_t
from libcpp.memory cimport unique_ptr

from cuda_graphs.core.graphs.graph_handles cimport GraphBox, NodeParameters, NodeRecord
from cuda_graphs.objects.keyword_method cimport Arguments
from .launch_config cimport LaunchConfig

# Sets `uses` to the parameters that a captured launch uses: the arguments `stand_ins`, and those of its config.
ctypedef int (*ReadUses)(
    GraphBox* graph, LaunchConfig config, Arguments args, size_t count, unique_ptr[NodeParameters]& uses
) except -1
# Returns the config that a function of the arguments gives.
ctypedef LaunchConfig (*ReadConfig)(object config, tuple args)
# Notes the node that a captured launch has made.
ctypedef int (*NoteNode)(NodeRecord* node, LaunchConfig config) except -1

# Returns the device that a config chooses; kNoDevice for most configs.
ctypedef int (*DeviceOfConfig)(LaunchConfig config) noexcept

# Registers the functions of the graph package for captured launches.
cdef int register_uses(ReadUses uses, ReadConfig config, NoteNode note, DeviceOfConfig device) except -1
