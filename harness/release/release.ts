import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { env } from 'node:process';
import { runProgram } from '../../launcher/process/run-program.ts';
import { cacheDirectory } from '../../launcher/provision/cache-directory.ts';
import { buildWeb } from '../../launcher/provision/web/web-build.ts';
import { version } from '../../platform/version.ts';
import { writeHelmChart } from './helm-chart.ts';
import { cutNotes } from './notes.ts';
import { findVersionDifferences } from './versions.ts';
import { writeWeirPackage } from './weir-package.ts';

/** A part of the release. It writes its files to `directory`, and may use `scratch`. */
interface Part {
  readonly name: string;
  write(paths: { root: string; directory: string; scratch: string }): Promise<void>;
}

const stepTimeoutMs = 10 * 60_000;

const run = (cwd: string, file: string, args: readonly string[]) =>
  runProgram(file, args, { cwd, timeoutMs: stepTimeoutMs });

/** Two archives of the same content are the same bytes. */
const reproducible = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner'];

async function archive(paths: { file: string; parent: string; folder: string; committedAt: string }) {
  const { file, parent, folder, committedAt } = paths;
  const time = `--mtime=@${committedAt.trim()}`;
  await run(parent, 'tar', [...reproducible, time, '-I', 'gzip -n', '-cf', file, folder]);
}

const committedAt = (root: string) => run(root, 'git', ['log', '-1', '--format=%ct']);

const parts: readonly Part[] = [
  {
    name: 'npm packages: weir, @weir/sdk',
    async write({ root, directory, scratch }) {
      const { directory: pages } = await buildWeb({ cacheDir: cacheDirectory(env, scratch) });
      await writeWeirPackage(root, join(scratch, 'package'), pages);
      const file = join(directory, `weir-${version}.tgz`);
      await archive({ file, parent: scratch, folder: 'package', committedAt: await committedAt(root) });
      cpSync(join(pages, 'weir-sdk.tgz'), join(directory, `weir-sdk-${version}.tgz`));
    },
  },
  {
    name: 'Python wheel: weir-sdk',
    async write({ root, directory }) {
      if (!existsSync(join(root, 'sdk/python/pyproject.toml'))) return;
      const args = [
        '-m',
        'pip',
        'wheel',
        '--quiet',
        '--no-deps',
        '--wheel-dir',
        directory,
        join(root, 'sdk/python'),
      ];
      await run(root, 'python3', args);
    },
  },
  {
    name: 'deployment: Compose, Kubernetes, systemd, Prometheus, Grafana, Helm, the image',
    async write({ root, directory, scratch }) {
      const time = await committedAt(root);
      const tracked = async (path: string, folder: string) => {
        mkdirSync(join(scratch, folder), { recursive: true });
        const tar = join(scratch, 'files.tar');
        await run(root, 'git', ['archive', '--output', tar, 'HEAD', ...path.split(' ')]);
        await run(scratch, 'tar', ['-xf', tar, '-C', folder]);
      };
      await tracked(
        'deploy docs proto README.md ARCHITECTURE.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE examples',
        `weir-deploy-${version}`,
      );
      // Compose and Kubernetes give the roles of Postgres their passwords with it.
      await tracked('store/db/roles/roles.sql', `weir-deploy-${version}`);
      const deploy = `weir-deploy-${version}`;
      const file = join(directory, `${deploy}.tar.gz`);
      await archive({ file, parent: scratch, folder: deploy, committedAt: time });
      writeHelmChart(root, join(scratch, 'weir'));
      const chart = join(directory, `weir-helm-${version}.tgz`);
      await archive({ file: chart, parent: scratch, folder: 'weir', committedAt: time });
      const image = `weir-image-${version}`;
      await run(root, 'deploy/image/context.sh', [join(scratch, image)]);
      await archive({
        file: join(directory, `${image}.tar.gz`),
        parent: scratch,
        folder: image,
        committedAt: time,
      });
    },
  },
  {
    name: 'notes, software bill of materials, checksums',
    async write({ root, directory }) {
      const notes = cutNotes(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
      writeFileSync(join(directory, 'NOTES.md'), `${notes}\n`);
      const args = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx'];
      const { serialNumber: _, ...bill } = JSON.parse(await run(root, 'npm', args));
      delete bill.metadata.timestamp;
      writeFileSync(join(directory, 'sbom.cdx.json'), `${JSON.stringify(bill)}\n`);
      const sums = readdirSync(directory).map(
        (name) =>
          `${createHash('sha256')
            .update(readFileSync(join(directory, name)))
            .digest('hex')}  ${name}\n`,
      );
      writeFileSync(join(directory, 'SHA256SUMS'), sums.join(''));
    },
  },
];

/**
 * Writes a release of the checkout's commit to a directory, which is emptied first. Nothing is published or
 * tagged.
 *
 * @throws Error when the checkout has changes that are not committed, or its versions differ.
 */
export async function writeRelease(
  root: string,
  directory: string,
  report: (line: string) => void,
): Promise<void> {
  const changes = await run(root, 'git', ['status', '--porcelain']);
  if (changes !== '')
    throw new Error(`A release is made of a commit, and these files differ from it:\n${changes}`);
  const differences = findVersionDifferences(root);
  if (differences.length > 0) throw new Error(differences.join('\n'));
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'weir-release-'));
  try {
    for (const { name, write } of parts) {
      report(name);
      await write({ root, directory, scratch });
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  report(`${directory}: ${readdirSync(directory).join(', ')}`);
}
