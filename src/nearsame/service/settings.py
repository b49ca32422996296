"""What `nearsame serve` is given: where it listens, and the most of everything that it takes on at once.

1. Every bound has a default, so that no request and no crowd of requests can take all memory.
"""

from nearsame.dataclass import dataclass

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """How the service behaves.

    Attributes:
        host: where it listens: a name or an address.
        port: likewise; 0 lets the system choose.
        token_file: who may read and write; None: everybody who reaches the port.
        insecure: whether it may listen beyond this machine without tokens.
        read_only: whether what would change the index is refused.
        max_body: bytes of one request.
        max_batch: documents of one request.
        max_text: characters of one text.
        timeout: seconds for a request to arrive, and as many to be answered.
        queue: requests that wait to be written, and as many that wait to be read.
        memory: bytes of requests that are held at once.
        group: documents of one transaction, of however many requests.
        readers: threads that answer questions, each with a connection of its own, and as many processes for pages and
            long texts.
        connections: at the same time; one address has at most half of them.
        root_path: where a proxy shows the service, as /nearsame.
        allowed_hosts: names that the Host header may have besides those of this machine, where there are no tokens.
        decisions: the file for what people decide about pairs on the pages; None: nothing can be decided there.
        request_log: whether each request has a line in the log.
    """

    host: str = "127.0.0.1"
    port: int = 8800
    token_file: str | None = None
    insecure: bool = False
    read_only: bool = False
    max_body: int = 10_000_000
    max_batch: int = 1000
    max_text: int = 5_000_000
    timeout: float = 30.0
    queue: int = 1000
    memory: int = 200_000_000
    group: int = 1000
    readers: int = 2
    connections: int = 1000
    root_path: str = ""
    allowed_hosts: tuple[str, ...] = ()
    decisions: str | None = None
    request_log: bool = True
