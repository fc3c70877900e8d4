import { find, type JsonNode, type JsonSource, readString } from '../json/node.ts';

export interface MediaPart {
  kind: 'media';
  what: 'image' | 'audio' | 'file';
  /** The media type that was sent, such as `image/png`; undefined when there was none. */
  type: string | undefined;
  name: string | undefined;
  /** Base64 or a data URL; undefined when only an address or the id of an upload was sent. */
  data: string | undefined;
  url: string | undefined;
  uploadId: string | undefined;
}

/** Where providers put the data or the address of a part, its media type and its name. */
const paths = {
  content: [
    ['image_url', 'url'],
    ['image_url'],
    ['input_audio', 'data'],
    ['audio', 'data'],
    ['file', 'file_data'],
    ['file_data'],
    ['source', 'data'],
    ['source', 'url'],
    ['inlineData', 'data'],
    ['inline_data', 'data'],
    ['fileData', 'fileUri'],
    ['file_data', 'file_uri'],
    ['image'],
    ['data'],
    ['url'],
    ['file_url'],
  ],
  type: [
    ['source', 'media_type'],
    ['inlineData', 'mimeType'],
    ['inline_data', 'mime_type'],
    ['fileData', 'mimeType'],
    ['file_data', 'mime_type'],
    ['mediaType'],
    ['mimeType'],
    ['mime_type'],
    ['media_type'],
  ],
  name: [['file', 'filename'], ['filename'], ['name'], ['title']],
  audioFormat: [
    ['input_audio', 'format'],
    ['audio', 'format'],
  ],
} as const;

/** What Langfuse's SDKs leave of an image, audio or file that they upload apart from the span. */
const uploaded = /^@@@langfuseMedia:type=([\w.+-]+\/[\w.+-]+)\|id=([\w-]+)\|.*@@@$/;

/** The names of the parts of OpenAI, Anthropic and Vercel; those of Gemini have none. */
const kinds: Record<string, MediaPart['what']> = {
  image_url: 'image',
  input_image: 'image',
  image: 'image',
  input_audio: 'audio',
  audio: 'audio',
  file: 'file',
  input_file: 'file',
  document: 'file',
};

/** @returns undefined when a part of a message is none, or has neither data nor an address. */
export function readMedia(source: JsonSource, node: JsonNode, partType: string): MediaPart | undefined {
  const first = (some: readonly (readonly string[])[]) => {
    for (const path of some) {
      const text = readString(source.text, find(source, node, ...path));
      if (text !== undefined && text !== '') return text;
    }
    return undefined;
  };
  const named = kinds[partType];
  const isGemini = ['inlineData', 'inline_data', 'fileData', 'file_data'].some(
    (name) => find(source, node, name)?.kind === 'object',
  );
  const content = named !== undefined || isGemini ? first(paths.content) : undefined;
  if (content === undefined) return undefined;
  const format = first(paths.audioFormat);
  const dataType = /^data:([\w.+-]+\/[\w.+-]+)/.exec(content)?.[1];
  const [, uploadedType, uploadId] = uploaded.exec(content) ?? [];
  const type =
    dataType ?? uploadedType ?? first(paths.type) ?? (format === undefined ? undefined : `audio/${format}`);
  const isAddress = /^(?:https?|gs|s3|file):/i.test(content);
  return {
    kind: 'media',
    what: kindOf(type) ?? named ?? 'file',
    type,
    name: first(paths.name),
    data: isAddress || uploadId !== undefined ? undefined : content,
    url: isAddress ? content : undefined,
    uploadId,
  };
}

function kindOf(type: string | undefined): MediaPart['what'] | undefined {
  if (type?.startsWith('image/')) return 'image';
  return type?.startsWith('audio/') ? 'audio' : undefined;
}
