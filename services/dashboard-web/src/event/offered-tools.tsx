import { Wrench } from 'lucide-react';
import { describeText } from '../text/marks.ts';
import { ShownText } from '../text/shown-text.tsx';
import { Turn } from './turn.tsx';

/** The tools that the model could call. */
export function OfferedTools({ tools }: { tools: { name: string; source: string }[] }) {
  return (
    <Turn
      icon={Wrench}
      title={`${tools.length} ${tools.length === 1 ? 'tool' : 'tools'} offered`}
      tone="neutral"
      isFolded={tools.length > 6}
    >
      <ul className="flex flex-wrap gap-1.5">
        {tools.map(({ name, source }, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and the order never changes.
            key={index}
            className="rounded-sm bg-sunken px-1.5 py-0.5 font-mono text-xs"
          >
            <span title={describeText(source.slice(0, 500))}>
              <ShownText text={name} />
            </span>
          </li>
        ))}
      </ul>
    </Turn>
  );
}
