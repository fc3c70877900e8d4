/** DASHBOARD_BASE_PATH, such as `/weir`; empty at the root of the host. */
export const basePath = readMeta('weir-base-path');

export const ingestUrl =
  readMeta('weir-ingest-url') || `${window.location.protocol}//${window.location.hostname}:8080`;

/** What the server has written into the page. */
function readMeta(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}
