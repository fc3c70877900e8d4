/** Finds a text in any case of any script, by the same rule as searches of the API. */
export function ignoringCase(text: string): RegExp {
  // RegExp.escape is missing in browsers of 2024.
  return new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'giu');
}

export function wordsIgnoringCase(text: string): RegExp[] {
  return text.split(/\s+/).filter(Boolean).map(ignoringCase);
}

export function hasMatch(text: string, wanted: RegExp): boolean {
  return text.search(wanted) !== -1;
}
