# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""Laws: the stub of a compiled module declares its functions, classes, members, bases and parameters, and nothing else;
every public name of the package exists and explains itself.

Parameters of constructors and operators of extension types are not compared, because Python cannot inspect them. Names
with an underscore are internal in a module, and types for type checkers in a stub.
"""

import ast
import copy
import importlib
import inspect
import types

import pytest

from cuda_graphs.graph.definition import GraphDef

VAR_KEYWORD = inspect.Parameter.VAR_KEYWORD
# Functions whose parameters are unknown.
SLOTS = (types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinMethodType)
# Members that Python, Cython, dataclasses and named tuples write, and that type checkers know. Copying and pickling
# leave __slotnames__ in the class.
WRITTEN = set(
    """__pyx_vtable__ __reduce_cython__ __setstate_cython__ __delitem__ __slots__ __dict__ __weakref__ __annotations__
    __dataclass_fields__ __dataclass_params__ __match_args__ __getnewargs__ __slotnames__
    __firstlineno__ __static_attributes__ __replace__""".split()
)
# Bases and members that say something to type checkers only: of generic classes, of what stands for any value, and of
# functions that become methods.
TYPES_ONLY = {"Generic", "Any", "__get__"}


def is_public(name):
    return not name.startswith("_") or name.endswith("__")


def offered(owner):
    """{name: object} of all that a stub must declare of a module or class."""
    if isinstance(owner, types.ModuleType):
        found = inspect.getmembers(owner, lambda each: getattr(each, "__module__", None) == owner.__name__)
        return {name: each for name, each in found if is_public(name) and callable(each)}
    # Cython writes the reflected form of each operator, too. Every object has the members of `object`.
    written = WRITTEN | {f"__r{name[2:]}" for name in vars(owner) if name.startswith("__")}
    members = vars(owner).items()
    return {
        name: each
        for name, each in members
        if is_public(name) and name not in written and not hasattr(object, name)
    }


def declared(body):
    """{name: its statements} of the body of a stub or of a class in it. An overloaded function has several."""
    found = {}
    for statement in body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.setdefault(name, []).append(statement)
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
                found.setdefault(name, []).append(statement)
    return {name: statements for name, statements in found.items() if is_public(name)}


def declared_parameters(function):
    """[(name, kind, default)] of a function in a stub. A default that is no literal is `...`."""
    arguments = function.args
    for argument in ast.walk(arguments):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    for defaults in (arguments.defaults, arguments.kw_defaults):
        defaults[:] = [d if d is None or isinstance(d, ast.Constant) else ast.Constant(...) for d in defaults]
    signature = inspect.signature(eval(f"lambda {ast.unparse(arguments)}: None"))
    return [(each.name, each.kind, each.default) for each in signature.parameters.values()]


def have_same_parameters(function, actual):
    expected = declared_parameters(function)
    parameters = [(p.name, p.kind, p.default) for p in inspect.signature(actual).parameters.values()]
    if (
        parameters
        and parameters[-1][1] is VAR_KEYWORD
        and all(kind is not VAR_KEYWORD for _, kind, _ in expected)
    ):
        del expected[len(parameters) - 1 :], parameters[-1]  # the stub spells the keywords out
    return [each[:2] for each in expected] == [each[:2] for each in parameters] and all(
        default == found or (default is ... and found is not inspect.Parameter.empty)
        for (*_, default), (*_, found) in zip(expected, parameters)
    )


def difference(statements, actual):
    """Why the object `actual` differs from its declaration, or None."""
    first = statements[0]
    if isinstance(first, ast.ClassDef) != isinstance(actual, type):
        return "is a class on one side only"
    if isinstance(first, ast.ClassDef):
        bases = [ast.unparse(base).partition("[")[0].replace("NamedTuple", "tuple") for base in first.bases]
        bases = [base for base in bases if base not in TYPES_ONLY]
        actual_bases = [base.__name__ for base in actual.__bases__ if base is not object]
        return None if bases == actual_bases else f"has the bases {actual_bases}"
    if isinstance(first, ast.Assign) and isinstance(first.value, ast.Attribute):  # `launch = Base.launch`
        return difference_from_base(first.value, actual)
    is_function = isinstance(first, ast.FunctionDef)
    decorators = {ast.unparse(d) for d in first.decorator_list} if is_function else set()
    if (is_function and "property" not in decorators) != (
        callable(actual) or isinstance(actual, classmethod)
    ):
        return "is a function on one side only"
    if "property" in decorators or not is_function or isinstance(actual, SLOTS):
        return None
    for kind in (staticmethod, classmethod) if first.name != "__new__" else ():
        if (kind.__name__ in decorators) != isinstance(actual, kind):
            return f"is a {kind.__name__} on one side only"
    function = getattr(actual, "__func__", actual)
    return (
        None if have_same_parameters(first, function) else f"has the parameters {inspect.signature(function)}"
    )


def difference_from_base(declared_as, actual):
    """Why the method `actual` differs from that of the base of its class that the stub names, or None."""
    base = next(
        (each for each in actual.__objclass__.__mro__[1:] if each.__name__ == declared_as.value.id), None
    )
    if base is None or not hasattr(base, declared_as.attr):
        return f"is not a method of a base named {ast.unparse(declared_as)}"
    signature = inspect.signature(getattr(base, declared_as.attr))
    return (
        None
        if inspect.signature(actual) == signature
        else f"has other parameters than {ast.unparse(declared_as)}"
    )


def differences(owner, body, name):
    """Yield the differences between a module or class and its stub, or the body of its class in the stub."""
    stub, actual = declared(body), offered(owner)
    yield from (f"{name}.{each} is not in the stub" for each in sorted(actual.keys() - stub.keys()))
    for each, statements in stub.items():
        found = inspect.getattr_static(owner, each, None)
        if not hasattr(owner, each):
            # Instances of classes that are no extension types have attributes of their own.
            is_attribute = isinstance(statements[0], ast.AnnAssign) and "__dict__" in vars(owner)
            if not is_attribute and each not in TYPES_ONLY:
                yield f"{name}.{each} is only in the stub"
        elif why := difference(statements, found):
            yield f"{name}.{each} {why}"
        elif isinstance(statements[0], ast.ClassDef):
            yield from differences(found, statements[0].body, f"{name}.{each}")


def test_stubs_and_compiled_modules_declare_the_same(tree):
    found = []
    for path in tree.files(".pyx", below="cuda_graphs"):
        stub = path.with_suffix(".pyi")
        module = importlib.import_module(".".join(path.relative_to(tree.root).with_suffix("").parts))
        found += differences(
            module, ast.parse(stub.read_text() if stub.exists() else "").body, module.__name__
        )
    assert found == []


MODULE = """
class Base: pass
class Stream(Base):
    __slots__ = ("handle",)
    def sync(self, timeout=None): pass
    def wait(self, event, *, flags=0, **keywords): pass
    @staticmethod
    def make(handle): pass
    @property
    def priority(self): pass
    def __len__(self): pass
def launch(stream, *args): pass
"""
STUB = """
class Base: ...
class Stream(Base):
    handle: int
    def sync(self, timeout: float | None = None) -> None: ...
    def wait(self, event: Event, *, flags: int = ..., late: bool = True) -> None: ...
    @staticmethod
    def make(handle: int) -> Stream: ...
    @property
    def priority(self) -> int: ...
    def __len__(self) -> int: ...
def launch(stream: Stream, *args: object) -> None: ...
"""
OFFENCES = [
    ("(Base):", ":", "Stream has the bases ['Base']"),
    ("    handle: int\n", "", "Stream.handle is not in the stub"),
    ("handle: int\n", "handle: int\n    context: int\n", "Stream.context is only in the stub"),
    ("timeout: float | None", "seconds: float | None", "Stream.sync has the parameters (self, timeout=None)"),
    ("None = None", "None = 1.0", "Stream.sync has the parameters (self, timeout=None)"),
    ("None = None", "None", "Stream.sync has the parameters (self, timeout=None)"),
    ("*, flags", "flags", "Stream.wait has the parameters (self, event, *, flags=0, **keywords)"),
    ("    @staticmethod\n", "", "Stream.make is a staticmethod on one side only"),
    ("    @property\n", "", "Stream.priority is a function on one side only"),
    (
        "def sync(self, timeout: float | None = None) -> None: ...",
        "sync: int",
        "Stream.sync is a function on one side only",
    ),
    ("    def __len__(self) -> int: ...\n", "", "Stream.__len__ is not in the stub"),
    ("def launch(stream: Stream, *args: object) -> None: ...\n", "", "launch is not in the stub"),
    ("class Base: ...", "Base: int", "Base is a class on one side only"),
    ("class Base", "def late() -> None: ...\nclass Base", "late is only in the stub"),
]


@pytest.fixture
def made_up_module():
    module = types.ModuleType("made_up")
    exec(MODULE, vars(module))
    return module


def test_stub_that_agrees_is_accepted(made_up_module):
    assert list(differences(made_up_module, ast.parse(STUB).body, "made_up")) == []


def test_classes_whose_objects_were_copied_still_agree_with_their_stub(made_up_module):
    copy.copy(made_up_module.Stream())
    assert "__slotnames__" in vars(made_up_module.Stream)
    assert list(differences(made_up_module, ast.parse(STUB).body, "made_up")) == []


@pytest.mark.parametrize(("before", "after", "message"), OFFENCES)
def test_each_difference_is_reported(made_up_module, before, after, message):
    assert before in STUB
    stub = ast.parse(STUB.replace(before, after, 1)).body
    assert list(differences(made_up_module, stub, "made_up")) == [f"made_up.{message}"]


def test_every_public_name_exists_and_explains_itself():
    import cuda_graphs as cg

    assert sorted(set(cg.__all__)) == sorted(cg.__all__)
    missing = [name for name in cg.__all__ if not hasattr(cg, name)]
    assert missing == []
    silent = [
        name
        for name in cg.__all__
        if (inspect.isclass(getattr(cg, name)) or callable(getattr(cg, name)))
        and not inspect.getdoc(getattr(cg, name))
    ]
    assert silent == []


def test_dir_shows_every_public_name():
    import cuda_graphs as cg

    assert set(cg.__all__) <= set(dir(cg))


def test_a_name_of_the_package_that_does_not_exist_is_an_attribute_error():
    import cuda_graphs as cg

    with pytest.raises(AttributeError, match="no_such_name"):
        cg.no_such_name  # noqa: B018


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("launch = InsertionPoint.launch", None),
        ("launch = InsertionPoint.join", "has other parameters"),
        ("launch = InsertionPoint.start", "is not a method of a base"),
        ("launch = Graph.launch", "is not a method of a base"),
    ],
)
def test_a_stub_may_name_the_method_of_a_base_that_has_the_same_parameters(line, why):
    found = difference(ast.parse(line).body, vars(GraphDef)["launch"])
    assert found is None if why is None else why in found
