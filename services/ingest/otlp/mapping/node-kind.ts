import type { NodeKind } from '../../../../store/traces/span-tree.ts';
import { type Attributes, textOf } from '../spans/attributes.ts';
import { unquoted } from './attribute-reader.ts';
import type { Role } from './role.ts';

/** The attributes that name the kind of a span that is no call and no run of an agent. */
const words: readonly { readonly attribute: string; readonly kinds: Readonly<Record<string, NodeKind>> }[] = [
  {
    attribute: 'openinference.span.kind',
    kinds: { CHAIN: 'chain', RETRIEVER: 'retriever', RERANKER: 'retriever', EMBEDDING: 'embedding' },
  },
  {
    attribute: 'langfuse.observation.type',
    kinds: { chain: 'chain', retriever: 'retriever', embedding: 'embedding' },
  },
  { attribute: 'gen_ai.span.kind', kinds: { CHAIN: 'chain', RETRIEVER: 'retriever', RERANKER: 'retriever' } },
  { attribute: 'traceloop.span.kind', kinds: { workflow: 'workflow', task: 'chain' } },
  {
    attribute: 'mlflow.spanType',
    kinds: { CHAIN: 'chain', WORKFLOW: 'workflow', RETRIEVER: 'retriever', RERANKER: 'retriever' },
  },
  { attribute: 'agentops.span.kind', kinds: { session: 'workflow', workflow: 'workflow', task: 'chain' } },
  {
    attribute: 'langsmith.span.kind',
    kinds: { chain: 'chain', retriever: 'retriever', embedding: 'embedding' },
  },
  {
    attribute: 'langwatch.span.type',
    kinds: { chain: 'chain', workflow: 'workflow', rag: 'retriever' },
  },
  {
    attribute: 'genkit:metadata:subtype',
    kinds: { flow: 'workflow', prompt: 'chain', retriever: 'retriever' },
  },
];

/** The kind of a span in its trace. `link` is any other span: only its position counts. */
export function nodeKindOf(attributes: Attributes, role: Role): NodeKind {
  if (role.kind !== 'none') return role.kind;
  for (const { attribute, kinds } of words) {
    const sent = textOf(attributes, attribute);
    const word = sent && unquoted(sent);
    const kind = word !== undefined && Object.hasOwn(kinds, word) ? kinds[word] : undefined;
    if (kind !== undefined) return kind;
  }
  if (textOf(attributes, 'gen_ai.operation.name') === 'retrieval') return 'retriever';
  if (role.reason === 'embeddings') return 'embedding';
  return role.reason === 'aggregate' ? 'chain' : 'link';
}
