import { writePrivateJson } from './json-file.ts';
import { markProcess, type ProcessMark } from './process-identity.ts';

/** A process that the supervisor started, and how a later start stops it when the supervisor cannot. */
export interface ChildMark extends ProcessMark {
  name: string;
  stopSignal: NodeJS.Signals;
}

/** What a supervisor writes down about itself, so that a start after `kill -9` finds what it left. */
export interface SupervisorRecord extends ProcessMark {
  launcher?: ProcessMark;
  /** It is on its way out: the next start waits for it. */
  isStopping: boolean;
  /** In the order they were started. */
  children: ChildMark[];
  /** The ports of the embedded servers, preferred by the next start so that URLs stay. */
  ports: Record<string, number[]>;
}

/** The record of this supervisor, kept on disk with every change, as far as the disk takes it. */
export class SupervisorState {
  readonly #file: string;
  #record: SupervisorRecord;

  constructor(file: string, record: SupervisorRecord) {
    this.#file = file;
    this.#record = record;
  }

  get children(): readonly ChildMark[] {
    return this.#record.children;
  }

  /** The ports that were chosen for a server, in this run or an earlier one. */
  portsOf(name: string): readonly number[] | undefined {
    return this.#record.ports[name];
  }

  keepPorts(name: string, ports: readonly number[]): void {
    this.#change({ ports: { ...this.#record.ports, [name]: [...ports] } });
  }

  /** Writes down a child at once: until then a crash of ours would leave it unknown. */
  addChild(name: string, pid: number, stopSignal: NodeJS.Signals): void {
    const children = this.#record.children.filter((child) => child.name !== name);
    try {
      children.push({ name, stopSignal, ...markProcess(pid) });
    } catch {
      // It has ended already, and whoever waits for it is told so.
    }
    this.#change({ children });
  }

  beginStop(): void {
    this.#change({ isStopping: true });
  }

  #change(change: Partial<SupervisorRecord>): void {
    this.#record = { ...this.#record, ...change };
    try {
      writePrivateJson(this.#file, this.#record);
    } catch {
      // The disk is full: what was killed for it has to run again all the same. The next change is written whole.
    }
  }
}

/** @returns undefined for what no supervisor wrote, e.g. the empty file that a power cut can leave. */
export function parseRecord(text: string): SupervisorRecord | undefined {
  try {
    const record: SupervisorRecord = JSON.parse(text);
    return Array.isArray(record.children) ? record : undefined;
  } catch {
    return undefined;
  }
}
