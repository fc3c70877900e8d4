import { afterAll, beforeAll, expect, test } from 'vitest';
import { dayMs } from '../../platform/time.ts';
import { runWeir } from '../support/cli/command-line.ts';
import { CertificateFiles, makePair } from '../support/protocols/certificate.ts';
import { usePipeline } from '../support/use-pipeline.ts';
import { until } from '../support/wait.ts';

const files = new CertificateFiles();
const install = async (days: number) => files.install(await makePair(new Date(Date.now() + days * dayMs)));
beforeAll(() => install(5));
afterAll(() => files[Symbol.dispose]());
const { pipeline } = usePipeline({ variables: files.variables });

/** The metric of ingest, rounded up to whole days. */
async function readDaysLeft(): Promise<number> {
  const text = await (await fetch(`${pipeline.ingest.ready.metricsUrl}/metrics`)).text();
  return Math.ceil(Number(/^weir_tls_certificate_days_left(?:\{.*\})? (\S+)$/m.exec(text)?.[1]));
}

/** What `weir doctor` says about certificates. */
async function examine() {
  const { stdout } = await runWeir(['doctor'], pipeline.variables);
  return JSON.parse(stdout.split('\n').find((line) => line.includes('"services.certificate"')) ?? '{}');
}

const countOf = (message: string) => pipeline.ingest.log().split(message).length - 1;
const soon = 'the certificate expires soon, and was not renewed';
const expired = 'ALARM: the certificate has expired';

test('a certificate that expires is told by the metric, once in the log, and by the doctor, until it is renewed', async () => {
  expect(await readDaysLeft()).toBe(5);
  expect([countOf(soon), countOf(expired)]).toEqual([1, 0]);
  expect(await examine()).toMatchObject({
    status: 'warning',
    found: expect.stringMatching(/^that of ingest \(.*\) until \d{4}-/),
    action: expect.stringContaining('TLS_CERT_FILE'),
  });
  await install(-1);
  await until(async () => (await readDaysLeft()) < 0);
  await until(() => countOf('certificate reloaded') > 0);
  expect([countOf(soon), countOf(expired)]).toEqual([1, 1]);
  expect(await examine()).toMatchObject({ status: 'failed' });
  await install(90);
  await until(async () => (await readDaysLeft()) === 90);
  expect([countOf(soon), countOf(expired)]).toEqual([1, 1]);
  expect(await examine()).toMatchObject({ status: 'ok' });
});
