"""The service held against its OpenAPI description by schemathesis: no request, allowed or not, ends in a 5xx."""

from unittest import SkipTest

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    allow_header_conformance,
    content_type_conformance,
    negative_data_rejection,
    positive_data_acceptance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from nearsame.index.index import Index
from nearsame.recipes.methods import MinHash, SimHash
from tests.patience import PATIENCE

from .running import running

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    allow_header_conformance,
    unsupported_method,
    positive_data_acceptance,
    negative_data_rejection,
]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A service that may be written to, around an index of every method."""
    path = tmp_path_factory.mktemp("service") / "seen.ns"
    Index.create(path, method=[MinHash(shingle_size=2), SimHash(), "digest", "url"], store="text").close()
    with running(lambda *, read_only: Index.open(path, read_only=read_only), timeout=PATIENCE) as found:
        yield found


@pytest.fixture(scope="module")
def operations(served):
    """What its description has, by method and path."""
    schema = schemathesis.openapi.from_url(f"{served.url}/openapi.json")
    found = [result.ok() for result in schema.get_all_operations()]
    assert 16 == len(found)
    return found


def exercise(operations, mode, examples):
    """Send requests that the description allows, or such as it doesn't; check every answer."""
    sent = 0
    for operation in operations:

        @given(case=operation.as_strategy(generation_mode=mode))
        @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
        def check(case):
            nonlocal sent
            sent += 1
            raw = str(case.media_type).startswith("text/")  # whatever is sent as a text is one
            case.call_and_validate(checks=CHECKS[:-1] if raw else CHECKS, timeout=PATIENCE)

        try:
            check()
        except (Unsatisfiable, SkipTest):
            assert mode is GenerationMode.NEGATIVE  # an address without settings cannot be asked wrongly
    return sent


@pytest.mark.slow
@pytest.mark.parametrize("mode", GenerationMode)
def test_the_service_is_as_described(operations, mode):
    """Statuses, types and bodies of the answers; what is not allowed is refused."""
    assert exercise(operations, mode, 6) > 20


@pytest.mark.slow
@pytest.mark.parametrize("mode", GenerationMode)
def test_the_service_is_as_described_at_length(operations, mode):
    """The same with many more requests."""
    assert exercise(operations, mode, 60) > 200
