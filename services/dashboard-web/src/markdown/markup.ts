/** Also lists. The space before one has no line breaks: a text of empty lines would be read from each. */
const markup = /[*_`#>|[~\\]|^[ \t]*(?:[-+]|\d+[.)])\s/m;

/** Most texts have none, and need no parser. Takes time in proportion to the length of the text. */
export function hasMarkup(text: string): boolean {
  return markup.test(text);
}
