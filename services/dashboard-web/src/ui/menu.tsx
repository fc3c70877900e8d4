import { Menu as Base } from '@base-ui/react/menu';
import type { LucideIcon } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { classes } from './classes.ts';

const popup =
  'max-h-[60vh] min-w-44 animate-appear overflow-y-auto rounded-lg bg-raised p-1 shadow-pop outline-none';

interface MenuProps {
  trigger: ReactElement;
  children: ReactNode;
  align?: 'start' | 'end';
}

/** `trigger` is the button, `label` its name when it shows an icon only. */
export function Menu({ trigger, children, align = 'start' }: MenuProps) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner align={align} sideOffset={5} className="z-50 outline-none">
          <Base.Popup className={popup}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

interface AnchoredMenuProps {
  anchor: Element;
  onClose: () => void;
  children: ReactNode;
}

/** A menu at an element that opens it otherwise, such as a row's button. Open as long as it is rendered. */
export function AnchoredMenu({ anchor, onClose, children }: AnchoredMenuProps) {
  return (
    <Base.Root modal={false} open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Positioner anchor={anchor} align="end" sideOffset={5} className="z-50 outline-none">
          <Base.Popup className={popup} finalFocus={() => (anchor instanceof HTMLElement ? anchor : null)}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

const item = classes(
  'flex w-full cursor-default items-center gap-2 rounded-md px-2 py-1.5 text-left text-sm outline-none select-none',
  'data-[highlighted]:bg-hover [&_svg]:size-4 [&_svg]:text-muted',
);

interface MenuItemProps {
  icon?: LucideIcon;
  /** An item with markup has `children`. */
  text?: string;
  onSelect: () => void;
  children?: ReactNode;
}

export function MenuItem({ icon: Icon, text, onSelect, children }: MenuItemProps) {
  return (
    <Base.Item className={item} onClick={onSelect}>
      {Icon && <Icon aria-hidden />}
      {text ?? children}
    </Base.Item>
  );
}

export function MenuLabel({ children }: { children: ReactNode }) {
  return <div className="label px-2 pt-1.5 pb-1">{children}</div>;
}
