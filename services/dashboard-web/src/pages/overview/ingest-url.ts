/** The URL that clients send events to. The server writes it into the page. */
export function ingestUrl(): string {
  const written = document.querySelector<HTMLMetaElement>('meta[name="weir-ingest-url"]')?.content;
  return written || `${window.location.protocol}//${window.location.hostname}:8080`;
}
