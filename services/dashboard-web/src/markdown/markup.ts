/**
 * Markdown's characters and lists. A list's space has no line breaks: empty lines would be read repeatedly.
 */
const markup = /[*_`#>|[~\\]|^[ \t]*(?:[-+]|\d+[.)])\s/m;

/** Whether a parser is needed: most texts have no markup. Takes time in proportion to the text. */
export function hasMarkup(text: string): boolean {
  return markup.test(text);
}
