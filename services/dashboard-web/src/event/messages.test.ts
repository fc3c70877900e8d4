import { expect, test } from 'vitest';
import { readMessages } from './messages.ts';

const shape = (value: unknown) =>
  readMessages(JSON.stringify(value))?.map(({ role, parts }) => [role, ...parts]);
const text = (of: string) => ({ kind: 'text', text: of });

test('messages of several providers become texts, calls and results', () => {
  expect(
    shape([
      { role: 'system', content: 'Be brief.' },
      {
        role: 'human',
        content: [
          { type: 'input_text', text: 'Hi' },
          { type: 'image_url', image_url: 'x' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', function: { name: 'find', arguments: '{"id":1}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: '{"ok":true}' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c2', name: 'book', input: { day: 2 } }] },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c2', content: [{ type: 'text', text: 'done' }] }],
      },
      { role: 'model', parts: [{ text: 'Bye' }] },
    ]),
  ).toEqual([
    ['system', text('Be brief.')],
    ['user', text('Hi'), expect.objectContaining({ kind: 'media', what: 'image', data: 'x' })],
    ['assistant', { kind: 'call', call: { name: 'find', callId: 'c1', input: '{"id":1}' } }],
    ['tool', { kind: 'result', name: 'find', text: '{"ok":true}' }],
    ['assistant', { kind: 'call', call: { name: 'book', callId: 'c2', input: '{"day":2}' } }],
    ['user', { kind: 'result', name: 'book', text: 'done' }],
    ['assistant', text('Bye')],
  ]);
  expect(shape({ messages: [{ role: 'user', content: 'Hi' }] })).toEqual([['user', text('Hi')]]);
});

test('numbers of a call keep their digits', () => {
  const prompt = '[{"role":"assistant","tool_calls":[{"name":"f","input":{"id":723421968459640833}}]}]';
  expect(readMessages(prompt)?.[0]?.parts).toMatchObject([{ call: { input: '{"id":723421968459640833}' } }]);
});

test.each([
  'Hello',
  '[1, 2]',
  '[]',
  '{"role":"user"}',
  '[{"role":"user","content":"a"}',
  '[{"role":"pilot"}]',
  '[{"role":"user"}, "x"]',
])('other texts are no conversation: %s', (prompt) => {
  expect(readMessages(prompt)).toBeUndefined();
});

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

test.each([
  ['OpenAI', { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }, 'image', 'image/png'],
  [
    'OpenAI Responses',
    { type: 'input_image', image_url: `data:image/png;base64,${png}` },
    'image',
    'image/png',
  ],
  [
    'Anthropic',
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    'image',
    'image/png',
  ],
  ['Gemini', { inlineData: { mimeType: 'image/png', data: png } }, 'image', 'image/png'],
  ['Vercel', { type: 'file', data: png, mediaType: 'image/png' }, 'image', 'image/png'],
  ['a sound', { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }, 'audio', 'audio/wav'],
  [
    'a document',
    { type: 'document', source: { media_type: 'application/pdf', data: 'AAAA' } },
    'file',
    'application/pdf',
  ],
])('the media of %s are read', (_, part, what, type) => {
  const [message] = readMessages(JSON.stringify([{ role: 'user', content: [part] }])) ?? [];
  expect(message?.parts).toMatchObject([{ kind: 'media', what, type, url: undefined }]);
});

test('a photo of megabytes is no reason to show a conversation as a tree, a text of megabytes is', () => {
  const ask = (part: object) => JSON.stringify([{ role: 'user', content: [part] }]);
  const photo = `data:image/png;base64,${png.slice(0, -2).repeat(30_000)}`;
  expect(readMessages(ask({ type: 'image_url', image_url: { url: photo } }))).toHaveLength(1);
  expect(readMessages(ask({ type: 'text', text: 'a word '.repeat(150_000) }))).toBeUndefined();
});

test.each([
  { type: 'image_url', image_url: { url: '@REF' } },
  { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: '@REF' } },
  { inline_data: { mime_type: 'image/jpeg', data: '@REF' } },
])('the reference that a Langfuse SDK leaves of an image is no data: %j', (part) => {
  const reference = '@@@langfuseMedia:type=image/png|id=hSa7OgtfnxmZeqD6yyc2N5|source=base64_data_uri@@@';
  const sent = JSON.stringify([{ role: 'user', content: [part] }]).replace('@REF', reference);
  expect(readMessages(sent)?.[0]?.parts).toEqual([
    {
      ...{ kind: 'media', what: 'image', type: 'image/png', uploadId: 'hSa7OgtfnxmZeqD6yyc2N5' },
      ...{ name: undefined, data: undefined, url: undefined },
    },
  ]);
});

test('an address is no data, and thinking is not the answer', () => {
  const content = [
    { type: 'image', source: { type: 'url', url: 'https://img.example/a.png' } },
    { type: 'thinking', thinking: 'Hm.' },
    { text: 'So.', thought: true },
    { type: 'text', text: 'Yes.' },
  ];
  expect(readMessages(JSON.stringify([{ role: 'assistant', content }]))?.[0]?.parts).toMatchObject([
    { kind: 'media', url: 'https://img.example/a.png', data: undefined },
    { kind: 'thinking', text: 'Hm.' },
    { kind: 'thinking', text: 'So.' },
    { kind: 'text', text: 'Yes.' },
  ]);
});
