import { afterAll, beforeAll } from 'vitest';
import {
  type Pipeline,
  type ProcessPipeline,
  startPipeline,
  startProcessPipeline,
  type Tenant,
} from './pipeline.ts';
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
export const usePipeline = (options: UsePipelineOptions = {}): { pipeline: Pipeline; tenant: Tenant } =>
  use(startPipeline, options);

/**
 * The same, with services that are processes: for tests of signals, of memory, and of what survives a kill.
 */
export const useProcessPipeline = (
  options: UsePipelineOptions = {},
): { pipeline: ProcessPipeline; tenant: Tenant } => use(startProcessPipeline, options);

function use<P extends Pipeline>(
  start: (variables: Record<string, string>) => Promise<P>,
  { variables = {}, expectNoHarm: isHarmChecked = false }: UsePipelineOptions,
): { pipeline: P; tenant: Tenant } {
  // Vitest collects the tests before `beforeAll` fills these objects, and runs them afterwards.
  const pipeline = {} as P;
  const tenant = {} as Tenant;
  beforeAll(async () => {
    Object.assign(pipeline, await start(variables));
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
