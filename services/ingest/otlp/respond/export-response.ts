import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** What the response to an exporter says. With neither member everything was accepted. */
export interface Answer {
  /** The number of records that can never be stored, and the field of the signal's response that has it. */
  readonly rejected?: readonly [field: 'rejectedSpans' | 'rejectedLogRecords', count: number];
  /** The reason; without rejected records a warning. */
  readonly message?: string;
}

/**
 * An Export…ServiceResponse: `partial_success { rejected_…, error_message }`, with the same numbers for all
 * signals.
 */
export function encodeAnswer(
  { rejected, message }: Answer,
  { isJson }: { readonly isJson: boolean },
): Uint8Array {
  if (message === undefined) return Buffer.from(isJson ? '{}' : '');
  if (isJson) {
    const count = rejected && { [rejected[0]]: String(rejected[1]) };
    return Buffer.from(JSON.stringify({ partialSuccess: { ...count, errorMessage: message } }));
  }
  const partialSuccess = new BinaryWriter();
  if (rejected !== undefined) partialSuccess.tag(1, WireType.Varint).int64(rejected[1]);
  partialSuccess.tag(2, WireType.LengthDelimited).string(message);
  return new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(partialSuccess.finish()).finish();
}
