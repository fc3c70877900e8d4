import { useEffect, useState } from 'react';

export type Work<Result> = { state: 'working' } | { state: 'failed' } | { state: 'done'; result: Result };

/**
 * Gives a message to a new worker and returns its answer: long work must not stop the page. `failed`: an
 * error, the answer undefined, or none in time.
 * @param start makes the worker; must stay the same function.
 */
export function useWorker<Message, Result>(
  start: () => Worker,
  message: Message | undefined,
  timeoutMs?: number,
): Work<Result> {
  const [work, setWork] = useState<{ of: Message; work: Work<Result> }>();
  useEffect(() => {
    if (message === undefined) return;
    const worker = start();
    const end = (outcome: Work<Result>) => {
      worker.terminate();
      clearTimeout(timer);
      setWork({ of: message, work: outcome });
    };
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => end({ state: 'failed' }), timeoutMs);
    worker.addEventListener('message', ({ data }: MessageEvent<Result | undefined>) =>
      end(data === undefined ? { state: 'failed' } : { state: 'done', result: data }),
    );
    worker.addEventListener('error', () => end({ state: 'failed' }));
    worker.postMessage(message);
    return () => {
      worker.terminate();
      clearTimeout(timer);
    };
  }, [start, message, timeoutMs]);
  // The answer to an earlier message is none to this one.
  return work !== undefined && work.of === message ? work.work : { state: 'working' };
}
