# The server in a container, from the wheels of this source tree.
#
#   docker build -t heald .
#   docker run -p 127.0.0.1:7878:7878 -v heald:/data -e HEALD_TOKEN=… -e HEALD_SERVE_PUBLIC_URL=http://localhost:7878 heald
#
# EXTRAS are the extras of heald, PACKAGES the Debian packages of tools: bubblewrap runs commands, ripgrep searches,
# chromium (with fonts-liberation) takes screenshots and scores pages.
ARG PYTHON=3.13

FROM python:${PYTHON}-slim-bookworm AS wheels
WORKDIR /source
RUN python -m pip install --no-cache-dir build==1.3.0
COPY . .
RUN for package in packages/*/; do python -m build --wheel --outdir /wheels "$package" || exit 1; done

FROM python:${PYTHON}-slim-bookworm AS environment
ARG EXTRAS=a2a,local,mcp,otel,postgres
COPY --from=wheels /wheels /wheels
COPY requirements-dev.txt /wheels/constraints.txt
RUN python -m venv /opt/heald \
    && /opt/heald/bin/pip install --no-cache-dir --disable-pip-version-check --constraint /wheels/constraints.txt \
        --find-links /wheels "heald[${EXTRAS}] @ file://$(echo /wheels/heald-[0-9]*.whl)"

FROM python:${PYTHON}-slim-bookworm
ARG PACKAGES="bubblewrap git ripgrep"
# hadolint ignore=DL3008,SC2086
RUN apt-get update \
    && apt-get install -y --no-install-recommends ${PACKAGES} \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --create-home --shell /usr/sbin/nologin heald \
    && install -d -o heald -g heald -m 700 /data
COPY --from=environment /opt/heald /opt/heald
ENV PATH=/opt/heald/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    HEALD_DATA=/data
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 7878
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:7878/health', timeout=4)"]
ENTRYPOINT ["heald"]
CMD ["serve", "--host", "0.0.0.0", "--no-open"]
