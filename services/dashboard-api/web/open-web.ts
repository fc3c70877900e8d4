import { ConfigError } from '../../../platform/config/config-error.ts';
import type { Config } from '../../../platform/config.ts';
import { messageOf } from '../../../platform/thrown.ts';
import { builtPages } from '../../../platform/version.ts';
import { readWebFiles, type WebFile } from './web-files.ts';

/**
 * Reads the built pages from the configured directory, or those that came with the npm package.
 *
 * @returns undefined when there are none: then only the API is served.
 * @throws ConfigError when the directory has no build of the pages.
 */
export function openWeb(
  config: Pick<Config, 'DASHBOARD_WEB_DIR' | 'DASHBOARD_BASE_PATH'> & Parameters<typeof ingestUrlOf>[0],
): ReadonlyMap<string, WebFile> | undefined {
  const directory = config.DASHBOARD_WEB_DIR ?? builtPages;
  if (directory === undefined) return undefined;
  try {
    return readWebFiles(directory, {
      'weir-ingest-url': ingestUrlOf(config),
      'weir-base-path': config.DASHBOARD_BASE_PATH,
    });
  } catch (error) {
    throw new ConfigError(`DASHBOARD_WEB_DIR cannot be served: ${messageOf(error)}`, { cause: error });
  }
}

/** The address of ingest, for the pages and for senders that call the dashboard by mistake. */
export function ingestUrlOf(
  config: Pick<Config, 'INGEST_URL' | 'INGEST_HOST' | 'INGEST_PORT' | 'TLS_CERT_FILE'>,
): string {
  const scheme = config.TLS_CERT_FILE === undefined ? 'http' : 'https';
  const host = config.INGEST_HOST.includes(':') ? `[${config.INGEST_HOST}]` : config.INGEST_HOST;
  return config.INGEST_URL?.replace(/\/+$/, '') ?? `${scheme}://${host}:${config.INGEST_PORT}`;
}
