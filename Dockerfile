# syntax=docker/dockerfile:1
#
# docker build -t causeway .
# docker run -p 8080:8080 -v causeway:/var/lib/causeway causeway
#
# The first start loads a demo directory; "docker run … causeway serve --empty" goes without it. Settings are
# environment variables (CAUSEWAY_PUBLIC_URL, CAUSEWAY_LIMITS__SEARCH); config.default.toml lists them all. Until
# CAUSEWAY_PUBLIC_URL is set, the checkout is in test mode and charges no money.

# Any 1.x that satisfies rust-version in Cargo.toml builds it, and cargo refuses an older one.
FROM rust:1-slim-trixie AS build
WORKDIR /src
COPY . .
# The caches are not part of the image, so the results are copied out of them in the same step.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package causeway \
    && install -D -t /out target/release/causeway \
    && deploy/licenses.sh > /out/third-party-licenses

FROM debian:trixie-slim
# Certificate authorities for storage and collectors, and pg_dump of PostgreSQL 17 for "causeway backup".
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates postgresql-client \
    && rm -rf /var/lib/apt/lists/*
RUN groupadd --gid 10001 causeway \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/causeway --shell /usr/sbin/nologin causeway \
    && install -d -m 0700 -o causeway -g causeway /var/lib/causeway
COPY --from=build /out/causeway /usr/local/bin/causeway
COPY --from=build /out/third-party-licenses LICENSE-MIT LICENSE-APACHE /usr/share/doc/causeway/

# Loopback inside a container cannot be reached from outside, so the server listens on all addresses; for metrics, set
# CAUSEWAY_METRICS_LISTEN=0.0.0.0:9464. Docker kills a container 10 seconds after telling it to stop, so requests in
# progress get a little less than that.
ENV CAUSEWAY_DATA=/var/lib/causeway \
    CAUSEWAY_LISTEN=0.0.0.0:8080 \
    CAUSEWAY_PUBLIC_URL=http://localhost:8080 \
    CAUSEWAY_SERVE__STOP_TIMEOUT=8 \
    NO_COLOR=1
USER 10001:10001
WORKDIR /var/lib/causeway
VOLUME /var/lib/causeway
EXPOSE 8080
# The image has no HTTP client; bash can open a connection by itself.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/${CAUSEWAY_LISTEN##*:} && printf 'GET /readyz HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["causeway"]
CMD ["serve"]
