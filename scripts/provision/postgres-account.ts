import { execFileSync } from 'node:child_process';
import { chownSync, existsSync, statSync } from 'node:fs';
import { platform, userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';

/** The system user that the embedded Postgres runs as. */
export interface PostgresAccount {
  /** The command and the spawn options that run a program as this user. */
  command(binary: string, args: readonly string[]): [string, ...string[]];
  spawn: { uid?: number; gid?: number; cwd: string };
  /** Hands a file or directory over to this user. */
  own(path: string): void;
}

/**
 * Chooses the user that Postgres runs as: whoever we are, except that Postgres refuses to be root. Root hands over to
 * the owner of an existing data directory, else to `postgres`, else to `nobody`; no user is created.
 *
 * @param paths what that user must be able to reach: the programs and the data directory.
 */
export function choosePostgresAccount(dataDir: string, paths: readonly string[]): PostgresAccount {
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
 * Arguments of setpriv(1): become the user, and keep of root's powers only the one to pass through closed directories.
 * Postgres checks that it is not root, not what it may read.
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

/** Asks id(1), which knows every directory service that the machine uses. */
function lookUp(user: string): { uid: number; gid: number } | undefined {
  const ask = (what: '-u' | '-g') =>
    Number(execFileSync('id', [what, user], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { uid: ask('-u'), gid: ask('-g') };
  } catch {
    return undefined;
  }
}

/** Whether every directory above a path lets the user through. */
function isReachable(path: string, uid: number, gid: number): boolean {
  const parent = dirname(resolve(path));
  const { mode, uid: owner, gid: group } = statSync(parent);
  const executable = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
  return (mode & executable) !== 0 && (parent === '/' || isReachable(parent, uid, gid));
}

function noUser(): never {
  throw new Error(
    'Postgres does not run as root, and this machine has neither a user `postgres` nor `nobody`. Start Weir as an ordinary user, or set DATABASE_URL.',
  );
}

function unreachable(paths: readonly string[]): string {
  return `Postgres does not run as root, and its user cannot reach ${paths.join(' or ')}. Start Weir as an ordinary user, or put it where everybody may pass.`;
}
