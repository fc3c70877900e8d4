import type { Output } from '../../api/paths.ts';

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
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return senders.filter(({ service, scope, version, sdk, refused }) => {
    const names = `${service} ${scope} ${version} ${sdk}`.toLowerCase();
    return words.every((word) => names.includes(word)) && (!isRefusedOnly || refused > 0);
  });
}

export function countReceived({ stored, merged, leftOut, refused }: Sender): number {
  return stored + merged + leftOut + refused;
}
