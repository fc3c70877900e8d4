import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, statSync } from 'node:fs';
import { platform, userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';

export interface PostgresUser {
  /** The command that, with the spawn options, runs a program as this user. */
  command(binary: string, args: readonly string[]): [string, ...string[]];
  spawn: { uid?: number; gid?: number; cwd: string };
  own(path: string): void;
}

/**
 * Chooses the user that runs Postgres: the current one, or for root, which Postgres refuses, the owner of an
 * existing data directory, else `postgres`, else `nobody`. Creates no user.
 * @param paths that the user must be able to reach: the programs and the data directory.
 */
export function choosePostgresUser(dataDir: string, paths: readonly string[]): PostgresUser {
  if (userInfo().uid !== 0)
    return { command: (binary, args) => [binary, ...args], spawn: { cwd: '/' }, own: () => {} };
  const { uid, gid } = ownerOf(dataDir) ?? lookUp('postgres') ?? lookUp('nobody') ?? noUser();
  const own = (path: string) => chownSync(path, uid, gid);
  if (paths.every((path) => isReachable(path, uid, gid))) {
    return { command: (binary, args) => [binary, ...args], spawn: { uid, gid, cwd: '/' }, own };
  }
  if (platform() !== 'linux') throw new Error(unreachable(paths));
  return {
    command: (binary, args) => ['setpriv', ...passThrough(uid, gid), binary, ...args],
    spawn: { cwd: '/' },
    own,
  };
}

/**
 * Arguments of setpriv(1): switch to the user but keep CAP_DAC_OVERRIDE, to pass directories without
 * permission. Postgres checks that its user is not root, not its capabilities.
 */
function passThrough(uid: number, gid: number): string[] {
  return [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--securebits=+no_setuid_fixup',
    '--inh-caps=+dac_override',
    '--ambient-caps=+dac_override',
  ];
}

function ownerOf(dataDir: string): { uid: number; gid: number } | undefined {
  if (!existsSync(dataDir)) return undefined;
  const { uid, gid } = statSync(dataDir);
  return uid === 0 ? undefined : { uid, gid };
}

/** Calls id(1), which also queries directory services such as LDAP. */
function lookUp(user: string): { uid: number; gid: number } | undefined {
  const ask = (what: '-u' | '-g') =>
    Number(execFileSync('id', [what, user], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return undefined;
  }
}

function isReachable(path: string, uid: number, gid: number): boolean {
  const parent = dirname(resolve(path));
  const { mode, uid: owner, gid: group } = statSync(parent);
  const executable = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
  return (mode & executable) !== 0 && (parent === '/' || isReachable(parent, uid, gid));
}

function noUser(): never {
  throw new Error(
    'Postgres refuses to run as root, and this machine has no user `postgres` or `nobody`. Start Weir as an ordinary user, or set DATABASE_URL.',
  );
}

function unreachable(paths: readonly string[]): string {
  return `Postgres refuses to run as root, and its user cannot reach ${paths.join(' or ')}. Start Weir as an ordinary user, or move it to a directory that every user can read.`;
}
