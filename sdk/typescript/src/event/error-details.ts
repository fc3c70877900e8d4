import { dropUndefined } from './drop-undefined.ts';
import type { EventError } from './event.ts';

/** Describes any thrown value in the fields of docs/api.md §2.3. Never throws. */
export function describeError(thrown: unknown): EventError {
  try {
    if (typeof thrown !== 'object' || thrown === null) return { message: String(thrown) };
    const { name, message, code, status, cause } = thrown as Record<string, unknown>;
    if (name === 'AbortError') return { code: 'aborted', message: String(message) };
    if (name === 'TimeoutError') return { code: 'timeout', message: String(message) };
    const own = asCode(code) ?? asCode((cause as { code?: unknown } | undefined)?.code);
    const fallback = typeof name === 'string' && name !== 'Error' ? name : undefined;
    const httpStatus = typeof status === 'number' ? status : undefined;
    return dropUndefined({
      code: own ?? fallback,
      httpStatus,
      message: String(message ?? thrown),
    });
  } catch {
    return { message: 'The error cannot be read.' };
  }
}

/**
 * The code in the error of a provider: `code` if it is a text, else Google's `status`, else the number, else
 * `type`.
 */
export function codeOf({
  code,
  status,
  type,
}: Readonly<Record<string, unknown>>): string | number | undefined {
  const texts = [code, status].filter((known) => typeof known === 'string');
  return texts[0] ?? asCode(code) ?? asCode(type);
}

/** A code as docs/api.md §2.3 takes it. */
export function asCode(value: unknown): string | number | undefined {
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
