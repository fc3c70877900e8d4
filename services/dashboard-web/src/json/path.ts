/** A path from the root to a value: member names and element indexes. */
export type JsonPath = readonly (string | number)[];

/** `properties.llm.input.tools[0]["odd name"]`, as JavaScript writes it. */
export function formatPath(path: JsonPath): string {
  return path
    .map((step, place) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[A-Za-z_$][\w$]*$/.test(step)) return `[${JSON.stringify(step)}]`;
      return place === 0 ? step : `.${step}`;
    })
    .join('');
}

const steps = /\.?([A-Za-z_$][\w$]*)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** @returns undefined when the text is no path. */
export function parsePath(text: string): JsonPath | undefined {
  const path: (string | number)[] = [];
  steps.lastIndex = 0;
  while (steps.lastIndex < text.length) {
    const match = steps.exec(text);
    if (match === null) return undefined;
    const [, name, index, quoted] = match;
    if (index !== undefined) path.push(Number(index));
    else if (name !== undefined) path.push(name);
    else {
      try {
        path.push(JSON.parse(quoted ?? ''));
      } catch {
        return undefined;
      }
    }
  }
  return path;
}
