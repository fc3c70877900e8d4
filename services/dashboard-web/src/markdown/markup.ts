/**
 * Characters that Markdown gives a meaning, and lists. The space before a list does not include line breaks:
 * a text of empty lines would be read again from each of them.
 */
const markup = /[*_`#>|[~\\]|^[ \t]*(?:[-+]|\d+[.)])\s/m;

/**
 * Whether a text has Markdown. Most texts have none, and need no parser. Takes time in proportion to the
 * length of the text.
 */
export function hasMarkup(text: string): boolean {
  return markup.test(text);
}
