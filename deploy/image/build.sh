#!/usr/bin/env bash
# usage: deploy/image/build.sh FILE.tar
# Builds the image as an OCI archive, without a daemon (context.sh says what is in it). Two builds of the same commit on the same
# packages are identical. Needs buildah.
set -euo pipefail
archive=$(realpath -m "${1:?usage: deploy/image/build.sh FILE.tar}")
cd "$(dirname "$0")/../.."
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export STORAGE_DRIVER=${STORAGE_DRIVER:-vfs} BUILDAH_ISOLATION=chroot
version=$(node -p 'require("./package.json").version')
context=$(mktemp -d)
trap 'rm -rf "$context"' EXIT
deploy/image/context.sh "$context"
rm -f "$archive"
image=$(buildah build --quiet --format oci --timestamp "$SOURCE_DATE_EPOCH" "$context")
buildah push --quiet "$image" "oci-archive:$archive:weir:$version"
buildah rmi "$image" >/dev/null
echo "$archive" >&2
