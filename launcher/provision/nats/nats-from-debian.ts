import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../../process/run-program.ts';
import { findDebianMirror } from './debian-mirror.ts';

const keyring = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** The package lists of one suite are some 10 MB: a slow line takes a minute for them. */
const updateTimeoutMs = 120_000;

/** Downloads nats-server from Debian's `testing`: needs no root, and apt verifies the signatures. */
export async function getFromDebian(scratch: string, signal?: AbortSignal): Promise<string> {
  const mirror = findDebianMirror('/etc/apt');
  const directory = (path: string) => {
    mkdirSync(join(scratch, path), { recursive: true });
    return join(scratch, path);
  };
  directory('lists/partial');
  directory('cache/archives/partial');
  const sources = join(scratch, 'sources.list');
  writeFileSync(sources, `deb [signed-by=${keyring}] ${mirror} testing main\n`);
  const settings = {
    'Dir::Etc::sourcelist': sources,
    'Dir::Etc::sourceparts': directory('no-more-sources'),
    'Dir::State::lists': join(scratch, 'lists'),
    'Dir::Cache': join(scratch, 'cache'),
    // Otherwise apt drops privileges to a user that cannot read our scratch directory.
    'APT::Sandbox::User': 'root',
    'Debug::NoLocking': '1',
    // Translations and icons are most of the rest of the download.
    'Acquire::Languages': 'none',
    'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled': 'false',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled': 'false',
    'Acquire::IndexTargets::deb::DEP-11-icons-small::DefaultEnabled': 'false',
    'Acquire::IndexTargets::deb::DEP-11-icons::DefaultEnabled': 'false',
    'Acquire::http::Timeout': '10',
    'Acquire::Retries': '1',
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await runProgram('apt-get', [...options, 'update'], { timeoutMs: updateTimeoutMs, signal });
  await runProgram('apt-get', [...options, 'download', 'nats-server'], {
    timeoutMs: updateTimeoutMs,
    cwd: scratch,
    signal,
  });
  const archive = readdirSync(scratch).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error('apt-get downloaded no package');
  await runProgram('dpkg-deb', ['-x', join(scratch, archive), directory('package')], {
    timeoutMs: 60_000,
    signal,
  });
  return join(scratch, 'package', 'usr', 'sbin', 'nats-server');
}
