import type { ErrorObject } from 'ajv';
import { timeMsMax } from '../platform/limits.ts';

const articles: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  object: 'an object',
  array: 'an array',
};

/** Longest part of a client's key in a path, in characters. */
const keyCharsMax = 64;

/**
 * Describes a violation of the schema by its path and its rule: `events[17].durationMs must be a number`.
 *
 * @param root the name of the validated value, such as `events[17]`.
 */
export function describeViolation(root: string, value: unknown, violation: ErrorObject): string {
  const path = root + violation.instancePath.split('/').slice(1).map(pathStep).join('');
  const params: Record<string, unknown> = violation.params;
  switch (violation.keyword) {
    case 'required':
      return `${path}.${params.missingProperty} is required`;
    case 'type':
      return `${path} must be ${[params.type]
        .flat()
        .map((type) => articles[String(type)] ?? type)
        .join(' or ')}`;
    case 'const':
      return `${path} must be ${JSON.stringify(params.allowedValue)}`;
    case 'enum':
      return `${path} must be ${[params.allowedValues]
        .flat()
        .map((allowed) => JSON.stringify(allowed))
        .join(' or ')}`;
    case 'pattern':
      return `${path} must be a UUIDv4`;
    case 'minimum':
    case 'maximum':
      return `${path} must lie within ±${timeMsMax.toExponential()}`;
    case 'discriminator':
      return Object.hasOwn(Object(value), 'type')
        ? `${path}.type must be "llm" or "tool"`
        : `${path}.type is required`;
    default:
      return `${path} ${violation.message}`;
  }
}

/** One step of a JSON Pointer in JavaScript's syntax: `.name`, `[3]`, `["odd name"]`. */
function pathStep(step: string): string {
  const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
  if (/^[A-Za-z_$][\w$]*$/.test(name) && name.length <= keyCharsMax) return `.${name}`;
  if (/^\d+$/.test(name)) return `[${name}]`;
  return `[${JSON.stringify(name.length > keyCharsMax ? `${name.slice(0, keyCharsMax)}…` : name)}]`;
}
