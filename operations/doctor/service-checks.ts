import type { NatsConnection } from '@nats-io/transport-node';
import { certificateWarningDays } from '../../platform/http/limits.ts';
import {
  discoverServices,
  fingerprintOf,
  type ServiceReport,
} from '../../platform/queue/service-discovery.ts';
import { dayMs } from '../../platform/time.ts';
import { version } from '../../platform/version.ts';
import { clockDifferenceMsMax } from '../../store/db/limits.ts';
import { schemaVersion } from '../../store/db/version.ts';
import { type Finding, failed, findingsOf, ok, type Verdict, warning } from './finding.ts';

/** Checks which services run, and whether their versions, peppers and clocks agree. */
export async function checkServices(
  connection: NatsConnection,
  pepper: string | undefined,
): Promise<Finding[]> {
  return judgeServices(await discoverServices(connection), pepper, Date.now());
}

export function judgeServices(
  reports: readonly ServiceReport[],
  pepper: string | undefined,
  nowMs: number,
): Finding[] {
  return findingsOf({
    services: judgePresence(reports),
    'services.versions': judgeVersions(reports),
    'services.pepper': judgePeppers(reports, pepper),
    'services.clocks': judgeClocks(reports, nowMs),
    'services.certificate': judgeCertificates(reports, nowMs),
    'services.busiest': describeBusiest(reports),
  });
}

function judgePresence(reports: readonly ServiceReport[]): Verdict {
  const found = reports.map(nameOf).join(', ') || 'none answers';
  const missing = ['ingest', 'writer'].filter((name) => !reports.some(({ service }) => service === name));
  if (missing.length === 0) return ok(found);
  return failed(`${found}; missing: ${missing.join(', ')}`, 'Start them, or read their logs.');
}

function judgeVersions(reports: readonly ServiceReport[]): Verdict {
  const others = reports.filter((report) => report.version !== version || report.schema !== schemaVersion);
  if (others.length === 0) return ok(`all ${version}`);
  return warning(
    `this is ${version}; ${others.map((report) => `${nameOf(report)} is ${report.version}`).join(', ')}`,
    'Finish the upgrade: restart these services with the same version.',
  );
}

function judgePeppers(reports: readonly ServiceReport[], pepper: string | undefined): Verdict {
  const known = reports.filter((report) => report.pepperFingerprint !== undefined);
  const [first] = known;
  const expected = pepper === undefined ? first?.pepperFingerprint : fingerprintOf(pepper);
  const others = known.filter((report) => report.pepperFingerprint !== expected);
  if (others.length === 0) return ok('API_KEY_PEPPER is the same everywhere');
  return failed(
    `API_KEY_PEPPER of ${others.map(nameOf).join(', ')} differs from ${pepper === undefined && first ? nameOf(first) : 'the one here'}`,
    'Set the same in all: with another one a service rejects valid API keys.',
  );
}

function judgeClocks(reports: readonly ServiceReport[], nowMs: number): Verdict {
  const wrong = reports.filter((report) => Math.abs(report.nowMs - nowMs) > clockDifferenceMsMax);
  if (wrong.length === 0) return ok('agree with this machine');
  return failed(
    wrong
      .map((report) => `${nameOf(report)} is off by ${Math.round((report.nowMs - nowMs) / 1_000)} s`)
      .join(', '),
    'Synchronise the clocks (NTP).',
  );
}

function judgeCertificates(reports: readonly ServiceReport[], nowMs: number): Verdict {
  const served = reports.flatMap((report) => {
    const { certificateExpiresAt: at } = report;
    return at === undefined ? [] : [{ name: nameOf(report), at, days: (Date.parse(at) - nowMs) / dayMs }];
  });
  const near = served.filter(({ days }) => days < certificateWarningDays);
  const describe = ({ name, at, days }: (typeof served)[number]) =>
    `that of ${name} until ${at} (${Math.floor(days)} days)`;
  if (near.length === 0) return ok(served.map(describe).join(', ') || 'none serves TLS');
  const action = 'Renew the files of TLS_CERT_FILE and TLS_KEY_FILE; the services read them again.';
  const judge = near.some(({ days }) => days <= 0) ? failed : warning;
  return judge(near.map(describe).join(', '), action);
}

/** A space may take all while no other wants some: this is for who looks for the cause of something slow. */
function describeBusiest(reports: readonly ServiceReport[]): Verdict {
  const found = reports.flatMap((report) => {
    const { service, busiest } = report;
    if (busiest === undefined) return [];
    const taken = takenOf[service] ?? 'work';
    return `${busiest.spaceId} ${Math.round(100 * busiest.share)} % of the ${taken} of ${nameOf(report)}`;
  });
  return ok(found.join(', ') || 'no space took anything in the last two minutes');
}

const takenOf: Readonly<Record<string, string>> = {
  ingest: 'bytes',
  writer: 'events',
  'dashboard-api': 'call time',
};

const nameOf = ({ service, host, pid }: ServiceReport) => `${service} (${host}, pid ${pid})`;
