/** Markdown's characters and lists. No line breaks before a list: empty lines would be read repeatedly. */
const markup = /[*_`#>|[~\\]|^[ \t]*(?:[-+]|\d+[.)])\s/m;

/** Whether a parser is needed: most texts have no markup. Takes time in proportion to the text. */
export function hasMarkup(text: string): boolean {
  return markup.test(text);
}
