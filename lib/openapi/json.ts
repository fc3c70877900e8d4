/** A part of the document, as plain JSON. */
export type Json = Readonly<Record<string, unknown>>;
