"""Archives for tests: zip and tar files of given members, and what a reader gets from them."""

import io
import tarfile
import zipfile

from paraphrastic_pipeline.registry.archive import open_members


def make_zip(path, members, **options):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data, **options)
    return path


def make_tar(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def read_all(path, *names, max_bytes=1000):
    with open_members(path, names, max_bytes=max_bytes) as streams:
        return [stream.read() for stream in streams]
