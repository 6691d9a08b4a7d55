"""Fixtures of the unit tests."""

import threading
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from small_corpus import PAIRS, write_training_data
from training_runs import SETTINGS, train_model
from web_server import Server

from original_code import SENTENCES, Original, train_sentencepiece
from paraphrastic import load_model
from paraphrastic.model.average import AverageEncoder
from paraphrastic_pipeline.registry.datasets import Dataset, read_registry
from paraphrastic_pipeline.settings import check
from paraphrastic_pipeline.workflow import starter


@pytest.fixture(scope="session")
def sp_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sentencepiece model of a checkpoint of the original code."""
    return train_sentencepiece(SENTENCES, tmp_path_factory.mktemp("sp") / "paranmt.model")


@pytest.fixture(scope="session")
def original(sp_model: Path) -> Original:
    """The original code's encoder, which writes its checkpoints."""
    return Original(sp_model, SENTENCES)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model that was trained on `PAIRS`, for tests that do not change it."""
    base = tmp_path_factory.mktemp("trained")
    return train_model(write_training_data(base, PAIRS, size=300), base / "model", SETTINGS).parent


@pytest.fixture(scope="session")
def model(folder: Path) -> AverageEncoder:
    return load_model(folder)


@pytest.fixture
def changed(model: AverageEncoder, tmp_path: Path) -> Callable[..., Path]:
    """A function that saves a model of the same dimension in a folder of this name."""

    def save(name: str, **config: object) -> Path:
        tensors = model.tensors()
        if "model" in config:
            tensors["embeddings"] = np.ascontiguousarray(tensors["embeddings"][::-1])
        AverageEncoder(tensors, model.sentencepiece, {**model.config, **config}).write(tmp_path / name)
        return tmp_path / name

    return save


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest) -> Iterator[torch.device]:
    """Each kind of device for `training.device`, with one thread; without a GPU, its tests are skipped."""
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no GPU: torch sees none")
    deterministic, threads = torch.are_deterministic_algorithms_enabled(), torch.get_num_threads()
    torch.use_deterministic_algorithms(False)
    torch.set_num_threads(1)
    yield torch.device(request.param)
    torch.use_deterministic_algorithms(deterministic)
    torch.set_num_threads(threads)


@pytest.fixture(scope="session", autouse=True)
def _each_registry_is_read_once() -> Iterator[None]:
    """Reading the shipped registry takes longer than most tests of configurations do otherwise."""

    @cache
    def read(path: str, content: bytes) -> dict[str, Dataset]:
        return read_registry(path)

    def read_once(path: str | Path) -> dict[str, Dataset]:
        return dict(read(str(path), Path(path).read_bytes()) if Path(path).is_file() else read_registry(path))

    with pytest.MonkeyPatch.context() as patch:
        for module in (check, starter):
            patch.setattr(module, "read_registry", read_once)
        yield


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of a download in an empty folder, which is the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / "resources" / "tanzil" / "en-fr.txt"
