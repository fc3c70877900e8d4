import type { ComponentProps } from 'react';

/** A cell of a grid that has the focus itself. */
export function GridCell(cell: ComponentProps<'div'>) {
  // biome-ignore lint/a11y/useFocusableInteractive: the grid, or a control in the cell, has the focus.
  return <div role="gridcell" {...cell} />;
}
