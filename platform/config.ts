import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { ConfigError } from './config/config-error.ts';
import { retentionDaysMax } from './limits.ts';
import { codeOf } from './thrown.ts';

/** A year: longer than the events of a busy system fit on a disk. */
const replayWindowHoursMax = 24 * 366;

const port = z.coerce.number().int().min(0).max(65_535);
const positive = z.coerce.number().int().positive();
/** More would open more connections than Postgres allows by default. */
const processes = positive.max(16);
const hasProtocol = (text: string, protocols: string[]) =>
  protocols.includes(URL.parse(text)?.protocol ?? '');
const startsOf = (protocols: string[]) => protocols.map((protocol) => `${protocol}//`).join(' or ');
const url = (...protocols: string[]) =>
  z.string().refine((text) => hasProtocol(text, protocols), {
    error: `must be a URL that starts with ${startsOf(protocols)}`,
  });
const urls = (...protocols: string[]) =>
  z.string().refine((text) => text.split(',').every((one) => hasProtocol(one, protocols)), {
    error: `must be one or more URLs, separated by commas, that start with ${startsOf(protocols)}`,
  });
/** Separated by commas, and white space. */
const listOf = (one: z.ZodType<string, string>) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .pipe(z.array(one));
const origins = listOf(
  z.string().refine((origin) => origin === '*' || URL.parse(origin)?.origin === origin, {
    error: 'must be * or origins such as https://app.example.com, separated by commas',
  }),
);
const networks = listOf(
  z.string().refine(isNetwork, {
    error: 'must be addresses or networks such as 10.0.0.0/8, separated by commas',
  }),
);
const domains = listOf(
  z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9.-]+$/, { error: 'must be domains, separated by commas' }),
);

/** The first libpq option that names a file of certificates or keys, which the driver ignores. */
function certificateOptionOf(databaseUrl: string): string | undefined {
  const options = URL.parse(databaseUrl)?.searchParams;
  const isIgnored = (name: string) => options?.has(name) && options.get(name) !== 'system';
  return ['sslrootcert', 'sslcert', 'sslkey', 'sslcrl', 'sslcrldir'].find(isIgnored);
}

/** An IP address, or one with the number of bits that its network has. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  if (bitsMax < 0 || address.includes('%') || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= bitsMax);
}

/** Checks of several variables run although others are wrong, so that all mistakes are reported at once. */
const mistake = (variable: string, error: string) => ({ when: () => true, path: [variable], error });

/** Every environment variable that Weir reads (docs/configuration.md, harness/configuration/variables.ts). */
export const configSchema = z
  .object({
    WEIR_DATA_DIR: z.string().min(1).default('.weir'),
    INGEST_HOST: z.string().min(1).default('127.0.0.1'),
    INGEST_PORT: port.default(8080),
    DASHBOARD_HOST: z.string().min(1).default('127.0.0.1'),
    DASHBOARD_PORT: port.default(8081),
    DASHBOARD_WEB_DIR: z.string().min(1).optional(),
    INGEST_URL: url('http:', 'https:').optional(),
    DATABASE_URL: url('postgres:', 'postgresql:')
      .refine((text) => certificateOptionOf(text) === undefined, {
        error: (issue) =>
          `has ${certificateOptionOf(String(issue.input))}, which has no effect: name the file of your CA in TLS_CA_FILE, and use sslmode=verify-full`,
      })
      .optional(),
    DATABASE_ALLOW_UNSYNCED: z.stringbool().default(false),
    NATS_URL: urls('nats:', 'tls:').optional(),
    NATS_MONITOR_URL: urls('http:', 'https:').optional(),
    NATS_ALLOW_UNSYNCED: z.stringbool().default(false),
    NATS_REPLICAS: z.coerce
      .number()
      .pipe(z.union([z.literal(1), z.literal(3)]))
      .default(1),
    QUEUE_BYTES_MAX: positive.default(8 * 1024 ** 3),
    REPLAY_WINDOW_HOURS: z.coerce.number().min(0).max(replayWindowHoursMax).optional(),
    WEIR_VENDOR: z
      .string()
      .regex(/^[a-z0-9._-]+$/, { error: 'must be a lower-case name' })
      .default('weir'),
    API_KEY_PEPPER: z.string().min(16, { error: 'must have 16 characters or more' }).optional(),
    TLS_CA_FILE: z.string().min(1).optional(),
    TLS_CERT_FILE: z.string().min(1).optional(),
    TLS_KEY_FILE: z.string().min(1).optional(),
    INGEST_ALLOWED_ORIGINS: origins.default([]),
    INGEST_BYTES_IN_FLIGHT_MAX: positive.default(128 * 1024 ** 2),
    DASHBOARD_PUBLIC_URL: z
      .string()
      .refine((text) => hasProtocol(text, ['http:', 'https:']) && URL.parse(text)?.origin === text, {
        error: 'must be an origin such as https://weir.example.com',
      })
      .optional(),
    DASHBOARD_BASE_PATH: z
      .string()
      .regex(/^(\/[\w.~-]+)*$/, { error: 'must be a path such as /weir, without a slash at its end' })
      .default(''),
    TRUSTED_PROXIES: networks.default([]),
    OIDC_ISSUER: url('https:', 'http:').optional(),
    OIDC_CLIENT_ID: z.string().min(1).optional(),
    OIDC_CLIENT_SECRET: z.string().min(1).optional(),
    OIDC_NAME: z.string().min(1).default('single sign-on'),
    OIDC_ALLOWED_DOMAINS: domains.default([]),
    SSO_REQUIRED: z.stringbool().default(false),
    SECOND_FACTOR_REQUIRED: z.stringbool().default(false),

    SMTP_URL: url('smtp:', 'smtps:').optional(),
    SMTP_FROM: z.string().min(3).optional(),
    ALERT_TARGETS_PRIVATE: z.stringbool().default(false),
    NEW_SPACE_MONTHLY_EVENTS: z.coerce.number().int().nonnegative().optional(),
    RETENTION_DAYS_MAX: positive.max(retentionDaysMax).optional(),
    BACKUP_RETENTION_DAYS: positive.max(retentionDaysMax).optional(),
    WRITER_CONNECTIONS: positive.max(32).default(3),
    INGEST_PROCESSES: processes.optional(),
    WRITER_PROCESSES: processes.optional(),
    WEIR_PROCESS: processes.default(1),
    METRICS_HOST: z.string().min(1).default('127.0.0.1'),
    METRICS_PORT: port.optional(),
    DRAIN_DELAY_MS: z.coerce.number().int().min(0).max(60_000).default(0),
    OTEL_EXPORTER_OTLP_ENDPOINT: url('http:', 'https:').optional(),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url('http:', 'https:').optional(),
    LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  })
  .refine(
    (config) => (config.TLS_CERT_FILE === undefined) === (config.TLS_KEY_FILE === undefined),
    mistake('TLS_CERT_FILE', 'and TLS_KEY_FILE go together: set both or neither'),
  )
  .refine(
    (config) =>
      config.OIDC_ISSUER === undefined ||
      (config.OIDC_CLIENT_ID && config.OIDC_CLIENT_SECRET && config.DASHBOARD_PUBLIC_URL),
    mistake('OIDC_ISSUER', 'needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and DASHBOARD_PUBLIC_URL'),
  )
  .refine(
    (config) => (config.SMTP_URL === undefined) === (config.SMTP_FROM === undefined),
    mistake('SMTP_URL', 'and SMTP_FROM go together: set both or neither'),
  )
  .refine(
    (config) => !config.SSO_REQUIRED || config.OIDC_ISSUER !== undefined,
    mistake('SSO_REQUIRED', 'needs OIDC_ISSUER: nobody could sign in'),
  )
  .refine(
    (config) => !config.SECOND_FACTOR_REQUIRED || !config.SSO_REQUIRED,
    mistake(
      'SECOND_FACTOR_REQUIRED',
      'has no effect with SSO_REQUIRED: require the second factor at the OpenID provider',
    ),
  );

export type Config = z.infer<typeof configSchema>;

/** `NAME_FILE` names a file with the secret. `NAME` wins. */
export const secretNames = [
  'DATABASE_URL',
  'NATS_URL',
  'API_KEY_PEPPER',
  'OIDC_CLIENT_SECRET',
  'SMTP_URL',
] as const;

/**
 * An empty variable counts as unset. Reads the files of secrets.
 * @param required variables that must be set. @throws ConfigError that lists every mistake.
 */
export function parseConfig(
  env: Record<string, string | undefined>,
  required: readonly (keyof Config)[] = [],
): Config {
  const present = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const fileMistakes = secretNames.flatMap((name) => readSecret(present, name) ?? []);
  // A file that cannot be read is a mistake of its own.
  const missing = required.filter((name) => present[name] === undefined && !present[`${name}_FILE`]);
  const parsed = configSchema.safeParse(present);
  if (parsed.success && fileMistakes.length + missing.length === 0) return atBasePath(parsed.data);
  const issues = parsed.error?.issues ?? [];
  const mistakes = [
    ...missing.map((name) => `${name}: must be set. \`weir start\` sets it for its own services`),
    ...fileMistakes,
    ...issues.map((issue) => `${issue.path.join('.')}: ${describeIssue(issue, present)}`),
  ];
  throw new ConfigError(
    `The configuration has ${mistakes.length === 1 ? 'a mistake' : 'mistakes'}:\n  ${mistakes.join('\n  ')}`,
  );
}

/** Links and redirects begin with the public URL, at the base path. */
function atBasePath(config: Config): Config {
  const { DASHBOARD_PUBLIC_URL: origin, DASHBOARD_BASE_PATH: path } = config;
  return origin === undefined ? config : { ...config, DASHBOARD_PUBLIC_URL: `${origin}${path}` };
}

/** A text that is no number is quoted: numbers are never secrets. */
function describeIssue(issue: z.core.$ZodIssue, present: Record<string, string | undefined>): string {
  const isNumber = issue.code === 'invalid_type' && /^(?:number|int)$/.test(issue.expected);
  return isNumber ? `must be a whole number, not ${present[String(issue.path[0])]}` : issue.message;
}

/** Sets the variable to the trimmed content of its file. @returns a mistake, if there is one. */
function readSecret(
  present: Record<string, string | undefined>,
  name: (typeof secretNames)[number],
): string | undefined {
  const file = present[`${name}_FILE`];
  if (file === undefined || present[name] !== undefined) return undefined;
  try {
    present[name] = readFileSync(file, 'utf8').trim();
    return undefined;
  } catch (error) {
    return `${name}_FILE: cannot be read (${codeOf(error)})`;
  }
}

export type ConfigWith<Name extends keyof Config> = Config & { [K in Name]-?: NonNullable<Config[K]> };

/** @throws ConfigError that names all variables that are missing. */
export function requireConfig<Name extends keyof Config>(
  config: Config,
  names: readonly Name[],
): ConfigWith<Name> {
  const missing = names.filter((name) => config[name] === undefined);
  if (missing.length > 0) {
    throw new ConfigError(
      `The configuration lacks ${missing.join(', ')}. \`weir start\` sets them for its own services.`,
    );
  }
  return config as ConfigWith<Name>;
}
