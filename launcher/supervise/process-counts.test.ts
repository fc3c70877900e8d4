import { expect, test } from 'vitest';
import { countProcesses, labelsOf } from './process-counts.ts';

const gibibytes = (count: number) => count * 1024 ** 3;

test.each([
  { cores: 1, memory: 1, ingest: 1, writer: 1 },
  { cores: 2, memory: 64, ingest: 1, writer: 1 },
  { cores: 4, memory: 16, ingest: 2, writer: 1 },
  { cores: 8, memory: 32, ingest: 4, writer: 2 },
  { cores: 8, memory: 5, ingest: 2, writer: 2 },
  { cores: 64, memory: 256, ingest: 8, writer: 4 },
])('$cores cores and $memory GiB: $ingest ingests, $writer writers', ({ cores, memory, ingest, writer }) => {
  const machine = { cores, memoryBytes: gibibytes(memory) };
  expect(countProcesses({}, machine)).toEqual({ ingest, writer, 'dashboard-api': 1 });
});

test('the configuration wins, and only several processes are numbered', () => {
  const machine = { cores: 2, memoryBytes: gibibytes(1) };
  const counts = countProcesses({ INGEST_PROCESSES: 3, WRITER_PROCESSES: undefined }, machine);
  expect(labelsOf(counts)).toEqual(['ingest-1', 'ingest-2', 'ingest-3', 'writer', 'dashboard-api']);
});
