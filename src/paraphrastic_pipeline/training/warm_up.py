"""Training on a few pairs, before a run whose time is measured."""

import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import h5py

from paraphrastic_pipeline.base.hdf5 import seal
from paraphrastic_pipeline.training.beginning import TrainingInputs
from paraphrastic_pipeline.training.dataset import GROUPS, SIDES
from paraphrastic_pipeline.training.train import train_model

# Enough for several mini-batches, and too few to take time.
_PAIRS = 2048


def compile_kernels(inputs: TrainingInputs, *, threads: int) -> None:
    """Train on the first pairs and drop the model, so that everything that a run needs is compiled.

    Kernels are compiled when they are first used, which would count as time of the first run on a machine.
    """
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder, "few.h5")
        shutil.copyfile(inputs.dataset, few)
        with h5py.File(few, "r+") as file:
            units = [group for name, group in file.items() if name != GROUPS]
            of_pairs = [file[GROUPS]] if GROUPS in file else []
            for each in [*(unit[side] for unit in units for side in SIDES), *of_pairs]:
                each["offsets"].resize((min(len(each["offsets"]), _PAIRS + 1),))
                each["tokens"].resize((each["offsets"][-1],))
            seal(file)
        settings = replace(inputs.settings, epochs=1, early_stopping=None)
        train_model(replace(inputs, dataset=few, settings=settings), Path(folder, "model"), threads=threads)
