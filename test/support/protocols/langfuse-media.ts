import { createHash, randomBytes } from 'node:crypto';

/* The requests of Langfuse's SDKs (Python 5.0.4, JavaScript 5.11.1) for media taken out of a span. */

/** Credentials as the SDKs send them: their secret key is the API key. */
export const basicAuth = (apiKey: string) => ({
  authorization: `Basic ${Buffer.from(`pk-lf-1:${apiKey}`).toString('base64')}`,
});

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64');

/** As the SDKs name media in their spans. */
export const mediaIdOf = (bytes: Buffer) =>
  sha256Of(bytes).replaceAll('+', '-').replaceAll('/', '_').slice(0, 22);

/** The answer to an announcement. */
export async function readAnnounced(answer: Response | Promise<Response>) {
  return (await (await answer).json()) as { mediaId: string; uploadUrl: string };
}

/** @param use what differs in the body. */
export function announceMedia(
  { url, apiKey }: { url: string; apiKey: string },
  bytes: Buffer,
  use: object = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = {
    ...{ traceId: randomBytes(16).toString('hex'), observationId: 'b7ad6b7169203331', field: 'input' },
    ...{ contentType: 'image/png', contentLength: bytes.length, sha256Hash: sha256Of(bytes), ...use },
  };
  return fetch(`${url}/api/public/media`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...basicAuth(apiKey), ...headers },
    body: JSON.stringify(body),
  });
}

/** Sends the bytes to the address of the answer: without a key, with the headers of all stores of objects. */
export function putMedia(uploadUrl: string, bytes: Buffer): Promise<Response> {
  return fetch(uploadUrl, {
    method: 'PUT',
    headers: {
      'content-type': 'image/png',
      'x-amz-checksum-sha256': sha256Of(bytes),
      'x-ms-blob-type': 'BlockBlob',
    },
    body: Buffer.from(bytes),
  });
}

/** Uploads media. @returns their id. */
export async function uploadMedia(
  ingest: { url: string; apiKey: string },
  bytes: Buffer,
  use: object = {},
): Promise<string> {
  const { mediaId, uploadUrl } = await readAnnounced(announceMedia(ingest, bytes, use));
  const { status } = await putMedia(uploadUrl, bytes);
  if (status !== 200) throw new Error(`the upload was answered with ${status}`);
  return mediaId;
}
