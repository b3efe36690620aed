"""What one command may use of the machine."""

import resource
import sys
from dataclasses import dataclass

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds that the kernel keeps, for each process unless said otherwise."""

    processes: int = 512
    """Of the whole command. The kernel does not hold a server that runs as root to it."""
    memory: int = 4096 * _MIB
    """Bytes of private memory: RLIMIT_DATA, because programs reserve addresses by the terabyte and never use them."""
    file_size: int = 2048 * _MIB
    open_files: int = 4096
    cpu_seconds: int = 3600
    temporary: int = 1024 * _MIB
    """Bytes in /tmp, and as many in the home folder. Both end with the command."""

    def impose(self, pid: int) -> None:
        """Bind a process that has not begun its work; what it starts is bound as well."""
        for kind, value in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_NPROC, self.processes),
            (resource.RLIMIT_DATA, self.memory),
            (resource.RLIMIT_FSIZE, self.file_size),
            (resource.RLIMIT_NOFILE, self.open_files),
            (resource.RLIMIT_CPU, self.cpu_seconds),
        ):
            _lower(pid, kind, value)


if sys.platform == "linux":

    def _lower(pid: int, kind: int, value: int) -> None:
        _, most = resource.prlimit(pid, kind)
        if most != resource.RLIM_INFINITY:
            value = min(value, most)
        resource.prlimit(pid, kind, (value, value))

else:

    def _lower(pid: int, kind: int, value: int) -> None:
        """Only Linux can bind another process."""
