import { ExternalLink, ImageOff } from 'lucide-react';
import type { MarkedToken, Token } from 'marked';
import type { ReactNode } from 'react';
import { ShownText } from '../text/shown-text.tsx';
import { safeLink } from './safe-link.ts';

/** Deeper nested emphasis and links are shown as source text. */
const depthMax = 12;

export function Inlines({ tokens, depth }: { tokens: readonly Token[]; depth: number }): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text never change their order.
  return tokens.map((token, index) => <Inline key={index} token={token as MarkedToken} depth={depth} />);
}

function Inline({ token, depth }: { token: MarkedToken; depth: number }) {
  if (depth > depthMax) return <ShownText text={token.raw} />;
  switch (token.type) {
    case 'strong':
      return (
        <strong className="font-semibold">
          <Inlines tokens={token.tokens} depth={depth + 1} />
        </strong>
      );
    case 'em':
    case 'del': {
      const Kind = token.type;
      return (
        <Kind>
          <Inlines tokens={token.tokens} depth={depth + 1} />
        </Kind>
      );
    }
    case 'codespan':
      return (
        <code className="rounded-sm bg-sunken px-1 font-mono text-[0.9em]">
          <ShownText text={token.text} />
        </code>
      );
    case 'br':
      return <br />;
    case 'escape':
      return <ShownText text={token.text} />;
    case 'link':
      return (
        <TextLink address={token.href} text={token.text} source={token.raw}>
          <Inlines tokens={token.tokens} depth={depth + 1} />
        </TextLink>
      );
    case 'image':
      // Loading an image would reveal the reader to its host, and could leak data.
      return (
        <span className="inline-flex max-w-full items-baseline gap-1 rounded-sm bg-sunken px-1 text-muted">
          <ImageOff aria-label="An image that is not loaded:" className="size-3 shrink-0 self-center" />
          <span>
            <ShownText text={`${token.text} ${token.href}`.trim()} />
          </span>
        </span>
      );
    default:
      // HTML, too.
      return <ShownText text={token.raw} />;
  }
}

interface TextLinkProps {
  address: string;
  text: string;
  source: string;
  children: ReactNode;
}

/** A link with its target visible. Other schemes and links that hide their host are shown as text. */
function TextLink({ address, text, source, children }: TextLinkProps) {
  const link = safeLink(address);
  if (link === undefined) return <ShownText text={source} />;
  return (
    <a
      href={link.href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      className="text-accent underline decoration-line hover:decoration-current"
    >
      {children}
      {text !== address && text !== link.target && (
        <span className="text-muted text-xs">
          {' '}
          (<ShownText text={link.target} />)
        </span>
      )}
      <ExternalLink aria-label="opens a new tab" className="ml-0.5 inline size-3" />
    </a>
  );
}
