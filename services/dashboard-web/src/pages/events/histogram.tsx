import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { apiQuery } from '../../api/query.ts';
import { Bars, barsHeight } from '../../charts/bars.tsx';
import { readRange } from '../../charts/range.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useFilter } from '../../filter/use-filter.ts';
import { minuteMs } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { useSpace } from '../../space/space.ts';

const buckets = 72;

/** The list's events over time. Dragging selects a range. */
export function Histogram({ input, newestMs }: { input: ListInput; newestMs: number | undefined }) {
  const { id: spaceId } = useSpace();
  const { search, set } = useFilter();
  const { zone } = useSettings();
  const [now] = useState(Date.now);
  const { from, to } = useMemo(() => {
    const range = readRange(search, now, '24h', zone);
    // Any time: from the space's first event, which the API knows, to the newest of the list.
    if (search.last === undefined && search.from === undefined) {
      const end = Math.max(newestMs ?? 0, search.to === undefined ? 0 : range.to);
      return { from: undefined, to: end === 0 ? range.to : Math.ceil((end + 1) / minuteMs) * minuteMs };
    }
    return range;
  }, [search, now, newestMs, zone]);
  const { data } = useQuery(apiQuery('events.histogram', { ...input, spaceId, from, to, buckets }));
  if (data === undefined) return <div className={barsHeight} />;
  return (
    <Bars
      bars={data.buckets}
      bucketMs={data.bucketMs}
      onRange={(start, end) => set({ last: undefined, from: String(start), to: String(end) })}
    />
  );
}
