import { Command, CommanderError } from 'commander';
import { codeOf, messageOf, unreachableCodes } from '../platform/thrown.ts';
import { version } from '../platform/version.ts';
import { addAuditCommand } from './commands/audit.ts';
import { addBackupCommand } from './commands/backup.ts';
import { addChartsCommand } from './commands/charts.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addEraseCommand } from './commands/erase.ts';
import { addEventCommand } from './commands/event.ts';
import { addEventsCommand } from './commands/events.ts';
import { addExportCommand } from './commands/export.ts';
import { addFindCommand } from './commands/find.ts';
import { addKeyCommands } from './commands/key.ts';
import { addMigrateCommand } from './commands/migrate.ts';
import { addPriceCommands } from './commands/price.ts';
import { addQuarantineCommands } from './commands/quarantine.ts';
import { addQueueCommand } from './commands/queue.ts';
import { addReplayCommand } from './commands/replay.ts';
import { addReprojectCommand } from './commands/reproject.ts';
import { addRestoreCommand } from './commands/restore.ts';
import { addSendCommand } from './commands/send.ts';
import { addSpaceCommands } from './commands/space.ts';
import { addStorageCommand } from './commands/storage.ts';
import { addTailCommand } from './commands/tail.ts';
import { addThreadCommand } from './commands/thread.ts';
import { addTraceCommand } from './commands/trace.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addUserCommands } from './commands/user.ts';
import { CommandError, type Host, OutputClosedError, printMessage } from './host.ts';

const exitCodes = { done: 0, failed: 1, badUsage: 2 } as const;

/**
 * Runs one command. JSON for programs goes to stdout, everything else to stderr.
 * @returns the exit code: 0 on success, 1 on failure, 2 on bad usage. Never throws.
 */
export async function runCommandLine(args: readonly string[], host: Host): Promise<number> {
  // Without a listener, a closed stdout would end the process with a stack trace.
  host.stdout.on('error', () => {});
  try {
    await buildProgram(host).parseAsync([...args], { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.badUsage;
    if (error instanceof OutputClosedError) return exitCodes.done;
    printMessage(host, `weir: ${describeFailure(error)}`);
    return exitCodes.failed;
  }
}

/** Listed here for the help: `cli/weir.mjs` runs them, each as a process of its own. */
function addServiceCommands(program: Command): void {
  const refuse = () => {
    throw new CommandError(
      'The image has no Postgres and no nats-server: run it as ingest, writer or dashboard-api.',
    );
  };
  program
    .command('start')
    .description('run the whole system, with a Postgres and a nats-server, until Ctrl-C')
    .action(refuse);
  program
    .command('serve <service>')
    .description('run ingest, writer or dashboard-api, with your own Postgres and nats-server')
    .action(refuse);
}

/** Parsing the arguments runs the command. */
export function buildProgram(host: Host): Command {
  const program = new Command('weir')
    .description("Weir's command line: JSON on stdout, messages on stderr.")
    .version(version)
    .exitOverride()
    .showHelpAfterError('Add --help for usage.')
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
    });
  // Subcommands inherit these settings when they are added to the program.
  addServiceCommands(program);
  addSpaceCommands(program, host);
  addKeyCommands(program, host);
  addUserCommands(program, host);
  addEventCommand(program, host);
  addEventsCommand(program, host);
  addTraceCommand(program, host);
  addThreadCommand(program, host);
  addTailCommand(program, host);
  addChartsCommand(program, host);
  addExportCommand(program, host);
  addFindCommand(program, host);
  addUsageCommand(program, host);
  addSendCommand(program, host);
  addQuarantineCommands(program, host);
  addPriceCommands(program, host);
  addAuditCommand(program, host);
  addStorageCommand(program, host);
  addQueueCommand(program, host);
  addEraseCommand(program, host);
  addReprojectCommand(program, host);
  addMigrateCommand(program, host);
  addBackupCommand(program, host);
  addRestoreCommand(program, host);
  addReplayCommand(program, host);
  addDoctorCommand(program, host);
  return program;
}

const undefinedTable = '42P01';

/** Describes an error to the operator in sentences, without a stack trace. */
function describeFailure(thrown: unknown): string {
  const code = codeOf(thrown);
  if (unreachableCodes.has(code)) {
    return `Postgres does not answer (${code}). Is Weir running? \`weir start\` starts it.`;
  }
  if (code === undefinedTable) {
    return 'The database does not have the tables of Weir: `weir start` or `weir migrate` creates them.';
  }
  return messageOf(innermost(thrown));
}

/** Drizzle wraps the error of Postgres in one that quotes the statement. */
function innermost(thrown: unknown): unknown {
  let error = thrown;
  while (error instanceof Error && error.cause instanceof Error) error = error.cause;
  return error;
}
