import { type ReactNode, useEffect } from 'react';
import { classes } from './classes.ts';
import { type Loadable, Loaded } from './loaded.tsx';

interface PageProps {
  title: string;
  subtitle?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  /** The content fills the window and scrolls by itself. */
  isWide?: boolean;
}

/** The title is also that of the window. */
export function Page({ title, subtitle, actions, children, isWide = false }: PageProps) {
  useTitle(title);
  return (
    <main
      id="main"
      tabIndex={-1}
      className={classes('flex min-w-0 flex-col outline-none', isWide ? 'h-full' : 'min-h-full pb-16')}
    >
      <header
        className={classes(
          'flex min-h-14 flex-wrap items-center gap-x-3 gap-y-2 px-4 py-2.5 md:px-6',
          isWide ? 'shrink-0' : 'mx-auto w-full max-w-6xl pt-5',
        )}
      >
        <div className="min-w-0 flex-1 basis-56">
          <h1 className={classes('truncate font-semibold tracking-tight', isWide ? 'text-lg' : 'text-xl')}>
            {title}
          </h1>
          {subtitle !== undefined && <div className="text-sm text-muted">{subtitle}</div>}
        </div>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {isWide ? children : <div className="mx-auto w-full max-w-6xl px-4 md:px-6">{children}</div>}
    </main>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Weir`;
  }, [title]);
}

interface CardProps {
  title?: string;
  actions?: ReactNode;
  children: ReactNode;
  className?: string;
  /** Without a margin around the content, for tables. */
  isFlush?: boolean;
}

export function Card({ title, actions, children, className, isFlush = false }: CardProps) {
  return (
    <section className={classes('card min-w-0', className)}>
      {(title !== undefined || actions !== undefined) && (
        <div className="flex min-h-11 items-center gap-2 border-line border-b px-4 py-1.5">
          {title !== undefined && <h2 className="flex-1 font-medium text-sm">{title}</h2>}
          {actions}
        </div>
      )}
      {/* In narrow windows tables are cards, and do not scroll: a region that does has to be reachable by
          keyboard. */}
      <div className={isFlush ? 'rounded-[inherit] md:overflow-x-auto' : 'p-4'}>{children}</div>
    </section>
  );
}

interface QueryCardProps<Data> extends Omit<CardProps, 'children'> {
  query: Loadable<Data>;
  children: (data: Exclude<Data, undefined>) => ReactNode;
}

/** A card whose content is loaded by itself. */
export function QueryCard<Data>({ query, children, ...card }: QueryCardProps<Data>) {
  return (
    <Card {...card}>
      <Loaded query={query} rows={3} isSmall>
        {children}
      </Loaded>
    </Card>
  );
}

interface FigureProps {
  label: string;
  value: string;
  note?: ReactNode;
  title?: string;
  isBad?: boolean;
}

/** A number in a card of its own, in a `dl`. */
export function Figure({ label, value, note, title, isBad = false }: FigureProps) {
  return (
    <div className="card px-4 py-3">
      <dt className="label">{label}</dt>
      <dd>
        <span className={classes('font-semibold text-2xl tracking-tight', isBad && 'text-bad')} title={title}>
          {value}
        </span>
        {note !== undefined && <span className="block text-faint text-xs">{note}</span>}
      </dd>
    </div>
  );
}
