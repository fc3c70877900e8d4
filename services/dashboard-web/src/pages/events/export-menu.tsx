import { Download } from 'lucide-react';
import { describeFailure } from '../../api/failure.ts';
import { callQuery } from '../../api/query.ts';
import type { ListInput } from '../../filter/event-filter.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuItem, MenuLabel } from '../../ui/menu.tsx';
import { useToast } from '../../ui/toasts.tsx';

const formats = [
  { format: 'events', label: 'Events as sent, NDJSON' },
  { format: 'ndjson', label: 'Columns, NDJSON' },
  { format: 'csv', label: 'Columns, CSV' },
  { format: 'parquet', label: 'Columns and whole events, Parquet' },
] as const;

/** Downloads all events of the list's filter, including those not loaded. */
export function ExportMenu({ input }: { input: ListInput }) {
  const { id: spaceId } = useSpace();
  const toast = useToast();
  const download = async (format: string) => {
    try {
      const { sealed } = await callQuery('events.sealFilter', { ...input, spaceId });
      followDownload(`/export/${spaceId}?format=${format}&sealed=${sealed}`);
    } catch (error) {
      toast(describeFailure(error).message);
    }
  };
  return (
    <Menu
      align="end"
      trigger={
        <Button size="small">
          <Download aria-hidden />
          Export
        </Button>
      }
    >
      <MenuLabel>All events of this filter</MenuLabel>
      {formats.map(({ format, label }) => (
        <MenuItem key={format} onSelect={() => void download(format)}>
          {label}
        </MenuItem>
      ))}
    </Menu>
  );
}

/** Downloads as a click on a link does: the browser streams into a file. */
function followDownload(href: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = '';
  link.click();
}
