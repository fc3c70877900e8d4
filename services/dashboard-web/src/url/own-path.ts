/** Whether a text is a path of this site. `//host` and `/\host` are addresses of other sites. */
export function isOwnPath(text: string): boolean {
  return /^\/(?![/\\])/.test(text) && !/[\t\n\r]/.test(text);
}
