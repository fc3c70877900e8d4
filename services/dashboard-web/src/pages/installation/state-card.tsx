import type { ComponentProps, ReactNode } from 'react';
import { polled } from '../../api/failure.ts';
import { type Loadable, Loaded } from '../../ui/loaded.tsx';
import { Card } from '../../ui/page.tsx';

export const reloadMs = 5_000;

/** A failure is shown at once: the next reading follows anyway. */
export const followed = { ...polled(reloadMs), retry: false } as const;

interface StateCardProps<Data> extends Omit<ComponentProps<typeof Card>, 'children'> {
  query: Loadable<Data>;
  children: (data: Exclude<Data, undefined>) => ReactNode;
}

export function StateCard<Data>({ query, children, ...card }: StateCardProps<Data>) {
  return (
    <Card {...card}>
      <Loaded query={query} rows={3} isSmall>
        {children}
      </Loaded>
    </Card>
  );
}
