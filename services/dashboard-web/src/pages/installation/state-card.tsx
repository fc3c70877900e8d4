import type { UseQueryResult } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { describeFailure } from '../../api/failure.ts';
import { formatClock } from '../../format/time.ts';
import { useSettings } from '../../settings/settings.ts';
import { Card } from '../../ui/page.tsx';
import { FailureNotice, Loading } from '../../ui/states.tsx';

/** How often the figures are read again, in milliseconds. */
export const reloadMs = 5_000;

/** Options of the cards' queries. A failure is shown at once: the next reading follows anyway. */
export const followed = { refetchInterval: reloadMs, retry: false } as const;

/** A card with a part of the state. While it cannot be read, the last figures stay, with their time and the reason. */
export function StateCard<Data>({
  title,
  query: { data, error, dataUpdatedAt, refetch },
  actions,
  isFlush = false,
  children,
}: {
  title: string;
  query: UseQueryResult<Data>;
  actions?: ReactNode;
  isFlush?: boolean;
  children: (data: Data) => ReactNode;
}) {
  const { zone } = useSettings();
  return (
    <Card title={title} actions={actions} isFlush={isFlush}>
      {error !== null && data !== undefined && (
        <p
          role="alert"
          className="flex items-start gap-2 bg-warn-soft px-4 py-2 text-sm text-warn [&_svg]:mt-0.5 [&_svg]:size-4 [&_svg]:shrink-0"
        >
          <TriangleAlert aria-hidden />
          <span>
            {describeFailure(error).message} The figures below were read at{' '}
            {formatClock(dataUpdatedAt, zone).slice(0, 8)}.
          </span>
        </p>
      )}
      {data !== undefined ? (
        children(data)
      ) : error !== null ? (
        <FailureNotice error={error} onRetry={() => void refetch()} isSmall />
      ) : (
        <Loading rows={3} />
      )}
    </Card>
  );
}
