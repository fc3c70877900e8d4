import type { IncomingMessage } from 'node:http';
import { type Access, type AccessDirectory, unauthorized } from './access.ts';

/**
 * The access that a request's `Authorization: Bearer <API_KEY>` gives (contract §5).
 *
 * @throws IngestError `unauthorized`, also when the header is there twice: which one counts would be a guess.
 */
export function authenticate(request: IncomingMessage, directory: AccessDirectory): Access | Promise<Access> {
  let value: string | undefined;
  const headers = request.rawHeaders;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i];
    if (name?.length !== 'authorization'.length || name.toLowerCase() !== 'authorization') continue;
    if (value !== undefined) throw unauthorized();
    value = headers[i + 1];
  }
  const apiKey = /^Bearer +(\S+)$/i.exec(value?.trim() ?? '')?.[1];
  if (apiKey === undefined) throw unauthorized();
  return directory.find(apiKey);
}
