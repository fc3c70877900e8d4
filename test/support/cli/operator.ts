import { afterAll, beforeAll, expect } from 'vitest';
import { openPostgres } from '../../../store/db/connect.ts';
import { type Database, openDatabase } from '../../../store/db/database.ts';
import { createDatabase } from '../test-servers.ts';
import { runWeir } from './command-line.ts';

/** The command line with a separate database for the test file. */
export class Operator {
  variables: Record<string, string> = {};
  readonly #resources = new AsyncDisposableStack();
  #database: Database | undefined;

  constructor() {
    beforeAll(async () => {
      const { url } = this.#resources.use(await createDatabase());
      this.variables = { DATABASE_URL: url, API_KEY_PEPPER: 'a pepper of the tests' };
      const options = { applicationName: 'test', connectionsMax: 2, statementTimeoutMs: 10_000 };
      this.#database = openDatabase(this.#resources.use(openPostgres(url, options)));
    });
    afterAll(() => this.#resources.disposeAsync());
  }

  get database(): Database {
    if (this.#database === undefined) throw new Error('the database is only open during tests');
    return this.#database;
  }

  run(args: string[], options: Parameters<typeof runWeir>[2] = {}) {
    return runWeir(args, this.variables, options);
  }

  /** Runs a command that must succeed, and returns its stdout. */
  async print(args: string[], options: Parameters<typeof runWeir>[2] = {}): Promise<string> {
    const { exitCode, stdout, stderr } = await this.run(args, options);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    return stdout;
  }

  /** Runs a command that must succeed, and returns the JSON that it printed. */
  async weir(...args: string[]) {
    return JSON.parse(await this.print(args));
  }

  async createSpace(...args: string[]): Promise<string> {
    return (await this.weir('space', 'create', '--name', 'a space', ...args)).spaceId;
  }
}

/** An id that does not exist. */
export const unknownId = '01900000-0000-7000-8000-000000000000';
