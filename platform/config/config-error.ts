/**
 * The message lists every mistake, one a line. In a separate file: the launcher runs for months without the
 * schema, whose library takes 10 MB.
 */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
