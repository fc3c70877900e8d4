/** Lists every mistake, one a line. Loaded without the schema, whose library takes 10 MB of the launcher. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}
