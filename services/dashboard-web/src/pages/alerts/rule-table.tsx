import { BellOff, BellRing, Pencil, Trash2 } from 'lucide-react';
import { formatMinute } from '../../format/time.ts';
import { hasRole, useSpace } from '../../space/space.tsx';
import { useSpaceMutation } from '../../space/use-space-query.ts';
import { actionsColumn, Table, Time } from '../../table/table.tsx';
import { Badge, type Tone } from '../../ui/badge.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Confirmed } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/loaded.tsx';
import { useAttempt } from '../../ui/toasts.tsx';
import { describeRule, formatAlertValue, kinds, type Rule } from './alert-text.ts';

const phases: Record<Rule['phase'], { tone: Tone; children: string }> = {
  ok: { tone: 'good', children: 'OK' },
  pending: { tone: 'warn', children: 'Pending' },
  firing: { tone: 'bad', children: 'Firing' },
  clearing: { tone: 'bad', children: 'Firing, ending' },
};

/** A new alert is OK until the condition has held: its value says what comes. */
function phaseOf({ phase, value, kind, comparison, bound }: Rule) {
  if (phase !== 'ok') return phases[phase];
  if (value === null)
    return { tone: 'neutral' as const, children: kinds[kind].isWindow ? 'Not measured yet' : 'No limit' };
  const isBeyond = comparison === 'below' ? value < bound : kind === 'quota' ? value >= bound : value > bound;
  return isBeyond && kind !== 'silence' ? phases.pending : phases.ok;
}

const muteMs = 24 * 60 * 60_000;

export function RuleTable({ rules, onEdit }: { rules: readonly Rule[]; onEdit: (rule: Rule) => void }) {
  return (
    <Table
      caption="Alerts"
      empty={
        <Notice icon={BellRing} title="No alerts" isSmall>
          An alert checks errors, durations, costs, tokens or the number of events, and notifies you when they
          cross a threshold.
        </Notice>
      }
      rows={rules}
      keyOf={({ id }) => id}
      columns={[
        {
          title: 'Alert',
          cell: (rule) => <RuleName rule={rule} />,
        },
        {
          title: 'State',
          cell: (rule) => (
            <span className="flex flex-wrap gap-1" title={`Since ${formatMinute(Date.parse(rule.since))}`}>
              <Badge {...phaseOf(rule)} />
              {isMuted(rule.mutedUntil) && <Badge>muted</Badge>}
            </span>
          ),
        },
        {
          title: 'Value',
          isNumber: true,
          isExtra: true,
          cell: ({ kind, value }) => formatAlertValue(kind, value),
        },
        {
          title: 'Measured until',
          isExtra: true,
          cell: ({ evaluatedUntil }) => <Time at={evaluatedUntil} format={formatMinute} />,
        },
        actionsColumn((rule: Rule) => <RuleActions rule={rule} onEdit={onEdit} />),
      ]}
    />
  );
}

function RuleName({ rule }: { rule: Rule }) {
  return (
    <span className="block max-w-72">
      <span className="block font-medium [overflow-wrap:anywhere]">{rule.name}</span>
      <span className="block text-muted text-xs [overflow-wrap:anywhere]">
        {kinds[rule.kind].label} {describeRule(rule)}
      </span>
    </span>
  );
}

function RuleActions({ rule, onEdit }: { rule: Rule; onEdit: (rule: Rule) => void }) {
  const { role } = useSpace();
  const attempt = useAttempt();
  const mute = useSpaceMutation('alerts.mute', { reload: ['alerts.list'] });
  const remove = useSpaceMutation('alerts.remove', { reload: ['alerts.list'] });
  if (!hasRole(role, 'admin')) return null;
  const { id, name } = rule;
  const wasMuted = isMuted(rule.mutedUntil);
  const changeMute = () => {
    const until = wasMuted ? null : new Date(Date.now() + muteMs).toISOString();
    attempt(
      mute.mutateAsync({ id, until }),
      wasMuted ? `${name} is no longer muted.` : `${name} is muted for a day.`,
    );
  };
  return (
    <span className="inline-flex gap-1">
      <IconButton
        icon={wasMuted ? BellRing : BellOff}
        label={wasMuted ? `Unmute ${name}` : `Mute ${name} for a day`}
        onClick={changeMute}
      />
      <IconButton icon={Pencil} label={`Change ${name}`} onClick={() => onEdit(rule)} />
      <Confirmed
        button={(ask) => <IconButton icon={Trash2} label={`Remove ${name}`} onClick={ask} />}
        title="Remove alert"
        action="Remove"
        onConfirm={() => remove.mutateAsync({ id })}
      >
        {name} will be removed. Its history is kept.
      </Confirmed>
    </span>
  );
}

function isMuted(until: string | null): boolean {
  return until !== null && Date.parse(until) > Date.now();
}
