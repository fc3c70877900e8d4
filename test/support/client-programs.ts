import { spawnSync } from 'node:child_process';

/** A client of `examples/clients`, by the name of its folder, and what must be installed to run it. */
export interface ClientProgram {
  name: string;
  tools: readonly (keyof typeof toolchain)[];
}

export const clientPrograms: readonly ClientProgram[] = [
  { name: 'curl', tools: ['curl'] },
  { name: 'curl-connect', tools: ['curl'] },
  { name: 'python-requests', tools: ['python3'] },
  { name: 'python-grpc', tools: ['python3'] },
  { name: 'go-http', tools: ['go'] },
  { name: 'go-connect', tools: ['go'] },
  { name: 'go-grpc', tools: ['go'] },
  { name: 'node-connect', tools: ['npm'] },
  { name: 'node-grpc', tools: ['npm'] },
  { name: 'java-grpc', tools: ['javac', 'mvn'] },
  { name: 'rust-tonic', tools: ['cargo'] },
  { name: 'browser', tools: ['npm', 'chromium'] },
];

/** How each tool tells its version, and the oldest that will do. */
const toolchain = {
  curl: { command: 'curl --version', atLeast: [7, 71] },
  // Debian's python3 cannot make virtual environments until python3-venv is installed.
  python3: { command: 'python3 -c "import ensurepip, venv" && python3 --version', atLeast: [3, 10] },
  go: { command: 'go version', atLeast: [1, 26] },
  npm: { command: 'npm --version', atLeast: [9, 0] },
  javac: { command: 'javac -version', atLeast: [17, 0] },
  mvn: { command: 'mvn --version', atLeast: [3, 6] },
  cargo: { command: 'cargo --version', atLeast: [1, 89] },
  chromium: {
    command: '$(command -v chromium chromium-browser google-chrome | head -1) --version',
    atLeast: [120, 0],
  },
} as const satisfies Record<string, { command: string; atLeast: readonly [major: number, minor: number] }>;

/** What a program needs and this machine does not have, in words; undefined when it has everything. */
export function findMissingTool({ tools }: Pick<ClientProgram, 'tools'>): string | undefined {
  return tools.map(explainMissing).find((reason) => reason !== undefined);
}

/** The versions of what the program needs, as the tools tell them. */
export function readVersions({ tools }: ClientProgram): string {
  return tools.map((tool) => askVersion(tool) ?? '').join('');
}

function explainMissing(tool: keyof typeof toolchain): string | undefined {
  const { atLeast } = toolchain[tool];
  const wanted = `${tool} ${atLeast.join('.')} or newer`;
  const version = askVersion(tool);
  if (version === undefined) return `${wanted} is not installed`;
  // What follows a bracket is the colour of the text, not a version.
  const [, major = 0, minor = 0] = (/(?<![[\d])(\d+)(?:\.(\d+))?/.exec(version) ?? []).map(Number);
  const isRecent = major > atLeast[0] || (major === atLeast[0] && minor >= atLeast[1]);
  return isRecent ? undefined : `${wanted} is not installed, but ${major}.${minor}`;
}

function askVersion(tool: keyof typeof toolchain): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', toolchain[tool].command], { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}
