import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runOutage } from '../support/outage.ts';
import { WeirStub } from '../support/weir-stub.ts';

test('an hour without Weir at 100 events/s of 6 KB: memory and disk stay bounded, and each event is delivered once', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-test-outage-'));
  await using stub = await WeirStub.start();
  stub.isCounting = true;
  const prompt = 'The customer asks for a bike with a basket. '.repeat(130);
  const outage = await runOutage({ stub, directory, eventsPerSecond: 100, prompt });
  expect(outage).toMatchObject({ recorded: 360_000, delivered: 360_000, duplicates: 0, dropped: 0 });
  expect(outage.memoryEventsMax).toBeLessThan(1_000);
  expect(outage.spoolBytesMax).toBeLessThan(1024 ** 3);
  rmSync(directory, { recursive: true });
}, 600_000);
