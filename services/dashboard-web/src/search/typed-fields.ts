import { attributePrefix, isField, isMeasure, labelOf } from '../filter/conditions.ts';

/** The names that are typed in the search field, and the fields that they stand for. */
const typedFields: Record<string, string> = {
  type: 'type',
  state: 'state',
  model: 'name',
  tool: 'name',
  user: 'userId',
  thread: 'threadId',
  trace: 'traceId',
  agent: 'agentId',
  group: 'agentGroupId',
  source: 'source',
  error: 'errorCode',
  took: 'duration',
  tokens: 'tokens',
  cost: 'cost',
  label: 'label',
  has: 'has',
};

/** Names that other products have. They are not offered, but understood. */
const aliases: Record<string, string> = {
  status: 'state',
  latency: 'duration',
  llm: 'name',
  session: 'threadId',
  code: 'errorCode',
};

/** A text in quotes, without the backslashes before quotes and backslashes. */
export function unquote(text: string): string {
  return text.replaceAll(/\\(["\\])/g, '$1');
}

export function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** The field that a typed name, or its own, stands for. Keys and labels may be quoted. */
export function fieldNamed(name: string): string | undefined {
  if (isField(name) || isMeasure(name)) return name;
  if (Object.hasOwn(typedFields, name)) return typedFields[name];
  if (Object.hasOwn(aliases, name)) return aliases[name];
  const [, prefix, quotedKey, plain = ''] = /^(attr\.|label\.)(?:"(.*)"|(.*))$/s.exec(name) ?? [];
  const key = quotedKey === undefined ? plain : unquote(quotedKey);
  return key === '' ? undefined : prefix + key;
}

/** The names that begin with a text, with what they mean. */
export function completeField(prefix: string): { name: string; label: string }[] {
  const lower = prefix.toLowerCase();
  return [
    ...Object.entries(typedFields).map(([name, field]) => ({ name: `${name}:`, label: labelOf(field) })),
    { name: attributePrefix, label: 'Additional property' },
  ].filter(({ name }) => name.startsWith(lower) && name !== lower);
}

/** The typed name that a wrong one probably stands for. */
export function findSimilar(name: string): string | undefined {
  const lower = name.toLowerCase().replaceAll(/[^a-z]/g, '');
  if (lower === '') return undefined;
  const all = Object.entries(typedFields);
  // `userid` and `user_id` are the field's own name, `threads` has a typed name as its beginning.
  const exact = all.find(([typed, field]) => [typed, field.toLowerCase()].includes(lower));
  const near = all
    .map(([typed]) => ({ typed, far: distance(typed, lower) }))
    .toSorted((a, b) => a.far - b.far)
    .find(({ typed, far }) => far <= Math.max(1, Math.floor(typed.length / 3)));
  const begun = all.find(
    ([typed]) => lower.startsWith(typed) || (lower.length > 1 && typed.startsWith(lower)),
  );
  return exact?.[0] ?? near?.typed ?? begun?.[0];
}

/** The number of letters to add, remove, replace or swap. */
function distance(a: string, b: string): number {
  let [before, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const options = [(last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (isSame ? 0 : 1)];
      if (isSwap) options.push((before[j - 2] ?? 0) + 1);
      row.push(Math.min(...options));
    }
    [before, last] = [last, row];
  }
  return last.at(-1) ?? 0;
}
