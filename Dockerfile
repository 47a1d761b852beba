# The inspector and the command line; the store is a mounted folder, .waypost below /data.
FROM python:3.13-slim AS build
WORKDIR /src
COPY requirements.lock ./
RUN python -m venv /opt/waypost \
 && /opt/waypost/bin/pip install --no-cache-dir --require-hashes -r requirements.lock
COPY pyproject.toml README.md LICENSE CHANGELOG.md ./
COPY tracer tracer
COPY inspector inspector
COPY templates templates
COPY static static
# The build backend is in the lock, so nothing else is fetched here.
RUN /opt/waypost/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.13-slim
COPY --from=build /opt/waypost /opt/waypost
ENV PATH=/opt/waypost/bin:$PATH PYTHONUNBUFFERED=1
RUN useradd --uid 1000 --create-home waypost && mkdir -p /data/.waypost && chown -R waypost /data
USER waypost
WORKDIR /data
VOLUME /data/.waypost
# Settings: WAYPOST_* and OTEL_*, or /data/waypost.toml. Listens on loopback (run with --network host):
# a wider bind refuses to start as long as nobody has to sign in.
ENTRYPOINT ["waypost"]
CMD ["inspect"]
