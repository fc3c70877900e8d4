/** The composition of a system. */
export interface SystemOptions {
  natsServers: 1 | 3;
  ingests: number;
  writers: number;
  /** The stream's `max_bytes`. */
  streamBytesMax?: number;
  /** Overrides nats-server's `sync_interval`, for controls. */
  natsSyncInterval?: string;
  /** Override our settings of Postgres, for controls. */
  postgresSettings?: Record<string, string>;
  /** More configuration of the services, of ingest alone, and of Postgres. */
  env?: Record<string, string>;
  ingestEnv?: Record<string, string>;
  postgresEnv?: Record<string, string>;
  /**
   * Starts the services of the last release (release.ts), on its schema, and a dashboard API with them: for
   * the upgrade drill. A service runs the code of `System.checkouts` from its next start on.
   */
  released?: boolean;
  /**
   * Clients reach the ingests through a load balancer, which sends new connections to those that are ready.
   */
  balanced?: boolean;
  /**
   * Its database is in the Citus cluster of WEIR_TEST_CITUS_URL instead of a Postgres of its own, with a
   * proxy in front of each worker. It has a dashboard API.
   */
  citus?: boolean;
  /** Whether the services connect to nats-server and Postgres through TCP proxies. */
  proxied: boolean;
  /**
   * The directory for the data of `nats-1` … or `postgres`, e.g. on a mounted file system; undefined for the
   * default one. The directory must exist; resources it needs are pushed onto `resources`. Such a system is
   * not reused for other faults.
   */
  storeOf?(server: string, resources: AsyncDisposableStack): Promise<string | undefined>;
}

/** The dependencies of the functions that start a system's processes. */
export interface SystemContext {
  options: SystemOptions;
  directory: string;
  natsBinary: string;
  env: Record<string, string | undefined>;
  pepper: string;
  /** The checkout whose code a service runs, by the name of its process. Default: this one. */
  checkouts: Map<string, string>;
  log(line: string): void;
  /** Everything that is started is pushed here. */
  stack: AsyncDisposableStack;
}
