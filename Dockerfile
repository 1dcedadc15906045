FROM node:26.10.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json ./
COPY src src
RUN npm run build

FROM node:26.10.0-bookworm-slim AS dependencies
WORKDIR /dependencies
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:26.10.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /opt/signing-gateway
COPY package.json ./
COPY schema schema
COPY docs docs
COPY --from=dependencies /dependencies/node_modules node_modules
COPY --from=build /build/dist dist
# The mount point of the manifest and its files.
WORKDIR /etc/signing-gateway
# Kubernetes can verify a number, but not a name, against runAsNonRoot.
USER 65532:65532
EXPOSE 8080 9901
STOPSIGNAL SIGTERM
# Checks the process only: a restart does not help against a failing upstream.
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s CMD ["node", "--disable-sigusr1", "/opt/signing-gateway/dist/cli/main.js", "health", "--live"]
# SIGUSR1 opens the inspector while Node itself starts.
ENTRYPOINT ["node", "--disable-sigusr1", "/opt/signing-gateway/dist/cli/main.js"]
CMD ["run"]
