# The server in a container: built by the same preset as everywhere, run as a user without rights on a read-only root.
#
#   docker build -t orrery -t orrery:34 --build-arg ORRERY_COMMIT=$(git rev-parse --short=12 HEAD) .
#   head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' > orrery.key && chmod 600 orrery.key && sudo chown 10001 orrery.key
#   docker run --read-only -p 7770:7770/udp -p 7780:7780/tcp -v $PWD/orrery.key:/run/secrets/orrery.key:ro -v orrery:/var/lib/orrery orrery \
#       serve /usr/local/share/orrery/scenes/yard.json --bind 0.0.0.0 --key-file /run/secrets/orrery.key \
#       --record /var/lib/orrery/replays --public HOST:7770
#
# HOST is the IP address that players connect to; a server in a bridged network does not see it and drops tokens that
# name it unless --public says so. The key signs connect tokens (orrery token --key-file ... --server HOST:7770).
# /var/lib/orrery keeps the recordings. Arguments after the image's name replace the whole CMD below: any subcommand of
# orrery with all of its options. CMD alone is for a container with the host's network (--network host).
# The second tag is the engine version that `orrery --version` prints: a recording is verified by the image of its version.
# The image keeps no logs of its build. SOURCE_DATE_EPOCH of the builder fixes the times of files; a base image by its
# digest (--build-arg BASE) fixes that; the packages of Debian are those of the day.
# With --build-arg BUILD_BASE=IMAGE, a Debian 12 with nvcc 12 or newer, large rigs can go to a GPU (docker run --gpus all).
ARG BASE=docker.io/library/debian:bookworm-slim
ARG BUILD_BASE=${BASE}

FROM ${BUILD_BASE} AS build
WORKDIR /src
COPY deploy/deps deploy/deps
RUN deploy/deps build && apt-get clean && rm -rf /var/lib/apt/lists/*
COPY . .
ARG ORRERY_COMMIT=""
RUN cuda=OFF; { command -v nvcc || [ -x /usr/local/cuda/bin/nvcc ]; } >/dev/null && cuda=ON; \
    cmake --preset release -DORRERY_BUILD_TESTS=OFF -DORRERY_CUDA=$cuda -DORRERY_COMMIT="$ORRERY_COMMIT" \
 && cmake --build --preset release \
 && cmake --install build/release --prefix /opt/orrery --strip \
 && mkdir /opt/orrery/modules && { [ ! -e /opt/orrery/lib/liborrery_jacobi_cuda.so ] || mv /opt/orrery/lib/liborrery_jacobi_cuda.so /opt/orrery/modules/; }
# The packages of the shared libraries that the programs load: their names change from one Debian to the next.
RUN ldd /opt/orrery/bin/* | awk '$3 ~ "^/" {print $3}' | sort -u | while read -r library; do \
        real=$(realpath "$library"); dpkg -S "$real" 2>/dev/null || dpkg -S "${real#/usr}"; \
    done | cut -d: -f1 | sort -u > /opt/orrery/packages

# The page: Node and clang 19 are needed to build it, and are not in the image.
FROM ${BASE} AS page
WORKDIR /src
COPY deploy/deps deploy/deps
RUN deploy/deps build page && apt-get clean && rm -rf /var/lib/apt/lists/*
COPY . .
RUN deploy/page /opt/page

FROM ${BASE}
COPY --from=build /opt/orrery/packages /tmp/packages
RUN apt-get update && xargs -a /tmp/packages env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
 && apt-get clean && rm -rf /var/lib/apt/lists/* /tmp/packages /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache \
 && groupadd --gid 10001 orrery && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/orrery --shell /usr/sbin/nologin orrery \
 && install -d -m 750 -o orrery -g orrery /var/lib/orrery
COPY --from=build /opt/orrery/bin/ /usr/local/bin/
COPY --from=build /opt/orrery/modules/ /usr/local/lib/
COPY --from=build /opt/orrery/share/orrery/ /usr/local/share/orrery/
COPY --from=page /opt/page/ /usr/local/share/orrery/page/
USER 10001:10001
WORKDIR /var/lib/orrery
RUN ["orrery", "doctor"]
VOLUME /var/lib/orrery
# Players: UDP, and WebSocket with the page. Operators: the control API, and health with metrics.
EXPOSE 7770/udp 7780/tcp 7790/tcp 7791/tcp
STOPSIGNAL SIGTERM
# Docker's; Kubernetes and podman in OCI format have probes of their own. It asks the server of this container.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=6 CMD ["orrery", "health"]
ARG ORRERY_COMMIT=""
LABEL org.opencontainers.image.title="orrery" \
      org.opencontainers.image.description="A networked, deterministic rigid-body simulation server" \
      org.opencontainers.image.revision="${ORRERY_COMMIT}"
ENTRYPOINT ["orrery"]
CMD ["serve", "/usr/local/share/orrery/scenes/yard.json", "--bind", "0.0.0.0", "--port", "7770", \
     "--key-file", "/run/secrets/orrery.key", "--record", "/var/lib/orrery/replays"]
