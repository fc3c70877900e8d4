import { Image } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { formatBytes } from '../format/number.ts';
import { DownloadLink } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { bytesOf, type ImageType, type Media } from './base64.ts';
import { decodeImage } from './image.ts';

const look = 'inline-flex items-center gap-1 rounded-sm border border-line bg-sunken px-1.5 text-muted';

interface MediaChipProps {
  media: Pick<Media, 'label' | 'image'>;
  chars: number;
  /** Maybe megabytes: read when needed. */
  base64: () => string;
}

/** An image opens on a click. */
export function MediaChip({ media: { label, image }, chars, base64 }: MediaChipProps) {
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

interface ImageDialogProps {
  type: ImageType;
  title: string;
  base64: () => string;
  onClose: () => void;
}

function ImageDialog({ type, title, base64, onClose }: ImageDialogProps) {
  const [data] = useState(base64);
  return (
    <Dialog isOpen onClose={onClose} title={title} width="wide">
      {/* Clicks in the dialog are none in the line that has opened it. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only ends events. */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the same. */}
      <div onClick={(event) => event.stopPropagation()}>
        <Picture type={type} base64={data} />
      </div>
    </Dialog>
  );
}

/** Draws a blob with the type of its bytes: nothing is fetched, and the browser decodes only this type. */
export function Picture({ type, base64 }: { type: ImageType; base64: string }) {
  const image = useMemo(() => decodeImage(base64, type), [base64, type]);
  const [url, setUrl] = useState<string>();
  const [hasFailed, setFailed] = useState(false);
  useEffect(() => {
    if (typeof image === 'string') return;
    const made = URL.createObjectURL(new Blob([image.bytes], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [image, type]);
  const problem =
    typeof image === 'string' ? image : hasFailed ? 'The browser cannot display this image.' : undefined;
  return (
    <figure className="flex flex-col gap-2">
      {problem === undefined && typeof image !== 'string' ? (
        url !== undefined && (
          <img
            src={url}
            alt="In the payload"
            width={image.width}
            height={image.height}
            onError={() => setFailed(true)}
            className="h-auto max-h-[55vh] w-auto max-w-full self-start rounded-md bg-sunken object-contain"
          />
        )
      ) : (
        <p role="alert" className="py-6 text-center text-bad text-sm">
          {problem}
        </p>
      )}
      <figcaption className="flex flex-wrap items-center gap-2 text-faint text-xs">
        {typeof image !== 'string' && `${image.width} × ${image.height} pixels`}
        <span className="flex-1" />
        <CopyButton label="Copy the base64" text={base64} shown="Copy base64" />
        {problem === undefined && url !== undefined && (
          <DownloadLink href={url} name={`image.${type.slice('image/'.length)}`} />
        )}
      </figcaption>
    </figure>
  );
}
