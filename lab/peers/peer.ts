import type { Connection } from '../../launcher/local-system.ts';
import type { Sql } from '../../store/db/connect.ts';

/** A Weir whose Postgres and nats-server all peers use. */
export interface PeerServers {
  connection: Pick<Connection, 'ingestUrl' | 'apiKey' | 'natsUrl' | 'databaseUrl'>;
  /** Creates the databases of peers. */
  superuserUrl: string;
}

export interface PeerHost extends PeerServers {
  /** For a peer's files and logs. */
  directory: string;
}

/** A request body. */
export interface Body {
  bytes: Buffer;
  /** The events or spans in it, each of which must be stored. */
  items: number;
}

/** Something that stores events, ready to take requests. Disposing it stops it. */
export interface RunningPeer extends AsyncDisposable {
  /** Where and how bodies are posted, and the status of an accepted one. */
  url: string;
  headers: Record<string, string>;
  status: number;
  /** The events or spans that its own tables (or files) have. */
  countStored(): Promise<number>;
  /** The size of its tables and indexes, or of its files. */
  countBytes(): Promise<number>;
}

/** Phoenix and MLflow have some hundred packages of 800 MB, which take pip ten minutes on a busy machine. */
export const installTimeoutMs = 1_800_000;

export interface Peer {
  name: string;
  version: string;
  /** What has happened when a client gets its answer. */
  answersAfter: string;
  /**
   * Most requests of one measurement. For peers that answer before they store: at full speed, the time limit
   * alone would let them queue more than they store in an hour.
   */
  requestsMax?: number;
  start(host: PeerHost): Promise<RunningPeer>;
}

/** A peer's own database in the shared Postgres, created at its first start. */
export interface PeerDatabase extends AsyncDisposable {
  url: string;
  sql: Sql;
  countBytes(): Promise<number>;
}
