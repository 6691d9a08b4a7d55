# An image that runs the pipeline's steps, for example on Kubernetes (docs/cluster.md), or the command paraphrastic:
#   docker build --tag paraphrastic .
#   docker run --rm paraphrastic paraphrastic --help
# For GPUs, add --build-arg TORCH=cu130, or another build of PyTorch that uv knows.
FROM python:3.11-slim
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
RUN uv pip install --system --no-cache --no-deps --no-build-isolation .
