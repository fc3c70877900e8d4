/** Splits a migration, without comments. A semicolon inside of `$$ … $$` or quotes ends no statement. */
export function splitStatements(text: string): string[] {
  const statements: string[] = [];
  let statement = '';
  for (const [token] of text.matchAll(/--[^\n]*|\$\$[\s\S]*?\$\$|'(?:[^']|'')*'|;|[^;$'-]+|[\s\S]/g)) {
    if (token.startsWith('--')) continue;
    if (token !== ';') {
      statement += token;
      continue;
    }
    statements.push(statement);
    statement = '';
  }
  return [...statements, statement].map((one) => one.trim()).filter((one) => one !== '');
}

/** What a statement does, and what it locks meanwhile. */
export interface StatementPlan {
  /** The first line. */
  readonly statement: string;
  readonly locks: string;
}

/**
 * Only forms that are safe while services run are known; a test holds the migrations to them.
 * @throws Error for an unknown form.
 */
export function planStatements(statements: readonly string[]): StatementPlan[] {
  const created = new Set<string>();
  return statements.map((text) => {
    const statement = text.split('\n', 1)[0] ?? '';
    const table = /^CREATE TABLE (\w+)/.exec(text)?.[1];
    if (table !== undefined) {
      created.add(table);
      return { statement, locks: 'nothing: the table is new' };
    }
    if (/^CREATE FUNCTION /.test(text)) return { statement, locks: 'nothing: the function is new' };
    const indexed = /^CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?.*? ON (\w+)/s.exec(text);
    if (indexed?.[1] !== undefined) return { statement, locks: 'nothing: reads and writes go on' };
    if (indexed !== null && created.has(indexed[2] ?? ''))
      return { statement, locks: 'nothing: the table is new' };
    if (created.has(/^ALTER TABLE (\w+)/.exec(text)?.[1] ?? ''))
      return { statement, locks: 'nothing: the table is new' };
    const altered = /^ALTER TABLE (\w+) ADD COLUMN /.exec(text)?.[1];
    if (altered !== undefined && !/\b(?:REFERENCES|CHECK|UNIQUE|PRIMARY|GENERATED)\b/.test(text))
      return { statement, locks: `reads and writes of ${altered}, for milliseconds` };
    throw new Error(`It is not known what this statement locks: ${statement}`);
  });
}
