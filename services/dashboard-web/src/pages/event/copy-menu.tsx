import { Braces, Copy, FileText, Link2, Terminal } from 'lucide-react';
import type { WholeEvent } from '../../event/event-query.ts';
import type { EventText } from '../../event/event-text.ts';
import { toMarkdown } from '../../event/plain-text.ts';
import { Button } from '../../ui/button.tsx';
import { useCopy } from '../../ui/copy-button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { useToast } from '../../ui/toasts.tsx';
import { toCurl } from './curl.ts';

/** Menu to copy an event in several formats. */
export function CopyMenu({ event, parts }: { event: WholeEvent; parts: EventText }) {
  const copy = useCopy();
  const toast = useToast();
  const offer = (what: string, text: () => string) => async () => {
    if (await copy(text())) toast(`${what} copied.`);
  };
  return (
    <Menu
      align="end"
      trigger={
        <Button size="small">
          <Copy aria-hidden />
          Copy
        </Button>
      }
    >
      <MenuItem onSelect={offer('JSON', () => event.event)}>
        <Braces aria-hidden />
        JSON, as sent
      </MenuItem>
      <MenuItem onSelect={offer('Markdown', () => toMarkdown(parts))}>
        <FileText aria-hidden />
        Markdown
      </MenuItem>
      <MenuItem onSelect={offer('curl command', () => toCurl(event.event))}>
        <Terminal aria-hidden />
        curl command to resend it
      </MenuItem>
      <MenuItem onSelect={offer('Link', () => window.location.href)}>
        <Link2 aria-hidden />
        Link to this page
      </MenuItem>
    </Menu>
  );
}
