import { createHash } from 'node:crypto';
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env, execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { buildOnce, buildTimeoutMs } from '../../harness/tools/build-cache.ts';
import { runShell } from '../../harness/tools/shell.ts';
import { findMissingTool } from '../../harness/tools/toolchain.ts';
import { configSchema, secretNames } from '../../lib/config.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let copy = '';
beforeAll(() => {
  copy = mkdtempSync(join(inject('runDirectory'), 'deploy-'));
  cpSync(join(root, 'deploy'), join(copy, 'deploy'), { recursive: true });
  cpSync(join(root, 'lib/db/roles/roles.sql'), join(copy, 'lib/db/roles/roles.sql'), { recursive: true });
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

/** Go programs of a few lines: the tools' own commands need a newer Go. */
function buildGo(name: string, packages: readonly string[], program: string): Promise<string> {
  const commands = [
    `go mod init ${name} 2>/dev/null`,
    ...packages.map((one) => `go get ${one}`),
    'go mod tidy',
    'go build -o program .',
  ];
  const hash = createHash('sha256').update(`${commands.join()}${program}`).digest('hex').slice(0, 16);
  const write = (directory: string) => writeFileSync(join(directory, 'main.go'), program);
  return buildOnce({ name, hash, write, folder: '.', commands });
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
      const directory = await buildGo(
        'compose-check',
        ['github.com/compose-spec/compose-go/v2@v2.9.1'],
        `package main

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
      );
      expect((await run(`'${directory}/program' compose/compose.yaml`)).trim()).toBe('8');
    },
    buildTimeoutMs,
  );

  const noPython = findMissingTool(['python3']);
  test.skipIf(noPython !== undefined)(
    `the overlays are valid Kubernetes objects${noPython ? `: ${noPython}` : ''}`,
    async () => {
      const kustomize = await buildGo(
        'kustomize',
        ['sigs.k8s.io/kustomize/api@v0.20.1'],
        `package main

import (
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

func main() {
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	text, _ := objects.AsYaml()
	os.Stdout.Write(text)
}
`,
      );
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
      await run(
        'cd kubernetes/overlays/example && for f in *.example; do cp "$f" "$(basename "$f" .example)"; done',
      );
      for (const [overlay, count] of [
        ['base', 20],
        ['overlays/small', 19],
        ['overlays/example', 22],
      ] as const) {
        const file = `${overlay.replaceAll('/', '-')}.yaml`;
        await run(`'${kustomize}/program' kubernetes/${overlay} > ${file}`);
        expect(Number(await run(`grep -c '^kind:' ${file}`))).toBe(count);
        await run(`'${validate}/bin/kubernetes-validate' --strict ${file}`);
      }
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
