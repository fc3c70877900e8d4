import { probeTimeoutMs, readinessReuseMs } from './http/limits.ts';
import { shareResult } from './shared-result.ts';
import { withTimeout } from './timeout.ts';

/** The dependencies that a service waits for; empty when it is ready. */
export type FindUnready<Name extends string = string> = () => Promise<Name[]>;

/** Lists probes that reject or take `probeTimeoutMs`. Callers within `readinessReuseMs` share a round. */
export function createReadiness<Name extends string>(probes: Record<Name, () => unknown>): FindUnready<Name> {
  const names = Object.keys(probes) as Name[];
  const isReady = async (name: Name) => probes[name]();
  return shareResult(readinessReuseMs, async () => {
    const outcomes = await Promise.allSettled(
      names.map((name) => withTimeout(probeTimeoutMs, isReady(name))),
    );
    return names.filter((_, index) => outcomes[index]?.status === 'rejected');
  });
}
