import { useQuery } from '@tanstack/react-query';
import { ExternalLink, File, Volume2 } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import { formatBytes } from '../format/number.ts';
import { safeLink } from '../markdown/safe-link.ts';
import { bytesOf, readMedia } from '../media/base64.ts';
import { decodeBase64 } from '../media/image.ts';
import { Picture } from '../media/media-chip.tsx';
import { useSpace } from '../space/space.tsx';
import { describeText, ShownText } from '../text/shown-text.tsx';
import { buttonClasses, DownloadLink } from '../ui/button.tsx';
import { basePath } from '../url/page-values.ts';
import type { MediaPart } from './media-part.ts';

/** Types of sounds that browsers play, and that hold neither scripts nor links. */
const played = /^audio\/(?:mpeg|mp3|wav|x-wav|wave|ogg|opus|webm|mp4|aac|flac)$/;

/** Draws data from a blob. An address is opened by a click: loading it would tell its host who reads. */
export function InlineMedia({ media }: { media: MediaPart }) {
  const { what, type, name, data, url, uploadId } = media;
  if (uploadId !== undefined && data === undefined) return <UploadedMedia media={media} id={uploadId} />;
  if (url !== undefined) return <RemoteMedia media={media} url={url} />;
  if (data === undefined) return <FileLine label={[name, type ?? what]} />;
  const read = readMedia(data.slice(0, 500));
  const base64 = data.slice(read?.prefix ?? 0);
  if (read?.image !== undefined) return <Picture type={read.image} base64={base64} />;
  if (what === 'audio' && type !== undefined && played.test(type))
    return <Sound type={type} base64={base64} />;
  const label = [name, type ?? read?.label ?? what, formatBytes(bytesOf(base64.length))];
  return <FileLine label={label} />;
}

/** Media that a Langfuse SDK uploaded apart from the span. */
function UploadedMedia({ media, id }: { media: MediaPart; id: string }) {
  const { name, type, what } = media;
  const upload = useUpload(id);
  if (upload.isPending) return <FileLine label={[name, type ?? what, 'loading']} />;
  if (upload.isError) return <FileLine label={[name, type ?? what, 'could not be loaded']} />;
  if (upload.data === undefined) return <FileLine label={[name, type ?? what, 'not uploaded']} />;
  return (
    <div className="flex flex-wrap items-center gap-2">
      <InlineMedia media={{ ...media, data: upload.data.url }} />
      {what === 'file' && (
        <DownloadLink href={upload.data.address} name={name ?? `${id}.${type?.split('/')[1] ?? 'bin'}`} />
      )}
    </div>
  );
}

interface Upload {
  /** Where it is downloaded. */
  readonly address: string;
  /** The bytes as a data URL. */
  readonly url: string;
}

/** Loads media of the space, which never change. They are cached briefly, as events are. */
function useUpload(id: string) {
  const { id: spaceId } = useSpace();
  const address = `${basePath}/media/${spaceId}/${id}`;
  return useQuery({
    queryKey: ['media', spaceId, id],
    queryFn: async ({ signal }): Promise<Upload | null> => {
      const answer = await fetch(address, { signal });
      if (answer.status === 404) return null;
      if (!answer.ok) throw new Error(`${address} was answered with ${answer.status}`);
      return { address, url: await readDataUrl(await answer.blob()) };
    },
    select: (upload) => upload ?? undefined,
    // Those that are missing may still be on their way.
    staleTime: ({ state }) => (state.data == null ? 0 : Number.POSITIVE_INFINITY),
    gcTime: 60_000,
  });
}

function readDataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
}

function FileLine({ label }: { label: readonly (string | undefined)[] }) {
  return (
    <span className="inline-flex items-center gap-2 text-muted">
      <File aria-hidden className="size-4 shrink-0" />
      <ShownText text={label.filter(Boolean).join(' · ')} />
    </span>
  );
}

function RemoteMedia({ media: { what, name }, url }: { media: MediaPart; url: string }) {
  const link = safeLink(url);
  if (link === undefined) return <ShownText text={`${what}: ${url}`} />;
  return (
    <a
      href={link.href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      title={describeText(url)}
      className={buttonClasses('plain', 'small')}
    >
      <ExternalLink aria-hidden />
      <ShownText text={`Open the ${what}${name === undefined ? '' : ` ${name}`} at ${link.target}`} />
    </a>
  );
}

function Sound({ type, base64 }: { type: string; base64: string }) {
  const bytes = useMemo(() => decodeBase64(base64), [base64]);
  const [url, setUrl] = useState<string>();
  useEffect(() => {
    if (bytes === undefined) return;
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  if (bytes === undefined) return <p className="text-bad">The sound is incomplete.</p>;
  return (
    <div className="flex items-center gap-2">
      <Volume2 aria-hidden className="size-4 text-faint" />
      {/* biome-ignore lint/a11y/useMediaCaption: events have no captions for their sounds. */}
      <audio controls src={url} aria-label={`Sound, ${type}`} className="h-8 max-w-full" />
      <span className="text-faint text-xs">{formatBytes(bytes.length)}</span>
    </div>
  );
}
