import { findMissingChromium } from '../../../harness/tools/chromium.ts';
import { findMissingTool, type Tool } from '../../../harness/tools/toolchain.ts';

/** A client of `examples/clients`, by the name of its folder, and the tools that build and run it. */
export interface ClientProgram {
  name: string;
  tools: readonly Tool[];
}

export const clientPrograms: readonly ClientProgram[] = [
  { name: 'curl', tools: ['curl'] },
  { name: 'python-requests', tools: ['python3'] },
  { name: 'go-http', tools: ['go'] },
  { name: 'go-connect', tools: ['go'] },
  { name: 'node-fetch', tools: ['npm'] },
  { name: 'java-grpc', tools: ['javac', 'mvn'] },
  { name: 'browser', tools: ['npm'] },
];

/** Why this machine cannot build or run a client; undefined when it can. */
export function findMissingForClient({ name, tools }: ClientProgram): string | undefined {
  return findMissingTool(tools) ?? (name === 'browser' ? findMissingChromium() : undefined);
}
