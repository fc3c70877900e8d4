/**
 * JSON with the source text of its primitives (ECMAScript 2026), which TypeScript's library does not declare
 * yet.
 */
export interface SourceTextJson {
  /** `source` is the text of a primitive as it was written. */
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  /**
   * A primitive that `JSON.stringify` writes as this text, such as an integer of more digits than a double
   * holds.
   */
  rawJSON(text: string): { rawJSON: string };
  isRawJSON(value: unknown): value is { rawJSON: string };
}

export const sourceTextJson = JSON as unknown as SourceTextJson;
