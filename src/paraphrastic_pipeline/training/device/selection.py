"""Choose the device that a run is trained on."""

import fcntl
import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal

import torch

log = logging.getLogger(__name__)


@contextmanager
def held_device(kind: Literal["cpu", "cuda"]) -> Iterator[torch.device]:
    """Yield the CPU, or a GPU that no other run of this user holds; it is held as long as the context.

    If all GPUs are held, the run shares the one with the most free memory. As usual, `CUDA_VISIBLE_DEVICES`
    says which GPUs there are to choose from.
    """
    if kind == "cpu":
        yield torch.device("cpu")
        return
    # torch's deterministic mode refuses matrix products without this setting of cuBLAS.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    names = [str(torch.cuda.get_device_properties(i).uuid) for i in range(torch.cuda.device_count())]
    with ExitStack() as stack:
        index = first_free(names, Path(tempfile.gettempdir()), stack)
        if index is None:
            free = [torch.cuda.mem_get_info(i)[0] for i in range(len(names))]
            index = free.index(max(free))
            log.warning("all %d GPUs are in use by other runs, so GPU %d is shared", len(names), index)
        torch.cuda.set_device(index)
        log.info("training on GPU %d, %s", index, torch.cuda.get_device_name(index))
        yield torch.device("cuda", index)


def first_free(names: Sequence[str], folder: Path, held: ExitStack) -> int | None:
    """Hold the first of `names` that no process holds, until `held` is closed; return its index, or None.

    The lock ends with the process, however that ends.
    """
    for index, name in enumerate(names):
        path = folder / f"paraphrastic-{os.getuid()}-{name}.lock"
        file = path.open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            continue
        held.enter_context(file)
        return index
    return None
