import type { Scope } from '../event/context.ts';
import { asText, type Json } from '../wire/read.ts';

/** Tags and metadata that LangChain and LangGraph add themselves. */
const ownTags = /^(seq:step|map:key|graph:step|branch|condition|langsmith:|lc_)/;
const ownMetadata =
  /^(ls_|lc_|langgraph_|langsmith|checkpoint|__|versions$|thread_id$|session_id$|conversation_id$|user_id$)/;

/** The scope with what tags and metadata of a run say. They win over the context around the run. */
export function addRunContext(outer: Scope, tags: readonly string[] = [], metadata: Json = {}): Scope {
  const own = tags.filter((tag) => !ownTags.test(tag) && !outer.tags?.includes(tag));
  const dimensions = Object.entries(metadata).filter(
    (entry): entry is [string, string | number] =>
      !ownMetadata.test(entry[0]) && (typeof entry[1] === 'string' || typeof entry[1] === 'number'),
  );
  const { thread_id: thread, session_id: session, conversation_id: conversation } = metadata;
  const threadId = asText(thread) ?? asText(session) ?? asText(conversation) ?? outer.threadId;
  const userId = asText(metadata.user_id) ?? outer.userId;
  const agentId = asText(metadata.lc_agent_name) ?? outer.agentId;
  return {
    ...outer,
    ...(threadId !== undefined && { threadId }),
    ...(userId !== undefined && { userId }),
    ...(agentId !== undefined && { agentId }),
    ...(own.length > 0 && { tags: [...(outer.tags ?? []), ...own] }),
    additionalProperties: { ...outer.additionalProperties, ...Object.fromEntries(dimensions) },
  };
}

/** Whether LangGraph marks a run as a detail that no trace shows. */
export function isHidden(tags: readonly string[] = []): boolean {
  return tags.includes('langsmith:hidden');
}
