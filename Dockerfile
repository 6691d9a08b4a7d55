# An image that runs the pipeline's steps, for example on Kubernetes (docs/cluster.md), or the command paraphrastic:
#   docker build --tag paraphrastic .
#   docker run --rm paraphrastic paraphrastic --help
FROM python:3.11-slim

# fastText's package needs a compiler, of any version.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --yes --no-install-recommends g++ make \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/paraphrastic
COPY requirements.lock ./
RUN pip install --no-cache-dir --requirement requirements.lock

COPY LICENSE README.md pyproject.toml ./
COPY src src
RUN pip install --no-cache-dir --no-deps --no-build-isolation .
