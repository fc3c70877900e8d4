import type { Unsubscribable } from '@trpc/server/observable';
import { client, reconnectMs } from './client.ts';
import { isTransient } from './failure.ts';
import { callQuery, type Input, type Output } from './query.ts';

export interface StreamHandlers {
  onStarted: () => void;
  /** The connection was lost and is being opened again. */
  onConnecting: () => void;
  onData: (message: StreamMessage) => void;
  /** The stream has ended and is not opened again. */
  onError: (error: unknown) => void;
}

/** A message with its id: a later subscription continues after it. */
export type StreamMessage = Output<'live.tail'> extends AsyncIterable<infer Item> ? Item : never;

type StreamInput = Extract<Input<'live.tail'>, object>;

/** Opens a stream, which tRPC continues. The filter is sealed first: proxies log a stream's address. */
export function subscribe(
  { spaceId, lastEventId, changes, ...filter }: StreamInput,
  { onStarted, onConnecting, onData, onError }: StreamHandlers,
): Unsubscribable {
  const left = new AbortController();
  let stream: Unsubscribable | undefined;
  const open = (sealed: string) => {
    stream = client.subscription(
      'live.tail',
      { spaceId, lastEventId, changes, sealed },
      {
        onStarted,
        onConnectionStateChange: ({ state }) => {
          if (state === 'connecting') onConnecting();
          if (state === 'pending') onStarted();
        },
        onData: (message) => onData(message as StreamMessage),
        onError,
      },
    );
  };
  seal({ ...filter, spaceId }, left.signal).then(
    (sealed) => !left.signal.aborted && open(sealed),
    (error: unknown) => !left.signal.aborted && onError(error),
  );
  return {
    unsubscribe() {
      left.abort();
      stream?.unsubscribe();
    },
  };
}

/** Calls again while the API cannot be reached, as a stream reconnects. */
async function seal(filter: Input<'events.sealFilter'>, signal: AbortSignal): Promise<string> {
  for (;;) {
    try {
      return (await callQuery('events.sealFilter', filter, signal)).sealed;
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, reconnectMs));
  }
}
