import { Image } from 'lucide-react';
import { useState } from 'react';
import { formatBytes } from '../format/number.ts';
import { bytesOf, type Media } from './base64.ts';
import { ImageDialog } from './image-dialog.tsx';

const look = 'inline-flex items-center gap-1 rounded-sm border border-line bg-sunken px-1.5 text-muted';

/** Base64 as its type and size. An image opens on a click. */
export function MediaChip({
  media: { label, image },
  chars,
  base64,
}: {
  media: Pick<Media, 'label' | 'image'>;
  /** The length of the base64. */
  chars: number;
  /** Reads the base64, which may be megabytes, when it is needed. */
  base64: () => string;
}) {
  const [isOpen, setOpen] = useState(false);
  const title = `${label} · ${formatBytes(bytesOf(chars))}`;
  if (image === undefined) return <span className={look}>{title}</span>;
  return (
    <>
      <button
        type="button"
        className={`${look} min-h-6 align-middle hover:border-edge hover:text-ink`}
        aria-label={`Show the image, ${title}`}
        onClick={(event) => {
          // The chip may be inside an element with its own click handler.
          event.stopPropagation();
          setOpen(true);
        }}
      >
        <Image aria-hidden className="size-3.5" />
        {title}
      </button>
      {isOpen && <ImageDialog type={image} title={title} base64={base64} onClose={() => setOpen(false)} />}
    </>
  );
}
