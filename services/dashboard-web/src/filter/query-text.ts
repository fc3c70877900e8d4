import { attributePrefix, type Condition, isField } from './fields.ts';

/**
 * Parses the search field: `field:value`, `-field:value`, quoted values with spaces. Other words are a text search.
 */
export function parseQueryText(text: string): { conditions: Condition[]; text: string } {
  const conditions: Condition[] = [];
  const words: string[] = [];
  for (const [whole, minus, name = '', quoted, plain] of text.matchAll(tokens)) {
    const field = fieldNamed(name);
    const value = quoted ?? plain ?? '';
    if (field === undefined || value === '') words.push(whole);
    else conditions.push({ field, value, isExcluded: minus === '-' });
  }
  return { conditions, text: words.join(' ') };
}

const tokens = /(-)?([\w.]+):(?:"([^"]*)"|(\S+))|\S+/g;

/** Aliases of fields. */
const aliases: Record<string, string> = {
  model: 'name',
  tool: 'name',
  user: 'userId',
  thread: 'threadId',
  trace: 'traceId',
  agent: 'agentId',
  group: 'agentGroupId',
  error: 'errorCode',
};

function fieldNamed(name: string): string | undefined {
  if (isField(name)) return name;
  if (Object.hasOwn(aliases, name)) return aliases[name];
  return name.startsWith(attributePrefix) && name.length > attributePrefix.length ? name : undefined;
}
