import { writePrivateJson } from '../data-directory/json-file.ts';
import { identifyProcess, type ProcessIdentity } from '../process/process-identity.ts';

/** A child, and the signal with which a later start stops it if it is orphaned. */
export interface ChildRecord extends ProcessIdentity {
  name: string;
  stopSignal: NodeJS.Signals;
}

/** The content of supervisor.json: lets a start after `kill -9` find the processes that were left running. */
export interface SupervisorRecord extends ProcessIdentity {
  launcher?: ProcessIdentity;
  /** The next start waits for the exit. */
  isStopping: boolean;
  /** In the order of their starts. */
  children: ChildRecord[];
  /** The ports of the embedded servers. The next start prefers them, so that the URLs stay the same. */
  ports: Record<string, number[]>;
}

/** This supervisor's record. Every change is written to the file; a write error is ignored. */
export class SupervisorState {
  readonly #file: string;
  #record: SupervisorRecord;

  constructor(file: string, record: SupervisorRecord) {
    this.#file = file;
    this.#record = record;
  }

  get children(): readonly ChildRecord[] {
    return this.#record.children;
  }

  portsOf(name: string): readonly number[] | undefined {
    return this.#record.ports[name];
  }

  keepPorts(name: string, ports: readonly number[]): void {
    this.#change({ ports: { ...this.#record.ports, [name]: [...ports] } });
  }

  /** Records a child immediately: after a crash of ours, only recorded children can be found and stopped. */
  addChild(name: string, pid: number, stopSignal: NodeJS.Signals): void {
    const children = this.#record.children.filter((child) => child.name !== name);
    try {
      children.push({ name, stopSignal, ...identifyProcess(pid) });
    } catch {
      // Already exited, which the `exited` promise reports.
    }
    this.#change({ children });
  }

  removeChild(name: string): void {
    this.#change({ children: this.#record.children.filter((child) => child.name !== name) });
  }

  beginStop(): void {
    this.#change({ isStopping: true });
  }

  #change(change: Partial<SupervisorRecord>): void {
    this.#record = { ...this.#record, ...change };
    try {
      writePrivateJson(this.#file, this.#record);
    } catch {
      // The disk is full: supervision must continue. The next change writes the whole record.
    }
  }
}

/** @returns undefined for anything but a record, e.g. the empty file that a power failure can leave. */
export function parseRecord(text: string): SupervisorRecord | undefined {
  try {
    const record: SupervisorRecord = JSON.parse(text);
    return Array.isArray(record.children) ? record : undefined;
  } catch {
    return undefined;
  }
}
