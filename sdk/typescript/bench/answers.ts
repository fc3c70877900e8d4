/** A response of about 6 KB, whole and as a stream of 60 chunks. */
const text = 'It is 21 °C in Bern. '.repeat(280);

export const answer = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-bench',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 1_500, total_tokens: 1_600 },
});

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'gpt-bench', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

export const stream = [
  ...(text.match(/[\s\S]{1,100}/g) ?? []).map((content) => chunk({ content })),
  chunk({}, 'stop'),
  'data: [DONE]\n\n',
];

const encoder = new TextEncoder();
const pieces = { whole: [encoder.encode(answer)], stream: stream.map((event) => encoder.encode(event)) };

/** A provider in this process, so that sockets add neither cost nor noise. */
export const answerHere: typeof fetch = async (_input, init) => {
  const isStream = String(init?.body).includes('"stream":true');
  const rest = [...(isStream ? pieces.stream : pieces.whole)];
  const source = {
    type: 'bytes' as const,
    pull(controller: ReadableByteStreamController) {
      const next = rest.shift();
      if (next) return controller.enqueue(next.slice());
      controller.close();
      controller.byobRequest?.respond(0);
    },
  };
  const body = new ReadableStream(source, { highWaterMark: 0 }) as ReadableStream<Uint8Array<ArrayBuffer>>;
  const type = isStream ? 'text/event-stream' : 'application/json';
  return new Response(body, { headers: { 'content-type': type } });
};
