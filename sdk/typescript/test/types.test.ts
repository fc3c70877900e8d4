import Anthropic, { type ClientOptions as AnthropicOptions } from '@anthropic-ai/sdk';
import OpenAI, { type ClientOptions } from 'openai';
import { expectTypeOf, test } from 'vitest';
import { anthropicMiddleware, observeAnthropic } from '../src/anthropic.ts';
import { Weir } from '../src/index.ts';
import { observeOpenAI, openaiFetch } from '../src/openai.ts';

const weir = new Weir({ enabled: false });

test('an observed client has the type of the client', () => {
  expectTypeOf(weir.observe(new OpenAI({ apiKey: 'k' }))).toEqualTypeOf<OpenAI>();
  expectTypeOf(weir.observe(new Anthropic({ apiKey: 'k' }))).toEqualTypeOf<Anthropic>();
  expectTypeOf(observeOpenAI<OpenAI>).returns.toEqualTypeOf<OpenAI>();
  expectTypeOf(observeAnthropic<Anthropic>).returns.toEqualTypeOf<Anthropic>();
});

test('fetch and middleware have the types that the clients take', () => {
  expectTypeOf(weir.fetch()).toExtend<NonNullable<ClientOptions['fetch']>>();
  expectTypeOf(openaiFetch).returns.toExtend<NonNullable<ClientOptions['fetch']>>();
  expectTypeOf(weir.fetch()).toExtend<NonNullable<AnthropicOptions['fetch']>>();
  type Middleware = NonNullable<AnthropicOptions['middleware']>[number];
  expectTypeOf(weir.anthropic()).toExtend<Middleware>();
  expectTypeOf(anthropicMiddleware).returns.toExtend<Middleware>();
});

test('context, trace and tool return what their function returns', () => {
  expectTypeOf(weir.context({}, () => 1)).toEqualTypeOf<number>();
  expectTypeOf(weir.trace(async () => 'a')).toEqualTypeOf<Promise<string>>();
  expectTypeOf(weir.tool('t', (a: string, b?: number) => a + b)).toEqualTypeOf<
    (a: string, b?: number) => string
  >();
});
