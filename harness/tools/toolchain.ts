import { spawnSync } from 'node:child_process';

/** A program that a test needs and npm cannot install. */
export type Tool = keyof typeof toolchain;

/** The command that prints each tool's version, and the oldest version that works. */
const toolchain = {
  curl: { command: 'curl --version', atLeast: [7, 71] },
  // Debian's python3 cannot create virtual environments until python3-venv is installed.
  python3: { command: 'python3 -c "import ensurepip, venv" && python3 --version', atLeast: [3, 10] },
  go: { command: 'go version', atLeast: [1, 26] },
  npm: { command: 'npm --version', atLeast: [9, 0] },
  javac: { command: 'javac -version', atLeast: [17, 0] },
  mvn: { command: 'mvn --version', atLeast: [3, 6] },
  'apt-get': { command: 'dpkg --version && apt-get --version', atLeast: [1, 0] },
  psql: { command: 'psql --version', atLeast: [14, 0] },
} as const satisfies Record<string, { command: string; atLeast: readonly [major: number, minor: number] }>;

/** The first tool that this machine lacks, as a sentence; undefined when none is missing. */
export function findMissingTool(tools: readonly Tool[]): string | undefined {
  return tools.map(explainMissing).find((reason) => reason !== undefined);
}

/** The output of the tools' version commands. */
export function readVersions(tools: readonly Tool[]): string {
  return tools.map((tool) => readVersion(tool) ?? '').join('');
}

function explainMissing(tool: Tool): string | undefined {
  const { atLeast } = toolchain[tool];
  const required = `${tool} ${atLeast.join('.')} or newer`;
  const version = readVersion(tool);
  if (version === undefined) return `${required} is not installed`;
  // Skips the numbers of terminal colour codes, which follow a bracket.
  const [, major = 0, minor = 0] = (/(?<![[\d])(\d+)(?:\.(\d+))?/.exec(version) ?? []).map(Number);
  const isRecent = major > atLeast[0] || (major === atLeast[0] && minor >= atLeast[1]);
  return isRecent ? undefined : `${required} is required, and ${major}.${minor} is installed`;
}

function readVersion(tool: Tool): string | undefined {
  const { status, stdout } = spawnSync('sh', ['-c', toolchain[tool].command], { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}
