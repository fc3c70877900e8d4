/**
 * The configuration is not usable. The message lists every mistake, one a line. In a file of its own: the
 * launcher runs for months, and does not load the schema of the configuration, whose library takes 10 MB.
 */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
