import { type ServiceName, serviceNames } from '../../platform/config/services.ts';
import type { Config } from '../../platform/config.ts';
import { type Machine, readMachine } from '../machine.ts';
import { findPortFault } from '../provision/ports.ts';

/** The rest of the cores is for Postgres, nats-server and the dashboard API (docs/cluster.md). */
const coresPerProcess = { ingest: 2, writer: 4 };

/** Most processes by default: further ones only help where Postgres is measured to keep up. */
const defaultCountMax = { ingest: 8, writer: 4 };

/** An ingest under load takes some 350 MB. The page cache of Postgres needs most of the rest. */
const memoryBytesPerProcess = 2 * 1024 ** 3;

export type ProcessCounts = Readonly<Record<ServiceName, number>>;

/** @returns as configured, otherwise by cores and memory: one each on a machine of one or two cores. */
export function countProcesses(
  config: Pick<Config, 'INGEST_PROCESSES' | 'WRITER_PROCESSES'>,
  machine: Machine = readMachine(),
): ProcessCounts {
  const byMachine = (name: 'ingest' | 'writer') => {
    const fitting = Math.min(
      Math.floor(machine.cores / coresPerProcess[name]),
      Math.floor(machine.memoryBytes / memoryBytesPerProcess),
      defaultCountMax[name],
    );
    return Math.max(1, fitting);
  };
  return {
    ingest: config.INGEST_PROCESSES ?? byMachine('ingest'),
    writer: config.WRITER_PROCESSES ?? byMachine('writer'),
    'dashboard-api': 1,
  };
}

/** Reduces ingest to one process on a system where several cannot listen on one port. */
export async function limitToSystem(
  counts: ProcessCounts,
  report: (line: string) => void,
): Promise<ProcessCounts> {
  if (counts.ingest === 1) return counts;
  const fault = await findPortFault('127.0.0.1', 0, true);
  if (fault === undefined) return counts;
  report(`this system cannot share a port among processes (${fault}): 1 ingest instead of ${counts.ingest}`);
  return { ...counts, ingest: 1 };
}

/** A process in messages, and its log file: the service, with a number when there are several. */
export function labelOf(name: ServiceName, number: number, counts: ProcessCounts): string {
  return counts[name] === 1 ? name : `${name}-${number}`;
}

export function labelsOf(counts: ProcessCounts, names: readonly ServiceName[] = serviceNames): string[] {
  return names.flatMap((name) => numbersOf(counts[name]).map((number) => labelOf(name, number, counts)));
}

export const numbersOf = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
