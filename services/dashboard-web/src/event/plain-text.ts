import type { EventText } from './event-text.ts';

/** The conversation of an event as plain text, for the text view and to copy. */
export function toPlainText({ llm, tool }: EventText): string {
  const sections: [title: string, text: string | undefined][] = llm
    ? [
        ['System', llm.system],
        ['Prompt', llm.prompt],
        ['Tools', llm.tools.length === 0 ? undefined : llm.tools.map(({ name }) => name).join(', ')],
        ['Response', llm.response],
        ...llm.toolCalls.map(({ name, input }): [string, string | undefined] => [
          `Call of ${name}`,
          input ?? '',
        ]),
      ]
    : [
        ['Input', tool?.input],
        ['Output', tool?.output],
      ];
  return sections
    .filter((section): section is [string, string] => section[1] !== undefined && section[1] !== '')
    .map(([title, text]) => `── ${title} ──\n${text}`)
    .join('\n\n');
}

/** A fence is longer than any in the text. */
export function toMarkdown(event: EventText): string {
  return toPlainText(event)
    .split(/^── (.*) ──$/m)
    .slice(1)
    .flatMap((part, index, parts) =>
      index % 2 === 0 ? [`## ${part}\n\n${fence((parts[index + 1] ?? '').trim())}`] : [],
    )
    .join('\n\n');
}

function fence(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const mark = '`'.repeat(longest + 1);
  return `${mark}\n${text}\n${mark}`;
}
