/** docs/api.md §2.6 does not name the fields of tool calls; these are those of providers and SDKs. */

/** The name of the called tool; undefined when no known field has it. */
export function calledTool(call: unknown): string | undefined {
  const name =
    member(call, 'toolName') ??
    member(call, 'name') ??
    member(member(call, 'function'), 'name') ??
    member(call, 'tool');
  return typeof name === 'string' ? name : undefined;
}

/** Usually JSON in a string. */
export function calledWith(call: unknown): unknown {
  return (
    member(call, 'arguments') ??
    member(call, 'input') ??
    member(call, 'args') ??
    member(member(call, 'function'), 'arguments')
  );
}

/** An own member of an object, not one of its prototypes. */
function member(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}
