import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { runShell } from '../../harness/tools/shell.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bytesMax = 200_000_000;
const buildMs = 10 * 60_000;

const run = (script: string) =>
  runShell(script, {
    cwd: root,
    env: { STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot', ...env },
    timeoutMs: buildMs / 2,
  });

let directory = '';
let isMissing = true;

beforeAll(async () => {
  directory = mkdtempSync(join(inject('runDirectory'), 'image-'));
  isMissing = (await run('command -v buildah apt-get dpkg git strip')).exitCode !== 0;
  if (isMissing) return;
  for (const name of ['first', 'second']) {
    const { exitCode, stderr } = await run(`deploy/image/build.sh '${directory}/${name}.tar'`);
    expect(exitCode, stderr).toBe(0);
  }
}, buildMs);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('two builds of the image are identical, small, and need no root', async (context) => {
  context.skip(isMissing, 'buildah or Debian is not here');
  const digestOf = async (name: string) =>
    (await run(`tar -xOf '${directory}/${name}.tar' index.json`)).stdout;
  expect(await digestOf('second')).toBe(await digestOf('first'));
  const { stdout: layers } = await run(`tar -tvf '${directory}/first.tar' | awk '{ print $3 }'`);
  expect(
    layers
      .trim()
      .split('\n')
      .map(Number)
      .reduce((sum, bytes) => sum + bytes),
  ).toBeLessThan(bytesMax);
  const { stdout: config } = await run(
    `cd '${directory}' && tar -xf first.tar && grep -l '"Entrypoint"' blobs/sha256/* | xargs cat`,
  );
  expect(JSON.parse(config).config).toMatchObject({
    User: '65532:65532',
    Labels: { 'org.opencontainers.image.title': 'weir' },
  });
});

/** Runs the programs of the image. @param inImage runs the entry point with arguments. */
async function expectPrograms(inImage: (args: string) => ReturnType<typeof run>): Promise<void> {
  const help = await inImage('weir --help');
  expect(help.stdout, help.stderr).toContain('Usage: weir');
  for (const service of ['ingest', 'writer', 'dashboard-api']) {
    const { exitCode, stdout, stderr } = await inImage(service);
    expect(exitCode).not.toBe(0);
    expect(stdout + stderr).toContain(`${service}: The configuration has mistakes`);
    expect(stdout + stderr).toContain('DATABASE_URL: must be set');
  }
}

// In a chroot: this needs neither a daemon nor cgroups.
test('the image has everything that its services need, and its user can change none of it', async (context) => {
  context.skip(isMissing, 'buildah or Debian is not here');
  const { stdout, stderr } = await run(`buildah from --quiet 'oci-archive:${directory}/first.tar'`);
  const container = stdout.trim();
  try {
    expect(container, stderr).not.toBe('');
    const node = (args: string) =>
      run(`buildah run --user 65532:65532 '${container}' -- /usr/local/bin/node ${args}`);
    await expectPrograms((args) => node(`/weir/launcher/service.ts ${args}`));
    const user = await node(`-p 'process.getuid()'`);
    expect(user.stdout.trim(), user.stderr).toBe('65532');
    expect((await node(`-e 'fs.writeFileSync("/weir/own", "")'`)).stderr).toContain('EACCES');
  } finally {
    await run(`buildah rm '${container}'`);
  }
}, 120_000);

test('podman runs the image with a read-only root', async (context) => {
  context.skip(isMissing, 'buildah or Debian is not here');
  const loaded = await run(`podman load --quiet --input '${directory}/first.tar'`);
  context.skip(loaded.exitCode !== 0, `podman cannot load images: ${loaded.stderr.trim()}`);
  const image = loaded.stdout.trim().split(' ').at(-1) ?? '';
  const inPodman = (args: string) => run(`podman run --rm --read-only --network=none '${image}' ${args}`);
  try {
    const started = await inPodman('weir --help');
    // 125 to 127 are podman's own: it could not start the container.
    context.skip(
      started.exitCode !== null && started.exitCode >= 125,
      `podman cannot start containers: ${started.stderr.trim()}`,
    );
    await expectPrograms(inPodman);
  } finally {
    await run(`podman rmi '${image}'`);
  }
}, 120_000);
