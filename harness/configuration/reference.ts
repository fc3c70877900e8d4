import { z } from 'zod';
import { requiredOf } from '../../platform/config/services.ts';
import { type Config, configSchema, parseConfig, secretNames } from '../../platform/config.ts';
import { notes, otherVariables, readers } from './variables.ts';

/** The page docs/configuration.md. */
export function describeConfiguration(): string {
  const names = Object.keys(configSchema.shape) as (keyof Config)[];
  return [
    '# Configuration',
    '',
    'Generated from `platform/config.ts` and `harness/configuration/variables.ts`. After a change:',
    '`npm test -- harness/configuration --update=all`.',
    '',
    'Services and commands read environment variables. An empty one counts as not set. A mistake stops the process with a',
    'message that names each variable that is wrong or missing. `weir start` passes its environment on to its services, and',
    'sets what they need from each other.',
    '',
    wrap(
      `**Secrets in files.** ${secretNames.map((name) => `\`${name}_FILE\``).join(', ')} name a file with the value, as container platforms mount secrets. White space around the value is removed. The variable itself wins.`,
    ),
    '',
    'Below each name are its default, its values, and what reads it. “required”: the service does not start without it.',
    '',
    ...names.flatMap((name) => [
      `## ${name}`,
      '',
      wrap(`${defaultOf(name)}; ${valuesOf(name)}; ${readersOf(name)}`),
      '',
      wrap(notes[name].text),
      '',
    ]),
    '## Others',
    '',
    '| Variable | Read by | |',
    '|---|---|---|',
    ...otherVariables.map(({ name, by, text }) => row([`\`${name}\``, by, text])),
    '',
  ].join('\n');
}

/** The text in lines of at most 116 characters. */
const wrap = (text: string) => text.replaceAll(/(.{1,116})(?: |$)/g, '$1\n').trimEnd();

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

const defaults: Record<string, unknown> = parseConfig({});

function defaultOf(name: keyof Config): string {
  const { otherwise, unit } = notes[name];
  if (otherwise !== undefined) return otherwise;
  const value = defaults[name];
  if (value === undefined) return 'none';
  return `\`${value}\`${unit === 'bytes' ? ` (${Number(value) / 1024 ** 2} MiB)` : ''}`;
}

interface Range {
  type?: string;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
}

const ranges = (
  z.toJSONSchema(configSchema, { io: 'output', unrepresentable: 'any' }) as {
    properties: Record<string, Range>;
  }
).properties;

function valuesOf(name: keyof Config): string {
  const { values, unit } = notes[name];
  if (values !== undefined) return values;
  const { type, enum: listed, minimum, maximum, exclusiveMinimum } = ranges[name] ?? {};
  if (listed !== undefined) return listed.map((one) => `\`${one}\``).join(', ');
  if (type === 'boolean') return '`true`, `false`';
  if (type !== 'integer' && type !== 'number') return 'text';
  const least = minimum ?? (exclusiveMinimum === undefined ? undefined : exclusiveMinimum + 1);
  const most = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const range = most === undefined ? `from ${least ?? 0}` : `${least ?? 0} to ${most}`;
  return [type === 'integer' ? 'whole number' : 'number', range, unit && `in ${unit}`]
    .filter(Boolean)
    .join(' ');
}

function readersOf(name: keyof Config): string {
  const read = readers.filter((reader) => notes[name].readers.includes(reader));
  const required = read.filter((reader) => isRequiredBy(reader, name));
  const listed = read.length === readers.length ? 'all' : read.join(', ');
  return required.length === 0 ? listed : `${listed} (required: ${required.join(', ')})`;
}

function isRequiredBy(reader: string, name: keyof Config): boolean {
  const required: Record<string, readonly string[]> = requiredOf;
  return required[reader]?.includes(name) ?? false;
}
