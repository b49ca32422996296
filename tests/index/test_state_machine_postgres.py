"""The state machine of an index in PostgreSQL: the same dict, and crashes of the server."""

import uuid

import pytest
from hypothesis import settings
from hypothesis.stateful import rule, run_state_machine_as_test

from tests.examples import share
from tests.index.test_state_machine import Machine
from tests.postgres import Server


def machine_on(server: Server) -> type[Machine]:
    """A machine whose indexes are on a server."""

    class MachineOnPostgres(Machine):
        """A schema for each index; a crash is one of the server."""

        def __init__(self) -> None:
            self.schema = f"m{uuid.uuid4().hex[:12]}"
            super().__init__()

        @property
        def place(self) -> str:
            """Where the index is."""
            return server.url(self.schema)

        @property
        def beside(self) -> str:
            """Where another one may be."""
            return server.url(f"{self.schema}_built")

        @rule()
        def crash(self) -> None:
            """The server loses its power; the index goes on when it is back."""
            server.stop(crash=True)
            server.start()
            assert len(self.model.texts) == self.index.stats().documents

        def teardown(self) -> None:
            """Leave nothing."""
            super().teardown()
            server.sql(f"DROP SCHEMA {self.schema} CASCADE; DROP SCHEMA IF EXISTS {self.schema}_built CASCADE")

    return MachineOnPostgres


@pytest.mark.slow
def test_an_index_in_postgresql_is_a_dict(postgres):
    """Some steps, with reopening, replacing, undone transactions and crashes of the server."""
    short = settings(max_examples=share(2), stateful_step_count=12, deadline=None)
    run_state_machine_as_test(machine_on(postgres), settings=short)


@pytest.mark.slow
def test_an_index_in_postgresql_is_a_dict_for_longer(postgres):
    """Many more."""
    long = settings(max_examples=share(40), stateful_step_count=25, deadline=None)
    run_state_machine_as_test(machine_on(postgres), settings=long)
