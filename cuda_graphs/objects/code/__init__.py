# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Program, ObjectCode, Kernel, their arguments and launches.

Other rooms may import:
    arguments      The arguments of a launch.
    conversion     The rules by which values fit parameters.
    include        The headers of `cg.get_include()`.
    kernel         Kernel.
    launch         launch.
    launch_config  LaunchConfig.
    object_code    ObjectCode.
    program        Program.
    signature      The types of parameters, as code tells them.
"""
