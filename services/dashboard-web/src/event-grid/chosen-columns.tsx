import { attributePrefix } from '../filter/conditions.ts';
import { FilterButton } from '../filter/named-value.tsx';
import { NoValue } from '../table/table.tsx';
import { describeText, ShownText } from '../text/shown-text.tsx';
import { joinValues, valuesOf } from '../url/search.ts';
import { columns, type EventColumn } from './columns.tsx';

/** The API's limits: attributes of a list, and the characters of a value and of a key. */
export const attributesMax = 5;
const valueCharsMax = 256;
export const keyCharsMax = 256;

/** The columns of a list: names of {@link columns}, and `attr.` with the key of an attribute. */
export interface ChosenColumns {
  names: readonly string[];
  columns: readonly EventColumn[];
  /** Keys of the attributes among them, as the API takes them. */
  asked: { attributeKeys?: string[] };
}

const builtIn = columns.map(({ id }) => id);

/** The columns that the parameter `columns` of an address names; all but attributes without it. */
export function readColumns(text: string | undefined): ChosenColumns {
  const given = valuesOf(text);
  const attributeKeys = given
    .filter((name) => name.startsWith(attributePrefix))
    .map((name) => name.slice(attributePrefix.length))
    .filter((key) => key !== '' && key.length <= keyCharsMax)
    .slice(0, attributesMax);
  const own = columns.filter(({ id }) => given.includes(id));
  if (own.length + attributeKeys.length === 0) return { names: builtIn, columns, asked: {} };
  // The preview is last: it takes the rest of the window.
  const isLast = ({ id }: EventColumn) => id === 'preview';
  const shown = [
    ...own.filter((column) => !isLast(column)),
    ...attributeKeys.map(attributeColumn),
    ...own.filter(isLast),
  ];
  return {
    names: shown.map(({ id }) => id),
    columns: shown,
    asked: attributeKeys.length === 0 ? {} : { attributeKeys },
  };
}

/** The parameter for these columns; undefined for the usual ones. */
export function writeColumns(names: readonly string[]): string | undefined {
  const isUsual = names.length === builtIn.length && builtIn.every((name) => names.includes(name));
  return isUsual || names.length === 0 ? undefined : joinValues(names);
}

function attributeColumn(key: string): EventColumn {
  const field = attributePrefix + key;
  return {
    id: field,
    title: key,
    width: 120,
    cell: ({ attributeValues = {} }) => {
      const value = Object.hasOwn(attributeValues, key) ? attributeValues[key] : undefined;
      if (value === undefined) return <NoValue />;
      return (
        <span className="group/named relative flex min-w-0 items-center gap-1">
          <ShownText text={value} className="truncate text-muted" title={describeText(value)} />
          {/* One that may be cut is not what events have. */}
          {value !== '' && value.length < valueCharsMax && (
            <FilterButton field={field} value={value} isFloating />
          )}
        </span>
      );
    },
  };
}
