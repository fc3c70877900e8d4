/** The path below which the dashboard is served (DASHBOARD_BASE_PATH), such as `/weir`; empty at the root of its host. */
export const basePath = readMeta('weir-base-path');

/** The URL that clients send events to. */
export const ingestUrl =
  readMeta('weir-ingest-url') || `${window.location.protocol}//${window.location.hostname}:8080`;

/** What the server has written into the page. */
function readMeta(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}
