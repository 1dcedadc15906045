FROM node:26.10.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN npm run build
# Compiles the modules of "run" ahead. Node accepts this cache only with the V8 flags of the entry point.
RUN NODE_COMPILE_CACHE=dist/compile-cache NODE_COMPILE_CACHE_PORTABLE=1 node --max-semi-space-size=4 --heap-growing-percent=50 dist/cli/main.js run --help

FROM node:26.10.0-bookworm-slim AS dependencies
WORKDIR /dependencies
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:26.10.0-bookworm-slim
# Threads share two arenas. By default glibc creates one for each thread, and unused memory stays in all of them.
ENV NODE_ENV=production \
  NODE_COMPILE_CACHE=/opt/signing-gateway/dist/compile-cache \
  NODE_COMPILE_CACHE_PORTABLE=1 \
  MALLOC_ARENA_MAX=2
WORKDIR /opt/signing-gateway
COPY package.json ./
COPY schema schema
COPY docs docs
COPY --from=dependencies /dependencies/node_modules node_modules
COPY --from=build /build/dist dist
# The manifest and the files that it names are mounted here.
WORKDIR /etc/signing-gateway
# Kubernetes can verify only a numeric user as non-root.
USER 65532:65532
EXPOSE 8080 9901
STOPSIGNAL SIGTERM
# Checks liveness only: a restart does not repair an unhealthy upstream. Needs no admin API, and takes little processor time.
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s CMD ["node", "/opt/signing-gateway/dist/cli/container-health.js"]
# Without this flag SIGUSR1 opens the inspector while Node starts.
# New objects take 8 MB at most; by default they take 32 MB under load. The heap for the others grows by half between two
# collections; by default it grows to four times its live objects.
ENTRYPOINT ["node", "--disable-sigusr1", "--max-semi-space-size=4", "--heap-growing-percent=50", "/opt/signing-gateway/dist/cli/main.js"]
# On loopback, the default of the manifest, a container is not reachable.
CMD ["run", "--listen", "0.0.0.0:8080"]
