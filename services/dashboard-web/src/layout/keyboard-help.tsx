import { useState } from 'react';
import { useShortcuts } from '../settings/settings.ts';
import { useSpace } from '../space/space.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { navigationOf } from './navigation.ts';

/** What keys do, by place. A space separates keys that are pressed together or one after the other. */
const groups = {
  Everywhere: {
    '?': 'Show keyboard shortcuts',
    'Ctrl K': 'Go to a page or find an id',
    '/': 'Search or filter',
    Esc: 'Close the open panel or dialog',
  },
  Lists: { j: 'Next row', k: 'Previous row', Enter: 'Open the row' },
  Event: { '[': 'Earlier event of the list', ']': 'Later event of the list' },
  Trace: { e: 'Next error', '+': 'Zoom in', '-': 'Show the whole trace' },
  Thread: { j: 'Next turn', k: 'Previous turn', '/': 'Find in the thread' },
  Live: { p: 'Pause or resume' },
};

export function KeyboardHelp() {
  const [isOpen, setOpen] = useState(false);
  const { role } = useSpace();
  const entries = navigationOf(role).flatMap((group) => group.entries);
  const Pages = Object.fromEntries(entries.map(({ key, label }) => [`g ${key}`, label]));
  useShortcuts({ '?': () => setOpen(true) });
  return (
    <Dialog
      isOpen={isOpen}
      onClose={() => setOpen(false)}
      title="Keyboard shortcuts and search"
      width="wide"
      description="Single keys can be turned off in your profile."
    >
      <div className="gap-8 sm:columns-2">
        {Object.entries<Record<string, string>>({ ...groups, Pages }).map(([title, keys]) => (
          <section key={title} className="mb-4 break-inside-avoid">
            <h3 className="label mb-1.5">{title}</h3>
            <dl className="flex flex-col gap-1.5 text-sm">
              {Object.entries(keys).map(([names, does]) => (
                <div key={does} className="flex items-center justify-between">
                  <dt className="order-2 flex gap-1">
                    {names.split(' ').map((name) => (
                      <kbd key={name}>{name}</kbd>
                    ))}
                  </dt>
                  <dd className="text-muted">{does}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <SearchHelp />
    </Dialog>
  );
}

function SearchHelp() {
  return (
    <section className="mb-4 border-line border-t pt-4">
      <h3 className="label mb-1.5">Search</h3>
      <dl className="grid gap-x-8 gap-y-1.5 text-sm sm:grid-cols-2">
        {syntax.map(([example, meaning]) => (
          <div key={example} className="flex items-baseline justify-between gap-3">
            <dt className="order-2 text-right font-mono text-[0.8rem]">{example}</dt>
            <dd className="text-muted">{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const syntax = [
  ['refund order', 'Text in whole payloads, or an id'],
  ['"user:mia"', 'Literal text, not a field'],
  ['user:mia', 'A value of a field'],
  ['user:"Mia Li"', 'A value with spaces'],
  ['-model:gpt-4o', 'Without a value'],
  ['attr.plan:pro', 'An additional property'],
  ['took:>10s', 'Duration: ms, s, m, h'],
  ['tokens:>50k', 'Input and output tokens: k, M'],
  ['cost:0.1..1', 'Cost in dollars, from and to'],
  ['state:error type:tool', 'Several: all must match'],
] as const;
