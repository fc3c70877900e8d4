import type { ReactNode } from 'react';
import { classes } from './classes.ts';

interface TabsProps<Value extends string> {
  label: string;
  tabs: readonly { value: Value; label: string }[];
  chosen: Value;
  onChoose: (value: Value) => void;
  /** The class of the row of tabs. */
  className: string;
  children: ReactNode;
}

export function Tabs<Value extends string>({
  label,
  tabs,
  chosen,
  onChoose,
  className,
  children,
}: TabsProps<Value>) {
  return (
    <>
      <div
        role="tablist"
        aria-label={label}
        className={classes('flex shrink-0 flex-wrap gap-x-1 border-line border-b', className)}
      >
        {tabs.map((tab) => (
          <button
            key={tab.value}
            type="button"
            role="tab"
            id={`tab-${tab.value}`}
            aria-selected={tab.value === chosen}
            aria-controls="panel"
            onClick={() => onChoose(tab.value)}
            className={classes(
              '-mb-px h-9 border-b-2 px-2.5 text-sm whitespace-nowrap',
              tab.value === chosen
                ? 'border-accent font-medium text-ink'
                : 'border-transparent text-muted hover:text-ink',
            )}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div
        id="panel"
        role="tabpanel"
        aria-labelledby={`tab-${chosen}`}
        className="flex min-h-0 flex-1 flex-col"
      >
        {children}
      </div>
    </>
  );
}
