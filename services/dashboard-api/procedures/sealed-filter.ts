import { z } from 'zod';
import { sealedCharsMax } from '../limits.ts';
import { refusal } from '../refusal.ts';
import type { Seal } from '../seal.ts';
import { eventFilter } from './filter-input.ts';

/**
 * Filters as text for addresses. Proxies log addresses, and a live stream and a download cannot have a body: so the pages send a filter,
 * with user ids and searched texts in it, in the body of `events.sealFilter`, and the sealed text in the address.
 */

const filterShape = z.strictObject(eventFilter);
type Filter = z.infer<typeof filterShape>;

/** A sealed filter. It gives no access: the caller is checked as with a plain one. */
export const sealed = z.string().max(sealedCharsMax);

export function sealFilter(seal: Seal, spaceId: string, filter: Filter): string {
  return seal.seal(JSON.stringify(filter), spaceId).toString('base64url');
}

/** @throws TRPCError BAD_REQUEST when the text was not sealed for this space, or with another API_KEY_PEPPER. */
export function openFilter(seal: Seal, spaceId: string, text: string): Filter {
  const plain = seal.open(Buffer.from(text, 'base64url'), spaceId);
  const parsed = plain === undefined ? undefined : filterShape.safeParse(JSON.parse(plain));
  if (parsed?.success) return parsed.data;
  throw refusal('BAD_REQUEST', 'sealed: not a result of events.sealFilter for this space.');
}
