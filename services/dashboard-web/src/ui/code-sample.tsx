import { CopyButton } from './copy-button.tsx';

/** Commands or variables to copy, under their title. */
export function CodeSample({ title, code }: { title: string; code: string }) {
  return (
    <div>
      <div className="mb-1.5 flex items-center justify-between">
        <h2 className="font-medium text-sm">{title}</h2>
        <CopyButton label={`Copy: ${title}`} text={code} shown="Copy" />
      </div>
      <pre
        tabIndex={0}
        className="max-h-96 overflow-auto rounded-md border border-line bg-sunken p-3 font-mono text-[0.75rem] leading-5 max-md:whitespace-pre-wrap max-md:wrap-anywhere"
      >
        {code}
      </pre>
    </div>
  );
}
