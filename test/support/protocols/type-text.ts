import type { JsonSchema } from './procedures.ts';

/** Formats JSON Schemas as TypeScript types, for the procedure document. */

/** Named schemas by name: those of `$defs`, and a named root. */
export function collectNamed(root: JsonSchema, into: Map<string, JsonSchema>): void {
  for (const [name, schema] of Object.entries(root.$defs ?? {})) into.set(name, schema);
  if (root.id !== undefined) into.set(root.id, root);
}

/** A schema as a type; a named one as its name. */
export function typeText(schema: JsonSchema): string {
  return schema.id ?? structureText(schema);
}

/** A schema as a type, expanded even if it has a name. */
export function structureText(schema: JsonSchema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.const !== undefined) return `'${schema.const}'`;
  if (schema.enum !== undefined) return schema.enum.map((one) => `'${one}'`).join(' | ');
  const options = schema.anyOf ?? schema.oneOf;
  if (options !== undefined) return [...new Set(options.map(typeText))].join(' | ');
  if (Array.isArray(schema.type)) {
    return schema.type.map((type) => structureText({ ...schema, type })).join(' | ');
  }
  switch (schema.type) {
    case 'object':
      return objectText(schema);
    case 'array': {
      const item = typeText(schema.items ?? {});
      return /^\w+$|^\{[^{}]*\}$/.test(item) ? `${item}[]` : `(${item})[]`;
    }
    case 'string':
      return stringText(schema);
    case 'integer':
    case 'number':
      return rangeText(schema);
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return 'unknown';
  }
}

/** The members of an object, separated by `;`. */
export function membersText({ properties = {}, required = [] }: JsonSchema): string[] {
  return Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeText(schema)}`,
  );
}

function objectText(schema: JsonSchema): string {
  if (schema.properties === undefined) return 'Record<string, unknown>';
  return `{ ${membersText(schema).join('; ')} }`;
}

function stringText({ format, pattern }: JsonSchema): string {
  if (format === 'uuid' || format === 'guid' || pattern?.includes('{12}')) return 'Uuid';
  if (format === 'date-time') return 'Instant';
  return format === 'date' ? 'Day' : 'string';
}

/** Bounds that every number has are left out. */
function rangeText({ minimum, maximum }: JsonSchema): string {
  const isBounded = minimum !== undefined && maximum !== undefined && Math.abs(maximum) < 1e6;
  return isBounded ? `${minimum}..${maximum}` : 'number';
}
