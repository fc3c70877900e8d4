import { Download } from 'lucide-react';
import type { ListInput } from '../../filter/event-filter.ts';
import { useSpace } from '../../space/space.ts';
import { Button } from '../../ui/button.tsx';
import { Menu, MenuDownload, MenuLabel } from '../../ui/menu.tsx';

const formats = [
  { format: 'events', label: 'Events as sent, NDJSON' },
  { format: 'ndjson', label: 'Columns, NDJSON' },
  { format: 'csv', label: 'Columns, CSV' },
  { format: 'parquet', label: 'Columns and whole events, Parquet' },
] as const;

/** Downloads all events of the list's filter, including those not loaded. */
export function ExportMenu({ input }: { input: ListInput }) {
  const { id: spaceId } = useSpace();
  const filter = encodeURIComponent(JSON.stringify(input));
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
        <MenuDownload key={format} href={`/export/${spaceId}?format=${format}&filter=${filter}`}>
          {label}
        </MenuDownload>
      ))}
    </Menu>
  );
}
