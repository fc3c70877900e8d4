import type { Output } from '../api/query.ts';
import { fields, isField } from '../filter/conditions.ts';
import { ShownText } from '../text/shown-text.tsx';

export type Excerpt = Output<'events.search'>['events'][number]['excerpt'];

/** Names of the values below a path, the deepest path first. */
const places = [
  ['properties.llm.input.system', 'System text'],
  ['properties.llm.input.tools', 'Offered tools'],
  ['properties.llm.input', 'Prompt'],
  ['properties.llm.output.toolCalls', 'Tool call'],
  ['properties.llm.output', 'Response'],
  ['properties.llm.model', 'Model'],
  ['properties.tool.input', 'Tool arguments'],
  ['properties.tool.output', 'Tool result'],
  ['properties.tool.name', 'Tool'],
  ['status.error', 'Error'],
] as const;

/** @param path of a value in an event's JSON. */
function nameOfPlace(path: string): string {
  const [, attribute] = /^additionalProperties\.?(.+)/.exec(path) ?? [];
  if (attribute !== undefined) return `Attribute ${attribute}`;
  const id = path.replace(/^context\./, '');
  if (isField(id)) return fields[id];
  return places.find(([start]) => path.startsWith(start))?.[1] ?? path;
}

/** Where a searched text stands in an event, on one line. `useFoundMarks` marks the text itself. */
export function FoundExcerpt({ excerpt: { path, before, hit, after } }: { excerpt: Excerpt }) {
  return (
    <span className="flex min-w-0 flex-1 gap-1.5">
      <span className="max-w-32 shrink-0 truncate text-faint">
        <ShownText text={nameOfPlace(path)} />:
      </span>
      <ShownText
        text={oneLine(before + hit + after)}
        dir="auto"
        className="min-w-0 flex-1 truncate text-muted"
      />
    </span>
  );
}

export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
