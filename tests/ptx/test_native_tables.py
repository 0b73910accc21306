# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: the host driver loads native images of PTX from earlier versions, whose tables of the driver's functions end
sooner. Functions are only added at the end of the table."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import cuda_graphs as cg
from cuda_graphs.core.driver.choice import driver_info

MAKE = '''
import sys
from cuda_graphs.hostdriver.ptx import abi
abi.SERVICES = abi.SERVICES[: int(sys.argv[1])]
from cuda_graphs.hostdriver.ptx.loader import native_code
open(sys.argv[2], "wb").write(native_code(b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry write_seven(.param .u64 to)
{
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [to];
    st.global.u32 [%rd1], 7;
    ret;
}
"""))
'''
FIRST = 12  # functions in the table of the first images


@pytest.mark.parametrize("count", [FIRST, FIRST + 1])
def test_images_with_older_tables_run(count, tmp_path, device):
    if driver_info().kind != "host":
        pytest.skip("only the host driver loads native images")
    image = tmp_path / "image"
    subprocess.run(
        [sys.executable, "-W", "error", "-c", MAKE, str(count), image],
        cwd=Path(__file__).parents[2],
        env=os.environ | {"CUDA_GRAPHS_CACHE": "0"},
        check=True,
        timeout=120,
    )
    kernel = cg.ObjectCode.from_native(image.read_bytes()).get_kernel("write_seven")
    to = cg.zeros(1, cg.i32)
    stream = device.create_stream()
    cg.launch(stream, cg.LaunchConfig(grid=1, block=1), kernel, to)
    stream.sync()
    np.testing.assert_array_equal(to.to_numpy(), [7])
