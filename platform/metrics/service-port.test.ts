import { expect, test } from 'vitest';
import { chooseFreePorts } from '../../launcher/provision/ports.ts';
import { parseConfig } from '../config.ts';
import { openLog } from '../log.ts';
import { openServicePort } from './service-port.ts';

const log = openLog('test', parseConfig({ LOG_LEVEL: 'silent' }));

test('the third process of a service listens twenty ports above the first', async () => {
  const [free = 0] = await chooseFreePorts(1);
  const config = parseConfig({ METRICS_PORT: String(free - 20), WEIR_PROCESS: '3' });
  await using port = await openServicePort('ingest', config, log);
  expect(port.url).toBe(`http://127.0.0.1:${free}`);
});

test('with METRICS_PORT=0 every process chooses a free port', async () => {
  const config = parseConfig({ METRICS_PORT: '0', WEIR_PROCESS: '2' });
  await using first = await openServicePort('ingest', config, log);
  await using second = await openServicePort('ingest', config, log);
  expect(first.url).not.toBe(second.url);
});
