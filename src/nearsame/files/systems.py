"""Where the bytes of a source are: a local path, or any URL that fsspec knows.

1. A `File` is a description: it opens on demand, closes after use, and can be pickled.
2. Whatever goes wrong with a place becomes a SourceError that names it; a scheme whose package is not
   installed is a MissingExtraError with its install line.
3. `stamp` says whether a file is still the one that was listed.
"""

import contextlib
import errno
import os
import re
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from nearsame.dataclass import dataclass
from nearsame.errors import MissingExtraError, NearSameError, SourceError
from nearsame.files.inputs import local_stamp
from nearsame.installation import install_command

__all__ = [
    "BrokenStreamError",
    "File",
    "chained",
    "filesystem",
    "is_url",
    "joined",
    "mishaps",
    "require_bucket",
    "suffixed_name",
]

_PACKAGES = {  # of what fsspec has a file system for, but not the package that it needs
    "dask": "dask distributed",
    "git": "pygit2",
    "libarchive": "libarchive-c",
    "sftp": "paramiko",
    "smb": "smbprotocol",
    "ssh": "paramiko",
}
_LOCAL = ("file://", "local://")
_NOT_THERE = {404, 410}  # of a web server's answers
_CANNOT_BE = (TypeError, AttributeError, LookupError, NameError, AssertionError, NotImplementedError)
_OF_A_NETWORK = {
    errno.ECONNREFUSED, errno.ECONNRESET, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ETIMEDOUT,
}  # fmt: skip
_NO_BUCKET = (
    r"(?i)NoSuchBucket|HeadBucket operation: Not Found|(bucket|container) (does not|doesn't) exist|"
    r"no such (bucket|container)"
)
_SYSTEM_SAID = r"\[Errno -?\d+\] ([\w ]+)"
_SERVER = "Check the URL, and that the server can be reached."
_STAMP_KEYS = ("size", "mtime", "LastModified", "last_modified", "ETag", "etag", "created", "CRC")


class BrokenStreamError(Exception):
    """A compressed stream that cannot be read further."""


@dataclass(frozen=True)
class File:
    """One file, by the path or URL that the user gave."""

    url: str

    def open(self) -> BinaryIO:
        """The raw bytes, to be closed by the caller."""
        with mishaps(self.url):
            if not is_url(self.url):
                return open(self.url, "rb")  # noqa: PTH123  (a Path would rewrite what the user wrote)
            system, path = filesystem(self.url)
            file = cast("BinaryIO", system.open(path, "rb"))
            weakref.finalize(file, id, system)  # an archive is closed when its file system goes
            return file

    def stamp(self) -> tuple[Any, ...]:
        """What changes when the file does: its size, its times, or the server's tag."""
        with mishaps(self.url):
            if not is_url(self.url):
                return local_stamp(Path(self.url).stat())
            system, path = filesystem(self.url)
            info = system.info(path)
            return tuple(str(info.get(key)) for key in _STAMP_KEYS)

    def size(self) -> int | None:
        """Bytes as stored; None where a server does not say."""
        with mishaps(self.url):
            if not is_url(self.url):
                return Path(self.url).stat().st_size
            system, path = filesystem(self.url)
            size = system.info(path).get("size")
            return None if size is None else int(size)


def is_url(path: str) -> bool:
    """Whether fsspec has to open it."""
    return "://" in path


def chained(url: str) -> tuple[str, str]:
    """A URL, and what it stands in: `zip://a.csv` and `::crawl.zip`; a cache before it goes with it.

    >>> chained("simplecache::zip://a.csv::s3://bucket/crawl.zip")
    ('simplecache::zip://a.csv', '::s3://bucket/crawl.zip')
    """
    begin = url.rfind("::", 0, max(url.find("://"), 0))
    end = url.find("::", begin + 2) if is_url(url) else -1
    return (url, "") if end < 0 else (url[:end], url[end:])


def joined(root: str, path: str) -> str:
    """A path below a root, as the user would write it."""
    folder, container = chained(root)
    below = folder + path if not folder or folder.endswith("://") else f"{folder.rstrip('/')}/{path}"
    return below + container


def suffixed_name(path: str) -> str:
    """The path without what a URL says after its file name."""
    path, _ = chained(path)
    is_web = path.rpartition("::")[2].startswith(("http://", "https://"))
    return path.partition("#")[0].partition("?")[0] if is_web else path


def filesystem(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path on it.

    Raises:
        SourceError: There is no such file system, or it cannot be reached.
        MissingExtraError: It needs a package that is not installed.
    """
    scheme = _scheme(url)
    if url.endswith(_LOCAL):
        raise SourceError(f"{url} names no file", hint=f"Write the path, as in {url.rpartition('::')[2]}/data/crawl.")
    import fsspec  # noqa: PLC0415  (with asyncio and ssl, which local files have no use for)

    try:
        with mishaps(url, ImportError, ValueError):
            return cast("tuple[Any, str]", fsspec.core.url_to_fs(url))
    except ImportError as error:
        raise MissingExtraError(
            f"{scheme}:// needs a package that is not installed: {error}", hint=f"Run: {_install_line(scheme)}"
        ) from error
    except ValueError as error:
        if "Protocol not known" not in str(error):
            raise _no_address(url) from error
        raise SourceError(f"{url}: unknown scheme {scheme}://", hint="Check the scheme before ://.") from error


def _scheme(url: str) -> str:
    return url.partition("://")[0].rpartition("::")[2]


def _install_line(scheme: str) -> str:
    if scheme in {"http", "https"}:
        return install_command("remote")
    from fsspec.registry import known_implementations  # noqa: PLC0415  (likewise)

    home = str(known_implementations.get(scheme, {}).get("class", scheme)).split(".")[0]
    return f"pip install {_PACKAGES.get(scheme, scheme if home == 'fsspec' else home)}"


@contextlib.contextmanager
def mishaps(url: str, *others: type[Exception]) -> Iterator[None]:
    """Turn what a file system raises into an error that names the place; `others` go through."""
    passing: tuple[type[Exception], ...] = (NearSameError, BrokenStreamError, *others)
    try:
        yield
    except passing:
        raise
    except FileNotFoundError as error:
        beneath = _beneath(error)
        if beneath is None:
            raise SourceError(f"{url} does not exist", hint="Check the path.") from None
        raise _remote(url, beneath) from error
    except PermissionError:
        hint = "Make it readable for this user, or leave it out."
        raise SourceError(f"{url}: permission denied", hint=hint) from None
    except OSError as error:
        if is_url(url):
            raise _remote(url, error) from error
        hint = "Check that other programs can read it."
        raise SourceError(f"{url}: {error.strerror or error}", hint=hint) from error
    except Exception as error:
        if not is_url(url):
            raise
        raise _remote(url, error) from error


def _beneath(error: BaseException) -> BaseException | None:
    """Why a file "was not found", if for another reason: fsspec says so of whatever a web server could not be asked."""
    cause: BaseException | None = error
    while isinstance(cause, FileNotFoundError):
        cause = cause.__cause__
    return None if getattr(cause, "status", None) in _NOT_THERE else cause


def require_bucket(system: Any, path: str) -> None:
    """See that what a pattern begins with could be looked at: file systems say of any that they find nothing there."""
    try:
        system.info(path)
    except FileNotFoundError as error:
        if _beneath(error) is not None:
            raise


def _remote(url: str, error: BaseException) -> SourceError:
    """What a remote file system has raised: kinds of its own, and what Python raises where an address lacks a part."""
    if isinstance(error, _CANNOT_BE) or type(error) is ValueError:
        return _no_address(url)
    if re.search(_NO_BUCKET, str(error)):
        return SourceError(
            f"{url}: there is no bucket {url.rpartition('://')[2].partition('/')[0]}", hint="Check its name."
        )
    if "credential" in f"{type(error).__name__} {error}".lower():
        hint = f"Set up credentials for {_scheme(url)}://, as the tools of that store do."
        return SourceError(f"{url}: {str(error).splitlines()[0]}", hint=hint)
    if (status := getattr(error, "status", None)) is not None:
        return SourceError(f"{url}: the server answered {status} ({getattr(error, 'message', '')})", hint=_SERVER)
    number = getattr(error, "errno", None)
    said = re.findall(_SYSTEM_SAID, str(error))
    if number is not None and number > 0:
        said = [os.strerror(number)]
    unreachable = isinstance(error, (ConnectionError, TimeoutError)) or number is None or number in _OF_A_NETWORK
    hint = _SERVER if unreachable else "Check that other programs can read it."
    lines = [*said[-1:], *str(error).splitlines(), type(error).__name__]
    return SourceError(f"{url}: {lines[0]}", hint=hint)


def _no_address(url: str) -> SourceError:
    scheme = _scheme(url)
    hint = f"Write it as fsspec's page on {scheme}:// says, or copy the file to this machine and name the copy."
    return SourceError(f"{url} is not an address that {scheme}:// can open", hint=hint)
