import { LocalFailure } from '../api/failure.ts';
import { callQuery } from '../api/query.ts';
import type { ListInput } from '../filter/event-filter.ts';
import { basePath } from '../url/page-values.ts';

interface Exported {
  spaceId: string;
  filter: ListInput;
  format: 'events' | 'ndjson' | 'csv' | 'parquet';
}

/** The address of a download. It does not show the filter, since proxies log addresses. */
export async function exportAddress(
  { spaceId, filter, format }: Exported,
  signal?: AbortSignal,
): Promise<string> {
  const { sealed } = await callQuery('events.sealFilter', { ...filter, spaceId }, signal);
  return `${basePath}/export/${spaceId}?format=${format}&sealed=${sealed}`;
}

/**
 * The events of a filter as they were sent, newest first: opening each takes several times as long.
 * @throws LocalFailure when they cannot be read.
 */
export async function* downloadEvents(
  exported: Omit<Exported, 'format'>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const address = await exportAddress({ ...exported, format: 'events' }, signal);
  const response = await fetch(address, { signal }).catch(refuse);
  if (!response.ok || response.body === null) throw new LocalFailure((await response.text()).trim());
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    let rest = '';
    for (;;) {
      const { done, value = '' } = await reader.read().catch(refuse);
      // The last line, which has the number of events, ends with a line break, too.
      if (done) return;
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function refuse(): never {
  throw new LocalFailure('The events could not be read. Try again.');
}
