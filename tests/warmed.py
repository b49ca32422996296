"""What clients of an index are forked from: a process that has loaded all that they need, and holds no index open."""

import tempfile
from pathlib import Path

from nearsame.index.index import Index
from tests import clients

with tempfile.TemporaryDirectory() as folder, Index.create(Path(folder) / "index.ns") as index:
    index.add([clients.document(0, 0), clients.document(0, 1)])
    index.query(clients.text_of(0, 2))
