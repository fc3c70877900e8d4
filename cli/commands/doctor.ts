import type { Command } from 'commander';
import { examine } from '../../operations/doctor/doctor.ts';
import type { Finding } from '../../operations/doctor/finding.ts';
import { readConfig } from '../database.ts';
import { CommandError, type Host, printJson, printLine } from '../host.ts';

const marks: Record<Finding['status'], string> = {
  ok: 'ok     ',
  warning: 'WARNING',
  failed: 'FAILED ',
  skipped: 'skipped',
};

export function addDoctorCommand(program: Command, host: Host): void {
  program
    .command('doctor')
    .description(
      'check a running system: Postgres, the queue, the services, the disk; exit code 1 when something is wrong',
    )
    .option('--quiet', 'print only what is not ok')
    .action(async ({ quiet = false }: { quiet?: boolean }) => {
      const findings = await examine(readConfig(host));
      const shown = findings.filter(({ status }) => !quiet || status !== 'ok');
      for (const finding of shown)
        await (host.stdout.isTTY === true ? printLine(host, render(finding)) : printJson(host, finding));
      const wrong = findings.filter(({ status }) => status === 'failed' || status === 'warning').length;
      if (wrong > 0) throw new CommandError(`${wrong} of ${findings.length} checks found something to do.`);
    });
}

function render({ check, status, found, action }: Finding): string {
  return `${marks[status]} ${check}: ${found}${action === undefined ? '' : `\n        ${action}`}`;
}
