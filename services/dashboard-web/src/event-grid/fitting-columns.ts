/** Columns that are left out where they do not fit, the least important one first. */
const givingWay = ['thread', 'user', 'tokens', 'cost', 'duration'];

/** Leaves out columns until the others fit into the room, in pixels, or only important ones are left. */
export function fittingColumns<Column extends { id: string }>(
  columns: readonly Column[],
  widthOf: (column: Column) => number,
  { room, kept }: { room: number; kept?: string | undefined },
): readonly Column[] {
  let left = columns.reduce((sum, column) => sum + widthOf(column), 0);
  const out = new Set<Column>();
  for (const id of givingWay) {
    const column = columns.find((one) => one.id === id && id !== kept);
    if (left <= room) break;
    if (column === undefined) continue;
    out.add(column);
    left -= widthOf(column);
  }
  return columns.filter((column) => !out.has(column));
}
