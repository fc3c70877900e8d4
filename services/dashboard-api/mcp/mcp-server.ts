import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { getTRPCErrorFromUnknown, type TRPCError } from '@trpc/server';
import { z } from 'zod';
import { refusal } from '../refusal.ts';
import { publicMessage } from '../trpc/failure.ts';
import { markedText, notice, toAnswer } from './answer.ts';
import { getChart, getCosts } from './chart-tools.ts';
import { getThread, getTrace } from './conversation-tools.ts';
import { compareEvents, countValues, getEvent, searchEvents } from './event-tools.ts';
import type { Reads, Tool } from './tool.ts';

export const tools: readonly Tool[] = [
  ...[searchEvents, countValues, getEvent, getTrace, getThread, compareEvents],
  ...[getChart, getCosts],
];

const instructions =
  'Weir stores the LLM and tool calls that programs made. These tools read one space of it and change nothing. Start with search_events ' +
  `or get_chart; open what you found with get_event, get_trace or get_thread. ${notice}`;

const readOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

const output = z.object({ notice: z.string(), data: z.record(z.string(), z.unknown()) });

/** The addresses that answers have, and the tools that read them. */
const resources = {
  events: { read: (reads: Reads, id: string) => getEvent.run(reads, { id }), what: 'a recorded call' },
  traces: { read: (reads: Reads, traceId: string) => getTrace.run(reads, { traceId }), what: 'a trace' },
  threads: { read: (reads: Reads, threadId: string) => getThread.run(reads, { threadId }), what: 'a thread' },
} as const;

/** @throws TRPCError BAD_REQUEST for an address such as `…/%`. */
function decodeId(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch (cause) {
    throw refusal('BAD_REQUEST', 'The address has a malformed escape.', cause);
  }
}

/**
 * The server of one request, without state: any dashboard API can answer the next one. The first call loads
 * the SDK, a tenth of a start's CPU time.
 * @param onFailure called with failures for the log. The model gets the public message.
 */
export async function createMcpServer(
  reads: Reads,
  { version, onFailure }: { version: string; onFailure: (error: TRPCError, name: string) => void },
): Promise<McpServer> {
  const { McpServer, ProtocolError, ProtocolErrorCode, ResourceNotFoundError, ResourceTemplate } =
    await import('@modelcontextprotocol/server');
  const server = new McpServer({ name: 'weir', title: 'Weir', version }, { instructions });
  const failed = (thrown: unknown, name: string): TRPCError => {
    const error = getTRPCErrorFromUnknown(thrown);
    onFailure(error, name);
    return error;
  };
  for (const { name, title, description, input, run } of tools) {
    const annotations = { title, ...readOnly };
    const config = { title, description, inputSchema: input, outputSchema: output, annotations };
    server.registerTool(name, config, async (given: unknown): Promise<CallToolResult> => {
      try {
        return toAnswer(await run(reads, given));
      } catch (thrown) {
        const text = publicMessage(failed(thrown, name));
        return { content: [{ type: 'text', text }], isError: true };
      }
    });
  }
  for (const [kind, { read, what }] of Object.entries(resources)) {
    const template = new ResourceTemplate(`weir://{spaceId}/${kind}/{id}`, { list: undefined });
    const config = { title: kind, description: `The first part of ${what}`, mimeType: 'text/plain' };
    server.registerResource(kind, template, config, async (uri, { spaceId, id }) => {
      try {
        if (spaceId !== reads.spaceId) throw refusal('NOT_FOUND', 'There is no such space.');
        const data = await read(reads, decodeId(String(id)));
        return { contents: [{ uri: uri.href, mimeType: config.mimeType, text: markedText(data) }] };
      } catch (thrown) {
        const error = failed(thrown, kind);
        const text = publicMessage(error);
        if (error.code === 'NOT_FOUND') throw new ResourceNotFoundError(uri.href, text);
        const isAsked = error.code === 'BAD_REQUEST';
        throw new ProtocolError(
          isAsked ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
          text,
        );
      }
    });
  }
  return server;
}
