import type { Output } from '../../api/paths.ts';
import { hasMatch, wordsIgnoringCase } from '../../text/ignoring-case.ts';

export type Sender = Output<'senders.list'>[number];

/** What the page's address chooses of the senders. */
export interface SenderFilter {
  /** Words that the service, the library or the SDK contain. */
  text?: string | undefined;
  isRefusedOnly: boolean;
}

export function matchSenders(
  senders: readonly Sender[],
  { text = '', isRefusedOnly }: SenderFilter,
): Sender[] {
  const words = wordsIgnoringCase(text);
  return senders.filter(({ service, scope, version, sdk, refused }) => {
    const names = `${service} ${scope} ${version} ${sdk}`;
    return words.every((word) => hasMatch(names, word)) && (!isRefusedOnly || refused > 0);
  });
}

export function countReceived({ stored, merged, leftOut, refused }: Sender): number {
  return stored + merged + leftOut + refused;
}
