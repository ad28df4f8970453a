# docker build --tag tradewind .      "npm run check:dockerfile" carries out these steps where no container engine runs.
FROM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts
COPY scripts/package.json scripts/package-lock.json scripts/.npmrc scripts/
COPY console/package.json console/package-lock.json console/.npmrc console/
RUN npm ci --prefix scripts && npm ci --omit=dev --prefix console
COPY . .
# Doctor also makes the links among the libraries of the embedded PostgreSQL, which packages can't contain.
RUN npm run build && find dist -name '*.map' -delete && chmod +x dist/src/main.js && node dist/src/main.js doctor
# The rest is in the bundle.
RUN node scripts/not-bundled.mjs && npm prune --omit=dev --ignore-scripts

FROM node:24.21.0-bookworm-slim
# PostgreSQL refuses to run as root, and nothing here needs it.
RUN useradd --system --uid 900 --no-create-home --home-dir /var/lib/tradewind tradewind \
 && install --directory --owner tradewind --group tradewind --mode 700 /var/lib/tradewind \
 && ln --symbolic /opt/tradewind/dist/src/main.js /usr/local/bin/tradewind
WORKDIR /opt/tradewind
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/catalog catalog
COPY --from=build /build/mail mail
COPY --from=build /build/dist dist
ENV TRADEWIND_HOST=0.0.0.0 TRADEWIND_PORT=8080 TRADEWIND_WORKER_PORT=8080 TRADEWIND_DATA_DIR=/var/lib/tradewind TRADEWIND_LOG_FORMAT=json
USER tradewind
VOLUME /var/lib/tradewind
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --start-interval=1s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/opt/tradewind/dist/src/main.js"]
CMD ["serve"]
