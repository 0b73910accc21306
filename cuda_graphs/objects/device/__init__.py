# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Device, Context, Stream and Event.

Other rooms may import:
    context            Context, the current context, and scopes in which a device is current.
    current            The current stream of a thread.
    device             Device, and the current one of a thread.
    device_properties  DeviceProperties.
    event              Event.
    stream             Stream, and the arguments that are accepted as streams.
"""
