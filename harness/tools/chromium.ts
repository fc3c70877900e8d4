import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { arch, platform, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { env, execPath } from 'node:process';
import { type Browser, chromium } from 'playwright-core';
import { cacheDirectory } from '../../launcher/provision/cache-directory.ts';

/** The npm package with a compressed Chromium. It contains the build for this platform only. */
const packageRoot = join(dirname(createRequire(import.meta.url).resolve('@sparticuz/chromium')), '..');
const isPackaged = platform() === 'linux' && arch() === 'x64';

/** Chromium's sandbox does not work for root, which is the user of many containers. The pages are our own. */
const args = ['--no-sandbox'];

/** Why this machine has no Chromium; undefined when it has one. */
export function findMissingChromium(): string | undefined {
  if (isPackaged || findInstalled() !== '') return undefined;
  return `npm has no Chromium for ${platform()} ${arch()}, and none is installed`;
}

/** Starts a headless Chromium: the one from npm when it exists, so that none has to be installed. */
export function openChromium(): Promise<Browser> {
  if (!isPackaged) return chromium.launch({ executablePath: findInstalled(), args });
  const directory = unpackChromium();
  return chromium.launch({
    executablePath: join(directory, 'chromium'),
    args,
    env: {
      ...env,
      // NSS and other libraries that a server usually lacks.
      LD_LIBRARY_PATH: [join(directory, 'al2023', 'lib'), env.LD_LIBRARY_PATH].filter(Boolean).join(':'),
      FONTCONFIG_FILE: writeFontConfig(directory),
    },
  });
}

/**
 * Writes a font configuration. The package's own one names directories of another system: Chromium then finds
 * no font, and crashes when it draws a text field.
 *
 * @returns the file.
 */
function writeFontConfig(directory: string): string {
  const file = join(directory, 'weir-fonts.conf');
  const directories = [join(directory, 'fonts', 'fonts'), '/usr/share/fonts', '/usr/local/share/fonts'];
  const config = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>${directories.map((fonts) => `<dir>${fonts}</dir>`).join('')}<cachedir>${join(directory, 'font-cache')}</cachedir></fontconfig>
`;
  if (!existsSync(file)) writeFileSync(file, config);
  return file;
}

function findInstalled(): string {
  const find = 'command -v chromium chromium-browser google-chrome | head -1';
  return execFileSync('sh', ['-c', find], { encoding: 'utf8' }).trim();
}

/**
 * Unpacks the package's files into the cache, once. Safe for concurrent test runs.
 *
 * @returns the directory.
 */
function unpackChromium(): string {
  const { version }: { version: string } = JSON.parse(
    readFileSync(join(packageRoot, 'package.json'), 'utf8'),
  );
  const cache = cacheDirectory(env, join(tmpdir(), 'weir'));
  const directory = join(cache, `chromium-${version}`);
  if (existsSync(directory)) return directory;
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, 'chromium-draft-'));
  try {
    const script = `
      import chromium, { inflate } from '@sparticuz/chromium';
      await chromium.executablePath();
      await inflate(${JSON.stringify(join(packageRoot, 'bin', 'al2023.tar.br'))});`;
    // In a process of its own, because the package unpacks into the temporary directory of its process.
    execFileSync(execPath, ['--input-type=module', '--eval', script], {
      cwd: packageRoot,
      env: { ...env, TMPDIR: draft },
    });
    renameSync(draft, directory);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
  return directory;
}
