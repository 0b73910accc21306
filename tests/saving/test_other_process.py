# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Law: a saved definition that another process loads computes what the definition itself computes."""

import numpy as np

import cuda_graphs as cg


@cg.kernel
def axpy(a: cg.f32, x: cg.types.ndarray(cg.f32, ndim=1), y: cg.types.ndarray(cg.f32, ndim=1)):
    for i in x:
        y[i] += a * x[i]


ONES = b"""
.version 7.8
.target sm_80
.address_size 64
.visible .entry ones(.param .u64 .ptr .global y) { ret; }
"""


LOAD = """
import sys
import numpy as np
import cuda_graphs as cg

HEAVY = (
    "llvmlite", "ml_dtypes", "cuda.bindings.nvrtc", "cuda.bindings.nvjitlink", "cuda_graphs.objects.code.program",
    "cuda_graphs.compiler.codegen", "cuda_graphs.compiler.passes", "cuda_graphs.native",
)
g = cg.load("saved.cgg")
values = {name: cg.array(np.load(f"{name}.npy")) for name in g.inputs}
results = {name: values.get(name) or cg.ndarray(cg.f32, p.default.shape) for name, p in g.outputs.items()}
stream = cg.Device().create_stream()
g.instantiate().launch(stream, **values, **results)
stream.sync()
for name, array in results.items():
    np.save(f"{name}_out.npy", array.to_numpy())
heavy = {name for name in sys.modules if name.startswith(HEAVY)}
assert not heavy, heavy
"""


def test_fills_copies_and_kernels_of_python_travel(device, tmp_path, elsewhere):
    x, y = cg.array(np.arange(1000, dtype=np.float32)), cg.ndarray(cg.f32, 1000)
    z = cg.ndarray(cg.f32, 1000)
    g = cg.GraphDef()
    g.memset(y, 1.0, name="ones").call(axpy, 3.0, x, y).memcpy(z, y)
    g.save(tmp_path / "saved.cgg", inputs={"x": x}, outputs={"z": z}, include=[y])
    given = np.linspace(-1, 1, 1000, dtype=np.float32)
    np.save(tmp_path / "x.npy", given)
    elsewhere(LOAD)
    assert np.allclose(np.load(tmp_path / "z_out.npy"), 1 + 3 * given)


FIRST_LOAD = """
import sys
import cuda_graphs as cg

cg.Device().set_current()
stream = cg.Device().create_stream()
before = set(sys.modules)
cg.load("saved.cgg").instantiate().launch(stream)
stream.sync()
print(*sorted(set(sys.modules) - before))
"""


def test_the_first_load_imports_nothing(device, tmp_path, elsewhere):
    x, y = cg.ndarray(cg.f32, 64), cg.ndarray(cg.f32, 64)
    ones = cg.ObjectCode.from_ptx(ONES).get_kernel("ones")
    g = cg.GraphDef()
    g.call(axpy, 3.0, x, y).launch(cg.LaunchConfig(grid=1, block=1), ones, y).memcpy(x, y)
    g.save(tmp_path / "saved.cgg", inputs={"x": x}, include=[y])
    assert elsewhere(FIRST_LOAD).split() == []


AUDITED = """
import sys
import cuda_graphs as cg

callbacks = {"report": lambda: called.append(True)}
called = []
cg.load("zoo.cgg", callbacks=callbacks).instantiate()  # imports modules
events = []
sys.addaudithook(lambda event, arguments: events.append((event, *map(str, arguments[:1]))))
graph = cg.load("zoo.cgg", callbacks=callbacks).instantiate()
found = {each for each in events if not each[0].startswith("object.__")}
assert found == {("open", "zoo.cgg")}, found
stream = cg.Device().create_stream()
stream.sync()
assert called == []
graph.launch(stream)
stream.sync()
assert called == [True]
"""


def test_loading_opens_one_file_and_runs_nothing(zoo, tmp_path, elsewhere):
    zoo.save(tmp_path / "zoo.cgg")
    elsewhere(AUDITED)


LINE_OF = """
import sys
import cuda_graphs as cg

assert sys.getfilesystemencoding() == "ascii"
(node,) = cg.load("saved.cgg").nodes()
sys.stdout.buffer.write(node.source.encode())
"""


def test_source_lines_in_files_with_any_name_travel_to_a_process_that_reads_names_as_ascii(
    device, tmp_path, elsewhere
):
    y = cg.ndarray(cg.f32, 8)
    names = {"g": cg.GraphDef(), "y": y}
    exec(compile("\ng.memset(y, 1.0)", "/models/größe.py", "exec"), names)
    names["g"].save(tmp_path / "saved.cgg", outputs={"y": y})
    found = elsewhere(LINE_OF, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert found == "/models/größe.py:2"
