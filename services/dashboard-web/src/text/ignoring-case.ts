/** A pattern that finds a text in any case of any script, by the same rule as searches of the API. */
export function ignoringCase(text: string): RegExp {
  // RegExp.escape is missing in browsers of 2024.
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu');
}

/** The patterns of the words of a text. */
export function wordsIgnoringCase(text: string): RegExp[] {
  return text.split(/\s+/).filter(Boolean).map(ignoringCase);
}

/** Whether a text has what a pattern of this file finds. */
export function hasMatch(text: string, wanted: RegExp): boolean {
  return text.search(wanted) !== -1;
}
