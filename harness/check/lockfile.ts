import { globSync } from 'node:fs';

/** The lock files of the repository and of the example clients, relative to the root. */
export function findLockFiles(root: string): string[] {
  return globSync(['package-lock.json', 'examples/clients/*/package-lock.json'], { cwd: root });
}

/** A package's entry in package-lock.json. */
export interface LockedPackage {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

export interface MissingPackage {
  name: string;
  version: string;
  /** A development dependency. */
  dev: boolean;
}

/**
 * Finds the optional packages, mostly native code for other platforms, that npm omitted from the lock file
 * because the registry did not have them. With such a lock file `npm ci` fails.
 */
export function findMissingOptional(packages: Record<string, LockedPackage>): MissingPackage[] {
  const missing = new Map<string, MissingPackage>();
  for (const [path, { optionalDependencies = {}, dev = false }] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      if (placesOf(path, name).some((place) => place in packages)) continue;
      missing.set(name, { name, version: range.replace(/^[\^~]/, ''), dev });
    }
  }
  return [...missing.values()];
}

/** The paths where Node looks for a dependency of the package at a path. */
function placesOf(path: string, name: string): string[] {
  const places: string[] = [];
  for (let base = path; ; base = base.slice(0, Math.max(base.lastIndexOf('node_modules/') - 1, 0))) {
    places.push(`${base === '' ? '' : `${base}/`}node_modules/${name}`);
    if (base === '') return places;
  }
}

const systems = ['android', 'darwin', 'freebsd', 'linux', 'openbsd', 'openharmony', 'win32'];
const processors: Record<string, string> = {
  x64: 'x64',
  ia32: 'ia32',
  arm64: 'arm64',
  arm: 'arm',
  armv7: 'arm',
  ppc64: 'ppc64',
  riscv64: 'riscv64',
  s390x: 's390x',
  wasm32: 'wasm32',
};

/**
 * The platform of a package by its name, e.g. `@x/y-linux-arm64-musl`. npm must not install it on other
 * platforms.
 *
 * @throws Error when the name contains no platform.
 */
export function platformOf(name: string): Pick<LockedPackage, 'os' | 'cpu' | 'libc'> {
  const words = name.split(/[/-]/);
  const os = words.filter((word) => systems.includes(word));
  const cpu = words.flatMap((word) => processors[word] ?? []);
  // WebAssembly runs on every system; npm installs it where `wasm32` is asked for.
  if (cpu.length === 1 && cpu[0] === 'wasm32') return { cpu };
  if (os.length !== 1 || cpu.length !== 1) throw new Error(`${name} does not contain a platform`);
  const libc = words.some((word) => word.startsWith('musl'))
    ? ['musl']
    : words.some((word) => word.startsWith('gnu')) && os[0] === 'linux'
      ? ['glibc']
      : undefined;
  return { os, cpu, ...(libc && { libc }) };
}
