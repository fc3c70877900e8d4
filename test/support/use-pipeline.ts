import { afterAll, beforeAll } from 'vitest';
import { type Pipeline, startPipeline, type Tenant } from './pipeline.ts';
import { expectNoHarm } from './serving.ts';

export interface UsePipelineOptions {
  /** Configuration of the services, beside what they need. */
  variables?: Record<string, string>;
  /** For tests that misuse ingest: at the end, expects that nothing is in quarantine and that no error was logged. */
  expectNoHarm?: boolean;
}

/**
 * Starts one pipeline for all tests of the file that calls it, with one space and key.
 *
 * @returns objects that are empty until the first test runs.
 */
export function usePipeline({
  variables = {},
  expectNoHarm: isHarmChecked = false,
}: UsePipelineOptions = {}): { pipeline: Pipeline; tenant: Tenant } {
  // Vitest collects the tests before `beforeAll` fills these objects, and runs them after.
  const pipeline = {} as Pipeline;
  const tenant = {} as Tenant;
  beforeAll(async () => {
    Object.assign(pipeline, await startPipeline(variables));
    Object.assign(tenant, await pipeline.createTenant());
  });
  afterAll(async () => {
    // Empty when the start failed.
    if (pipeline.url === undefined) return;
    await using _disposed = pipeline;
    if (isHarmChecked) await expectNoHarm(pipeline);
  });
  return { pipeline, tenant };
}
