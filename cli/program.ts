import { Command, CommanderError } from 'commander';
import { addEventsCommand } from './events.ts';
import { describeFailure } from './failure.ts';
import { type Host, ReaderLeft, tell } from './host.ts';
import { addKeyCommands } from './key.ts';
import { addMigrateCommand } from './migrate.ts';
import { addQuarantineCommands } from './quarantine.ts';
import { addSendCommand } from './send.ts';
import { addSpaceCommands } from './space.ts';
import { addUsageCommand } from './usage.ts';

const exitCodes = { done: 0, failed: 1, badUsage: 2 } as const;

/**
 * Runs one command of the operator (design §4). What programs read goes to stdout as JSON, everything else to stderr.
 *
 * @returns the exit code: 0 when it was done, 1 when not, 2 when the command was not understood. It never throws.
 */
export async function runCommandLine(args: readonly string[], host: Host): Promise<number> {
  // Without a listener, a reader that left would end the process with a stack trace.
  host.stdout.on('error', () => {});
  try {
    await buildProgram(host).parseAsync([...args], { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.badUsage;
    if (error instanceof ReaderLeft) return exitCodes.done;
    tell(host, `weir: ${describeFailure(error)}`);
    return exitCodes.failed;
  }
}

function buildProgram(host: Host): Command {
  const program = new Command('weir')
    .description("Weir's command line: JSON on stdout, text for people on stderr.")
    .exitOverride()
    .showHelpAfterError('Add --help for what is possible.')
    .configureOutput({
      writeOut: (text) => host.stdout.write(text),
      writeErr: (text) => host.stderr.write(text),
    });
  // Subcommands inherit what is set above when they are made from the program.
  addSpaceCommands(program, host);
  addKeyCommands(program, host);
  addEventsCommand(program, host);
  addUsageCommand(program, host);
  addSendCommand(program, host);
  addQuarantineCommands(program, host);
  addMigrateCommand(program, host);
  return program;
}
