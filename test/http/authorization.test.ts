import { expect, test } from 'vitest';
import { headersFrame, opening, postHeaders, RawConnection } from '../support/protocols/http2-frames.ts';
import { authorizationOf, rawPost, talk } from '../support/protocols/raw-http.ts';
import { emptyBatch } from '../support/serving.ts';
import { usePipeline } from '../support/use-pipeline.ts';

/** HTTP allows only spaces and tabs around a header's value (RFC 9110 §5.6.3). */

const { pipeline, tenant } = usePipeline();

async function postWith(authorization: string): Promise<number | undefined> {
  const bytes = rawPost(tenant, '{"events":[]}', 'Connection: close\r\n').replace(
    authorizationOf(tenant),
    `Authorization: ${authorization}\r\n`,
  );
  return (await talk(pipeline.url, bytes))[0]?.status;
}

test.each([
  ['a space and a tab around it', (key: string) => ` \tBearer ${key} \t`, 202],
  ['several spaces in it', (key: string) => `Bearer   ${key}`, 202],
  ['the scheme in lower case', (key: string) => `bearer ${key}`, 202],
  ['U+00A0 after it', (key: string) => `Bearer ${key}\xa0`, 401],
  ['U+00A0 before it', (key: string) => `\xa0Bearer ${key}`, 401],
  ['U+00A0 in place of the space', (key: string) => `Bearer\xa0${key}`, 401],
  ['a tab in place of the space', (key: string) => `Bearer\t${key}`, 401],
  ['a second token', (key: string) => `Bearer ${key} ${key}`, 401],
])('an Authorization header with %s', async (_, authorization, status) => {
  expect(await postWith(authorization(tenant.apiKey))).toBe(status);
});

test('U+00A0 after the key is a 401 over HTTP/2 too', async () => {
  using connection = await RawConnection.open(pipeline, opening);
  connection.send(headersFrame(1, postHeaders(`${tenant.apiKey}\xa0`)), emptyBatch(1));
  expect((await connection.untilFrame('data', 1)).payload.toString()).toContain('unauthorized');
});
