/** How the search field is written, for the help on `?`. */
export function SearchHelp() {
  return (
    <section className="mb-4 border-line border-t pt-4">
      <h3 className="label mb-1.5">Search</h3>
      <dl className="grid gap-x-8 gap-y-1.5 text-sm sm:grid-cols-2">
        {syntax.map(([example, meaning]) => (
          <div key={example} className="flex items-baseline justify-between gap-3">
            <dt className="order-2 text-right font-mono text-[0.8rem]">{example}</dt>
            <dd className="text-muted">{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

const syntax = [
  ['refund order', 'Text in previews and error messages'],
  ['"user:mia"', 'Literal text, not a field'],
  ['user:mia', 'A value of a field'],
  ['user:"Mia Li"', 'A value with spaces'],
  ['-model:gpt-4o', 'Without a value'],
  ['attr.plan:pro', 'An additional property'],
  ['took:>10s', 'Duration: ms, s, m, h'],
  ['tokens:>50k', 'Input and output tokens: k, M'],
  ['cost:0.1..1', 'Cost in dollars, from and to'],
  ['state:error type:tool', 'Several: all must match'],
] as const;
