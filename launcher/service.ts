import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { isServiceName, mallocVariables, nodeOptionsOf, serviceNames } from './supervise/service-process.ts';

/**
 * `node launcher/service.ts [ingest | writer | dashboard-api]`: becomes this service, with the Node options and the settings of malloc
 * that `npm start` gives it. Without an argument, WEIR_SERVICE names the service. `weir …` runs a command of the operator. For
 * containers and systemd: the process is replaced, so that signals and its pid are those of the service.
 */
const [name = process.env.WEIR_SERVICE ?? '', ...args] = process.argv.slice(2);
const pathOf = (file: string) => fileURLToPath(new URL(`../${file}`, import.meta.url));

if (name === 'weir') become([pathOf('cli/main.ts'), ...args], process.env);
else if (isServiceName(name))
  become([...nodeOptionsOf(name), pathOf(`services/${name}/main.ts`)], {
    ...mallocVariables,
    ...process.env,
  });
else {
  process.stderr.write(
    `Name what to run, as the first argument or in WEIR_SERVICE: ${serviceNames.join(', ')}, or \`weir\` and a command.\n`,
  );
  process.exitCode = 2;
}

function become(args: readonly string[], env: NodeJS.ProcessEnv): void {
  if (process.execve === undefined) throw new Error('this platform cannot replace a process');
  process.execve(process.execPath, [process.execPath, ...args], env);
}
