/** One line of a graph: points (x, y). Points that are not finite are left out. */
interface Series {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

interface Graph {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  readonly series: readonly Series[];
}

const [width, height] = [760, 400];
const area = { left: 70, right: 560, top: 50, bottom: 340 };
const colours = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df', '#57606a', '#bf3989', '#0a7ea4'];

/** Draws a graph as an SVG with a logarithmic x axis. The y axis begins at 0. */
export function drawGraph({ title, xTitle, yTitle, series }: Graph): string {
  const drawn = series.map(({ name, points }) => ({
    name,
    points: points.filter((point) => point.every(Number.isFinite)),
  }));
  const all = drawn.flatMap(({ points }) => points);
  const positionOf = scaleOf(all);
  const xs = [...new Set(all.map(([x]) => x))].toSorted((a, b) => a - b);
  const yMax = topOf(all);
  const ys = [0, 0.25, 0.5, 0.75, 1].map((share) => share * yMax);
  const axes = [
    ...xs.map((x) => label(positionOf([x, 0])[0], area.bottom + 20, shorten(x), 'middle')),
    ...ys.map((y) => {
      const at = positionOf([xs[0] ?? 1, y])[1];
      const line = `<line x1="${area.left}" x2="${area.right}" y1="${at}" y2="${at}" stroke="#d0d7de"/>`;
      return line + label(area.left - 8, at + 4, shorten(y), 'end');
    }),
    label((area.left + area.right) / 2, area.bottom + 45, xTitle, 'middle'),
    label(area.left, area.top - 12, yTitle, 'start'),
  ];
  const lines = drawn.map(({ name, points }, place) => {
    const colour = colours[place % colours.length];
    const positions = points.map(positionOf);
    const path = positions.map((position) => position.join(',')).join(' ');
    const dots = positions.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`);
    const y = area.top + 10 + place * 22;
    const sample = `<rect x="${area.right + 20}" y="${y - 9}" width="12" height="10" fill="${colour}"/>`;
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots.join('')}${sample}${label(area.right + 38, y, name, 'start')}`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" role="img" aria-label="${escapeXml(title)}">
<rect width="${width}" height="${height}" fill="#ffffff"/>
<text x="${area.left}" y="22" font-size="15" font-weight="bold" fill="#1f2328">${escapeXml(title)}</text>
${[...axes, ...lines].join('\n')}
</svg>
`;
}

/** The place of a value in the picture. An x of 0, which has no logarithm, counts as 1. */
function scaleOf(points: Series['points']): (point: readonly [number, number]) => [number, number] {
  const exponents = points.map(([x]) => Math.log10(Math.max(x, 1)));
  const [from, to] = [Math.min(...exponents), Math.max(...exponents)];
  const yMax = topOf(points);
  return ([x, y]) => {
    const share = to === from ? 0.5 : (Math.log10(Math.max(x, 1)) - from) / (to - from);
    return [
      Math.round(area.left + share * (area.right - area.left)),
      Math.round(area.bottom - (y / yMax) * (area.bottom - area.top)),
    ];
  };
}

/** The top of the y axis: 1, 2 or 5 times a power of ten. */
function topOf(points: Series['points']): number {
  const largest = Math.max(...points.map(([, y]) => y), Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(largest));
  return [1, 2, 5, 10].map((factor) => factor * power).find((top) => top >= largest) ?? largest;
}

function label(x: number, y: number, text: string, anchor: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="#1f2328">${escapeXml(text)}</text>`;
}

function shorten(value: number): string {
  return value.toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 3 });
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
