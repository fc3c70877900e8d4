import { asStored, cutText } from '../../../../event/text.ts';
import type { SentNote } from '../../../../store/notes/evaluation-notes.ts';
import { labelCharsMax, noteCharsMax } from '../../../../store/notes/note.ts';
import { isSpanId } from '../../../../store/traces/span-tree.ts';
import { asNumber } from '../mapping/attribute-reader.ts';
import { eventIdOf, hashOf, isTraceId, traceUuidOf } from '../mapping/ids.ts';
import { textOf } from '../spans/attributes.ts';
import type { LogRecord } from './log-record.ts';

/** The event of OpenTelemetry with the result of an evaluation: a log record, or an event of a span. */
export const evaluationName = 'gen_ai.evaluation.result';

/**
 * The note of an evaluation: its name is the label. It is on the call of the span, else on the trace, else on
 * the conversation. @returns undefined when it says nothing, or names none of them.
 */
export function toEvaluationNote({
  traceId,
  spanId,
  timeNs,
  attributes,
}: Pick<LogRecord, 'traceId' | 'spanId' | 'timeNs' | 'attributes'>): SentNote | undefined {
  const label = textOf(attributes, 'gen_ai.evaluation.name');
  const score = asNumber(attributes.get('gen_ai.evaluation.score.value'));
  const value = textOf(attributes, 'gen_ai.evaluation.score.label');
  const failure = textOf(attributes, 'error.type');
  const text = textOf(attributes, 'gen_ai.evaluation.explanation') ?? (failure && `error: ${failure}`);
  const threadId = textOf(attributes, 'gen_ai.conversation.id');
  const isTraced = isTraceId(traceId);
  if (label === undefined || (!isTraced && threadId === undefined)) return undefined;
  const said = [label, score ?? null, value ?? null, text ?? null];
  return {
    id: hashOf(['evaluation', traceId, spanId, threadId ?? null, String(timeNs), ...said]),
    label: cutText(label, labelCharsMax),
    ...(value !== undefined && { value }),
    ...(score !== undefined && { score }),
    ...(text !== undefined && { text: cutText(text, noteCharsMax) }),
    ...(isTraced
      ? {
          traceId: traceUuidOf(traceId),
          ...(isSpanId(spanId) && { spanId, eventId: eventIdOf(traceId, spanId) }),
        }
      : { threadId: asStored(threadId ?? '') }),
  };
}
