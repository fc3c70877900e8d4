/** Consecutive lines that both texts have, or only one of them. */
export interface LineRun {
  kind: 'same' | 'removed' | 'added';
  count: number;
}

/** One line of a comparison, with its number in each text that has it. */
export interface DiffRow {
  kind: LineRun['kind'];
  text: string;
  before: number | undefined;
  after: number | undefined;
}

export interface Fold {
  kind: 'fold';
  /** The index of the first row: the fold's identity. */
  at: number;
  count: number;
}

const contextLines = 3;

export function toRows(
  before: readonly string[],
  after: readonly string[],
  runs: readonly LineRun[],
): DiffRow[] {
  const rows: DiffRow[] = [];
  let [old, now] = [0, 0];
  for (const { kind, count } of runs) {
    for (let i = 0; i < count; i++) {
      const text = (kind === 'removed' ? before[old] : after[now]) ?? '';
      rows.push({
        kind,
        text,
        before: kind === 'added' ? undefined : ++old,
        after: kind === 'removed' ? undefined : ++now,
      });
    }
  }
  return rows;
}

/** Hides two or more unchanged rows far from any change, but those of folds `opened`, by their `at`. */
export function foldUnchanged(rows: readonly DiffRow[], opened: ReadonlySet<number>): (DiffRow | Fold)[] {
  const shown: (DiffRow | Fold)[] = [];
  for (let from = 0; from < rows.length; ) {
    let to = from;
    while (to < rows.length && (rows[to]?.kind === 'same') === (rows[from]?.kind === 'same')) to++;
    const isSame = rows[from]?.kind === 'same';
    const at = from === 0 ? 0 : from + contextLines;
    const end = to === rows.length ? to : to - contextLines;
    if (!isSame || end - at < 2 || opened.has(at)) shown.push(...rows.slice(from, to));
    else shown.push(...rows.slice(from, at), { kind: 'fold', at, count: end - at }, ...rows.slice(end, to));
    from = to;
  }
  return shown;
}

export interface PairedRow {
  kind: 'pair';
  left: DiffRow | undefined;
  right: DiffRow | undefined;
}

export function pairRows(rows: readonly (DiffRow | Fold)[]): (PairedRow | Fold)[] {
  const paired: (PairedRow | Fold)[] = [];
  for (let at = 0; at < rows.length; ) {
    const row = rows[at];
    if (row === undefined) break;
    if (row.kind === 'fold') paired.push(row);
    else if (row.kind === 'same') paired.push({ kind: 'pair', left: row, right: row });
    if (row.kind === 'fold' || row.kind === 'same') {
      at++;
      continue;
    }
    const [left, right] = [takeRun(rows, at, 'removed'), takeRun(rows, at, 'added')];
    for (let i = 0; i < Math.max(left.length, right.length); i++)
      paired.push({ kind: 'pair', left: left[i], right: right[i] });
    at += left.length + right.length;
  }
  return paired;
}

/** The changed rows of one kind from a place on, until unchanged ones. */
function takeRun(rows: readonly (DiffRow | Fold)[], from: number, kind: 'removed' | 'added'): DiffRow[] {
  const taken: DiffRow[] = [];
  for (let at = from; ; at++) {
    const row = rows[at];
    if (row === undefined || row.kind === 'same' || row.kind === 'fold') return taken;
    if (row.kind === kind) taken.push(row);
  }
}
