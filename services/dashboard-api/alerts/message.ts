import type { CostBound } from '../../../store/prices/rates.ts';
import { type AlertCondition, describeFilter } from './rule.ts';

/** Names and numbers, no content of events. */
export interface AlertMessage {
  readonly change: 'fired' | 'resolved' | 'test';
  readonly space: { readonly id: string; readonly name: string };
  readonly rule: ({ readonly id: string; readonly name: string } & AlertCondition) | null;
  /** At the end of the window; in the unit of `rule.bound`. */
  readonly value: number | null;
  /** How the value compares with the true one: a cost may be without that of tokens that have no price. */
  readonly valueBound?: CostBound;
  /** The end of the window, ISO 8601. */
  readonly at: string;
  /** The page of the alerts; null without DASHBOARD_PUBLIC_URL. */
  readonly link: string | null;
}

const names: Record<AlertCondition['kind'], string> = {
  error_rate: 'error rate',
  p95: '95th percentile of durations',
  cost: 'cost',
  tokens: 'tokens',
  events: 'events',
  silence: 'events',
  quota: 'share of the monthly limit',
  quarantine: 'events in quarantine',
};

const boundWords: Record<CostBound, string> = {
  exact: '',
  at_least: 'at least ',
  at_most: 'at most ',
  about: 'about ',
};

/** `Firing: Checkout errors – error rate 12.5%, threshold: above 5% (15 minutes), gpt-4o, in Production`. */
export function describeAlert({ change, space, rule, value, valueBound = 'exact' }: AlertMessage): string {
  if (rule === null) return `Test: alerts of ${space.name} arrive here.`;
  const { kind, comparison, bound, windowMinutes, filter } = rule;
  const show = (number: number) => formatValue(kind, number);
  const measured =
    kind === 'silence'
      ? `${value === 0 ? 'no' : (value ?? 'no')} events in ${windowMinutes} minutes`
      : `${names[kind]} ${value === null ? 'without a value' : `${boundWords[valueBound]}${show(value)}`}, threshold: ${comparison} ${show(bound)}`;
  const window =
    kind === 'silence' || kind === 'quota' || kind === 'quarantine' ? '' : ` (${windowMinutes} minutes)`;
  return [
    `${change === 'fired' ? 'Firing' : 'Resolved'}: ${rule.name} – ${measured}${window}`,
    ...describeFilter(filter),
    `in ${space.name}`,
  ].join(', ');
}

function formatValue(kind: AlertCondition['kind'], value: number): string {
  const number = value.toLocaleString('en', { maximumSignificantDigits: 4 });
  if (kind === 'error_rate' || kind === 'quota') return `${number}%`;
  if (kind === 'p95') return `${number} ms`;
  return kind === 'cost' ? `$${number}` : number;
}

/** The body for Slack, and for programs that accept its format. */
export function slackBody(message: AlertMessage): string {
  // Slack's markup: <!channel> would notify everybody.
  const escapeMarkup = (text: string) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const link = message.link === null ? '' : `\n<${message.link}|Open in Weir>`;
  return JSON.stringify({ text: `${escapeMarkup(describeAlert(message))}${link}` });
}
