import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first, interleaved with those that mostly wait for a time limit. If a slow file started last, it
 * would run alone at the end.
 */
const longest = [
  'test/web/accessibility.test.ts',
  'test/http/http1-connection.test.ts',
  'test/start/start.test.ts',
  'test/erasure/erasure.test.ts',
  'test/http/http2-abuse.test.ts',
  'services/ingest/worker/readers.test.ts',
  'test/web/complaints.test.ts',
  'services/dashboard-api/procedures/live.test.ts',
  'test/durability/crash.test.ts',
  'test/durability/reproject.test.ts',
  'lib/queue/cluster.test.ts',
  'services/dashboard-api/procedures/inputs.test.ts',
  'test/durability/overload.test.ts',
  'lib/read/event-page.test.ts',
  'test/durability/live-tail.test.ts',
  'test/durability/bodies-intact.test.ts',
  'test/privacy/logs.test.ts',
  'lib/retention/expire.test.ts',
  'test/otlp/durability.test.ts',
  'test/rpc/rpc-hardening.test.ts',
  'launcher/provision/postgres/postgres.test.ts',
  'test/durability/retention.test.ts',
];

/** Runs the slowest files first, and the others by size, as vitest does. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId, project }: TestSpecification) => {
      const rank = longest.indexOf(relative(project.config.root, moduleId));
      return rank === -1 ? longest.length : rank;
    };
    return (await super.sort(files)).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
