/** Address and key are variables, so that neither is in the clipboard; the same id is stored only once. */
export function toCurl(event: string): string {
  const body = `{"events":[${event}]}`;
  return [
    `curl -sS "$WEIR_URL/v1/ingest-events" \\`,
    `  -H "Authorization: Bearer $WEIR_API_KEY" -H 'Content-Type: application/json' \\`,
    `  --data-binary '${body.replaceAll("'", "'\\''")}'`,
  ].join('\n');
}
