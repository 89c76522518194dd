# Node runs the TypeScript directly, so the image only needs production dependencies and the sources.
# `minstrel <name>` runs any program in it, such as `docker compose exec bot minstrel doctor`.
# Pinned by digest for reproducible builds. `docker buildx imagetools inspect node:24-slim` prints the newest.
FROM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:24-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df
ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    PORT=3000 \
    DATA_DIR=/data \
    NODE_COMPILE_CACHE=/data/node-compile-cache
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json LICENSE THIRD-PARTY-NOTICES ./
COPY commands ./commands
COPY src ./src
RUN ln -s /app/src/cli/bin.js /usr/local/bin/minstrel
# The only writable folder besides /tmp. With volumes for both, the file system can be read-only.
RUN install -d -m 700 -o node -g node /data
USER node
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 \
    CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/healthz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["minstrel", "start"]
