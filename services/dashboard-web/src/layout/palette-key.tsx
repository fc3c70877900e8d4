import { lazy, Suspense, useEffect, useState } from 'react';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));

/** Opens the palette on Ctrl-K or ⌘K. Its code is loaded when it is first opened. */
export function PaletteKey() {
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setWasOpened] = useState(false);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const hasModifier = event.ctrlKey || event.metaKey;
      if (event.key.toLowerCase() !== 'k' || !hasModifier || event.altKey || event.shiftKey) return;
      event.preventDefault();
      setWasOpened(true);
      setOpen((open) => !open);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
  if (!wasOpened) return null;
  return (
    <Suspense>
      <Palette isOpen={isOpen} onOpenChange={setOpen} />
    </Suspense>
  );
}
