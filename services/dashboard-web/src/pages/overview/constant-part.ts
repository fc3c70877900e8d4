/** Ids and numbers, which the counts of errors by message ignore. */
const varying = /[0-9a-f]{8}-[0-9a-f-]{27}|0x[0-9a-f]+|\d+/gi;

/** The longest part of a message that all errors of its group have: a search for it finds them. */
export function constantPart(message: string): string {
  const parts = message.split(varying).map((part) => part.trim());
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}
