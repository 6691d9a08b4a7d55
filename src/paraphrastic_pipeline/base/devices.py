"""The device and the precision that a setting stands for; torch is imported only when it is asked."""

from typing import Literal

from paraphrastic.base.errors import InputError

Device = Literal["auto", "cpu", "cuda"]
Precision = Literal["auto", "float32", "bfloat16", "float16"]


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
    """Choose the precision on a device; `auto` is half precision on a GPU, of the kind that it has."""
    if asked != "auto":
        return asked
    if device == "cpu":
        return "float32"
    import torch

    return "bfloat16" if torch.cuda.is_bf16_supported(including_emulation=False) else "float16"
