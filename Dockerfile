# The service around one index: as a user of its own, on a file system that it only reads (docs/service.md).
FROM python:3.13-slim AS build
WORKDIR /source
RUN python -m venv /opt/nearsame
ENV PATH=/opt/nearsame/bin:$PATH PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY constraints.txt pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
# First what it depends on, Numba among it; then itself, with its kernels compiled ahead.
RUN pip install -c constraints.txt hatchling '.[serve,web,postgres]'
RUN pip wheel --no-build-isolation --no-deps -w /wheels . \
 && pip install --no-deps --force-reinstall /wheels/*.whl

FROM python:3.13-slim
COPY --from=build /opt/nearsame /opt/nearsame
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin nearsame \
 && install -d -o nearsame -m 700 /data
ENV PATH=/opt/nearsame/bin:$PATH PYTHONDONTWRITEBYTECODE=1 NUMBA_CACHE_DIR=/tmp/nearsame
USER 10001
VOLUME /data
EXPOSE 8800
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8800/healthz', timeout=4)"]
ENTRYPOINT ["nearsame"]
CMD ["serve", "/data/seen.ns", "--host", "0.0.0.0", "--port", "8800", "--token-file", "/run/secrets/tokens"]
