/** The calls of tools that a model asks for. docs/api.md §2.6 leaves the parts of a call free: providers and SDKs name them. */

/** The name of the called tool; undefined where the call has none that is known. */
export function calledTool(call: unknown): string | undefined {
  const name =
    member(call, 'toolName') ??
    member(call, 'name') ??
    member(member(call, 'function'), 'name') ??
    member(call, 'tool');
  return typeof name === 'string' ? name : undefined;
}

/** What the tool is called with: mostly JSON as a string. */
export function calledWith(call: unknown): unknown {
  return (
    member(call, 'arguments') ??
    member(call, 'input') ??
    member(call, 'args') ??
    member(member(call, 'function'), 'arguments')
  );
}

/** A member of an object, not of its prototypes. */
export function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
