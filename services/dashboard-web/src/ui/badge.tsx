import { Bot, CircleCheck, CircleX, type LucideProps, Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { classes } from './classes.ts';

const tones = {
  neutral: 'bg-sunken text-muted',
  accent: 'bg-accent-soft text-accent',
  good: 'bg-good-soft text-good',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  llm: 'bg-llm-soft text-llm',
  tool: 'bg-tool-soft text-tool',
};

export type Tone = keyof typeof tones;

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span
      className={classes(
        'inline-flex h-5 items-center gap-1 rounded-sm px-1.5 font-medium text-xs whitespace-nowrap [&_svg]:size-3',
        tones[tone],
      )}
    >
      {children}
    </span>
  );
}

/** LLM call or tool call: by shape, colour and word. */
export function TypeBadge({ type }: { type: 'llm' | 'tool' }) {
  const Icon = type === 'llm' ? Bot : Wrench;
  return (
    <Badge tone={type}>
      <Icon aria-hidden />
      {type === 'llm' ? 'LLM' : 'Tool'}
    </Badge>
  );
}

export function StateBadge({ state }: { state: 'ok' | 'error' }) {
  const Icon = state === 'ok' ? CircleCheck : CircleX;
  return (
    <Badge tone={state === 'ok' ? 'good' : 'bad'}>
      <Icon aria-hidden />
      {state === 'ok' ? 'OK' : 'Error'}
    </Badge>
  );
}

export function TypeIcon({ type, className, ...rest }: { type: 'llm' | 'tool' } & LucideProps) {
  const Icon = type === 'llm' ? Bot : Wrench;
  return (
    <Icon
      aria-label={type === 'llm' ? 'LLM call' : 'Tool call'}
      className={classes('size-4 shrink-0', type === 'llm' ? 'text-llm' : 'text-tool', className)}
      {...rest}
    />
  );
}

export function ErrorIcon() {
  return <CircleX aria-label="Error" className="size-3.5 shrink-0 text-bad" />;
}
