import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useEvent } from '../../event/event-query.ts';
import { useSpaceQuery } from '../../space/use-space-query.ts';
import { Form } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { Loaded, together } from '../../ui/loaded.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { useSearchTexts } from '../../url/use-search.ts';
import { Comparison } from './comparison.tsx';
import { TraceComparison } from './trace-comparison.tsx';

/** Events `a` and `b` of the address, with `of=trace` traces; asks for an id that is missing or not found. */
export function ComparePage() {
  const { a = '', b = '', of } = useSearchTexts();
  const isTrace = of === 'trace';
  if (a === '' || b === '')
    return (
      <Page title="Compare">
        <ChooseSides noun={isTrace ? 'trace' : 'event'} a={a} b={b} />
      </Page>
    );
  return isTrace ? <Traces a={a} b={b} /> : <Events a={a} b={b} />;
}

function Events({ a, b }: { a: string; b: string }) {
  const query = together(useEvent(a), useEvent(b));
  return (
    <Loaded query={query} rows={10} label="Loading the events" frame={frameOf('event', a, b)}>
      {([before, after]) => <Comparison before={before} after={after} />}
    </Loaded>
  );
}

function Traces({ a, b }: { a: string; b: string }) {
  const query = together(
    useSpaceQuery('traces.get', { traceId: a }),
    useSpaceQuery('traces.get', { traceId: b }),
  );
  return (
    <Loaded query={query} rows={10} label="Loading the traces" frame={frameOf('trace', a, b)}>
      {(traces) => <TraceComparison ids={[a, b]} traces={traces} />}
    </Loaded>
  );
}

function frameOf(noun: 'event' | 'trace', a: string, b: string) {
  return (state: React.ReactNode) => (
    <Page title="Compare">
      {state}
      <ChooseSides noun={noun} a={a} b={b} />
    </Page>
  );
}

export function ChooseSides({ noun, a, b }: { noun: 'event' | 'trace'; a: string; b: string }) {
  const search = useSearchTexts();
  const navigate = useNavigate();
  const [ids, setIds] = useState({ a, b });
  const onSubmit = () => navigate({ to: '.', search: { ...search, a: ids.a.trim(), b: ids.b.trim() } });
  return (
    <Card>
      <Form action="Compare" className="max-w-lg [&_button]:self-start" onSubmit={onSubmit}>
        {(['a', 'b'] as const).map((name) => (
          <TextField
            key={name}
            label={`Id of the ${name === 'a' ? 'first' : 'second'} ${noun}`}
            value={ids[name]}
            required
            spellCheck={false}
            className="font-mono"
            onText={(text) => setIds({ ...ids, [name]: text })}
          />
        ))}
      </Form>
    </Card>
  );
}
