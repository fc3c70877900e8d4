import type { ComponentProps } from 'react';

interface GridRowProps extends ComponentProps<'div'> {
  /** From 1, with the row of titles. */
  index: number;
  isSelected?: boolean;
}

/** A row of a grid that has the focus itself: keys of the page select another row and open it. */
export function GridRow({ index, isSelected, ...row }: GridRowProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus.
    <div role="row" aria-rowindex={index} aria-selected={isSelected} {...row} />
  );
}

/** A cell of such a row. */
export function GridCell(cell: ComponentProps<'div'>) {
  // biome-ignore lint/a11y/useFocusableInteractive: the grid, or a control in the cell, has the focus.
  return <div role="gridcell" {...cell} />;
}
