export interface Caller {
  readonly spaceId: string;
  /** All sessions and read keys of a person are one. */
  readonly holderId: string;
  /** Aborted when the result is no longer needed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a task when a slot is free, and settles as the task does.
 * @throws QueueFullError when too many tasks of the user wait; CallerAbortedError when the signal is aborted
 * before.
 */
export type FairLimiter = <T>(caller: Caller, task: () => Promise<T>) => Promise<T>;

export class QueueFullError extends Error {
  override name = 'QueueFullError';
}

export class CallerAbortedError extends Error {
  override name = 'CallerAbortedError';
}

export interface FairLimits {
  readonly atOnceMax: number;
  /** Lower than `atOnceMax`: no space can take all slots. */
  readonly atOnceOfSpaceMax: number;
  /** Most tasks of one user that wait in one space. */
  readonly waitingOfUserMax: number;
}

/** Maps and sets iterate in the order in which tasks are started. */
interface SpaceQueue {
  running: number;
  readonly users: Map<string, Set<() => void>>;
}

/**
 * Serves spaces round-robin, and the users of a space: who queues many tasks delays only their own. An
 * aborted task leaves the queue.
 * @param noteTime called with the time that each task took.
 */
export function openFairLimiter(
  limits: FairLimits,
  noteTime: (spaceId: string, ms: number) => void = () => {},
): FairLimiter {
  const spaces = new Map<string, SpaceQueue>();
  const running: string[] = [];
  const mayRun = (holderId: string) =>
    running.filter((one) => one === holderId).length < limits.atOnceOfSpaceMax;
  const startNext = () => {
    for (const [spaceId, space] of spaces) {
      if (running.length >= limits.atOnceMax) return;
      if (space.running >= limits.atOnceOfSpaceMax) continue;
      const next = takeNext(space, mayRun);
      if (next === undefined) continue;
      moveLast(spaces, spaceId, space);
      space.running += 1;
      running.push(next.holderId);
      next.start();
    }
  };
  const forgetIdle = (spaceId: string, space: SpaceQueue) => {
    if (space.running === 0 && space.users.size === 0) spaces.delete(spaceId);
  };
  return async (caller, task) => {
    const { spaceId } = caller;
    const space = spaces.get(spaceId) ?? { running: 0, users: new Map() };
    spaces.set(spaceId, space);
    try {
      const turn = waitForTurn(space, caller, limits.waitingOfUserMax);
      startNext();
      await turn;
      const startedMs = performance.now();
      try {
        return await task();
      } finally {
        noteTime(spaceId, performance.now() - startedMs);
        space.running -= 1;
        running.splice(running.indexOf(caller.holderId), 1);
        startNext();
      }
    } finally {
      forgetIdle(spaceId, space);
    }
  };
}

/** Resolves when the task may start. */
async function waitForTurn(
  { users }: SpaceQueue,
  { holderId: userId, signal }: Caller,
  waitingMax: number,
): Promise<void> {
  if (signal?.aborted) throw new CallerAbortedError("The caller's signal was aborted.");
  const waiting = users.get(userId) ?? new Set();
  if (waiting.size >= waitingMax) throw new QueueFullError(`${waitingMax} tasks of the user are waiting.`);
  users.set(userId, waiting);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const leave = () => {
    if (waiting.delete(resolve) && waiting.size === 0) users.delete(userId);
    reject(new CallerAbortedError("The caller's signal was aborted."));
  };
  waiting.add(resolve);
  signal?.addEventListener('abort', leave, { once: true });
  await promise.finally(() => signal?.removeEventListener('abort', leave));
}

/** Takes the first task of the user whose turn it is, of those who may run one more. */
function takeNext(
  { users }: SpaceQueue,
  mayRun: (userId: string) => boolean,
): { holderId: string; start: () => void } | undefined {
  const next = users.entries().find(([userId]) => mayRun(userId));
  if (next === undefined) return undefined;
  const [userId, waiting] = next;
  const [start] = waiting;
  if (start === undefined) throw new Error('A user without tasks is in the queue.');
  waiting.delete(start);
  if (waiting.size === 0) users.delete(userId);
  else moveLast(users, userId, waiting);
  return { holderId: userId, start };
}

function moveLast<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): void {
  map.delete(key);
  map.set(key, value);
}
