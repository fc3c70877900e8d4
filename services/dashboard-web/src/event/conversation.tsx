import { Bot, LogIn, LogOut, ScrollText, TriangleAlert, UserRound } from 'lucide-react';
import { ShownText } from '../text/shown-text.tsx';
import { TextBlock } from '../text/text-block.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import type { WholeEvent } from './event-query.ts';
import type { EventText } from './event-text.ts';
import { OfferedTools } from './offered-tools.tsx';
import { Payload } from './payload.tsx';
import { Prose, ProseActions } from './prose.tsx';
import { ToolCallCard } from './tool-call-card.tsx';
import { Turn } from './turn.tsx';

/** An event as the conversation that it is: what went in, and what came out. */
export function Conversation({ event, parts }: { event: WholeEvent; parts: EventText }) {
  const { llm, tool } = parts;
  return (
    <div className="flex flex-col gap-2.5">
      {llm?.system && (
        <Turn
          icon={ScrollText}
          title="System"
          tone="neutral"
          isFolded={llm.system.length > foldedChars}
          aside={
            <>
              {size(llm.system)}
              <ProseActions label="Copy the system text" text={llm.system} />
            </>
          }
        >
          <Prose text={llm.system} />
        </Turn>
      )}
      {llm && llm.tools.length > 0 && <OfferedTools tools={llm.tools} />}
      {llm?.prompt && (
        <Turn
          icon={UserRound}
          title="Prompt"
          tone="user"
          aside={<ProseActions label="Copy the prompt" text={llm.prompt} />}
        >
          <Prose text={llm.prompt} />
        </Turn>
      )}
      {llm?.response && (
        <Turn
          icon={Bot}
          title="Response"
          tone="llm"
          aside={<ProseActions label="Copy the response" text={llm.response} />}
        >
          <Prose text={llm.response} />
        </Turn>
      )}
      {llm?.toolCalls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the calls of an event never change their order.
        <ToolCallCard key={index} call={call} place={index} event={event} calls={llm.toolCalls} />
      ))}
      {tool?.input && (
        <Turn
          icon={LogIn}
          title="Input"
          tone="tool"
          aside={<CopyButton label="Copy the input" text={tool.input} />}
        >
          <Payload text={tool.input} label="Input" />
        </Turn>
      )}
      {tool?.output && (
        <Turn
          icon={LogOut}
          title="Output"
          tone="tool"
          aside={<CopyButton label="Copy the output" text={tool.output} />}
        >
          <Payload text={tool.output} label="Output" />
        </Turn>
      )}
      {event.state === 'error' && <ErrorTurn event={event} />}
      {isEmpty(parts) && event.state === 'ok' && (
        <p className="py-8 text-center text-muted text-sm">
          This event has no input and no output. Its JSON has all that was sent.
        </p>
      )}
    </div>
  );
}

const foldedChars = 400;

function size(text: string) {
  return <span className="text-faint text-xs">{text.length.toLocaleString('en')} characters</span>;
}

function isEmpty({ llm, tool }: EventText): boolean {
  const hasLlm = llm && (llm.system || llm.prompt || llm.response || llm.toolCalls.length > 0);
  return !hasLlm && !tool?.input && !tool?.output;
}

function ErrorTurn({ event }: { event: WholeEvent }) {
  const facts = [
    event.errorCode !== null && `code ${event.errorCode}`,
    event.errorHttpStatus !== null && `HTTP ${event.errorHttpStatus}`,
  ].filter((fact) => fact !== false);
  return (
    <Turn
      icon={TriangleAlert}
      title={<ShownText text={`Error${facts.length > 0 ? `: ${facts.join(', ')}` : ''}`} />}
      tone="bad"
    >
      {event.errorMessage === null ? (
        <span className="text-muted">Without a message.</span>
      ) : (
        <TextBlock text={event.errorMessage} />
      )}
    </Turn>
  );
}
