import type { Fault } from '../fault.ts';
import { killIngest, killNats, killPostgres, killWriter } from './kill.ts';

/** Every fault, in the order of the fault matrix. A new one is a file beside this and a line here. */
export const faults: readonly Fault[] = [killIngest, killWriter, killNats, killPostgres];
