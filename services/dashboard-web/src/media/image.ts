import type { ImageType } from './base64.ts';

export interface DecodedImage {
  bytes: Uint8Array<ArrayBuffer>;
  width: number;
  height: number;
}

/** A larger image would take more than 200 MB when it is drawn, however few bytes it has. */
const pixelsMax = 50_000_000;

/** @returns an error message when the image cannot or should not be drawn. */
export function decodeImage(base64: string, type: ImageType): DecodedImage | string {
  const bytes = decodeBase64(base64);
  const size = bytes && sizeOf(new DataView(bytes.buffer), type);
  if (bytes === undefined || size === undefined) return 'The image is incomplete.';
  const { width, height } = size;
  if (width * height > pixelsMax) return `The image is too large to display: ${width} × ${height} pixels.`;
  return { bytes, width, height };
}

/** @returns undefined when the text is no base64. */
export function decodeBase64(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(base64.replaceAll('\\/', '/').replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
    return bytes;
  } catch {
    return undefined;
  }
}

/** The size that the header of an image claims, which is what a browser makes room for. */
function sizeOf(view: DataView, type: ImageType): { width: number; height: number } | undefined {
  try {
    if (type === 'image/png') return { width: view.getUint32(16), height: view.getUint32(20) };
    if (type === 'image/gif') return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
    return type === 'image/webp' ? sizeOfWebp(view) : sizeOfJpeg(view);
  } catch {
    // Ends before its size.
    return undefined;
  }
}

function sizeOfWebp(view: DataView) {
  const uint24 = (at: number) => view.getUint16(at, true) + (view.getUint8(at + 2) << 16);
  switch (view.getUint32(12)) {
    // "VP8X", "VP8L", "VP8 ".
    case 0x56503858:
      return { width: uint24(24) + 1, height: uint24(27) + 1 };
    case 0x5650384c: {
      const bits = view.getUint32(21, true);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 0x56503820:
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
  }
  return undefined;
}

function sizeOfJpeg(view: DataView) {
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    while (view.getUint8(at) === 0xff && view.getUint8(at + 1) === 0xff) at++;
    if (view.getUint8(at) !== 0xff) return undefined;
    const marker = view.getUint8(at + 1);
    // The start of a frame, of any of the methods. C4, C8 and CC are something else.
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
  }
}
