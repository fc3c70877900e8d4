/** What nats-server says on its health page, in what matters to us. */
export interface NatsHealth {
  /** JetStream and every stream are ready. */
  isHealthy: boolean;
  /** Why it refuses every write, in its own words: a disk that was full, or failed an fsync. */
  writeRefusal?: string | undefined;
}

/**
 * Reads a nats-server's health page.
 *
 * @throws when it does not answer in time.
 */
export async function readNatsHealth(monitorUrl: string, timeoutMs: number): Promise<NatsHealth> {
  const response = await fetch(`${monitorUrl}/healthz`, { signal: AbortSignal.timeout(timeoutMs) });
  const { error } = (await response.json()) as { error?: string };
  // Other errors stand for a start or, in a cluster, for a stream that is catching up: they pass by themselves.
  return { isHealthy: response.ok, writeRefusal: error?.includes('write error') ? error : undefined };
}
