import { KeyRound, Radio } from 'lucide-react';
import { useState } from 'react';
import { hasRole, useSpace } from '../../space/space.tsx';
import { useSpaceMutation } from '../../space/use-space-query.ts';
import { Button } from '../../ui/button.tsx';
import { CodeSample } from '../../ui/code-sample.tsx';
import { FormFailure } from '../../ui/dialog.tsx';
import { Card, Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { basePath, ingestUrl } from '../../url/page-values.ts';
import { makeSnippets } from './snippets.ts';

const keyPlaceholder = 'YOUR_API_KEY';

/** How to send the first event, which this page waits for. */
export function FirstEvent() {
  const { name } = useSpace();
  const [apiKey, setApiKey] = useState<string>();
  const urls = { ingest: ingestUrl, dashboard: `${window.location.origin}${basePath}` };
  const snippets = makeSnippets(urls, apiKey ?? keyPlaceholder);
  const [chosen, choose] = useState('curl');
  const snippet = snippets.find(({ value }) => value === chosen);
  return (
    <Page title="Send your first event" subtitle={name}>
      <div
        className="mb-4 flex items-center gap-3 rounded-lg bg-accent-soft px-4 py-3 text-accent text-sm"
        role="status"
      >
        <Radio aria-hidden className="size-4 animate-breathe" />
        Waiting for the first event. This page updates when it arrives.
      </div>
      <div className="mb-4">
        <FirstKey isMade={apiKey !== undefined} onKey={setApiKey} />
      </div>
      <Card isFlush>
        <Tabs label="Languages" tabs={snippets} chosen={chosen} onChoose={choose} className="px-3">
          <div className="p-4">
            <CodeSample title="Paste this into a shell in an empty folder" code={snippet?.paste ?? ''} />
          </div>
        </Tabs>
      </Card>
      <Card className="mt-4">
        <CodeSample
          title="Or send 101 sample events: run this in the folder where Weir was installed with npm"
          code={`npx weir send --sample --url ${urls.ingest} --key ${apiKey ?? keyPlaceholder}`}
        />
      </Card>
    </Page>
  );
}

/** Fills a new API key into the snippets. Users without the role are told whom to ask. */
function FirstKey({ isMade, onKey }: { isMade: boolean; onKey: (apiKey: string) => void }) {
  const { role } = useSpace();
  const { mutateAsync, isPending, error } = useSpaceMutation('apiKeys.create', { reload: ['apiKeys.list'] });
  if (isMade)
    return (
      <p className="text-muted text-sm">
        The key is filled in below. It is not shown again after you leave this page.
      </p>
    );
  if (!hasRole(role, 'admin'))
    return <p className="text-muted text-sm">Ask an admin of the space for an API key.</p>;
  const onCreate = async () => {
    const created = await mutateAsync({ name: 'first events' }).catch(() => undefined);
    if (created !== undefined) onKey(created.apiKey);
  };
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button
        icon={KeyRound}
        look="primary"
        disabled={isPending}
        onClick={() => void onCreate()}
        text="Create an API key"
      />
      <p className="text-muted text-sm">
        It is filled in below. Or use the key printed by <code className="font-mono text-xs">weir start</code>
        .
      </p>
      <FormFailure error={error} />
    </div>
  );
}
