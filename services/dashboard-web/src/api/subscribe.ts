import type { Unsubscribable } from '@trpc/server/observable';
import { client } from './client.ts';
import type { Input, Output } from './paths.ts';

export interface StreamHandlers<Path extends 'live.tail'> {
  onStarted: () => void;
  /** The connection was lost and is being opened again. */
  onConnecting: () => void;
  onData: (message: Message<Path>) => void;
  /** The stream has ended and is not opened again. */
  onError: (error: unknown) => void;
}

/** A message with its id: a later subscription continues after it. */
type Message<Path extends string> = Output<Path> extends AsyncIterable<infer Item> ? Item : never;

/** Opens a stream. tRPC reconnects automatically and continues after the last message. */
export function subscribe<Path extends 'live.tail'>(
  path: Path,
  input: Input<Path>,
  { onStarted, onConnecting, onData, onError }: StreamHandlers<Path>,
): Unsubscribable {
  return client.subscription(path, input, {
    onStarted,
    onConnectionStateChange: ({ state }) => {
      if (state === 'connecting') onConnecting();
      if (state === 'pending') onStarted();
    },
    onData: (message) => onData(message as Message<Path>),
    onError,
  });
}
