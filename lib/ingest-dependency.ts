/** What ingest waits for while it is not ready: the names in the response of /readyz, and in the OpenAPI document. */
export const ingestDependencies = ['postgres', 'nats', 'queue-loss'] as const;

export type IngestDependency = (typeof ingestDependencies)[number];
