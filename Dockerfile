# An image that runs the pipeline's steps, for example on Kubernetes (docs/cluster.md), or the command paraphrastic:
#   docker build --tag paraphrastic .
#   docker run --rm paraphrastic paraphrastic --help
# To read and write files of the present folder, which then belong to you:
#   docker run --rm --user "$(id -u):$(id -g)" --volume "$PWD:/work" paraphrastic paraphrastic embed ...
# For GPUs, add --build-arg TORCH=cu130, or another build of PyTorch that uv knows.

# The digest of the image for all architectures; `docker buildx imagetools inspect python:3.11-slim` shows the newest.
FROM python:3.11-slim@sha256:9c900dea9e8fb7e16277c179b555cc72d29a352dbc33cff48ad5a0412fd5bfc7
ARG TORCH=cpu
# Each job starts a process, so what it imports is compiled here.
ENV UV_COMPILE_BYTECODE=1

# fastText's package needs a compiler, of any version.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/paraphrastic
COPY requirements requirements
RUN pip install --no-cache-dir --require-hashes --requirement requirements/uv.txt \
    && uv pip install --system --no-cache --torch-backend="$TORCH" --requirement requirements/torch.txt \
    && uv pip install --system --no-cache --require-hashes --no-deps --requirement requirements/pipeline.txt

COPY LICENSE README.md pyproject.toml ./
COPY src src
# An editable installation has the pipeline's package as well, which the wheel leaves out.
RUN uv pip install --system --no-cache --no-deps --no-build-isolation --editable .

# Steps need no rights. Caches go to HOME, and results to /work or a volume. Both folders are open to every user,
# since --user and Kubernetes choose another one than this.
RUN useradd --uid 1000 --create-home --home-dir /home/paraphrastic paraphrastic \
    && mkdir /work \
    && chmod 1777 /home/paraphrastic /work
ENV HOME=/home/paraphrastic USER=paraphrastic
USER 1000
WORKDIR /work
