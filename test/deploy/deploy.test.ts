import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildOnce, buildTimeoutMs } from '../../harness/tools/build-cache.ts';
import { runShell } from '../../harness/tools/shell.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { configSchema, secretNames } from '../../platform/config.ts';
import { buildKustomize } from '../support/kubernetes/kustomize.ts';
import { findDanglingReferences } from '../support/kubernetes/references.ts';
import { buildGoProgram } from '../support/tools/go-program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let copy = '';
beforeAll(() => {
  copy = mkdtempSync(join(inject('runDirectory'), 'deploy-'));
  cpSync(join(root, 'deploy'), join(copy, 'deploy'), { recursive: true });
  for (const name of ['secrets.env', 'nats-secrets.env']) {
    const file = join(copy, 'deploy/kubernetes/overlays/example', name);
    cpSync(`${file}.example`, file);
  }
  cpSync(join(root, 'store/db/roles/roles.sql'), join(copy, 'store/db/roles/roles.sql'), { recursive: true });
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

async function run(script: string, variables: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = await runShell(script, {
    cwd: join(copy, 'deploy'),
    env: { ...env, ...variables },
    timeoutMs: 120_000,
  });
  expect(exitCode, `${script}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

test('every variable in the files is one of the configuration', () => {
  const known = new Set([...Object.keys(configSchema.shape), ...secretNames.map((name) => `${name}_FILE`)]);
  const files = globSync('deploy/{compose/compose.yaml,kubernetes/**/*.yaml}', { cwd: root });
  const named = files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return [...text.matchAll(/(?:^ +(?:- (?:\{name: |name: )?)?)([A-Z][A-Z]+_[A-Z_]+)\b/gm)].map(
      ([, name = '']) => name,
    );
  });
  const ofOthers = /^(?:POSTGRES|POD)_|^NATS_(?:PASSWORD|ROUTE_)/;
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !ofOthers.test(name) && !known.has(name))).toEqual([]);
});

test('the files name the image of this version', () => {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const file of globSync('deploy/{compose/compose,kubernetes/**/kustomization}.yaml', { cwd: root })) {
    const named = readFileSync(join(root, file), 'utf8').matchAll(/(?:newTag: |WEIR_VERSION:-)([\w.-]+)/g);
    expect(
      [...named].filter(([, one]) => one !== version),
      file,
    ).toEqual([]);
  }
});

test('nats-server accepts its configurations', async () => {
  const binary = inject('natsServerBinary');
  const routeOf = (node: number) => `nats://weir-route:r@nats-${node}.nats:6222`;
  const variables = { POD_NAME: 'nats-0', NATS_PASSWORD: 'p', NATS_ROUTE_PASSWORD: 'r' };
  const routes = { NATS_ROUTE_0: routeOf(0), NATS_ROUTE_1: routeOf(1), NATS_ROUTE_2: routeOf(2) };
  await run(`'${binary}' -t -c kubernetes/base/nats.conf`, { ...variables, ...routes });
  await run(`'${binary}' -t -c kubernetes/overlays/small/nats.conf`, variables);
  await run(
    'compose/secrets.sh && mkdir -p etc/nats && cp compose/nats.conf etc/nats && mkdir -p run && cp -r compose/secrets run/secrets',
  );
  await run(`'${binary}' -t -c etc/nats/nats.conf`);
});

const noGo = findMissingTool(['go']);
describe.skipIf(noGo !== undefined)(`with Go${noGo ? `: ${noGo}` : ''}`, () => {
  test(
    'compose.yaml follows the specification of Compose',
    async () => {
      const program = await buildGoProgram(
        'compose-check',
        ['github.com/compose-spec/compose-go/v2@v2.9.1'],
        {
          program: `package main

import (
	"context"
	"fmt"
	"os"

	"github.com/compose-spec/compose-go/v2/cli"
)

func main() {
	options, err := cli.NewProjectOptions(os.Args[1:], cli.WithProfiles([]string{"*"}))
	if err == nil {
		project, failure := options.LoadProject(context.Background())
		err = failure
		if err == nil {
			fmt.Println(len(project.Services))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`,
        },
      );
      expect((await run(`'${program}' compose/compose.yaml`)).trim()).toBe('10');
    },
    buildTimeoutMs,
  );

  const noPython = findMissingTool(['python3']);
  test.skipIf(noPython !== undefined)(
    `the overlays are valid Kubernetes objects${noPython ? `: ${noPython}` : ''}`,
    async () => {
      const kustomize = await buildKustomize();
      const commands = [
        'python3 -m venv .',
        'bin/pip install --quiet --disable-pip-version-check kubernetes-validate==1.33.1',
      ];
      const hash = createHash('sha256').update(commands.join()).digest('hex').slice(0, 16);
      const validate = await buildOnce({
        name: 'kubernetes-validate',
        hash,
        write: () => {},
        folder: '.',
        commands,
      });
      for (const [folder, count] of [
        ['base', 21],
        ['overlays/small', 20],
        ['overlays/example', 23],
      ] as const) {
        const file = join(copy, `${basename(folder)}.yaml`);
        const { yaml, objects } = await kustomize(join(copy, 'deploy/kubernetes', folder));
        expect(objects, folder).toHaveLength(count);
        writeFileSync(file, yaml);
        await run(`'${validate}/bin/kubernetes-validate' --strict '${file}'`);
      }
    },
    buildTimeoutMs,
  );

  test(
    'the objects of Kubernetes name only objects, keys, pods and ports that exist',
    async () => {
      const kustomize = await buildKustomize();
      const render = async (folder: string) =>
        (await kustomize(join(copy, 'deploy/kubernetes', folder))).objects;
      const secrets = [
        ['weir', 'Job migrate', 'Deployment ingest', 'Deployment writer', 'Deployment dashboard-api'],
        ['weir', 'Deployment commands'],
        ['weir-nats', 'StatefulSet nats'],
      ].flatMap(([secret, ...users]) => users.map((user) => `${user}: no Secret ${secret}`));
      for (const folder of ['base', 'overlays/small'])
        expect(findDanglingReferences(await render(folder)).toSorted(), folder).toEqual(secrets.toSorted());
      expect(findDanglingReferences(await render('overlays/example'))).toEqual([]);
      // As the overlay `small` tells.
      await run(`sed -i 's|../../base|../small|' kubernetes/overlays/example/kustomization.yaml`);
      expect(findDanglingReferences(await render('overlays/example'))).toEqual([]);
    },
    buildTimeoutMs,
  );
});

test('systemd accepts the units, and they keep their exposure low', async (context) => {
  const { exitCode } = await runShell('systemd-analyze --version', { cwd: root, env, timeoutMs: 10_000 });
  context.skip(exitCode !== 0, 'systemd is not installed');
  await run(`sed -i 's|/usr/local/bin/node|${execPath}|; s|/opt/weir|${root}|' systemd/*.service`);
  await run('systemd-analyze verify --man=no systemd/*.service');
  for (const service of ['ingest', 'writer', 'dashboard-api'])
    await run(`systemd-analyze security --offline=true --threshold=20 systemd/weir-${service}.service`);
});
