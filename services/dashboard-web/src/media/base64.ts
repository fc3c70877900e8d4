/** Unlike SVG these cannot contain scripts or links. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';

/** The bytes decide the type, not the declared name. */
const beginnings: readonly [RegExp, ImageType][] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD[dl]h/, 'image/gif'],
  [/^UklGR[\w+/-]{6}XRUJQ/, 'image/webp'],
];

/** The beginning of a data URL, up to its base64. */
const dataUrl = /^data:([\w.+-]{1,80}\/[\w.+-]{1,80})(?:;[\w=.+-]{1,80}){0,4};base64,/;

/** Base64 shown as a chip instead of text. */
export interface Media {
  /** The type of the data URL, or the type of the bytes. */
  label: string;
  /** Set when it can be shown as an image. */
  image: ImageType | undefined;
  /** How many characters precede the base64. */
  prefix: number;
}

/** Finds the type of base64 by its first characters; undefined for neither a data URL nor an image. */
export function readMedia(head: string): Media | undefined {
  const url = dataUrl.exec(head);
  const prefix = url?.[0].length ?? 0;
  const base64 = head.slice(prefix, prefix + 40);
  const image = beginnings.find(([pattern]) => pattern.test(base64))?.[1];
  const label = url?.[1] ?? image;
  return label === undefined ? undefined : { label, image, prefix };
}

export function bytesOf(base64Chars: number): number {
  return Math.floor((base64Chars * 3) / 4);
}

/**
 * A data URL, or an image's base64 longer than an id; some clients write `\/` for `/`. One class, not a
 * choice between two: that would take memory for each of megabytes of characters.
 */
const inText =
  /data:[\w.+-]{1,80}\\?\/[\w.+-]{1,80}(?:;[\w=.+-]{1,80}){0,4};base64,[\w+/\\-]{64,}={0,2}|(?<![\w+/=\\-])(?:iVBORw0KGgo|\\?\/9j\\?\/|R0lGOD[dl]h|UklGR)[\w+/\\-]{400,}={0,2}/g;

const otherEscape = /\\(?!\/)/;

export type TextPiece = { text: string; media?: Media };

/** The pieces together are the text. */
export function splitMedia(text: string): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  for (const { 0: matched, index } of text.matchAll(inText)) {
    const end = matched.search(otherEscape);
    const found = end === -1 ? matched : matched.slice(0, end);
    const read = readMedia(found.slice(0, 500).replaceAll('\\/', '/'));
    if (read === undefined) continue;
    const media = { ...read, prefix: read.prefix === 0 ? 0 : found.indexOf(',') + 1 };
    if (index > at) pieces.push({ text: text.slice(at, index) });
    pieces.push({ text: found, media });
    at = index + found.length;
  }
  if (at < text.length || pieces.length === 0) pieces.push({ text: text.slice(at) });
  return pieces;
}
