import { hashOf } from '../mapping/ids.ts';
import { type Attributes, textOf } from '../spans/attributes.ts';
import type { Span } from '../spans/span.ts';

/*
 * Logfire records a streamed call as two spans with the same parent. The span of the request ends when the
 * response begins. When the stream has ended, a span of type `log` has the response, and the seconds since
 * the response began. They share no id.
 */

/**
 * Time between the start of a response and the moment the program begins to read it: the spans are compared
 * as if they overlapped by it.
 */
const readDelayMs = 1_000;

const nsPerSecond = 1e9;

/** Longest name of a library that is compared, in characters. */
const scopeCharsMax = 200;

/** Whether a span is the second of the two. */
function isStreamLog({ attributes }: Span): boolean {
  return textOf(attributes, 'logfire.span_type') === 'log' && secondsOf(attributes) !== undefined;
}

/**
 * A span that was recorded at the end of a stream gets the times of the stream. Other spans are returned as
 * they are.
 */
export function withStreamTimes(span: Span): Span {
  const seconds = isStreamLog(span) ? secondsOf(span.attributes) : undefined;
  return seconds === undefined
    ? span
    : { ...span, startNs: span.endNs - BigInt(Math.round(seconds * nsPerSecond)) };
}

/**
 * A library creates one span for each call. One that creates another at the end of a stream counts as two.
 */
export function scopeOf(span: Span, name: string): string {
  const scope = name.slice(0, scopeCharsMax);
  return isStreamLog(span) ? `${scope} (stream)` : scope;
}

/** The time from which the call of a span may have been observed. */
export function observedFromMs(span: Span, startTimeMs: number): number {
  return isStreamLog(span) ? startTimeMs - readDelayMs : startTimeMs;
}

/**
 * Identifies the request of a streamed call, in both spans: they have the same parent, request and messages.
 */
export function streamKeyOf(span: Span): string | undefined {
  const { attributes } = span;
  const request = textOf(attributes, 'request_data');
  const type = textOf(attributes, 'logfire.span_type');
  if (request === undefined || (type !== 'span' && type !== 'log')) return undefined;
  if (type === 'span' && attributes.get('gen_ai.usage.output_tokens') !== undefined) return undefined;
  return hashOf(['stream', request, textOf(attributes, 'gen_ai.input.messages') ?? '']);
}

function secondsOf(attributes: Attributes): number | undefined {
  const seconds = attributes.get('duration');
  const isValid = typeof seconds === 'number' && seconds >= 0 && seconds < 86_400;
  return isValid ? seconds : undefined;
}
