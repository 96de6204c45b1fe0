# syntax=docker/dockerfile:1
# The service alone: no compiler, no embedded database or chain, nothing that only development needs. It runs as an unprivileged
# user and writes nothing, so the root file system may be read-only.
#
#   docker build -t node-ledger .
#
# For a release, pin the base by its digest, which a tag does not: `docker buildx imagetools inspect node:26-slim` prints it;
# then build with --build-arg NODE_IMAGE=node:26-slim@sha256:…
ARG NODE_IMAGE=node:26-slim

# The pages are built with the tools of development, which stay behind in this stage.
FROM ${NODE_IMAGE} AS pages
WORKDIR /build
COPY package.json package-lock.json ./
COPY bin bin
COPY toolchain/package.json toolchain/
COPY client client
COPY web web
COPY docs/RUNBOOK.md docs/
COPY api api
COPY src/operator/columns.ts src/operator/
RUN npm ci --ignore-scripts && node bin/prepare.mjs

# Types are stripped here and not at each start, which would keep 20 MB.
FROM ${NODE_IMAGE} AS code
WORKDIR /build
COPY scripts/release/strip.ts ./
COPY src src
COPY api api
COPY web/src/words web/src/words
RUN node strip.ts --into stripped src api web/src/words

FROM ${NODE_IMAGE} AS modules
WORKDIR /build
COPY package.json package-lock.json ./
COPY toolchain/package.json toolchain/
COPY client/package.json client/
COPY web/package.json web/
# The service runs none of what the packages bring for those who develop with them (types, sources, maps) or load them in another form; nor does it
# need the workspaces.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
 && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete \
 && rm -r node_modules/viem/_cjs node_modules/ox/_cjs node_modules/@simplewebauthn/server/script node_modules/@peculiar/*/build/es2015 \
 && find node_modules -type d -empty -delete \
 && rm -r node_modules/@node-ledger

FROM ${NODE_IMAGE}
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    MALLOC_ARENA_MAX=1 \
    MALLOC_MMAP_THRESHOLD_=131072
WORKDIR /app
COPY --from=modules /build/node_modules node_modules
COPY package.json LICENSE ./
COPY bin bin
COPY migrations migrations
COPY --from=code /build/stripped ./
COPY --from=pages /build/web/dist web/dist
# A number, so that Kubernetes can see that it is not root; no such user needs to exist.
USER 65532:65532
EXPOSE 3000 9464
STOPSIGNAL SIGTERM
# Liveness only: a database or chain that is away is no reason to restart. For readiness ask /readyz.
HEALTHCHECK --interval=10s --timeout=3s --start-period=90s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 3000}/healthz`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is the first process: it handles SIGTERM, and starts no children that would need collecting.
ENTRYPOINT ["node", "--max-semi-space-size=4", "--max-old-space-size=512", "src/main.js"]
CMD ["start"]
