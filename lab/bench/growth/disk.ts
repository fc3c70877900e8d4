import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** All tables with their indexes, for each event of a full database: 789 at ten million. */
const eventBytes = 850;
/** WAL: Postgres begins a checkpoint at 4 GB, and writes on until it is done. */
const walBytes = 6e9;
/** What is left to everything else on the disk. The fill ends when less is free. */
const freeBytesMin = 3e9;

/**
 * Says how much disk a fill takes, in the directory for temporary files.
 *
 * @param fileBytes of a file with the events, if there is one.
 * @throws Error when less is free.
 */
export function requireDisk(rows: number, say: (text: string) => void, fileBytes = 0): void {
  const neededBytes = rows * eventBytes + fileBytes + walBytes + freeBytesMin;
  const freeBytes = readFreeBytes();
  const file = fileBytes === 0 ? '' : ` ${gigabytes(fileBytes)} for a file of them,`;
  const text = `${rows.toLocaleString('en')} events need some ${gigabytes(neededBytes)}: ${eventBytes} bytes each,${file} ${gigabytes(walBytes)} of WAL, and ${gigabytes(freeBytesMin)} that stay free. ${tmpdir()} has ${gigabytes(freeBytes)}.`;
  if (freeBytes < neededBytes) throw new Error(`${text} Set TMPDIR to a larger disk, or the size to less.`);
  say(text);
}

export function isDiskFull(): boolean {
  return readFreeBytes() < freeBytesMin;
}

function readFreeBytes(): number {
  const { bavail, bsize } = statfsSync(tmpdir());
  return bavail * bsize;
}

const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
