"""The device and the precision that a setting stands for; torch is imported only when it is asked."""

from typing import Literal

from paraphrastic.base.errors import InputError

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16"]


def choose_device(asked: Device, *, key: str) -> Literal["cpu", "cuda"]:
    """Choose the kind of device; `auto` is `cuda` if torch sees a GPU.

    Raises:
        InputError: `cuda` is asked for by the setting `key`, but torch sees no GPU.
    """
    import torch

    has_gpu = torch.cuda.is_available()
    if asked == "cuda" and not has_gpu:
        cause = "finds no GPU" if torch.version.cuda else "was built without CUDA"
        raise InputError(f"{key}: cuda is asked for, but torch {torch.__version__} {cause}")
    return "cuda" if asked != "cpu" and has_gpu else "cpu"


def choose_precision(asked: Precision, device: str) -> Precision:
    """Choose the precision on a device; `auto` is float32 on a processor, and bfloat16 on a GPU."""
    if asked != "auto":
        return asked
    return "float32" if device == "cpu" else "bfloat16"
