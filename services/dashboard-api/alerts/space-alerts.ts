import type { Limiter } from '../../../platform/limiter.ts';
import type { Actor } from '../../../store/accounts/audit/audit.ts';
import type { Database } from '../../../store/db/database.ts';
import { type AlertPreview, previewRule } from './preview.ts';
import type { AlertCondition } from './rule.ts';
import {
  type HistoryRow,
  type ListedRule,
  listHistory,
  listRules,
  muteRule,
  type NewRule,
  removeRule,
  saveRule,
} from './rules.ts';
import {
  createTarget,
  type ListedTarget,
  listTargets,
  type NewTarget,
  removeTarget,
  testTarget,
} from './targets.ts';

/** The alerts of one space, for one actor. */
export interface SpaceAlerts {
  listRules(): Promise<ListedRule[]>;
  saveRule(id: string | undefined, rule: NewRule): Promise<string | 'too_many' | 'no_rule' | 'no_target'>;
  removeRule(id: string): Promise<boolean>;
  muteRule(id: string, until: Date | null): Promise<boolean>;
  preview(rule: AlertCondition): Promise<AlertPreview>;
  history(): Promise<HistoryRow[]>;
  listTargets(): Promise<ListedTarget[]>;
  createTarget(target: NewTarget): Promise<{ id: string; secret: string | null } | undefined>;
  removeTarget(id: string): Promise<boolean>;
  testTarget(id: string): ReturnType<typeof testTarget>;
  /** Whether SMTP_URL is set. */
  readonly hasMail: boolean;
  /** ALERT_TARGETS_PRIVATE. */
  readonly isPrivateAllowed: boolean;
}

export interface AlertOptions {
  readonly pepper: string;
  /** Runs the space's inserts that have a limit one after another. */
  readonly inTurn: Limiter;
  readonly hasMail: boolean;
  readonly isPrivateAllowed: boolean;
  /** DASHBOARD_PUBLIC_URL. */
  readonly publicUrl: string | undefined;
}

export function openSpaceAlerts(
  database: Database,
  spaceId: string,
  { actor, pepper, publicUrl, hasMail, isPrivateAllowed, inTurn }: AlertOptions & { actor: Actor },
): SpaceAlerts {
  return {
    hasMail,
    isPrivateAllowed,
    listRules: () => listRules(database, spaceId),
    saveRule: (id, rule) => inTurn(() => saveRule(database, spaceId, { id, rule, actor })),
    removeRule: (id) => removeRule(database, spaceId, { id, actor }),
    muteRule: (id, until) => muteRule(database, spaceId, { id, until, actor }),
    preview: (rule) => previewRule(database, spaceId, rule, Date.now()),
    history: () => listHistory(database, spaceId),
    listTargets: () => listTargets(database, spaceId),
    createTarget: (target) => inTurn(() => createTarget(database, spaceId, { target, actor, pepper })),
    removeTarget: (id) => removeTarget(database, spaceId, { id, actor }),
    testTarget: (id) => inTurn(() => testTarget(database, spaceId, { id, actor, publicUrl })),
  };
}
