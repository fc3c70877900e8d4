import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { env } from 'node:process';
import { fileURLToPath } from 'node:url';
import { expect, inject, test } from 'vitest';
import { runShell } from '../support/tools/shell.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bytesMax = 200_000_000;
const buildMs = 10 * 60_000;

test(
  'two builds of the image are identical, small, and need no root',
  async (context) => {
    const run = (script: string) => runShell(script, { cwd: root, env, timeoutMs: buildMs / 2 });
    const { exitCode: missing } = await run('command -v buildah apt-get dpkg git strip');
    context.skip(missing !== 0, 'buildah or Debian is not here');
    const directory = mkdtempSync(join(inject('runDirectory'), 'image-'));
    try {
      for (const name of ['first', 'second']) {
        const { exitCode, stderr } = await run(`deploy/image/build.sh '${directory}/${name}.tar'`);
        expect(exitCode, stderr).toBe(0);
      }
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
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
  buildMs,
);
