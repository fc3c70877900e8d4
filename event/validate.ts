import { Ajv2020, type ErrorObject, type Options, type ValidateFunction } from 'ajv/dist/2020.js';
import { eventsPerBatchMax, jsonDepthMax, timeMsMax } from '../platform/limits.ts';
import { IngestError } from './errors.ts';
import type { IngestEvent } from './event.ts';
import { isDeeperThan } from './json/depth.ts';
import { eventSchema } from './schema.ts';

export const tooDeep = `The body is nested deeper than ${jsonDepthMax} levels.`;

export interface BatchRules {
  isEvent(this: void, value: unknown): value is IngestEvent;
  /**
   * Checks a parsed body in the order of docs/api.md: the root is an object, `events` an array of at most
   * 500, nested within `jsonDepthMax`, every event matches the schema.
   * @throws IngestError `invalid_event_batch`, `too_many_events`.
   */
  validateBatch(this: void, body: unknown): readonly IngestEvent[];
}

/** validate.test.ts checks the schema: compiling the meta-schema takes longer than ours, in each thread. */
const ajvOptions: Options = {
  discriminator: true,
  strictTypes: false,
  formats: { uuid: true },
  meta: false,
  validateSchema: false,
};

export function compileBatchRules(vendor: string): BatchRules {
  const schema = eventSchema(vendor);
  const isEvent = new Ajv2020(ajvOptions).compile<IngestEvent>(schema);
  // Collecting all violations takes half as long again, so it is done for invalid batches only.
  const collectViolations = new Ajv2020({ ...ajvOptions, allErrors: true }).compile<IngestEvent>(schema);
  return {
    isEvent,
    validateBatch(body) {
      const events = eventsOf(body);
      if (events.length > eventsPerBatchMax) {
        throw new IngestError(
          'too_many_events',
          `The batch has ${events.length} events; at most ${eventsPerBatchMax} are allowed in one request.`,
        );
      }
      if (isDeeperThan(body, jsonDepthMax)) {
        throw new IngestError('invalid_event_batch', tooDeep);
      }
      if (events.every((event): event is IngestEvent => isEvent(event))) return events;
      throw describeViolations(events, collectViolations);
    },
  };
}

function eventsOf(body: unknown): readonly unknown[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new IngestError(
      'invalid_event_batch',
      'The body must be a JSON object of the form { "events": [ … ] }.',
    );
  }
  if (!Object.hasOwn(body, 'events')) throw new IngestError('invalid_event_batch', 'events is required');
  const { events } = body as { events: unknown };
  if (!Array.isArray(events)) throw new IngestError('invalid_event_batch', 'events must be an array');
  return events;
}

function describeViolations(events: readonly unknown[], validate: ValidateFunction): IngestError {
  let first: string | undefined;
  let more = 0;
  for (const [index, event] of events.entries()) {
    if (validate(event)) continue;
    const violations: ErrorObject[] = validate.errors ?? [];
    first ??= violations[0] && describeViolation(`events[${index}]`, event, violations[0]);
    more += violations.length;
  }
  more -= 1;
  return new IngestError('invalid_event_batch', `${first}${more > 0 ? ` (and ${more} more)` : ''}`);
}

const articles: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  object: 'an object',
  array: 'an array',
};

/** Longest part of a client's key in a path, in characters. */
const keyCharsMax = 64;

/**
 * Describes a violation by path and rule: `events[17].durationMs must be a number`.
 * @param root the name of the validated value, such as `events[17]`.
 */
function describeViolation(root: string, value: unknown, violation: ErrorObject): string {
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
