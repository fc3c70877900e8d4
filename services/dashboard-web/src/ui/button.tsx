import { Download, type LucideIcon } from 'lucide-react';
import type { ComponentProps } from 'react';
import { classes } from './classes.ts';

const looks = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent font-medium shadow-card',
  plain: 'bg-surface text-ink border-line hover:bg-hover hover:border-edge shadow-card',
  quiet: 'bg-transparent text-muted border-transparent hover:bg-hover hover:text-ink',
  danger: 'bg-surface text-bad border-line hover:bg-bad-soft hover:border-bad-line font-medium',
};

export type ButtonLook = keyof typeof looks;

/** The classes of a button, for links that look like one. */
export function buttonClasses(look: ButtonLook = 'plain', size: 'small' | 'normal' = 'normal'): string {
  return classes(
    'inline-flex items-center justify-center gap-1.5 rounded-md border whitespace-nowrap select-none',
    'transition-colors duration-100 disabled:opacity-50 [&_svg]:size-3.5 [&_svg]:shrink-0',
    size === 'small' ? 'h-7 px-2 text-sm' : 'h-8 px-3 text-sm',
    looks[look],
  );
}

interface ButtonProps extends ComponentProps<'button'> {
  look?: ButtonLook;
  size?: 'small' | 'normal';
  /** Before the text. */
  icon?: LucideIcon;
  /** A button with markup has `children`. */
  text?: string;
}

export function Button({ look, size, icon: Icon, text, className, children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={classes(buttonClasses(look, size), className)} {...rest}>
      {Icon && <Icon aria-hidden />}
      {text ?? children}
    </button>
  );
}

interface IconButtonProps extends ComponentProps<'button'> {
  icon: LucideIcon;
  label: string;
}

interface DownloadLinkProps extends Pick<ComponentProps<'a'>, 'href' | 'title'> {
  /** The name of the file; without one the server names it. */
  name?: string;
  size?: 'small' | 'normal';
}

/** A link to a file that looks like a button. */
export function DownloadLink({ name = '', size = 'small', ...link }: DownloadLinkProps) {
  return (
    <a {...link} download={name} className={buttonClasses('plain', size)}>
      <Download aria-hidden />
      Download
    </a>
  );
}

/** `label` is the accessible name and tooltip. */
export function IconButton({ icon: Icon, label, className, ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={classes(
        'inline-grid size-7 shrink-0 place-items-center rounded-md text-muted hover:bg-hover hover:text-ink',
        'transition-colors duration-100 disabled:opacity-40 disabled:hover:bg-transparent [&_svg]:size-4',
        className,
      )}
      {...rest}
    >
      <Icon aria-hidden />
    </button>
  );
}
