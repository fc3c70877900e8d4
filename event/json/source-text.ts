/** JSON with source text (ECMAScript 2026), which TypeScript's library does not declare yet. */
export interface SourceTextJson {
  /** `source` is the text of a primitive as it was written. */
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  /** `JSON.stringify` writes this text, such as an integer with more digits than a double holds. */
  rawJSON(text: string): { rawJSON: string };
  isRawJSON(value: unknown): value is { rawJSON: string };
}

export const sourceTextJson = JSON as unknown as SourceTextJson;
