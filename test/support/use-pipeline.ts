import { afterAll, beforeAll } from 'vitest';
import { type Pipeline, startPipeline, type Tenant } from './pipeline.ts';
import { expectNoHarm } from './serving.ts';

export interface UsePipelineOptions {
  /** Additional configuration of the services. */
  variables?: Record<string, string>;
  /** For tests that misuse ingest: expects at the end that quarantine is empty and no error was logged. */
  expectNoHarm?: boolean;
}

/**
 * Starts one pipeline for all tests of the calling file, with one space and key.
 *
 * @returns objects that are empty until the first test runs.
 */
export function usePipeline({
  variables = {},
  expectNoHarm: isHarmChecked = false,
}: UsePipelineOptions = {}): { pipeline: Pipeline; tenant: Tenant } {
  // Vitest collects the tests before `beforeAll` fills these objects, and runs them afterwards.
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
