"""The exception tree: what each is, what it says, and where it is explained."""

import pickle
import re

import pytest

import nearsame as ns
from nearsame import errors

CLASSES = [getattr(errors, name) for name in errors.__all__]
BUILTINS = {
    "ConfigError": ValueError,
    "TooManyPairsError": ValueError,
    "SourceError": OSError,
    "ColumnError": LookupError,
    "OutputError": OSError,
    "RequirementError": ValueError,
    "WorkdirError": OSError,
    "EngineError": RuntimeError,
    "StoreError": OSError,
    "StoreBusyError": TimeoutError,
    "StoreDamagedError": OSError,
    "InterruptedChangeError": OSError,
    "IndexMismatchError": ValueError,
    "UnknownIdError": LookupError,
    "MissingExtraError": ImportError,
}


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_says_what_and_what_to_do(kind):
    """The message is what is printed, also where a builtin would have its own idea of it; the hint stands beside it."""
    error = kind("k=64 is not below bits=64", hint="Choose a smaller k.")
    assert ("k=64 is not below bits=64",) * 2 == (str(error), error.message)
    assert "Choose a smaller k." == error.hint
    assert "" == kind("x").hint
    assert isinstance(error, ns.NearSameError)


@pytest.mark.parametrize("name", BUILTINS)
def test_an_error_is_the_builtin_that_a_caller_would_catch(name):
    """And a column that is missing is a source that cannot be read."""
    with pytest.raises(BUILTINS[name]):
        raise getattr(errors, name)("x")
    assert set(BUILTINS) == set(errors.__all__) - {"NearSameError"}
    assert issubclass(errors.ColumnError, errors.SourceError)
    assert issubclass(errors.StoreBusyError, errors.StoreError)


def test_codes_differ_and_are_in_the_tree():
    """One for each class, and the tree at the top of the file has every class."""
    codes = [kind.code for kind in CLASSES]
    assert len(CLASSES) == len(set(codes))
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", code) for code in codes)
    assert all(name in (errors.__doc__ or "") for name in errors.__all__)


@pytest.mark.parametrize("kind", CLASSES)
def test_an_error_crosses_processes(kind):
    """Whole: Spark's workers send theirs to the driver, process pools to the parent."""
    error = pickle.loads(pickle.dumps(kind("k=64 is too much", hint="Choose less.")))  # noqa: S301  (our own bytes)
    assert (kind, "k=64 is too much", "Choose less.") == (type(error), error.message, error.hint)


def test_public_errors_are_the_packages():
    """What can be caught can be imported from the top."""
    assert all(getattr(ns, name, None) is getattr(errors, name) for name in errors.__all__ if name in ns.__all__)
    assert {"NearSameError", "ConfigError", "SourceError"} <= set(ns.__all__)
