"""PostgreSQL's own check of tables and their indexes, where the extension amcheck is there and may be used."""

from nearsame.errors import StoreError
from nearsame.stores.postgres_session import Session

__all__ = ["problems"]

_FUNCTIONS = """
SELECT quote_ident(n.nspname) FROM pg_extension AS e JOIN pg_namespace AS n ON n.oid = e.extnamespace
WHERE e.extname = 'amcheck' AND (SELECT bool_and(has_function_privilege(p.oid, 'EXECUTE')) FROM pg_proc AS p
    WHERE p.pronamespace = n.oid AND p.proname IN ('bt_index_check', 'verify_heapam'))
"""
_INDEXES = """
SELECT i.indexrelid::regclass::text FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
WHERE c.oid = ANY(%s::regclass[]) AND i.indisvalid
"""
_HEAP = "SELECT blkno, offnum, msg FROM {}.verify_heapam(%s::regclass, check_toast => true)"
_VERSION_OF_HEAPS = 140000


def problems(session: Session, tables: list[str]) -> list[str]:
    """What it finds in some tables, and in their indexes; nothing where it is not there."""
    functions = session.run(_FUNCTIONS)
    if not functions:
        return []
    (place,) = functions[0]
    indexes = [name for (name,) in session.run(_INDEXES, (tables,))]
    complaints = [problem for name in indexes for problem in _of_index(session, place, name)]
    if session.version >= _VERSION_OF_HEAPS:
        complaints += [problem for name in tables for problem in _of_table(session, place, name)]
    return complaints


def _of_index(session: Session, place: str, name: str) -> list[str]:
    try:
        with session.savepoint(tuple):
            session.run(f"SELECT {place}.bt_index_check(%s::regclass, heapallindexed => true)", (name,))
    except StoreError as error:
        return [f"amcheck: {error.message}"]
    return []


def _of_table(session: Session, place: str, name: str) -> list[str]:
    try:
        with session.savepoint(tuple):
            rows = session.run(_HEAP.format(place), (name,))
    except StoreError as error:
        return [f"amcheck: {error.message}"]
    return [f"amcheck: {name}, block {block}, item {item}: {what}" for block, item, what in rows]
