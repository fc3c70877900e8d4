import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Build, buildOnce } from '../../../harness/tools/build-cache.ts';
import { readVersions } from '../../../harness/tools/toolchain.ts';

/**
 * Builds a Go program of a few lines around modules: their own commands often need a newer Go, or replace
 * modules.
 *
 * @param modules with their versions, such as `sigs.k8s.io/kustomize/api@v0.20.1`.
 * @param build the command, with flags.
 * @returns its file.
 * @throws PackagesUnreachableError
 */
export async function buildGoProgram(
  name: string,
  modules: readonly string[],
  { program, build = 'go build', timeoutMs }: { program: string; build?: string } & Pick<Build, 'timeoutMs'>,
): Promise<string> {
  const commands = [
    `go mod init ${name} 2>/dev/null`,
    `go get ${modules.join(' ')}`,
    'go mod tidy',
    `${build} -o program .`,
  ];
  const hash = createHash('sha256').update([readVersions(['go']), ...commands, program].join('\n'));
  const directory = await buildOnce({
    name,
    hash: hash.digest('hex').slice(0, 16),
    write: (folder) => writeFileSync(join(folder, 'main.go'), program),
    folder: '.',
    commands,
    timeoutMs,
  });
  return join(directory, 'program');
}
