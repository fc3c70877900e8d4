import { useEffect, useRef } from 'react';

/**
 * Double clicks on rows. The second click may fall on something else: the first one opens the peek, which covers the right half of the
 * list, or all of it in a window of medium width. It still opens the row that the first one hit.
 *
 * @param onOpen called with the row at the second click, which then does nothing else.
 * @returns to be called with the row at each click on one.
 */
export function useDoubleClick<T>(onOpen: (row: T) => void): (row: T) => void {
  const first = useRef<T>(undefined);
  useEffect(() => {
    const onClick = (click: MouseEvent) => {
      const row = first.current;
      first.current = undefined;
      if (click.detail !== 2 || row === undefined) return;
      click.preventDefault();
      click.stopPropagation();
      onOpen(row);
    };
    // Before the handlers of the page: that of a row sets the first click afterwards.
    addEventListener('click', onClick, true);
    return () => removeEventListener('click', onClick, true);
  }, [onOpen]);
  return (row) => {
    first.current = row;
  };
}
