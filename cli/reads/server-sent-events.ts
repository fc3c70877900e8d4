/** A message of a stream of server-sent events. */
export interface StreamMessage {
  /** Its name; empty for a plain message. */
  event: string;
  id: string | undefined;
  data: string;
}

/** Yields the messages of a response until it ends. */
export async function* readMessages(body: ReadableStream<Uint8Array> | null): AsyncGenerator<StreamMessage> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body ?? []) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const message = parseMessage(block);
      if (message !== undefined) yield message;
    }
  }
}

function parseMessage(block: string): StreamMessage | undefined {
  const message: StreamMessage = { event: '', id: undefined, data: '' };
  for (const line of block.split(/\r?\n/)) {
    const [, name, value = ''] = /^(event|id|data): ?(.*)$/.exec(line) ?? [];
    if (name === 'event') message.event = value;
    if (name === 'id') message.id = value;
    if (name === 'data') message.data += value;
  }
  return message.data === '' && message.event === '' ? undefined : message;
}
