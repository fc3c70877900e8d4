import { join } from 'node:path';
import { readJson } from './data-directory/json-file.ts';

/** `<WEIR_DATA_DIR>/connection.json`, which exists while the system is ready. */
export interface Connection {
  ingestUrl: string;
  dashboardUrl: string;
  apiKey: string;
  spaceId: string;
  email: string;
  password: string;
  natsUrl: string;
  /** Address of nats-server's monitoring port, if Weir started it or it is configured. */
  natsMonitorUrl?: string | undefined;
  databaseUrl: string;
}

/** `<WEIR_DATA_DIR>/secrets.json`, generated once for a data directory (mode 0600). */
export interface Secrets {
  apiKeyPepper: string;
  postgresPassword: string;
  natsPassword: string;
}

type Environment = Record<string, string | undefined>;

export function readConnection(dataDir: string): Connection | undefined {
  return readJson<Connection>(join(dataDir, 'connection.json'));
}

export function readSecrets(dataDir: string): Secrets | undefined {
  return readJson<Secrets>(join(dataDir, 'secrets.json'));
}

/** Fills in unset variables from the local system, so that the command line needs no configuration. */
export function withLocalConnection(env: Environment): Environment {
  const dataDir = env.WEIR_DATA_DIR || '.weir';
  const connection = readConnection(dataDir);
  const secrets = readSecrets(dataDir);
  return {
    ...env,
    DATABASE_URL: env.DATABASE_URL || (env.DATABASE_URL_FILE ? undefined : connection?.databaseUrl),
    NATS_URL: env.NATS_URL || (env.NATS_URL_FILE ? undefined : connection?.natsUrl),
    NATS_MONITOR_URL: env.NATS_MONITOR_URL || connection?.natsMonitorUrl,
    API_KEY_PEPPER: env.API_KEY_PEPPER || (env.API_KEY_PEPPER_FILE ? undefined : secrets?.apiKeyPepper),
  };
}
