/** The parts of nats-server's health report that we use. */
export interface NatsHealth {
  /** JetStream and every stream are ready. */
  isHealthy: boolean;
  /** The error after which nats-server rejects every write: the disk was full, or an fsync failed. */
  writeError?: string | undefined;
}

/**
 * Reads a nats-server's health report.
 *
 * @throws when it does not respond in time.
 */
export async function readNatsHealth(monitorUrl: string, timeoutMs: number): Promise<NatsHealth> {
  const response = await fetch(`${monitorUrl}/healthz`, { signal: AbortSignal.timeout(timeoutMs) });
  const { error } = (await response.json()) as { error?: string };
  // Other errors are temporary: the server is starting or, in a cluster, a stream is catching up.
  return { isHealthy: response.ok, writeError: error?.includes('write error') ? error : undefined };
}
