import { createHash } from 'node:crypto';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildOnce, programEnvironment } from '../../../harness/tools/build-cache.ts';
import { runShell, type ShellResult } from '../../../harness/tools/shell.ts';
import { readVersions } from '../../../harness/tools/toolchain.ts';
import type { Recipe, RecipePage } from './recipe-page.ts';

const examples = fileURLToPath(new URL('../../../examples/opentelemetry', import.meta.url));

/** A program may be compiled again, and exporters wait between their attempts. */
const runTimeoutMs = 180_000;

/** The URL of Weir on the page. */
const urlOnPage = 'http://127.0.0.1:8080';

/**
 * Installs a recipe with its commands, next to the programs of examples/opentelemetry. The installation is
 * reused until the commands, a tool or a compiled program changes.
 *
 * @returns its directory.
 */
export async function installRecipe({ title, tools, install, files }: Recipe): Promise<string> {
  const programs = globSync('*.{cjs,mjs,py,go}', { cwd: examples }).sort();
  const compiled = tools.includes('go') ? programs.filter((program) => program.endsWith('.go')) : [];
  const hash = createHash('sha256').update(readVersions(tools)).update(install.join('\n'));
  for (const program of compiled) hash.update(`${program}\0`).update(readFileSync(join(examples, program)));
  const writePrograms = (directory: string) => {
    for (const program of programs) cpSync(join(examples, program), join(directory, program));
    for (const [name, content] of files) writeFileSync(join(directory, name), content);
  };
  const directory = await buildOnce({
    name: `recipe-${title.toLowerCase().replaceAll(/\W+/g, '-')}`,
    hash: hash.digest('hex').slice(0, 16),
    folder: '.',
    commands: install,
    write: writePrograms,
  });
  writePrograms(directory);
  return directory;
}

export interface RecipeTarget {
  readonly url: string;
  readonly apiKey: string;
  /** The base URL of OpenAI's API; Anthropic's is a sibling path. */
  readonly providerUrl: string;
  /** Commands inserted after those that set the variables and before those that run the program. */
  readonly change?: string;
}

/** Runs a recipe as the page says, but against this Weir and this model provider. */
export function runRecipe(
  directory: string,
  { variables }: Pick<RecipePage, 'variables'>,
  { run }: Recipe,
  { url, apiKey, providerUrl, change = '' }: RecipeTarget,
): Promise<ShellResult> {
  const script = ['set -e', variables, change, run].join('\n').replaceAll(urlOnPage, url);
  return runShell(script, {
    cwd: directory,
    env: {
      ...programEnvironment,
      WEIR_API_KEY: apiKey,
      OPENAI_BASE_URL: providerUrl,
      OPENAI_API_KEY: 'key',
      ANTHROPIC_BASE_URL: providerUrl.replace(/\/v1$/, ''),
      ANTHROPIC_API_KEY: 'key',
      MODEL: 'agent',
    },
    timeoutMs: runTimeoutMs,
  });
}
