import type { Database } from '../database.ts';
import { layoutOf } from './layout.ts';

/**
 * How long the servers of spaces are remembered. Shards move seldom, and a transaction for two nodes is as
 * right as one for each.
 */
const placementReuseMs = 10_000;

/** The servers of spaces, as they were read in the last seconds. */
export class Placements {
  readonly #database: Database;
  /** Undefined when the tables are not distributed. */
  #known: ReadonlyMap<string, string> | undefined = new Map();
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * The spaces by server. A space whose shard is being moved is under the empty name.
   * @returns undefined when the tables are not distributed.
   * @throws the driver's error when the coordinator does not answer.
   */
  async group(spaceIds: Iterable<string>): Promise<Map<string, Set<string>> | undefined> {
    const all = [...spaceIds];
    if (this.#readAtMs + placementReuseMs < performance.now()) this.#known = new Map();
    const unknown = all.filter((spaceId) => this.#known?.has(spaceId) === false);
    if (unknown.length > 0) {
      if (this.#known?.size === 0) this.#readAtMs = performance.now();
      const layout = await layoutOf(this.#database);
      const read = await layout.readPlacements(this.#database, unknown);
      this.#known = read && new Map([...(this.#known ?? []), ...read]);
    }
    const known = this.#known;
    if (known === undefined) return undefined;
    const grouped = Map.groupBy(all, (spaceId) => known.get(spaceId) ?? '');
    return new Map([...grouped].map(([server, own]) => [server, new Set(own)]));
  }
}
